#!/usr/bin/env bash
# Installs the packages of target/package into empty roots and runs the papers' demo there, each within a minute:
# the tarball in an empty folder, the wheel in a venv, the npm packages in a prefix, the Debian package in a root that
# debootstrap makes. `package-test.sh quick` does the first three.
source "$(dirname "$0")/lib.sh"

quick=${1:-}
packages=$PWD/$target/package
[[ -f $packages/SHA256SUMS ]] || fail "there are no packages; \`make package\` makes them"
(cd "$packages" && sha256sum --quiet --check SHA256SUMS) || fail "the packages are not those that SHA256SUMS lists"

roots=$(mktemp -d /var/tmp/wedflow-packages.XXXXXX)
chmod 755 "$roots"
mounted=()
finish() {
  local status=$? home
  for home in "$roots"/*/home; do
    [[ -d $home ]] || continue
    WEDFLOW_HOME=$home "$roots"/tarball/bin/wed --quiet db stop >/dev/null 2>&1 || true
  done
  for home in "${mounted[@]}"; do umount "$home" || true; done
  ((${#mounted[@]})) && mountpoint -q "${mounted[0]}" || rm -rf --one-file-system "$roots"
  exit "$status"
}
trap finish EXIT

# Runs the demo of the program COMMAND in an empty folder with nothing of this machine's settings, and ends it there.
demo() {
  local name=$1 root begun=$SECONDS
  shift
  root=$roots/$name
  mkdir -p "$root/empty"
  cd "$root/empty"
  env -i PATH="/usr/local/bin:/usr/bin:/bin" HOME="$root/empty" WEDFLOW_HOME="$root/home" LANG=C.UTF-8 \
    ${SSL_CERT_FILE:+SSL_CERT_FILE="$SSL_CERT_FILE"} ${WEDFLOW_POSTGRES_ARCHIVE:+WEDFLOW_POSTGRES_ARCHIVE="$WEDFLOW_POSTGRES_ARCHIVE"} \
    "$@" demo paper >"$root/demo" 2>&1 || { cat "$root/demo"; return 1; }
  grep -q 'tr_final' "$root/demo" || { cat "$root/demo"; return 1; }
  env -i PATH="/usr/local/bin:/usr/bin:/bin" HOME="$root/empty" WEDFLOW_HOME="$root/home" "$@" --quiet db stop
  ((SECONDS - begun < 60)) || { say "the demo took $((SECONDS - begun)) s"; return 1; }
}

tarball() {
  mkdir -p "$roots/tarball"
  tar -xzf "$packages"/wedflow-*-linux-*.tar.gz --strip-components 1 -C "$roots/tarball"
  (demo tarball "$roots/tarball/bin/wed") || return
  (cd / && "$roots/tarball/bin/wed" explain WF011 | grep -q 'what to do')
}

wheel() {
  python3 -m venv "$roots/wheel"
  "$roots/wheel/bin/pip" install --quiet --no-index --disable-pip-version-check "$packages"/wedflow-*manylinux*.whl || return
  "$roots/wheel/bin/python" -c 'import wedflow' || return
  (demo wheel "$roots/wheel/bin/wed")
}

npm_prefix() {
  local cpu
  mkdir -p "$roots/npm/prefix"
  cpu=$(node -p process.arch)
  npm install --silent --offline --no-audit --no-fund --prefix "$roots/npm/prefix" \
    "$packages"/wedflow-[0-9]*.tgz "$packages/wedflow-linux-$cpu"-*.tgz || return
  (demo npm "$roots/npm/prefix/node_modules/.bin/wed")
}

debian() {
  local root=$roots/debian/root
  command -v debootstrap >/dev/null || { say "skipped: debootstrap is not here"; return; }
  mkdir -p "$root"
  debootstrap --variant=minbase --include=adduser bookworm "$root" >"$roots/debootstrap.log" 2>&1 ||
    { tail -n 20 "$roots/debootstrap.log"; return 1; }
  cp /etc/resolv.conf "$root/etc/"
  mkdir -p "$root/etc/ssl/certs"
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  if mount -t proc proc "$root/proc" 2>/dev/null; then mounted+=("$root/proc"); fi
  cp "$packages"/wedflow_*.deb "$root/tmp/wedflow.deb"
  local begun=$SECONDS
  chroot "$root" dpkg --install /tmp/wedflow.deb || return
  local run=(chroot --userspec=wedflow:wedflow "$root" env -i PATH=/usr/bin:/bin HOME=/var/lib/wedflow WEDFLOW_HOME=/var/lib/wedflow
    WEDFLOW_CACHE=/var/cache/wedflow SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt LANG=C.UTF-8)
  chroot "$root" install -d -o wedflow -g wedflow -m 700 /var/lib/wedflow /var/cache/wedflow
  "${run[@]}" /usr/bin/wed demo paper | tee "$roots/debian/demo" | grep -q tr_final || { cat "$roots/debian/demo"; return 1; }
  "${run[@]}" /usr/bin/wed --quiet db stop
  ((SECONDS - begun < 60)) || { say "installing and the demo took $((SECONDS - begun)) s"; return 1; }
  chroot "$root" dpkg --purge wedflow
}

unit() {
  command -v systemd-analyze >/dev/null || { say "skipped: systemd-analyze is not here"; return; }
  # 10 is no protection, 0 is the best.
  systemd-analyze security --offline=true --threshold=20 --no-pager packaging/debian/wedflow.service | tail -n 1
}

step "Tarball in an empty folder: wed demo paper" tarball
step "Wheel in a venv: wed demo paper" wheel
step "npm packages in a prefix: wed demo paper" npm_prefix
step "Hardening of the systemd unit" unit
[[ $quick == quick ]] || step "Debian package in an empty root: wed demo paper" debian
summary

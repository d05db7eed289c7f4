#!/usr/bin/env bash
# Installs the packages of target/package into empty roots: those with the program run the papers' demo there, and the
# SDKs build a transition, which `wed run` calls. Prints the seconds from installing to the demo's end, of which the aim
# is 60. The tarball goes into an empty folder, the wheel into a venv, the npm packages into a prefix; the Debian package
# and the container's image stand on a root that debootstrap makes. `package-test.sh quick` leaves out these two and the
# SDKs.
source "$(dirname "$0")/lib.sh"

quick=${1:-}
packages=$PWD/$target/package
[[ -f $packages/SHA256SUMS ]] || fail "there are no packages; \`make package\` makes them"
(cd "$packages" && sha256sum --quiet --check SHA256SUMS) || fail "the packages are not those that SHA256SUMS lists"
version=$(awk -F '"' '/^version/ { print $2; exit }' Cargo.toml)

roots=$(mktemp -d /var/tmp/wedflow-packages.XXXXXX)
chmod 755 "$roots"
mounted=()
finish() {
  local status=$? home
  cd /
  for home in "$roots"/*/home; do
    [[ -d $home ]] || continue
    WEDFLOW_HOME=$home "$roots"/tarball/bin/wed --quiet db stop >/dev/null 2>&1 || true
  done
  for home in "${mounted[@]}"; do umount "$home" || true; done
  ((${#mounted[@]})) && mountpoint -q "${mounted[0]}" || rm -rf --one-file-system "$roots"
  exit "$status"
}
trap finish EXIT

skipped() { say "    SKIPPED: $*"; }

# Says how long it took from BEGUN to the demo's end.
say_time() { say "    from installing to the demo's end: $((SECONDS - $1)) s (aim: 60)"; }

# What a command of a package sees of this machine.
clean=(env -i PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8)
for name in SSL_CERT_FILE WEDFLOW_POSTGRES_ARCHIVE; do
  [[ -z ${!name:-} ]] || clean+=("$name=${!name}")
done

# Runs the demo of the program COMMAND in an empty folder with nothing of this machine's settings, and ends it there.
demo() {
  local name=$1 root=$roots/$1
  shift
  mkdir -p "$root/empty"
  cd "$root/empty"
  local here=("${clean[@]}" HOME="$root/empty" WEDFLOW_HOME="$root/home")
  "${here[@]}" "$@" demo paper >"$root/demo" 2>&1 || { cat "$root/demo"; return 1; }
  grep -q 'tr_final' "$root/demo" || { cat "$root/demo"; return 1; }
  "${here[@]}" "$@" --quiet db stop
}

tarball() {
  local begun=$SECONDS
  mkdir -p "$roots/tarball"
  tar -xzf "$packages"/wedflow-*-linux-*.tar.gz --strip-components 1 -C "$roots/tarball"
  (demo tarball "$roots/tarball/bin/wed") || return
  say_time "$begun" || return
  (cd / && "$roots/tarball/bin/wed" explain WF011 | grep -q 'what to do')
}

wheel() {
  local begun=$SECONDS
  python3 -m venv "$roots/wheel"
  "$roots/wheel/bin/pip" install --quiet --no-index --disable-pip-version-check "$packages"/wedflow-*manylinux*.whl || return
  "$roots/wheel/bin/python" -c 'import wedflow' || return
  (demo wheel "$roots/wheel/bin/wed") || return
  say_time "$begun"
}

npm_prefix() {
  local cpu begun=$SECONDS
  mkdir -p "$roots/npm/prefix"
  cpu=$(node -p process.arch)
  npm install --silent --offline --no-audit --no-fund --prefix "$roots/npm/prefix" \
    "$packages"/wedflow-[0-9]*.tgz "$packages/wedflow-linux-$cpu"-*.tgz || return
  (demo npm "$roots/npm/prefix/node_modules/.bin/wed") || return
  say_time "$begun"
}

# An empty Debian in $roots/base, once for both that stand on it.
base() {
  [[ -d $roots/base ]] && return
  mkdir -p "$roots/base"
  debootstrap --variant=minbase --include=adduser bookworm "$roots/base" >"$roots/debootstrap.log" 2>&1 ||
    { tail -n 20 "$roots/debootstrap.log"; return 1; }
  rm -rf "$roots"/base/var/cache/apt/archives/*.deb "$roots"/base/var/lib/apt/lists/*
}

debian() {
  local root=$roots/debian/root begun
  command -v debootstrap >/dev/null || { skipped "debootstrap is not here"; return; }
  base || return
  mkdir -p "$roots/debian"
  cp -a "$roots/base" "$root"
  cp /etc/resolv.conf "$root/etc/"
  mkdir -p "$root/etc/ssl/certs"
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  if mount -t proc proc "$root/proc" 2>/dev/null; then mounted+=("$root/proc"); fi
  cp "$packages"/wedflow_*.deb "$root/tmp/wedflow.deb"
  begun=$SECONDS
  chroot "$root" dpkg --install /tmp/wedflow.deb || return
  local run=(chroot --userspec=wedflow:wedflow "$root" env -i PATH=/usr/bin:/bin HOME=/var/lib/wedflow WEDFLOW_HOME=/var/lib/wedflow
    WEDFLOW_CACHE=/var/cache/wedflow SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt LANG=C.UTF-8)
  chroot "$root" install -d -o wedflow -g wedflow -m 700 /var/lib/wedflow /var/cache/wedflow
  "${run[@]}" /usr/bin/wed demo paper >"$roots/debian/demo" || { cat "$roots/debian/demo"; return 1; }
  grep -q tr_final "$roots/debian/demo" || return
  "${run[@]}" /usr/bin/wed --quiet db stop
  say_time "$begun" || return
  chroot "$root" dpkg --purge wedflow
}

# Builds the image by buildah, without a daemon and without a base from a registry: the base is an empty Debian, the
# program is the tarball's. Its root is then mounted read-only and used as the image's user; the demo runs there, and a
# host until the image's own health check says that it lives.
container() {
  command -v buildah >/dev/null || { skipped "buildah is not here (Debian's package buildah)"; return; }
  command -v debootstrap >/dev/null || { skipped "debootstrap is not here"; return; }
  unshare --mount true 2>/dev/null || { skipped "this machine lets nobody mount"; return; }
  base || return
  local begun new image root
  mkdir -p "$roots/container"
  buildah() {
    command buildah --storage-driver vfs --root "$roots/container/storage" --runroot "$roots/container/run" "$@"
  }
  new=$(buildah from scratch) || return
  buildah add --quiet "$new" "$roots/base" / >/dev/null && buildah commit --quiet "$new" wedflow-base >/dev/null || return
  begun=$SECONDS
  buildah build --quiet --isolation chroot --format docker --file packaging/Containerfile --tag wedflow \
    --build-arg DEBIAN=localhost/wedflow-base --build-arg PROGRAM=ready "$roots/tarball" >/dev/null || return
  image=$(buildah from localhost/wedflow) && root=$(buildah mount "$image") || return
  [[ $(buildah inspect --format '{{.Docker.Config.User}}' "$image") == 10001 ]] || { say "the image's user is not 10001"; return 1; }
  buildah inspect --format '{{range .Docker.Config.Healthcheck.Test}}{{println .}}{{end}}' "$image" >"$roots/container/health"
  unshare --mount --pid --fork --kill-child scripts/in-image.sh "$root" "$roots/container/health" || return
  say_time "$begun"
}

# hello LANGUAGE: a new project of the program's template in $hello, without the SDK that the program brings along.
hello() {
  hello=$roots/sdk-$1
  mkdir -p "$hello"
  (cd "$hello" && "$roots/tarball/bin/wed" --quiet new transition --lang "$1" hello >/dev/null && rm -rf hello/vendor hello/Cargo.lock)
  hello=$hello/hello
}

# Calls the component that was built with the SDK alone.
greets() {
  "$roots/tarball/bin/wed" run "$1" --state '{"name": "Ada"}' | grep -q 'Hello, Ada!'
}

rust_sdk() {
  local crate
  hello rust
  for crate in "$packages"/wedflow-guest*-"$version".crate; do tar -xzf "$crate" -C "$hello/.."; done
  sed -i "s#^wedflow-guest = .*#wedflow-guest = \"$version\"#" "$hello/Cargo.toml"
  # As if both were at the registry.
  cat >>"$hello/Cargo.toml" <<END

[patch.crates-io]
wedflow-guest = { path = "../wedflow-guest-$version" }
wedflow-guest-macros = { path = "../wedflow-guest-macros-$version" }
END
  (cd "$hello" && cargo build --quiet --release --target wasm32-wasip2 --target-dir "$hello/target") || return
  greets "$hello/target/wasm32-wasip2/release/hello.wasm"
}

c_sdk() {
  command -v clang >/dev/null && command -v wasm-ld >/dev/null || { skipped "clang or lld is not here"; return; }
  hello c
  tar -xzf "$packages/wedflow-c-$version.tar.gz" -C "$hello"
  (cd "$hello" && clang --target=wasm32 -O2 -nostdlib -I"wedflow-c-$version/include" -Wl,--no-entry -Wl,--stack-first \
    -Wl,-z,stack-size=65536 -o hello.core.wasm src/*.c && "$roots/tarball/bin/wed" --quiet component encode hello.core.wasm -o hello.wasm) || return
  greets "$hello/hello.wasm"
}

go_sdk() {
  local go module=github.com/wedflow/wedflow/guest-sdk/go
  go=$(command -v go || echo /usr/local/go/bin/go)
  "$go" version >/dev/null 2>&1 || { skipped "Go is not here"; return; }
  hello go
  # A folder that answers like the proxy of modules.
  local proxy=$roots/go-proxy/$module/@v
  mkdir -p "$proxy"
  cp "$packages/wedflow-go-$version.zip" "$proxy/v$version.zip"
  cp guest-sdk/go/go.mod "$proxy/v$version.mod"
  printf '{"Version":"v%s"}' "$version" >"$proxy/v$version.info"
  (cd "$hello" && export GOPROXY="file://$roots/go-proxy" GONOSUMDB='*' GONOSUMCHECK=1 GOFLAGS=-mod=mod GOMODCACHE="$roots/go-cache" &&
    "$go" mod edit -dropreplace "$module" -require "$module@v$version" &&
    GOOS=wasip1 GOARCH=wasm "$go" build -buildmode=c-shared -o hello.core.wasm . &&
    "$go" clean -modcache &&
    "$roots/tarball/bin/wed" --quiet component encode hello.core.wasm -o hello.wasm) || return
  greets "$hello/hello.wasm"
}

python_sdk() {
  hello python
  python3 -m venv "$hello/.venv" || return
  "$hello/.venv/bin/pip" install --quiet --disable-pip-version-check "$packages/wedflow-$version-py3-none-any.whl[build]" || return
  (cd "$hello" && .venv/bin/python -m wedflow.build --quiet . --output hello.wasm) || return
  greets "$hello/hello.wasm"
}

javascript_sdk() {
  hello js
  (cd "$hello" && npm pkg set "dependencies[@wedflow/guest]=file:$packages/wedflow-guest-$version.tgz" &&
    npm install --silent --no-audit --no-fund && npx --no-install wedflow-build --quiet --output hello.wasm) || return
  greets "$hello/hello.wasm"
}

step "Tarball in an empty folder: wed demo paper" tarball
step "Wheel in a venv: wed demo paper" wheel
step "npm packages in a prefix: wed demo paper" npm_prefix
if [[ $quick != quick ]]; then
  step "Debian package in an empty root: wed demo paper" debian
  step "Container on a read-only root: wed demo paper, health" container
  step "SDK for C: a transition" c_sdk
  step "SDK for Rust: a transition" rust_sdk
  step "SDK for Go: a transition" go_sdk
  step "SDK for Python: a transition" python_sdk
  step "SDK for JavaScript: a transition" javascript_sdk
fi
summary

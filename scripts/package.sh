#!/usr/bin/env bash
# Builds every package into target/package: `package.sh` all of them, `package.sh binary` those that only carry the
# program (tarball, Debian package, wheel, npm packages). `package.sh all PROGRAM` packs a ready program and compiles
# none. `package-test.sh` installs the packages into empty roots.
# A function that `step` runs does not end at its first failure by itself: hence `|| return`.
source "$(dirname "$0")/lib.sh"

only=${1:-all}
if [[ -n ${2:-} ]]; then wed=$(realpath "$2"); else scripts/build.sh; fi

version=$(awk -F '"' '/^version/ { print $2; exit }' Cargo.toml)
machine=$(uname -m)
case $machine in
  x86_64) architecture=amd64 cpu=x64 ;;
  aarch64) architecture=arm64 cpu=arm64 ;;
  *) fail "there is no package for $machine yet" ;;
esac
out=$PWD/$target/package
work=$PWD/$target/package-work
rm -rf "$out" "$work"
mkdir -p "$out" "$work"
# Packages of one commit are the same bytes.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
export SOURCE_DATE_EPOCH
# The newest symbol of glibc that the program needs says where it runs.
glibc=$(objdump -T "$wed" | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -n 1 | cut -d _ -f 2)

filled() { # filled FILE NAME=VALUE...: the file with @NAME@ replaced
  local text name
  text=$(<"$1")
  shift
  for name in "$@"; do text=${text//@${name%%=*}@/${name#*=}}; done
  printf '%s\n' "$text"
}

packed() { # packed ARCHIVE FOLDER: a folder of $work as an archive
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$work" -cf - "$2" | gzip -n9 >"$out/$1"
}

# The program with its licences, manual pages and completions, as other packages take them from.
files() {
  local root=$work/wedflow-$version-linux-$machine
  mkdir -p "$root"/{bin,man/man1,completions}
  install -m 755 "$wed" "$root/bin/wed"
  strip --strip-unneeded "$root/bin/wed"
  cp LICENSE-MIT LICENSE-APACHE CHANGELOG.md "$root/"
  "$root/bin/wed" --quiet manual "$root/man/man1"
  "$root/bin/wed" completions bash >"$root/completions/wed.bash"
  "$root/bin/wed" completions zsh >"$root/completions/_wed"
  "$root/bin/wed" completions fish >"$root/completions/wed.fish"
  cat >"$root/README" <<END
wed $version. Copy bin/wed into a folder of your PATH, then: wed demo paper
\`wed explain first-flow\` continues; \`wed completions --help\` tells how a shell completes.
END
  bundle=$root
}

tarball() {
  packed "wedflow-$version-linux-$machine.tar.gz" "wedflow-$version-linux-$machine"
}

bill_of_materials() {
  tool cargo-cyclonedx 0.5.9 || return
  # The tool writes next to each manifest.
  "$tools/bin/cargo-cyclonedx" cyclonedx --quiet --manifest-path host/cli/Cargo.toml --format json --spec-version 1.5 \
    --override-filename wed.cdx --no-build-deps || return
  cp host/cli/wed.cdx.json "$out/wedflow-$version.cdx.json"
  find . -name wed.cdx.json -not -path './target/*' -delete
  python_tools python "${package_tools[@]}" || return
  "$tools/python/bin/python" scripts/bill.py "$out/wedflow-$version.cdx.json" wasmtime sqlx
}

debian() {
  local root=$work/debian
  mkdir -p "$root"/DEBIAN "$root"/usr/bin "$root"/usr/lib/systemd/system "$root"/etc/wedflow \
    "$root"/usr/share/doc/wedflow "$root"/usr/share/man/man1 "$root"/usr/share/bash-completion/completions \
    "$root"/usr/share/zsh/vendor-completions "$root"/usr/share/fish/vendor_completions.d
  install -m 755 "$bundle/bin/wed" "$root/usr/bin/wed"
  install -m 644 packaging/debian/wedflow.service "$root/usr/lib/systemd/system/"
  install -m 640 packaging/debian/wedflow.env "$root/etc/wedflow/"
  install -m 644 LICENSE-MIT LICENSE-APACHE packaging/debian/copyright "$root/usr/share/doc/wedflow/"
  gzip -n9 <CHANGELOG.md >"$root/usr/share/doc/wedflow/changelog.gz"
  for page in "$bundle"/man/man1/*; do gzip -n9 <"$page" >"$root/usr/share/man/man1/${page##*/}.gz"; done
  install -m 644 "$bundle/completions/wed.bash" "$root/usr/share/bash-completion/completions/wed"
  install -m 644 "$bundle/completions/_wed" "$root/usr/share/zsh/vendor-completions/_wed"
  install -m 644 "$bundle/completions/wed.fish" "$root/usr/share/fish/vendor_completions.d/wed.fish"
  filled packaging/debian/control.in VERSION="$version" ARCHITECTURE="$architecture" GLIBC="$glibc" \
    SIZE="$(du -sk --apparent-size "$root/usr" | cut -f 1)" >"$root/DEBIAN/control"
  echo /etc/wedflow/wedflow.env >"$root/DEBIAN/conffiles"
  install -m 755 packaging/debian/{postinst,prerm,postrm} "$root/DEBIAN/"
  (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
  dpkg-deb --root-owner-group -Zgzip --build "$root" "$out/wedflow_${version}_$architecture.deb" >/dev/null
}

# A wheel with the Python SDK and the program. The SDK's own wheel, for all platforms, has the same name: pip takes this
# one where it fits.
wheel() {
  local root=$work/wheel info
  info=$root/wedflow-$version.dist-info
  mkdir -p "$root/wedflow-$version.data/scripts" "$info"
  cp -rL guest-sdk/python/wedflow "$root/wedflow" || return
  find "$root" -name __pycache__ -prune -exec rm -rf {} +
  install -m 755 "$bundle/bin/wed" "$root/wedflow-$version.data/scripts/wed"
  { filled packaging/python/METADATA.in VERSION="$version" && echo && cat guest-sdk/python/README.md; } >"$info/METADATA"
  cat >"$info/WHEEL" <<END
Wheel-Version: 1.0
Generator: wedflow
Root-Is-Purelib: false
Tag: py3-none-manylinux_${glibc/./_}_$machine
END
  cp LICENSE-MIT LICENSE-APACHE "$info/"
  python_tools python "${package_tools[@]}" || return
  "$tools/python/bin/python" -m wheel pack "$root" --dest-dir "$out" >/dev/null
}

npm_packages() {
  local root=$work/npm platform=linux-$cpu
  mkdir -p "$root/wedflow/bin" "$root/platform/bin"
  filled packaging/npm/package.json.in VERSION="$version" PLATFORM="$platform" >"$root/wedflow/package.json"
  filled packaging/npm/platform.json.in VERSION="$version" PLATFORM="$platform" CPU="$cpu" >"$root/platform/package.json"
  install -m 755 packaging/npm/bin/wed.js "$root/wedflow/bin/"
  install -m 755 "$bundle/bin/wed" "$root/platform/bin/"
  cp LICENSE-MIT LICENSE-APACHE "$root/wedflow/"
  cp LICENSE-MIT LICENSE-APACHE "$root/platform/"
  npm pack --silent --pack-destination "$out" "$root/wedflow" "$root/platform" >/dev/null
}

sdks() {
  (cd guest-sdk/rust && cargo package --quiet --locked --allow-dirty --no-verify --exclude with-std --workspace --target-dir target) ||
    return
  cp guest-sdk/rust/target/package/wedflow-guest*-"$version".crate "$out/" || return
  python_tools python "${package_tools[@]}" || return
  mkdir -p "$work/python-sdk"
  cp -rL guest-sdk/python/{wedflow,pyproject.toml,README.md} LICENSE-MIT LICENSE-APACHE "$work/python-sdk/" || return
  # A project's own copy of the SDK has no such page.
  sed -i 's/^version = .*/&\nreadme = "README.md"/' "$work/python-sdk/pyproject.toml"
  "$tools/python/bin/python" -m build --outdir "$out" "$work/python-sdk" >/dev/null || return
  "$tools/python/bin/twine" check --strict "$out"/*.whl "$out/wedflow-$version.tar.gz" || return
  mkdir -p "$work/js-sdk"
  cp -rL guest-sdk/js/{src,bin,package.json,README.md,transition.wit} LICENSE-MIT LICENSE-APACHE "$work/js-sdk/" || return
  npm pack --silent --pack-destination "$out" "$work/js-sdk" >/dev/null || return
  mkdir -p "$work/wedflow-c-$version"
  cp -r guest-sdk/c/include guest-sdk/c/README.md LICENSE-MIT LICENSE-APACHE "$work/wedflow-c-$version/"
  packed "wedflow-c-$version.tar.gz" "wedflow-c-$version" || return
  # Published by the tag guest-sdk/go/v$version: the proxy of modules makes this archive of the repository.
  python3 scripts/go-module.py guest-sdk/go github.com/wedflow/wedflow/guest-sdk/go "v$version" "$out/wedflow-go-$version.zip"
}

checksums() {
  (cd "$out" && sha256sum -- * >SHA256SUMS)
}

files
step "Tarball" tarball
step "Debian package" debian
step "Python wheel with the program" wheel
step "npm packages with the program" npm_packages
if [[ $only != binary ]]; then
  step "SDK packages" sdks
  step "Bill of materials (CycloneDX)" bill_of_materials
fi
checksums
rm -rf "$work"
say ""
(cd "$out" && ls -l | awk 'NR > 1 { printf "%12d  %s\n", $5, $9 }')
say "The packages of wed $("$wed" --version | cut -d ' ' -f 2-) are in $target/package."

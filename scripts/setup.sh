#!/usr/bin/env bash
# Installs what this machine lacks: `setup.sh build` for the program and the samples, `setup.sh guests` for
# transitions in Python and JavaScript besides, `setup.sh test` for the tests as well. Says nothing to
# install when nothing is missing.
source "$(dirname "$0")/lib.sh"

level=${1:-build}
[[ $level == build || $level == guests || $level == test ]] || fail "usage: scripts/setup.sh build|guests|test"

# ---- Rust ------------------------------------------------------------------------------------------

rust_needed=$(awk -F '"' '/^rust-version/ { print $2; exit }' Cargo.toml)
command -v cargo >/dev/null || fail "Rust is missing. Install its stable toolchain with rustup: https://rustup.rs"
rust_found=$(rustc --version | awk '{ print $2 }')
if [[ $(printf '%s\n' "$rust_needed" "${rust_found%%-*}" | sort -V | head -n 1) != "$rust_needed" ]]; then
  fail "Rust $rust_found is too old; $rust_needed or later is needed. Run: rustup update stable"
fi

# ---- System packages -------------------------------------------------------------------------------

packages=()
need() { packages+=("$1"); }
any_file() { compgen -G "$1" >/dev/null; }

command -v gcc >/dev/null || command -v cc >/dev/null || need gcc
[[ -e /usr/include/stdio.h ]] || need libc6-dev
# The SQL grammar is C; its bindings are made with libclang when it is built. libclang needs clang's headers.
has_libclang() {
  [[ -n "${LIBCLANG_PATH:-}" ]] && return
  { any_file '/usr/lib/llvm-*/lib/libclang*.so*' || any_file '/usr/lib/*/libclang*.so*' || any_file '/usr/lib*/libclang*.so*'; } &&
    { any_file '/usr/lib/llvm-*/lib/clang/*/include/stddef.h' || any_file '/usr/lib*/clang/*/include/stddef.h'; }
}
has_libclang || need libclang-dev
any_file '/etc/ssl/certs/ca-certificates.crt' || any_file '/etc/ssl/cert.pem' ||
  any_file '/etc/pki/tls/certs/*' || [[ -n "${SSL_CERT_FILE:-}" ]] || need ca-certificates
command -v psql >/dev/null || need postgresql-client
if [[ $level != build ]]; then
  if [[ ! -x .venv/bin/python || ! -x guest-sdk/python/.venv/bin/python ]]; then
    command -v python3 >/dev/null || need python3
    python3 -c 'import ensurepip, venv' 2>/dev/null || need python3-venv
  fi
  command -v tmux >/dev/null || need tmux
  command -v node >/dev/null || need nodejs
  command -v npm >/dev/null || need npm
  command -v clang >/dev/null || need clang
  command -v wasm-ld >/dev/null || need lld
  # The console's pages are opened in it.
  [[ $level != test ]] || command -v chromium >/dev/null || need chromium
  # Processes and their children.
  [[ $level != test ]] || command -v pgrep >/dev/null || need procps
  # Faults of clocks.
  [[ $level != test ]] || command -v faketime >/dev/null || need faketime
  # Counts of instructions.
  [[ $level != test ]] || command -v valgrind >/dev/null || need valgrind
fi

install_packages() {
  local log command=(apt-get install -y --no-install-recommends "${packages[@]}")
  if ! command -v apt-get >/dev/null; then
    fail "these are missing (by their Debian names): ${packages[*]}. Install them with your system's package manager."
  fi
  local as_root=()
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      fail "system packages are missing, and this user is not root. As root, run: apt-get update && ${command[*]}"
    fi
    as_root=(sudo)
    if ! sudo -n true 2>/dev/null; then
      [[ -t 0 ]] || fail "system packages are missing, and sudo asks for a password. Run: sudo apt-get update && sudo ${command[*]}"
      say "sudo may ask for your password."
    fi
  fi
  say "Installing the system packages ${packages[*]}"
  log=$(mktemp)
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive)
  if ! "${apt[@]}" "${command[@]}" >"$log" 2>&1; then
    say "Reading the list of packages anew"
    if ! { "${apt[@]}" apt-get update && "${apt[@]}" "${command[@]}"; } >"$log" 2>&1; then
      tail -n 20 "$log" >&2
      rm -f "$log"
      fail "the packages could not be installed. Try: ${as_root[*]} apt-get update && ${as_root[*]} ${command[*]}"
    fi
  fi
  rm -f "$log"
}
((${#packages[@]} == 0)) || install_packages

# ---- What rustup installs --------------------------------------------------------------------------

wasm=wasm32-wasip2
has_target() { [[ -d "$(rustc --print sysroot)/lib/rustlib/$wasm" ]]; }
if ! has_target; then
  command -v rustup >/dev/null || fail "the Rust target $wasm is missing, and so is rustup, which would install it"
  say "Installing the Rust target $wasm"
  rustup target add "$wasm"
fi
if [[ $level == test ]]; then
  # rustup puts a stand-in for each into the path; only one that answers is there.
  for component in rustfmt clippy; do
    if ! "cargo-${component/rust/}" --version >/dev/null 2>&1; then
      command -v rustup >/dev/null || fail "$component is missing, and so is rustup, which would install it"
      say "Installing the Rust component $component"
      rustup component add "$component"
    fi
  done
fi

# ---- The tests' Python -----------------------------------------------------------------------------

if [[ $level == test ]] && ! cmp -s scripts/requirements.txt .venv/requirements.txt; then
  say "Making .venv with what scripts/requirements.txt lists"
  [[ -x .venv/bin/python ]] || python3 -m venv .venv
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -r scripts/requirements.txt
  cp scripts/requirements.txt .venv/requirements.txt
fi

# ---- Transitions in Python and JavaScript ----------------------------------------------------------

if [[ $level != build ]]; then
  python=guest-sdk/python
  if ! cmp -s $python/requirements.txt $python/.venv/requirements.txt; then
    say "Making $python/.venv with what $python/requirements.txt lists"
    [[ -x $python/.venv/bin/python ]] || python3 -m venv $python/.venv
    $python/.venv/bin/python -m pip install --quiet --disable-pip-version-check -r $python/requirements.txt
    cp $python/requirements.txt $python/.venv/requirements.txt
  fi
  folders=(guest-sdk/js)
  [[ $level != test ]] || folders+=(tests/browser)
  for js in "${folders[@]}"; do
    cmp -s $js/package-lock.json $js/node_modules/.wedflow-lock.json && continue
    say "Installing what $js/package-lock.json lists"
    npm ci --prefix $js --no-fund --no-audit --loglevel=error
    cp $js/package-lock.json $js/node_modules/.wedflow-lock.json
  done
fi

# Debian's Go is too old for `go:wasmexport`, so it is not installed, only missed.
if [[ $level != build ]]; then
  go=$(command -v go || echo /usr/local/go/bin/go)
  go_found=$("$go" env GOVERSION 2>/dev/null || true)
  if [[ -z $go_found || $(printf '%s\n' go1.24 "$go_found" | sort -V | head -n 1) != go1.24 ]]; then
    say "Go 1.24 or later is not here; what is written in Go is left out. Get it from https://go.dev/dl"
  fi
fi

say "Everything that is needed is here: Rust $rust_found with $wasm, $(psql --version)"

#!/usr/bin/env bash
# Builds the components of the sample `order`, each by its own language's tool, into
# sample-transitions/order/dist. A language that is missing is skipped with a word; with --all that fails.
source "$(dirname "$0")/lib.sh"

demanded=${1:-}
sample=sample-transitions/order
out=$PWD/$sample/dist
mkdir -p "$out"
skipped=()
skip() { skipped+=("$1"); say "skipped: $1 ($2)"; }

encodes() { "$wed" component encode --help >/dev/null 2>&1; }

rust() {
  (cd sample-transitions && cargo build --release --locked --quiet --target wasm32-wasip2 --target-dir target \
    -p order_validate) &&
    cp sample-transitions/target/wasm32-wasip2/release/order_validate.wasm "$out/"
}

go_step() {
  local go core
  go=$(command -v go || echo /usr/local/go/bin/go)
  "$go" version >/dev/null 2>&1 || { skip Go "Go 1.24 or later is missing"; return; }
  encodes || { skip Go "this wed has no \`component encode\`"; return; }
  core=$(mktemp)
  (cd "$sample/reserve" && GOOS=wasip1 GOARCH=wasm "$go" build -buildmode=c-shared -ldflags='-s -w' -o "$core" .) &&
    "$wed" component encode "$core" --output "$out/order_reserve.wasm"
  local status=$?
  rm -f "$core"
  return $status
}

python_step() {
  local python=guest-sdk/python/.venv/bin/python
  "$python" -c 'import componentize_py' 2>/dev/null || { skip Python "componentize-py is missing; scripts/setup.sh guests installs it"; return; }
  PYTHONPATH=guest-sdk/python "$python" -m wedflow.build "$sample/charge" --quiet --output "$out/order_charge.wasm"
}

javascript() {
  command -v node >/dev/null || { skip JavaScript "Node 18 or later is missing"; return; }
  [[ -d guest-sdk/js/node_modules ]] || { skip JavaScript "the packages of guest-sdk/js are missing; scripts/setup.sh guests installs them"; return; }
  node guest-sdk/js/bin/wedflow-build.js "$sample/ship" --quiet --output "$out/order_ship.wasm"
}

c_step() {
  local core
  { clang --version && wasm-ld --version; } >/dev/null 2>&1 || { skip C "clang or lld is missing"; return; }
  encodes || { skip C "this wed has no \`component encode\`"; return; }
  core=$(mktemp)
  clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -Wl,-z,stack-size=65536 -I guest-sdk/c/include \
    -o "$core" "$sample/notify/notify.c" &&
    "$wed" component encode "$core" --output "$out/order_notify.wasm"
  local status=$?
  rm -f "$core"
  return $status
}

for language in rust go_step python_step javascript c_step; do
  "$language" || fail "the sample's step in ${language%_step} does not build"
done
if ((${#skipped[@]})); then
  say "wed demo order needs every step. Missing: ${skipped[*]}."
  [[ $demanded != --all ]] || exit 1
fi

# What the scripts share; to be sourced. It goes to the root of the repository.
# shellcheck shell=bash

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ -t 1 && -z "${NO_COLOR:-}" ]]; then
  bold=$'\e[1m' green=$'\e[32m' red=$'\e[31m' plain=$'\e[0m'
else
  bold='' green='' red='' plain=''
fi

# Without rustup's line in the profile, its programs are here.
if ! command -v cargo >/dev/null && [[ -x "$HOME/.cargo/bin/cargo" ]]; then
  PATH="$HOME/.cargo/bin:$PATH"
fi

target="${CARGO_TARGET_DIR:-target}"
wed="$target/release/wed"
bench="$target/release/wed-bench"

# The program says of which commit it is: `wed --version`.
WED_COMMIT=${WED_COMMIT-$(git describe --always --dirty --exclude '*' 2>/dev/null || true)}
export WED_COMMIT

say() { printf '%s\n' "$*"; }

fail() {
  printf '%serror:%s %s\n' "$red" "$plain" "$*" >&2
  exit 1
}

# step TITLE COMMAND...: names the step, runs it, prints its time; ends the script on a failure. With steps_total set, a
# step is numbered: [2/4].
steps=()
step() {
  local title=$1 begun=${EPOCHREALTIME/,/.} status=0 took
  shift
  printf '\n%s==> %s%s%s\n' "$bold" "${steps_total:+[$((${#steps[@]} + 1))/$steps_total] }" "$title" "$plain"
  "$@" || status=$?
  took=$(awk -v a="$begun" -v b="${EPOCHREALTIME/,/.}" 'BEGIN { printf "%.1f s", b - a }')
  if ((status != 0)); then
    printf '%s==> FAILED after %s: %s%s\n' "$red" "$took" "$title" "$plain" >&2
    exit "$status"
  fi
  printf '%s    done in %s%s\n' "$green" "$took" "$plain"
  steps+=("$(printf '%10s  %s' "$took" "$title")")
}

# The steps so far and what each took.
summary() {
  printf '\n%sTime taken%s\n' "$bold" "$plain"
  printf '%s\n' "${steps[@]}"
}

# watched COMMAND...: runs a long build and says every 30 s how far it is. On a terminal cargo's own bar does so.
watched() {
  local begun=$SECONDS status=0 heart=
  if [[ ! -t 2 ]]; then
    while sleep 30; do
      # Cargo makes a folder for each unit when it begins, and writes a file of JSON there when the unit is compiled.
      printf '    %d min %02d s, %d of %d units compiled\n' $(((SECONDS - begun) / 60)) $(((SECONDS - begun) % 60)) \
        "$(find "$target/release/.fingerprint" -name '*.json' 2>/dev/null | wc -l)" \
        "$(find "$target/release/.fingerprint" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)"
    done &
    heart=$!
  fi
  "$@" || status=$?
  [[ -z $heart ]] || kill "$heart" 2>/dev/null || true
  return $status
}

# Builds wed with the features that its dependencies have in the tests, so that a demo and the tests share
# one build: naming one test among the targets has that effect. `--package wedflow-cli` would compile
# wasmtime a second time.
build_wed() {
  cargo build --release --locked --workspace --bin wed --test lifecycle
}

# build_sample NAME: builds one sample's component, where `wed demo` looks for it.
build_sample() {
  (cd sample-transitions && cargo build --release --locked --target wasm32-wasip2 --target-dir target -p "$1")
}

# Builds wed-bench with the same features, so that its dependencies are wed's.
build_bench() {
  cargo build --release --locked --workspace --bin wed --bin wed-bench --test lifecycle
}

# Programs of registries that scripts use, each once for all commits.
tools="${XDG_CACHE_HOME:-$HOME/.cache}/wedflow/tools"

# tool CRATE VERSION: installs a program from crates.io into $tools unless that version is there.
tool() {
  [[ -f $tools/$1-$2 ]] && return
  say "Building $1 $2"
  cargo install --quiet --locked --root "$tools" "$1" --version "$2" --target-dir "$tools/target" && touch "$tools/$1-$2"
}

# Programs of PyPI that make and check packages.
package_tools=(build==1.3.0 wheel==0.45.1 twine==6.2.0 'cyclonedx-python-lib[json-validation]==11.12.0')

# python_tools NAME PACKAGE...: installs packages of PyPI into $tools/NAME unless these are there.
python_tools() {
  local folder=$tools/$1
  shift
  [[ "$(cat "$folder/ready" 2>/dev/null)" == "$*" ]] && return
  python3 -m venv "$folder" || return
  "$folder/bin/pip" install --quiet --disable-pip-version-check "$@" && printf '%s\n' "$*" >"$folder/ready"
}

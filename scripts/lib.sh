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

say() { printf '%s\n' "$*"; }

fail() {
  printf '%serror:%s %s\n' "$red" "$plain" "$*" >&2
  exit 1
}

# step TITLE COMMAND...: says what is done, does it, says how long it took; ends the script on a failure.
steps=()
step() {
  local title=$1 begun=${EPOCHREALTIME/,/.} status=0 took
  shift
  printf '\n%s==> %s%s\n' "$bold" "$title" "$plain"
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

# Builds wed with the features that its dependencies have in the tests, so that a demo and the tests share
# one build: naming one test among the targets has that effect. `--package wedflow-cli` would compile
# wasmtime a second time.
build_wed() {
  cargo build --release --locked --workspace --bin wed --test lifecycle
}

# Builds wed-bench with the same features, so that its dependencies are wed's.
build_bench() {
  cargo build --release --locked --workspace --bin wed --bin wed-bench --test lifecycle
}

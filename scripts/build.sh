#!/usr/bin/env bash
# Builds `wed` and the sample transitions; `build.sh samples` the samples only.
source "$(dirname "$0")/lib.sh"

scripts/setup.sh build

samples() {
  # Always in their own folder: that is where `wed demo` looks for them. And from there, where cargo finds the
  # settings of `.cargo/config.toml`.
  (cd sample-transitions && cargo build --release --locked --target wasm32-wasip2 --target-dir target)
}

step "Building the sample transitions for wasm32-wasip2" samples
if [[ ${1:-} != samples ]]; then
  [[ -x $wed ]] || say "The first build compiles a WebAssembly compiler and Postgres's grammar: about ten minutes on two cores."
  step "Building wed" watched build_wed
fi

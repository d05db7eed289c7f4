#!/usr/bin/env bash
# From a clone to the trace of the papers' flow.
source "$(dirname "$0")/lib.sh"

steps_total=4
step "Checking what the machine needs" scripts/setup.sh build
step "Building the sample of the demo for wasm32-wasip2" build_sample paper
[[ -x $wed ]] || say "The first build compiles a WebAssembly compiler and Postgres's grammar: about ten minutes on two cores."
step "Building wed" watched build_wed
step "Running the papers' flow: wed demo paper" "$wed" demo paper

cat <<END

${bold}wed${plain} is at $wed. To call it by its name:
  export PATH="$(realpath "$(dirname "$wed")"):\$PATH"

README.md continues from here: a flow of your own in a minute.
END
if [[ -z "${DATABASE_URL:-}" ]]; then
  say "The private Postgres keeps running for the next command; stop it with: wed db stop"
fi

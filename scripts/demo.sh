#!/usr/bin/env bash
# From a clone to the trace of the papers' flow.
source "$(dirname "$0")/lib.sh"

scripts/build.sh

step "Running the papers' flow: wed demo paper" "$wed" demo paper

cat <<END

${bold}wed${plain} is at $wed. To call it by its name:
  export PATH="$(realpath "$(dirname "$wed")"):\$PATH"

README.md goes on from here: a flow of your own in a minute.
END
if [[ -z "${DATABASE_URL:-}" ]]; then
  say "The private Postgres goes on running for the next command; stop it with: wed db stop"
fi

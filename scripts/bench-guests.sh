#!/usr/bin/env bash
# Measures the conformance guest in every language and writes the table into docs/guide/guests.md.
source "$(dirname "$0")/lib.sh"

scripts/setup.sh guests
step "Building" cargo test --release --locked --workspace --test conformance --no-run
step "Measuring a call in every language" env WEDFLOW_MEASURE=docs/guide/guests.md \
  cargo test --release --locked --workspace --test conformance -- --nocapture

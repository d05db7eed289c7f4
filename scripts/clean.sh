#!/usr/bin/env bash
# Removes what was built. The private Postgres and its data stay.
source "$(dirname "$0")/lib.sh"

cargo clean
for workspace in guest-sdk/rust sample-transitions tests/guests; do
  cargo clean --manifest-path "$workspace/Cargo.toml" --target-dir "$workspace/target"
done
rm -rf .venv
rm -rf guest-sdk/python/.venv guest-sdk/js/node_modules sample-transitions/order/dist

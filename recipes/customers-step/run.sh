#!/usr/bin/env bash
# A customer of a hosted installation runs code of their own within limits that the operator sets.
source "$(dirname "$0")/../lib.sh"

export WEDFLOW_TENANT=recipe-acme
# refused COMMAND...: runs what a limit refuses, and prints why.
refused() {
  local code=0
  "$@" >/dev/null 2>"$folder/refusal" || code=$?
  cat "$folder/refusal"
  expect "the exit code" "$code" 4
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

say "The operator makes a tenant with limits"
"$wed" --tenant default --quiet tenant create recipe-acme
"$wed" --tenant default --quiet tenant quota recipe-acme --flows 1 --instances 2 --components 3 --fuel-per-minute 100000000

say "The customer's component does the steps of the customer's flow, in a sandbox of its own"
# The sample `paper` stands for it; `wed new transition` begins one in Rust, Python, JavaScript, Go or C.
"$wed" --quiet demo paper

say "A second flow, and a third instance that has not ended, are refused"
printf 'name = "second"\nfinal = "false"\n[[attribute]]\nname = "a"\n' >"$folder/second.toml"
refused "$wed" flow apply "$folder/second.toml"
start paper >/dev/null
start paper >/dev/null
refused "$wed" instance start paper

say "The operator sees what the customer uses of each limit"
"$wed" tenant show recipe-acme | tee "$folder/limits"
grep -q instances "$folder/limits"

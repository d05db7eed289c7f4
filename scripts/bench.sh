#!/usr/bin/env bash
# Measures what a commit costs; more in docs/reference/benchmarks.md.
source "$(dirname "$0")/lib.sh"

scripts/build.sh
if "$wed" bench --help >/dev/null 2>&1; then
  step "Measuring commits: wed bench commit" "$wed" bench commit
else
  say "This version of wed has no benchmark of its own."
fi

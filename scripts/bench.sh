#!/usr/bin/env bash
# Measures what a commit costs: `bench.sh [commit|growth|fairness|steps] [OPTIONS]`; more in docs/reference/benchmarks.md.
# The result of `commit` goes to bench/results/commit.json, of which `make reference` makes the page's table.
source "$(dirname "$0")/lib.sh"

scripts/build.sh samples
step "Building wed-bench" build_bench
if (($# > 0)); then
  exec "$bench" "$@"
fi
measure() {
  "$bench" commit --json >"$1" || return
  python3 - "$1" bench/results/commit.json <<'PYTHON'
import json, sys
document = json.load(open(sys.argv[1]))
with open(sys.argv[2], "w") as file:
    json.dump(document, file, indent=2)
    file.write("\n")
for row in document["rows"]:
    print(f"{row['name']:36}{row['per_s']:10.0f} a second ({row['low']:.0f} to {row['high']:.0f})")
PYTHON
}
raw=$(mktemp)
trap 'rm -f "$raw"' EXIT
step "Measuring commits: wed-bench commit" measure "$raw"
say "The raw result is in bench/results/commit.json; \`make reference\` writes it into docs/reference/benchmarks.md."

#!/usr/bin/env bash
# Three steps of work in other durable executors and in ours, on the same Postgres, interleaved, in several
# rounds. Needs node and npm, and DATABASE_URL (or takes the private Postgres); what is missing is left out
# with a word. Figures are in docs/reference/benchmarks.md.
source "$(dirname "$0")/lib.sh"

rounds=${ROUNDS:-3}
pieces=${PIECES:-5000}
scripts/build.sh
step "Building wed-bench" build_bench

url=${DATABASE_URL:-}
if [[ -z $url ]]; then
  url=$("$wed" --quiet db url)
fi
peers=bench/peers
names=()
if command -v node >/dev/null && command -v npm >/dev/null; then
  if (cd "$peers" && npm ci --no-audit --no-fund --silent); then
    names=(graphile-worker pg-boss dbos)
  else
    say "The other executors could not be installed; only ours is measured."
  fi
else
  say "node and npm are not here, so only ours is measured."
fi

results=$(mktemp)
trap 'rm -f "$results"' EXIT
scratch="wed_bench_peer_$$"
beside() { # the URL of another database of the same server
  python3 -c 'import sys, urllib.parse as u; p = u.urlsplit(sys.argv[1]); print(p._replace(path="/" + sys.argv[2]).geturl())' "$url" "$1"
}
for ((round = 1; round <= rounds; round++)); do
  say "Round $round of $rounds"
  "$bench" steps --instances $((pieces * 4)) --json | tr -d '\n' | sed "s/^/wedflow /; s/\$/\n/" >>"$results"
  for name in "${names[@]}"; do
    psql -qX "$url" -c "CREATE DATABASE $scratch"
    (cd "$peers" && node --no-deprecation steps.mjs "$name" "$(beside "$scratch")" "$pieces") | tail -n 1 | sed "s/^/$name /" >>"$results" ||
      say "$name failed"
    psql -qX "$url" -c "DROP DATABASE $scratch WITH (FORCE)"
  done
done
python3 - "$results" <<'PYTHON'
import collections, json, statistics, sys
rates = collections.defaultdict(list)
for line in open(sys.argv[1]):
    name, document = line.split(" ", 1)
    answer = json.loads(document)
    rates[name].append(answer["steps"] / answer["seconds"])
ours = statistics.median(rates["wedflow"])
print(f"{'':18}{'steps/s':>10}{'low':>10}{'high':>10}{'wedflow is':>14}")
for name, values in rates.items():
    middle = statistics.median(values)
    print(f"{name:18}{middle:10.0f}{min(values):10.0f}{max(values):10.0f}{ours / middle:11.1f} x")
PYTHON

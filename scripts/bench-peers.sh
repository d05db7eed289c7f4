#!/usr/bin/env bash
# Three steps of work in other durable executors and in ours, on the same Postgres, interleaved, in several
# rounds. Takes the server of DATABASE_URL or the private Postgres. The others need psql and node and npm, python3 or
# go; each that is missing is left out with a word. Writes RESULT, or bench/results/peers.json, which
# docs/reference/benchmarks.md explains.
source "$(dirname "$0")/lib.sh"

rounds=${ROUNDS:-3}
pieces=${PIECES:-5000}
peers=bench/peers
installed=$(realpath -m "$target")/peers
# Seconds that one executor may take for a round.
round_seconds_max=300
scripts/build.sh
step "Building wed-bench" build_bench

url=${DATABASE_URL:-}
if [[ -z $url ]]; then
  url=$("$wed" --quiet db url)
fi

python_peers() {
  python3 -m venv "$installed/python" &&
    "$installed/python/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$peers/requirements.txt"
}
node_peers() { (cd "$peers" && npm ci --no-audit --no-fund --silent); }
go_peers() { go build -C "$peers" -o "$installed/steps-go" .; }

# offer LANGUAGE PROGRAM NAME...: adds the executors of a language to `names` if its driver can be installed.
names=()
offer() {
  local language=$1 program=$2
  shift 2
  if ! command -v "$program" >/dev/null; then
    say "$program is not here, so it goes without $*."
  elif "${language}_peers"; then
    names+=("$@")
  else
    say "The driver in $language could not be installed, so it goes without $*."
  fi
}
offer node npm graphile-worker pg-boss dbos
offer python python3 awa
[[ " ${names[*]} " != *" dbos awa "* ]] || names+=(absurd) # from npm, its schema from PyPI
offer go go river

# steps NAME URL: measures one of the others.
steps() {
  local driver=(env PATH="$installed/python/bin:$PATH" node --no-deprecation "$peers/steps.mjs")
  case $1 in
    awa) driver=("$installed/python/bin/python" "$peers/steps.py") ;;
    river) driver=("$installed/steps-go") ;;
  esac
  timeout "$round_seconds_max" "${driver[@]}" "$1" "$2" "$pieces" | tail -n 1
}

results=$(mktemp)
trap 'rm -f "$results"' EXIT
scratch="wed_bench_peer_$$"
load=$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo null)
beside() { # the URL of another database of the same server
  python3 -c 'import sys, urllib.parse as u; p = u.urlsplit(sys.argv[1]); print(p._replace(path="/" + sys.argv[2]).geturl())' "$url" "$1"
}
# Milliseconds that the server takes to commit one row, alone: what an executor pays that writes each step by itself.
commit_ms() {
  psql -qX "$url" -c "CREATE TABLE $scratch (n integer)"
  local begun=${EPOCHREALTIME/,/.}
  for ((n = 0; n < 200; n++)); do echo "INSERT INTO $scratch VALUES ($n);"; done | psql -qX "$url"
  awk -v a="$begun" -v b="${EPOCHREALTIME/,/.}" 'BEGIN { printf "commit_ms %.2f\n", (b - a) * 1000 / 200 }'
  psql -qX "$url" -c "DROP TABLE $scratch"
}
for ((round = 1; round <= rounds; round++)); do
  say "Round $round of $rounds"
  commit_ms >>"$results"
  "$bench" steps --instances $((pieces * 4)) --json | tr -d '\n' | sed "s/^/wedflow /; s/\$/\n/" >>"$results"
  for name in "${names[@]}"; do
    psql -qX "$url" -c "CREATE DATABASE $scratch"
    line=$(steps "$name" "$(beside "$scratch")") && printf '%s %s\n' "$name" "$line" >>"$results" || say "$name failed"
    psql -qX "$url" -c "DROP DATABASE $scratch WITH (FORCE)"
  done
done
python3 - "$results" "${RESULT:-bench/results/peers.json}" "$load" "$WED_COMMIT" <<'PYTHON'
import collections, datetime, json, os, statistics, sys
raw, kept, load, commit = sys.argv[1:]
rates = collections.defaultdict(list)
commit_ms = []
for line in open(raw):
    name, document = line.split(" ", 1)
    answer = json.loads(document)
    if name == "commit_ms":
        commit_ms.append(answer)
        continue
    rates[name].append(round(answer["steps"] / answer["seconds"]))
ours = statistics.median(rates["wedflow"])
print(f"commit of one row: {statistics.median(commit_ms):.2f} ms")
rows = []
print(f"{'':18}{'steps/s':>10}{'low':>10}{'high':>10}{'of ours':>10}")
for name, values in rates.items():
    middle = statistics.median(values)
    print(f"{name:18}{middle:10.0f}{min(values):10.0f}{max(values):10.0f}{middle / ours:10.2f}")
    rows.append({"name": name, "steps_per_s": middle, "of_ours": round(middle / ours, 3), "rounds": values})
origin = {"date": datetime.datetime.now(datetime.UTC).date().isoformat(), "commit": commit,
          "cores": os.cpu_count(), "load": json.loads(load), "commit_ms": statistics.median(commit_ms)}
with open(kept, "w") as file:
    json.dump({**origin, "rows": rows}, file, indent=2)
    file.write("\n")
PYTHON

# What the recipes share; to be sourced. Each recipe plays itself to its end on the database that `wed` would use.
# shellcheck shell=bash

set -euo pipefail
wed=${WED:-wed}
command -v "$wed" >/dev/null || { echo "wed is not in the path; WED=/path/to/wed names it" >&2; exit 3; }
command -v psql >/dev/null || { echo "psql is missing: apt-get install postgresql-client" >&2; exit 3; }
here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)

say() { printf '\n== %s\n' "$*"; }

# start FLOW ATTRIBUTE=VALUE...: starts an instance; prints its number.
start() { "$wed" --json instance start "$@" | sed -n 's/.*"wid": *\([0-9]*\).*/\1/p'; }

# sql FLOW [OPTION...]: psql as the flow's own role, with a script on standard input.
sql() {
  local flow=$1
  shift
  psql -XqAt -v ON_ERROR_STOP=1 "$@" "$("$wed" flow url "$flow")"
}

# perform FLOW WID TRANSITION CLAUSE: does a job as any program with a Postgres connection does: lock, update, commit.
perform() {
  sql "$1" -v wid="$2" -v transition="$3" >/dev/null <<SQL
BEGIN;
SELECT wid, tgid FROM job_pool WHERE wid = :wid AND trname = :'transition' \gset
SELECT pg_try_advisory_xact_lock(:wid, :tgid);
UPDATE wed_flow SET $4 WHERE wid = :wid;
COMMIT;
SQL
}

# people ROLE NAME...: makes people of a role who are there: items are offered to whoever looks at the worklist.
people() {
  local role=$1 name
  shift
  for name in "$@"; do
    "$wed" --quiet work people --add "$name" --role "$role" >/dev/null
    "$wed" --quiet work --as "$name" list >/dev/null
  done
}

# item PERSON WID: the number of the item of an instance on somebody's worklist; nothing where there is none.
item() {
  "$wed" --json work --as "$1" list | python3 -c '
import json, sys
for item in json.load(sys.stdin):
    if item["wid"] == int(sys.argv[1]):
        print(item["item"])' "$2"
}

# serve LOG OPTION...: a host with the API in the background, by the number of its process in $host; its address in $api.
serve() {
  local log=$1
  shift
  : >"$log"
  "$wed" serve --name recipe --listen 127.0.0.1:0 "$@" 2>"$log" &
  host=$!
  until api=$(sed -n 's|.*the API is at \(http://[0-9.:]*\);.*|\1|p' "$log") && [[ -n $api ]]; do
    kill -0 "$host" 2>/dev/null || { cat "$log" >&2; return 1; }
    sleep 0.1
  done
}

# work PERSON WID [OPTION...]: selects and reports the item of an instance that is on somebody's worklist.
work() {
  local person=$1 number
  number=$(item "$person" "$2")
  shift 2
  "$wed" --quiet work --as "$person" select "$number" >/dev/null
  "$wed" --quiet work --as "$person" report "$number" "$@" >/dev/null
}

# status FLOW WID: F final, E exception, R neither.
status() { sql "$1" <<<"SELECT status FROM wed_trace WHERE wid = $2 ORDER BY seq DESC LIMIT 1"; }

# expect WHAT FOUND WANTED: ends the recipe where something is not as it says.
expect() { [[ $2 == "$3" ]] || { echo "$1: $2, not $3" >&2; exit 1; }; }

#!/usr/bin/env bash
# Measures the console over a large flow, alone on the machine: first paint of its pages in headless Chromium, and what
# pages with live parts cost the database's server. Prints medians with their spread.
#
# INSTANCES=1000000   instances of the flow
# PAGES=100           pages that are open at once
# SECONDS_OPEN=60     time for which they are watched
source "$(dirname "$0")/lib.sh"

folder=$(mktemp -d)
# The account of Postgres passes through it.
chmod o+x "$folder"
export WEDFLOW_HOME="$folder/home" WEDFLOW_CONFIG="$folder/config"
unset DATABASE_URL WEDFLOW_SERVER WEDFLOW_TOKEN WEDFLOW_CONTEXT
wed="$PWD/target/release/wed"
server=""
end() {
  [[ -z "$server" ]] || { kill "$server" && wait "$server"; } 2>/dev/null || true
  "$wed" --quiet db stop >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap end EXIT

cat >"$folder/flow.toml" <<'FLOW'
name = "orders"
final = "n >= 3"

[[attribute]]
name = "n"
type = "integer"
default = "0"

[[attribute]]
name = "item"
default = "tea"

[[trigger]]
name = "count"
when = "n < 3"
transition = "count"
FLOW

"$wed" --quiet db start >/dev/null
"$wed" --quiet migrate
"$wed" --quiet flow apply "$folder/flow.toml"
"$wed" --quiet tenant quota default --instances 100000000 --jobs 100000000 >/dev/null 2>&1 || true
count=${INSTANCES:-1000000}
say "making $count instances"
url=$("$wed" flow url orders)
for ((made = 0; made < count; made += 20000)); do
  echo "INSERT INTO wed_flow (n) SELECT g % 4 FROM generate_series(1, least(20000, $count - $made)) g;"
done | psql "$url" --quiet --set ON_ERROR_STOP=1
psql "$("$wed" db url)" --quiet -c 'VACUUM ANALYZE'
"$wed" --quiet user create ann --role admin
token=$("$wed" --json token create ann | python3 -c 'import json, sys; print(json.load(sys.stdin)["secret"])')
"$wed" serve --listen 127.0.0.1:0 --lanes 1 2>"$folder/log" &
server=$!
address=""
for _ in $(seq 300); do
  address=$(sed -n 's|.*the API is at http://\([^;]*\);.*|\1|p' "$folder/log")
  [[ -z "$address" ]] || break
  sleep 0.1
done
[[ -n "$address" ]] || fail "the server does not begin: $(cat "$folder/log")"
node tests/browser/paint.mjs "http://$address" "$token" "${PAGES:-100}" "${SECONDS_OPEN:-60}" \
  "$(head -1 "$WEDFLOW_HOME"/server/data/postmaster.pid)"

#!/usr/bin/env bash
# Follows the runbooks of docs/guide/clusters.md once, on a throw-away Postgres: serves a cluster, adds another one while
# the server runs, makes tenants, moves one while it works, and drains a cluster. Then follows that of a restore to a
# point in time (docs/guide/recovery.md). `make cluster-demo` follows those of docs/guide/cluster.md.
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

say() { printf '· %s\n' "$*"; }

# Serves all clusters; the address is in $address.
serve() {
  [[ -z "$server" ]] || { kill "$server" && wait "$server" || true; }
  "$wed" serve --listen 127.0.0.1:0 --lanes 1 2>"$folder/log" &
  server=$!
  for _ in $(seq 300); do
    address=$(sed -n 's|.*the API is at http://\([^;]*\);.*|\1|p' "$folder/log")
    [[ -z "$address" ]] || return 0
    sleep 0.1
  done
  fail "the server does not begin: $(cat "$folder/log")"
}

"$wed" --quiet db start >/dev/null
url=$("$wed" db url)
base=${url%/*}
export WEDFLOW_DIRECTORY="$base/directory"

# Waits until the server is ready with $1 clusters.
ready_with() {
  local ready
  for _ in $(seq 300); do
    ready=$(curl --silent "http://$address/health/ready" || true)
    [[ $(grep -o '"[a-z]*":true' <<<"${ready#*clusters}" | grep -cv '"\(ready\|writes\)"') != "$1" ]] || return 0
    sleep 0.1
  done
  fail "the server does not serve $1 clusters: $ready"
}

say "add a cluster"
"$wed" --quiet migrate --database-url "$base/one"
"$wed" cluster add one --url "$base/one"
serve
say "add another one, while the server runs"
"$wed" --quiet migrate --database-url "$base/two"
"$wed" cluster add two --url "$base/two"
ready_with 2
"$wed" cluster list
"$wed" status || true

say "make a tenant where there is room, and let it work"
"$wed" tenant create acme --cluster one
"$wed" --tenant acme flow apply sample-transitions/counters/flow.toml
"$wed" --tenant acme component push sample-transitions/target/wasm32-wasip2/release/counters.wasm --name counters
for _ in 1 2 3; do "$wed" --quiet --tenant acme instance start counters; done

say "move a tenant"
"$wed" tenant move acme --to-cluster two
"$wed" tenant delete acme --left-at one --yes

say "drain a cluster"
"$wed" cluster drain one
"$wed" tenant delete default --database-url "$base/two" --yes
"$wed" tenant move default --to-cluster two
"$wed" tenant delete default --left-at one --yes
"$wed" cluster delete one --yes
ready_with 1
"$wed" tenant list
"$wed" tenant create late
"$wed" tenant list

say "restore to a point in time"
scripts/restore-point.py

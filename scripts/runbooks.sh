#!/usr/bin/env bash
# Follows the runbooks of docs/guide/clusters.md once, on a throw-away Postgres: adds two clusters, serves both at one
# address, makes tenants, moves one while it works, and drains a cluster. `make cluster-demo` follows those of failovers.
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

say "add a cluster"
for name in one two; do
  "$wed" --quiet migrate --database-url "$base/$name"
  "$wed" cluster add "$name" --url "$base/$name"
done
serve
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
"$wed" tenant list
"$wed" tenant create late
"$wed" tenant list

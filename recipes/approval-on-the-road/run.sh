#!/usr/bin/env bash
# Eve locks an item, leaves, approves it without a connection, and sends her result on return.
source "$(dirname "$0")/../lib.sh"

folder=$(mktemp -d)
host=
finish() {
  [[ -z $host ]] || kill "$host" 2>/dev/null || true
  wait
  rm -rf "$folder"
}
trap finish EXIT

"$wed" --quiet flow apply "$here/flow.toml" >/dev/null
"$wed" --quiet work people --add eve --role Engineer >/dev/null
"$wed" --json user list | grep -q '"name": *"eve"' || "$wed" --quiet user create eve --role participant >/dev/null
token=$("$wed" --json token create eve --name "road-$$" | sed -n 's/.*"secret": *"\([^"]*\)".*/\1/p')
serve "$folder/log"

# away: `wed work` on Eve's machine, which knows a server and a token, and no database.
away() {
  env -u DATABASE_URL WEDFLOW_SERVER="$api" WEDFLOW_TOKEN="$token" WEDFLOW_WORK_STORE="$folder/store" \
    WEDFLOW_HOME="$folder/nothing" "$wed" --quiet work "$@"
}

say "Eve locks the item and leaves with what she needs for it"
away list >/dev/null
wid=$(start recipe-road machine=press cost=1200)
item=$(item eve "$wid")
away lock "$item"
away away --wait 60

say "The link is gone; she approves all the same"
kill "$host"
wait "$host" || true
host=
away do "$item" --set approved=true
away local
expect "the repair meanwhile" "$(status recipe-road "$wid")" R

say "Connected again, her result is sent: once, however often the link is cut"
serve "$folder/log2"
away return
"$wed" instance trace recipe-road "$wid"
expect "the repair" "$(status recipe-road "$wid")" F

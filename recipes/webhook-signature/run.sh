#!/usr/bin/env bash
# An exception is announced to a receiver, which checks who sent it before it believes a word.
source "$(dirname "$0")/../lib.sh"

folder=$(mktemp -d)
host=
receiver=
finish() {
  [[ -z $host ]] || kill "$host" 2>/dev/null || true
  [[ -z $receiver ]] || kill "$receiver" 2>/dev/null || true
  wait
  rm -rf "$folder"
}
trap finish EXIT

"$wed" --quiet flow apply "$here/flow.toml" >/dev/null
touch "$folder/secret"
python3 "$here/receive.py" "$folder/port" "$folder/secret" >"$folder/received" &
receiver=$!
until [[ -s $folder/port ]]; do sleep 0.1; done
place=127.0.0.1:$(<"$folder/port")

say "The webhook, and the secret by which its messages are signed"
"$wed" --json webhook set "http://$place/alarms" --flow recipe-alarm >"$folder/webhook"
sed -n 's/.*"secret": *"\([^"]*\)".*/\1/p' "$folder/webhook" >"$folder/secret"
[[ -s $folder/secret ]] || { cat "$folder/webhook"; exit 1; }

say "A host that may post there"
"$wed" --quiet serve --name recipe --allow-http "$place" 2>"$folder/log" &
host=$!

say "An instance that no condition fits any more is an exception, and is announced"
wid=$(start recipe-alarm work=new)
perform recipe-alarm "$wid" do "work = 'lost'"
expect "the instance" "$(status recipe-alarm "$wid")" E
wait "$receiver"
receiver=
cat "$folder/received"
expect "the message" "$(<"$folder/received")" "instance.exception: instance $wid of recipe-alarm"
"$wed" webhook remove "http://$place/alarms" --flow recipe-alarm

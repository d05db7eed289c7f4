#!/usr/bin/env bash
# Messages out and in: an exception is announced to a receiver, and a bank's message becomes an event of an instance.
# Whoever receives checks the signature before it believes a word.
source "$(dirname "$0")/../lib.sh"

folder=$(mktemp -d)
host=
receiver=
taker=
finish() {
  [[ -z $taker ]] || kill "$taker" 2>/dev/null || true
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

say "An order that waits for a message of the bank's"
"$wed" --quiet flow apply "$here/payment.toml" >/dev/null
wid=$(start recipe-payment customer=ann)
secret=whsec_$(head -c 24 /dev/urandom | base64)
echo "$secret" >"$folder/secret-of-the-bank"
WED=$wed python3 "$here/take.py" "$folder/port-in" "$folder/secret-of-the-bank" &
taker=$!
until [[ -s $folder/port-in ]]; do sleep 0.1; done
paid='{"wid":'$wid',"paid":4200}'
send() { python3 "$here/send.py" "$(<"$folder/port-in")" "$@" "$paid"; }
expect "a message by somebody else" "$(send whsec_c29tZWJvZHkgZWxzZSBzYXlzIHNv 0)" 401
expect "a message of yesterday" "$(send "$secret" 86400)" 401
expect "the bank's message" "$(send "$secret" 0)" 204

say "The event made a condition true; the order is booked"
# The reminder has no purpose any more. A host drops it when it looks at it; if none has, an operator does.
"$wed" --quiet instance skip recipe-payment "$wid" --transition remind --reason "paid" 2>/dev/null || true
perform recipe-payment "$wid" book 'booked = true'
"$wed" instance trace recipe-payment "$wid"
expect "the order" "$(status recipe-payment "$wid")" F

#!/usr/bin/env bash
# A model that is busy is asked again; what each call costs is counted, and no call is made beyond the budget.
source "$(dirname "$0")/../lib.sh"

folder=$(mktemp -d)
model=
finish() {
  [[ -z $model ]] || kill "$model" 2>/dev/null || true
  wait
  rm -rf "$folder"
}
trap finish EXIT

"$wed" --quiet flow apply "$here/flow.toml" >/dev/null
"$wed" --quiet flow resource set recipe-model call 2 --resource recipe-model-calls
python3 "$here/model.py" "$folder/port" &
model=$!
until [[ -s $folder/port ]]; do sleep 0.1; done

# The worker's call: the clause that a transition answers with.
clause() {
  python3 - "$(<"$folder/port")" "$1" <<'PYTHON'
import json, sys, urllib.error, urllib.request
port, question = sys.argv[1:]
try:
    answer = urllib.request.urlopen(f"http://127.0.0.1:{port}/", question.encode(), timeout=10).read()
except urllib.error.HTTPError as busy:
    answer = busy.read()
answer = json.loads(answer)
clause = f"tries = tries + 1, spent = spent + {answer['tokens']}"
if "answer" in answer:
    clause += ", answer = '" + answer["answer"].replace("'", "''") + "'"
print(clause)
PYTHON
}

# work WID: does the instance's jobs until it has ended, as a worker does that asks for what is due.
work() {
  local question transition
  question=$(sql recipe-model <<<"SELECT question FROM wed_flow WHERE wid = $1")
  for ((rounds = 0; rounds < 300; rounds++)); do
    [[ $(status recipe-model "$1") == R ]] || return 0
    transition=$(sql recipe-model <<<"SELECT trname FROM job_pool WHERE wid = $1 AND due <= clock_timestamp() LIMIT 1")
    case $transition in
      call) perform recipe-model "$1" call "$(clause "$question")" ;;
      give_up) perform recipe-model "$1" give_up 'given_up = true' ;;
      *) sleep 0.05 ;;
    esac
  done
  echo "instance $1 has not ended" >&2
  return 1
}

say "A model that is busy twice"
wid=$(start recipe-model "question=why")
work "$wid"
"$wed" instance trace recipe-model "$wid"
expect "calls and answer" "$(sql recipe-model <<<"SELECT tries || ' ' || answer FROM wed_flow WHERE wid = $wid")" "3 WHY"

say "A question that is too long for its budget: the second call is the last"
wid=$(start recipe-model "question=$(printf 'x%.0s' {1..120})" budget=2000)
work "$wid"
"$wed" instance trace recipe-model "$wid" | cut -c 1-100
expect "calls" "$(sql recipe-model <<<"SELECT tries || ' ' || given_up FROM wed_flow WHERE wid = $wid")" "2 true"

#!/usr/bin/env bash
# Nobody acknowledges an incident in time, so it goes to the next level; then somebody does.
source "$(dirname "$0")/../lib.sh"

"$wed" --quiet flow apply "$here/flow.toml" >/dev/null

# due WID TRANSITION: waits until a job's time has come.
due() {
  for ((tries = 0; tries < 300; tries++)); do
    found=$(sql recipe-incident <<<"SELECT count(*) FROM job_pool WHERE wid = $1 AND trname = '$2' AND due <= now()")
    [[ $found == 0 ]] || return 0
    sleep 0.1
  done
  echo "$2 of instance $1 is not due" >&2
  return 1
}

say "An incident; whoever acknowledges it within two seconds keeps it at level 1"
wid=$(start recipe-incident "title=the till is down")
due "$wid" escalate
perform recipe-incident "$wid" escalate 'level = level + 1'

say "At level 2 somebody acknowledges it: an event, sent by whoever may write the flow. The timer's job has no purpose any more"
"$wed" instance event recipe-incident "$wid" acknowledged_by=eve
# The next level's timer runs on; a host drops it when its time comes, since nobody need be woken. Here an operator does.
"$wed" instance skip recipe-incident "$wid" --transition escalate --reason "acknowledged"
perform recipe-incident "$wid" solve 'solved = true'
"$wed" instance trace recipe-incident "$wid"
expect "the incident" "$(status recipe-incident "$wid")" F

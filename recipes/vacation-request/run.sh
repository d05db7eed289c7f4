#!/usr/bin/env bash
# A vacation as in Activiti's example: the manager refuses, the employee, and nobody else, mends the request.
source "$(dirname "$0")/../lib.sh"

"$wed" --quiet flow apply "$here/flow.toml" >/dev/null
people Manager gonzo
people Employee kermit fozzie

say "Refused, mended and granted"
wid=$(start recipe-vacation employee=kermit days=30 "motivation=I am tired")
work gonzo "$wid" --set approved=false --set "remark=not in May"
expect "another employee" "$(item fozzie "$wid")" ""
work kermit "$wid" --set resend=true --set days=10
perform recipe-vacation "$wid" ask_again "approved = NULL, resend = NULL, remark = NULL"
work gonzo "$wid" --set approved=true
perform recipe-vacation "$wid" tell "told = true"
"$wed" instance trace recipe-vacation "$wid"
expect "the request" "$(status recipe-vacation "$wid")" F

say "Refused and left"
wid=$(start recipe-vacation employee=fozzie days=90)
work gonzo "$wid" --set approved=false
work fozzie "$wid" --set resend=false
expect "the request" "$(status recipe-vacation "$wid")" F

#!/usr/bin/env bash
# Ann asks for leave, Meg decides, Otto notes it: work items on the worklists of two roles.
source "$(dirname "$0")/../lib.sh"

"$wed" --quiet flow apply "$here/flow.toml" >/dev/null
people Manager meg
people Office otto

say "A request that is granted"
wid=$(start recipe-leave person=ann days=3)
"$wed" work --as meg list
decision=$(item meg "$wid")
"$wed" work --as meg select "$decision"
"$wed" work --as meg report "$decision" --set decision=granted --set "remark=enjoy it"
note=$(item otto "$wid")
"$wed" work --as otto select "$note"
"$wed" work --as otto report "$note" --set noted=true
"$wed" instance trace recipe-leave "$wid"
expect "the request" "$(status recipe-leave "$wid")" F

say "One that is refused ends there"
wid=$(start recipe-leave person=bob days=90)
decision=$(item meg "$wid")
"$wed" work --as meg select "$decision"
"$wed" work --as meg report "$decision" --set decision=refused
expect "the request" "$(status recipe-leave "$wid")" F
"$wed" work --as meg history "$decision"

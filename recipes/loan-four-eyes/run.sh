#!/usr/bin/env bash
# A loan is scored, and granted by two clerks: whoever looked first is not offered the second look.
source "$(dirname "$0")/../lib.sh"

"$wed" --quiet flow apply "$here/flow.toml" >/dev/null
for clerk in ida jon; do
  "$wed" --quiet work people --add "$clerk" --role Clerk >/dev/null
  "$wed" --quiet work --as "$clerk" list
done

say "A score below 300 ends it"
wid=$(start recipe-loan person=bob amount=50000)
perform recipe-loan "$wid" score 'score = 120'
expect "the loan" "$(status recipe-loan "$wid")" F

say "A better one is looked at twice"
wid=$(start recipe-loan person=ann amount=9000)
perform recipe-loan "$wid" score 'score = 700'
look=$(item ida "$wid")
"$wed" work --as ida select "$look"
"$wed" work --as ida report "$look" --set first=granted
expect "what Ida is offered" "$(item ida "$wid")" ""
again=$(item jon "$wid")
"$wed" work --as jon select "$again"
"$wed" work --as jon report "$again" --set second=granted
"$wed" instance trace recipe-loan "$wid"
expect "the loan" "$(status recipe-loan "$wid")" F

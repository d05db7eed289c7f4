#!/usr/bin/env bash
# An invoice as in Camunda's example: a table names the approvers, a refusal is cleared up, and the same approver decides
# again; then it is paid and archived.
source "$(dirname "$0")/../lib.sh"

"$wed" --quiet flow apply "$here/flow.toml" >/dev/null
people Management mary
people Accounting john
people Sales peter

# The decision table: small sums and travel are Accounting's and Sales', the rest is Management's.
assign() {
  perform recipe-invoice "$1" assign \
    "approvers = CASE WHEN amount < 250 OR category = 'travel' THEN ARRAY['Accounting', 'Sales'] ELSE ARRAY['Management'] END"
}

say "Refused, cleared up, and approved by the same person"
wid=$(start recipe-invoice "creditor=Great Pizza" amount=900 category=misc)
assign "$wid"
expect "Sales" "$(item peter "$wid")" ""
work mary "$wid" --set approved=false
work john "$wid" --set clarified=true
perform recipe-invoice "$wid" ask_again "round = round + 1, approved = NULL, clarified = NULL"
work mary "$wid" --set approved=true
work john "$wid" --set paid=true
perform recipe-invoice "$wid" archive "archived = true"
"$wed" instance trace recipe-invoice "$wid"
expect "the invoice" "$(status recipe-invoice "$wid")" F

say "Refused for good"
wid=$(start recipe-invoice "creditor=Papa Steve" amount=30 category=misc)
assign "$wid"
work peter "$wid" --set approved=false
work john "$wid" --set clarified=false
expect "the invoice" "$(status recipe-invoice "$wid")" F

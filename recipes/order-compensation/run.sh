#!/usr/bin/env bash
# An order that ends well, and one whose steps are undone in reverse.
source "$(dirname "$0")/../lib.sh"

"$wed" --quiet flow apply "$here/flow.toml" >/dev/null

say "An order that ends well"
wid=$(start recipe-order item=tea)
perform recipe-order "$wid" reserve 'reserved = true'
perform recipe-order "$wid" charge 'charged = true'
perform recipe-order "$wid" ship 'shipped = true'
"$wed" instance trace recipe-order "$wid"
expect "the order" "$(status recipe-order "$wid")" F

say "An order whose parcel is lost: no condition holds any more, so it is an exception"
wid=$(start recipe-order item=porcelain)
perform recipe-order "$wid" reserve 'reserved = true'
perform recipe-order "$wid" charge 'charged = true'
perform recipe-order "$wid" ship 'lost = true'
expect "the order" "$(status recipe-order "$wid")" E

say "It goes back to its first state: refund first, then release, each a job of its own"
"$wed" instance back recipe-order "$wid" --to 1 --reason "the parcel is lost"
perform recipe-order "$wid" refund 'charged = false'
# Of steps that SQL clients undo, each is asked for; the same command resumes the way back.
"$wed" instance back recipe-order "$wid" --to 1 --reason "the parcel is lost"
perform recipe-order "$wid" release 'reserved = false'
"$wed" instance set recipe-order "$wid" cancelled=true --reason "refunded"
"$wed" instance trace recipe-order "$wid"
expect "the order" "$(status recipe-order "$wid")" F

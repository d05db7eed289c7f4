#!/usr/bin/env bash
# Two orders want seven pieces each of ten: one is packed, the other waits until more arrive.
source "$(dirname "$0")/../lib.sh"

"$wed" --quiet flow apply "$here/flow.toml" >/dev/null
"$wed" --quiet flow resource set recipe-stock tea 10 --minimum 1 --resource recipe-material

say "Two orders of seven"
first=$(start recipe-stock material=tea qty=7)
second=$(start recipe-stock material=tea qty=7)
"$wed" flow reservations recipe-stock

say "The first is packed; its quantity leaves the stock"
perform recipe-stock "$first" pack 'packed = true'
expect "the first order" "$(status recipe-stock "$first")" F
"$wed" flow resource list recipe-stock
expect "what the second waits for" "$(sql recipe-stock <<<"SELECT waits_for LIKE 'its reservation%' FROM job_pool WHERE wid = $second")" t

say "More arrive, in the same database, by whatever program: the second is due at once"
sql recipe-stock <<<"UPDATE wed_resource SET capacity = capacity + 10 WHERE key = 'tea'"
perform recipe-stock "$second" pack 'packed = true'
expect "the second order" "$(status recipe-stock "$second")" F
"$wed" flow resource list recipe-stock

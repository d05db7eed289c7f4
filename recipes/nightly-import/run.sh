#!/usr/bin/env bash
# A schedule, twelve nights that were missed, and a pool of ten: two imports wait until others are done.
source "$(dirname "$0")/../lib.sh"

"$wed" --quiet flow apply "$here/flow.toml" >/dev/null
"$wed" --quiet flow resource set recipe-import slot 10 --resource recipe-pool

say "Every night at half past two, in the branch's own time zone"
"$wed" flow schedule set recipe-import nightly --cron "30 2 * * *" --zone Europe/Paris --missed one --overlap skip source=paris
"$wed" flow schedule list recipe-import

say "The nights of a fortnight that nobody ran"
"$wed" flow schedule backfill recipe-import nightly --from 2026-01-01T00:00:00Z --until 2026-01-13T00:00:00Z
expect "instances" "$(sql recipe-import <<<"SELECT count(*) FROM wed_flow")" 12

say "Ten have a slot, two wait"
"$wed" flow reservations recipe-import
expect "imports that wait" "$(sql recipe-import <<<"SELECT count(*) FROM job_pool WHERE waits_for LIKE 'its reservation%'")" 2

say "A worker does them, each in a transaction of its own"
for wid in $(sql recipe-import <<<"SELECT wid FROM wed_flow ORDER BY wid"); do
  perform recipe-import "$wid" import 'imported = true'
done
expect "imports that are done" "$(sql recipe-import <<<"SELECT count(*) FROM wed_flow WHERE imported")" 12
"$wed" flow schedule remove recipe-import nightly

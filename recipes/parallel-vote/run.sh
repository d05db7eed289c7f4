#!/usr/bin/env bash
# A vote: each voter of a list has an item at the same time, and no answer overwrites another. Then they are counted.
source "$(dirname "$0")/../lib.sh"

"$wed" --quiet flow apply "$here/flow.toml" >/dev/null
people Board ada bea cleo

wid=$(start recipe-vote "question=Shall we move?" 'voters={ada,bea,cleo}')
for voter in ada bea cleo; do
  [[ -n $(item "$voter" "$wid") ]] || { echo "$voter has nothing to vote on" >&2; exit 1; }
done

say "Each votes, in any order"
work cleo "$wid" --set in_favour=true
work ada "$wid" --set in_favour=false
work bea "$wid" --set in_favour=true
perform recipe-vote "$wid" count "outcome = CASE WHEN (SELECT count(*) FROM jsonb_each(votes) v
  WHERE (v.value ->> 'in_favour')::boolean) >= 2 THEN 'accepted' ELSE 'rejected' END"
"$wed" instance trace recipe-vote "$wid"
expect "the vote" "$(status recipe-vote "$wid")" F
expect "its outcome" "$(sql recipe-vote <<<"SELECT outcome FROM wed_flow WHERE wid = $wid")" accepted

#!/usr/bin/env bash
# Counts the instructions of the guard for one SET clause (callgrind), and fails where it needs a quarter more than
# tests/acceptance/data/guard_instructions.txt says, for which another compiler or other units of code do not suffice. A
# machine's load does not change the count. Two runs, of 100 and of 300 clauses, and their difference: what is done once
# does not count. Needs valgrind and `wed` built; WEDFLOW_WRITE_REFERENCE=1 writes the count anew.
source "$(dirname "$0")/lib.sh"

kept=tests/acceptance/data/guard_instructions.txt
if ! command -v valgrind >/dev/null; then
  say "skipped: valgrind is not here"
  exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Clauses of each way through the guard: a literal, several, operators and casts, CASE with calls.
clauses='{"text":"a2='\''done'\''"}
{"text":"a2='\''done'\'', a3='\''ready'\'', a4='\''17'\''"}
{"text":"a1=(a1::integer + 1)::text"}
{"text":"a2='\''done'\'', a3='\''ready'\'', a4=(a4::integer+1)::text"}
{"text":"a1=case when a2='\''x'\'' and a3 is not null then lower(a4) else coalesce(a5, '\''none'\'') end"}'

# count TIMES: instructions of `wed guard check` over the clauses TIMES times.
count() {
  local n
  for ((n = 0; n < $1; n++)); do printf '%s\n' "$clauses"; done >"$work/clauses.$1"
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$wed" guard check --kind set --attrs a1,a2,a3,a4,a5 \
    --jsonl "$work/clauses.$1" >"$work/answers.$1" 2>"$work/log.$1"
  ! grep -qv '"verdict":"accept"' "$work/answers.$1" || fail "the guard refuses a clause of the measurement"
  sed -n 's/.*Collected : //p' "$work/log.$1" >"$work/count.$1"
}
count 20 &
count 60
wait $! || fail "the clauses could not be counted: $(tail -3 "$work/log.20")"
found=$((($(cat "$work/count.60") - $(cat "$work/count.20")) / 200))
[[ -z ${WEDFLOW_WRITE_REFERENCE:-} ]] || printf '%s\n' "$found" >"$kept"
known=$(cat "$kept")
say "$found instructions a clause, $known known"
((found * 4 <= known * 5)) ||
  fail "the guard needs more than $kept says; if that is meant: WEDFLOW_WRITE_REFERENCE=1 scripts/guard-instructions.sh"

#!/usr/bin/env bash
# How many instructions the server needs for one result of a batch, counted by valgrind (callgrind), so that two states of
# migrations/ can be compared on a machine whose speed varies. Usage: scripts/commit-instructions.sh [FLOWS [RESERVES]]
#
# A batch has 250 results, of one flow or of FLOWS flows (a divisor of 250); with RESERVES each step reserves that
# expression, for example street, of which each instance has its own. Two runs, of 8 and of 48 batches, in Postgres's
# single-user mode, and their difference: what is done once does not count. One process, no other session, no disk that
# is waited for, no memory that is far: it says what is done, not how long it takes. Needs valgrind, psql, `wed` built
# (WED, by default target/release/wed) and the bench component (`make samples`); takes a minute. It leaves the profiles in
# the folder that it names.
set -euo pipefail
cd "$(dirname "$0")/.."
flows=${1:-1}
reserves=${2:-}
per=$((250 / flows))
[ $((per * flows)) = 250 ] || { echo "FLOWS must divide 250" >&2; exit 2; }
wed=$(realpath "${WED:-target/release/wed}")
for tool in valgrind psql; do command -v $tool > /dev/null || { echo "$tool is not installed" >&2; exit 3; }; done
work=$(mktemp -d /var/tmp/wed-instructions.XXXXXX)
chmod 755 "$work"
export WEDFLOW_HOME=$work/home
unset DATABASE_URL
trap '"$wed" db stop > /dev/null 2>&1 || true; rm -rf "$work/home" "$work/run"' EXIT

"$wed" db start > /dev/null
url=$("$wed" db url)
"$wed" -q migrate > /dev/null
"$wed" -q component push sample-transitions/target/wasm32-wasip2/release/bench.wasm --name bench > /dev/null
for flow in $(seq "$flows"); do
  {
    printf 'name = "ring-%s"\nfinal = "step = 100"\n' "$flow"
    for attribute in step:integer:0 note:text: customer:text:ann product:text:tea quantity:integer:3 price:text:12.50 \
        paid:boolean:false city:text:Paris "street:text:Rue Monge 12" remark:text:; do
      IFS=: read -r name type default <<< "$attribute"
      printf '[[attribute]]\nname = "%s"\ntype = "%s"\n' "$name" "$type"
      [ -z "$default" ] || printf 'default = "%s"\n' "$default"
    done
    for step in 0 1 2 3 4 5 6 7 8 9; do
      printf '[[trigger]]\nname = "t%s"\ntransition = "advance"\nwhen = "step = %s"\n' "$step" "$step"
      [ -z "$reserves" ] || printf 'reserves = "%s"\n' "$reserves"
    done
    printf '[transition.advance]\ncomponent = "bench"\n'
  } > "$work/flow.toml"
  "$wed" -q flow apply "$work/flow.toml" > /dev/null
done
psql -q "$url" -c "DO \$\$ DECLARE f text; BEGIN
  FOR f IN SELECT schema_name FROM wed.flow LOOP
    EXECUTE format('INSERT INTO %I.wed_flow (step, street) SELECT g %% 10, ''Rue Monge '' || g FROM generate_series(1, $per) g', f);
  END LOOP; END \$\$" -c "VACUUM ANALYZE" -c CHECKPOINT
database=$(psql -At "$url" -c "SELECT current_database()")
"$wed" db stop > /dev/null
owner=$(stat -c %U "$WEDFLOW_HOME/server/data")
postgres=$(find "$WEDFLOW_HOME/postgres" -path '*/bin/postgres' -type f)

count() { # BATCHES: a host's commits, as host/store/src/jobs.rs makes them
  rm -rf "$work/run"
  cp -a "$WEDFLOW_HOME/server" "$work/run"
  rm -f "$work/run/data/postmaster.pid"
  mkdir "$work/run/tmp"
  chown -R "$owner" "$work/run"
  cat > "$work/batches.sql" <<SQL
SET jit = off; SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = off;
SET enable_mergejoin = off; SET enable_bitmapscan = off; SET work_mem = '64MB'; SET search_path = pg_catalog, pg_temp; SET timezone = 'UTC';

DO \$\$
DECLARE
  h integer := wed.register_host('instructions', interval '1 hour');
  f integer[]; w integer[]; tg integer[]; tk bigint[]; g wed.result_group[]; n integer;
BEGIN
  PERFORM count(*) FROM wed.claim(h, 1000);
  SELECT array_agg(flow_id ORDER BY flow_id, wid), array_agg(wid ORDER BY flow_id, wid), array_agg(tgid ORDER BY flow_id, wid),
    array_agg(token ORDER BY flow_id, wid)
  INTO f, w, tg, tk FROM wed.job WHERE host_id = h;
  FOR batch IN 1 .. $1 LOOP
    g := ARRAY(
      SELECT ROW(1000000, (SELECT shape_schema FROM wed.flow WHERE flow_id = x.f), '{step,note}', NULL, array_agg(
        ROW(x.w, x.tg, x.tk, 5000, 5000, 5000, ARRAY[((batch + x.w) % 10)::text, 'step ' || batch || ' of ' || x.w])::wed.result
        ORDER BY x.w))::wed.result_group
      FROM unnest(f, w, tg, tk) x(f, w, tg, tk) GROUP BY x.f ORDER BY x.f);
    WITH s AS MATERIALIZED (SELECT * FROM wed.commit_results(h, g, false, true, NULL))
    SELECT array_agg(tgid ORDER BY flow_id, wid), array_agg(token ORDER BY flow_id, wid), count(*) INTO tg, tk, n FROM s;
    IF n <> 250 THEN RAISE EXCEPTION '% results instead of 250', n; END IF;
    COMMIT;
  END LOOP;
END \$\$;

SQL
  local run=(valgrind --tool=callgrind "--callgrind-out-file=$work/run/profile" "$postgres" --single -j -D "$work/run/data"
             -c fsync=off "$database")
  if [ "$(id -un)" != "$owner" ]; then run=(setpriv "--reuid=$owner" "--regid=$(id -gn "$owner")" --clear-groups "${run[@]}"); fi
  if ! (cd "$work/run" && TMPDIR=$work/run/tmp "${run[@]}" < "$work/batches.sql" > "$work/log.$1" 2>&1) || grep -q ERROR "$work/log.$1"; then
    grep -h ERROR "$work/log.$1" >&2
    exit 1
  fi
  cp "$work/run/profile" "$work/profile.$1"
  sed -n 's/.*Collected : //p' "$work/log.$1"
}
few=$(count 8)
many=$(count 48)
echo "$(((many - few) / 10000)) instructions a result; profiles: $work (callgrind_annotate --inclusive=yes profile.48)"

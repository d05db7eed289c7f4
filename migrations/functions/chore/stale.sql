-- Chore `stale`: pending jobs whose condition no longer holds are skipped. A commit that makes it false puts them on
-- the list (wed.update_siblings), and so does a look at the clock (wed.do_clock).

-- Lists jobs of some instances whose condition does not hold in the new state, where nobody has them.
CREATE OR REPLACE FUNCTION wed.note_stale(_jobs wed.job[]) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO wed.stale (flow_id, wid, tgid)
  SELECT j.flow_id, j.wid, j.tgid FROM unnest(_jobs) j
  CROSS JOIN LATERAL (SELECT recheck FROM wed.trigger WHERE tgid = j.tgid OFFSET 0) t
  WHERE t.recheck AND j.trname <> '_EXCPT' AND j.host_id IS NULL AND NOT j.awaits_siblings
    AND j.satisfied IS NOT NULL AND j.satisfied <> '{-1}'
    AND NOT EXISTS (SELECT FROM unnest(j.satisfied) x WHERE (x & 4294967295) = j.tgid)
  ON CONFLICT DO NOTHING
$$;

CREATE OR REPLACE FUNCTION wed.due_stale()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT f.tenant_id, s.flow_id, s.wid, s.tgid, s.since FROM wed.stale s JOIN wed.flow f USING (flow_id)
$$;

CREATE OR REPLACE FUNCTION wed.do_stale(_tenant_id integer, _flow_id integer, _wid bigint, _tgid integer)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _skipped boolean := false;
BEGIN
  IF EXISTS (SELECT FROM wed.job j WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.tgid = _tgid
      AND j.host_id IS NULL AND NOT j.awaits_siblings) THEN
    -- A worker is at it, or somebody at its instance.
    IF NOT pg_try_advisory_xact_lock(_wid::integer, _tgid) OR NOT wed.hold_instance(_flow_id, _wid::integer, true) THEN
      RETURN NULL;
    END IF;
    _skipped := wed.skip_stale_job(_flow_id, _wid::integer, _tgid);
  END IF;
  DELETE FROM wed.stale WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid;
  RETURN to_jsonb(_skipped);
END $$;

-- Skips jobs left to external workers whose condition no longer holds, where nobody is at them or at their instance.
-- Looks at _limit of them, whichever; returns how many it skipped.
CREATE OR REPLACE FUNCTION wed.skip_stale(_limit integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _job record;
  _skipped bigint := 0;
BEGIN
  FOR _job IN
    SELECT j.flow_id, j.wid, j.tgid FROM wed.job j JOIN wed.trigger t USING (tgid)
    WHERE j.host_id IS NULL AND j.component_id IS NULL AND t.recheck AND t.trname <> '_EXCPT'
      AND (j.last_seq > j.seq OR t.timely) AND j.due <= now()
    ORDER BY random() LIMIT _limit
  LOOP
    CONTINUE WHEN wed.condition_holds(_job.flow_id, _job.wid, _job.tgid) IS NOT FALSE
               OR NOT pg_try_advisory_xact_lock(_job.wid, _job.tgid);
    IF wed.skip_stale_job(_job.flow_id, _job.wid, _job.tgid) THEN _skipped := _skipped + 1; END IF;
  END LOOP;
  RETURN _skipped;
END $$;

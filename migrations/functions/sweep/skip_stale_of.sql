-- Skips jobs of a flow as wed.skip_stale does. Looks at _near jobs in a row: of more, it begins at an instance by
-- chance, so that each is met at some time. Gives up after a while: conditions may be slow.
CREATE OR REPLACE FUNCTION wed.skip_stale_of(_flow_id integer, _limit integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _near CONSTANT integer := 1000;
  _until timestamptz := clock_timestamp() + interval '300 ms';
  _first bigint := 0;
  _job record;
  _skipped bigint := 0;
BEGIN
  IF (SELECT count(*) FROM (SELECT FROM wed.job WHERE flow_id = _flow_id LIMIT _near + 1) j) > _near THEN
    SELECT min(wid) + random() * (max(wid)::bigint - min(wid)) INTO _first FROM wed.job WHERE flow_id = _flow_id;
  END IF;
  FOR _job IN
    WITH j AS MATERIALIZED (
      SELECT * FROM wed.job WHERE flow_id = _flow_id AND wid >= _first ORDER BY wid LIMIT _near)
    SELECT j.wid, j.tgid FROM j JOIN wed.trigger t USING (tgid)
    WHERE j.host_id IS NULL AND j.component_id IS NULL AND t.recheck AND t.trname <> '_EXCPT'
      AND (j.last_seq > j.seq OR t.timely) AND j.due <= now()
    ORDER BY random() LIMIT _limit
  LOOP
    EXIT WHEN clock_timestamp() > _until;
    CONTINUE WHEN wed.condition_holds(_flow_id, _job.wid, _job.tgid) IS NOT FALSE
               OR NOT pg_try_advisory_xact_lock(_job.wid, _job.tgid);
    IF wed.skip_stale_job(_flow_id, _job.wid, _job.tgid) THEN _skipped := _skipped + 1; END IF;
  END LOOP;
  RETURN _skipped;
END $$;

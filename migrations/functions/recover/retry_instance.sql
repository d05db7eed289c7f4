-- Retries an instance. An exception passes the gate anew, unchanged: what its state satisfies is fired, and the
-- exception's job is done by that. A regular instance's jobs that wait after an attempt, or for what could not run, are
-- due at once and have all their attempts again; a job whose delay has not passed keeps it. Returns the transitions that
-- were fired or hurried.
CREATE OR REPLACE FUNCTION wed.retry_instance(_flow_id integer, _wid integer, _actor text, _reason text) RETURNS text[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _status "char" := wed.operated(_flow_id, _wid);
  _fired text[];
BEGIN
  IF _status = 'E' THEN
    DELETE FROM wed.going_back WHERE flow_id = _flow_id AND wid = _wid;
    _fired := wed.retry_exception(_flow_id, _wid, _actor, _reason);
  ELSE
    WITH hurried AS (
      UPDATE wed.job SET attempt = 0, due = CASE WHEN due < '9000-01-01' THEN least(due, now()) ELSE due END
      WHERE flow_id = _flow_id AND wid = _wid AND host_id IS NULL AND blocked IS NULL AND NOT awaits_siblings
        AND (attempt > 0 OR put_off IS NOT NULL OR due <= now()) RETURNING trname)
    SELECT coalesce(array_agg(trname ORDER BY trname), '{}') INTO _fired FROM hurried;
    IF _fired = '{}' THEN
      RAISE EXCEPTION 'instance % has no job that waits after an attempt', _wid USING ERRCODE = 'WF040',
        HINT = 'Its jobs are being run, or wait for something else: `wed instance show` says for what.';
    END IF;
    PERFORM pg_notify('wed_jobs', '');
  END IF;
  PERFORM wed.note_flow(_actor, _flow_id, 'instance.retry', _wid::text,
                        jsonb_build_object('transitions', _fired, 'reason', _reason));
  RETURN _fired;
END $$;

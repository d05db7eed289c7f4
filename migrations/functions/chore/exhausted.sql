-- Chore `exhausted`: instances are exceptions that have a job without attempts left.

-- Takes a job from everybody whose attempts are used up; the chore makes its instance an exception.
CREATE OR REPLACE FUNCTION wed.exhaust(_job wed.job, _message text) RETURNS void
LANGUAGE sql AS $$
  UPDATE wed.job j SET host_id = NULL, token = 0, put_off = NULL, due = 'infinity'
  WHERE j.flow_id = _job.flow_id AND j.wid = _job.wid AND j.tgid = _job.tgid;
  INSERT INTO wed.exhausted VALUES (_job.flow_id, _job.wid, _job.tgid, _job.seq, _message) ON CONFLICT DO NOTHING
$$;

CREATE OR REPLACE FUNCTION wed.due_exhausted()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT f.tenant_id, e.flow_id, e.wid, e.tgid, now() FROM wed.exhausted e JOIN wed.flow f USING (flow_id)
$$;

CREATE OR REPLACE FUNCTION wed.do_exhausted(_tenant_id integer, _flow_id integer, _wid bigint, _tgid integer)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _of wed.exhausted;
BEGIN
  SELECT * INTO _of FROM wed.exhausted WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN 'false'; END IF;
  IF EXISTS (SELECT FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid AND seq = _of.seq) THEN
    IF NOT wed.hold_instance(_flow_id, _wid::integer, true) THEN RETURN NULL; END IF;
    PERFORM wed.pass_as_it_stands(_flow_id, _wid::integer, _tgid, '_ABORT', _of.message, NULL, NULL);
  END IF;
  DELETE FROM wed.exhausted WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid;
  RETURN 'true';
END $$;

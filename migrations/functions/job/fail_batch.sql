-- Records attempts that changed nothing, and decides what becomes of their jobs: another attempt later,
-- or, when those are used up, an exception. Items:
--   {"flow", "wid", "token", "outcome", "message", "retry", "after_us", "fuel", "us", "mem"}
-- after_us is when the transition wants to be tried again instead of after the trigger's backoff.
-- The outcome 'final_pending' is no failure: the transition's result makes the instance final while
-- others of it are pending, so it waits until one of them has left the pool; when all of them wait for
-- each other so, the instance is an exception.
CREATE OR REPLACE FUNCTION wed.fail_batch(_host_id integer, _items jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _item record;
  _job wed.job;
  _trigger wed.trigger;
  _running integer;
  _others integer;
BEGIN
  FOR _item IN
    SELECT i.*, f.schema_name
    FROM jsonb_to_recordset(_items) AS i(flow integer, wid integer, token bigint, outcome text, message text,
      retry boolean, after_us bigint, fuel bigint, us bigint, mem bigint)
    JOIN wed.flow f ON f.flow_id = i.flow ORDER BY i.flow, i.wid
  LOOP
    EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE', _item.schema_name) USING _item.wid;
    SELECT * INTO _job FROM wed.job
    WHERE flow_id = _item.flow AND wid = _item.wid AND host_id = _host_id AND token = _item.token FOR UPDATE;
    CONTINUE WHEN NOT FOUND; -- the lease was lost; whoever has the job now goes on with it
    SELECT * INTO _trigger FROM wed.trigger WHERE tgid = _job.tgid;
    INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, fuel, elapsed_us, memory_bytes, writer)
    VALUES (_job.flow_id, _job.wid, _job.tgid, _job.trname, _job.attempt, _item.outcome, left(_item.message, 8192),
            _item.fuel, _item.us, _item.mem, 'host:' || _host_id);
    IF _item.outcome = 'final_pending' THEN
      SELECT count(*), count(*) FILTER (WHERE waits_for IS NULL) INTO _others, _running
      FROM wed.job WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid <> _job.tgid;
      IF _others = 0 OR _running > 0 THEN
        UPDATE wed.job SET host_id = NULL, token = 0, attempt = attempt - 1,
          due = CASE WHEN _others = 0 THEN now() ELSE 'infinity' END,
          waits_for = CASE WHEN _others > 0 THEN 'the pending transitions of its instance' END
        WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid = _job.tgid;
        IF _others = 0 THEN PERFORM pg_notify('wed_jobs', ''); END IF;
        CONTINUE;
      END IF;
    ELSIF _item.retry AND _job.attempt < _trigger.attempts THEN
      UPDATE wed.job SET host_id = NULL, token = 0,
        due = now() + least(CASE WHEN _item.after_us IS NULL THEN _trigger.backoff * (2 ^ least(_job.attempt - 1, 30))
          ELSE least(_item.after_us, 86400000000) * interval '1 microsecond' END, interval '1 day')
      WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid = _job.tgid RETURNING due INTO _job.due;
      IF _trigger.constrained THEN PERFORM wed.ask_again(_job.flow_id, ARRAY[_job.wid], ARRAY[_job.tgid], _job.due); END IF;
      CONTINUE;
    END IF;
    PERFORM wed.pass_as_it_stands(_job.flow_id, _job.wid, _job.tgid, '_ABORT',
      format('%s: %s after %s attempts: %s', _job.trname, _item.outcome, _job.attempt, left(_item.message, 1000)),
      NULL, _host_id, _item.fuel, _item.us, _item.mem);
  END LOOP;
END $$;

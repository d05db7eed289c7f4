-- Records one attempt that changed nothing, unless the host's claim was lost: its new holder has the job.
CREATE OR REPLACE FUNCTION wed.fail_attempt(_host_id integer, _failure wed.failure) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _job wed.job;
  _attempts integer;
BEGIN
  IF NOT EXISTS (SELECT FROM wed.flow WHERE flow_id = _failure.flow) THEN RETURN; END IF;
  PERFORM wed.hold_instance(_failure.flow, _failure.wid, false);
  SELECT * INTO _job FROM wed.job
  WHERE flow_id = _failure.flow AND wid = _failure.wid AND host_id = _host_id AND token = _failure.token FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT attempts INTO _attempts FROM wed.trigger WHERE tgid = _job.tgid;
  INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, fuel, elapsed_us, memory_bytes,
    writer)
  VALUES (_job.flow_id, _job.wid, _job.tgid, _job.trname, _job.attempt, _failure.outcome, left(_failure.message, 8192),
          _failure.fuel, _failure.us, _failure.mem, 'host:' || _host_id);
  IF _failure.outcome = 'final_pending' THEN
    IF wed.await_siblings(_job) THEN RETURN; END IF;
  ELSIF _failure.retry AND _job.attempt < _attempts THEN
    PERFORM wed.retry_later(_job, _failure.after_us);
    RETURN;
  END IF;
  PERFORM wed.pass_as_it_stands(_job.flow_id, _job.wid, _job.tgid, '_ABORT',
    format('%s: %s after %s attempts: %s', _job.trname, _failure.outcome, _job.attempt, left(_failure.message, 1000)),
    NULL, _host_id, _failure.fuel, _failure.us, _failure.mem);
END $$;

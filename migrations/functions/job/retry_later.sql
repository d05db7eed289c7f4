-- Gives a job back for another attempt: after _after_us microseconds where the transition said so, else after its
-- trigger's backoff (wed.backoff_of).
CREATE OR REPLACE FUNCTION wed.retry_later(_job wed.job, _after_us bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _trigger wed.trigger;
  _due timestamptz;
BEGIN
  SELECT * INTO _trigger FROM wed.trigger WHERE tgid = _job.tgid;
  _due := clock_timestamp() + CASE WHEN _after_us IS NULL THEN wed.backoff_of(_trigger.backoff, _job.attempt)
                                   ELSE least(_after_us, 86400000000) * interval '1 microsecond' END;
  UPDATE wed.job SET host_id = NULL, token = 0, due = _due, put_off = NULL
  WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid = _job.tgid;
  IF _trigger.constrained THEN PERFORM wed.ask_again(_job.flow_id, ARRAY[_job.wid], ARRAY[_job.tgid], _due); END IF;
END $$;

-- Chore `abandoned`: jobs of hosts that are gone, and of hosts that there are not, are freed.

CREATE OR REPLACE FUNCTION wed.due_abandoned()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT j.tenant_id, j.flow_id, j.wid, j.tgid, j.fired_at
  FROM wed.hosts_with_jobs() g LEFT JOIN wed.host h USING (host_id) JOIN wed.job j ON j.host_id = g.host_id
  WHERE h.host_id IS NULL OR h.expires_at < clock_timestamp()
$$;

-- Frees a job whose host is gone. The attempt is on record and counts; from the second on a job waits, each its own
-- time, so that one that kills its host meets others. A host whose row is held claims or commits just now. A host's
-- death is not its jobs' fault, so a job has three attempts at the least.
CREATE OR REPLACE FUNCTION wed.do_abandoned(_tenant_id integer, _flow_id integer, _wid bigint, _tgid integer)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _attempts_min CONSTANT integer := 3;
  _host_id integer;
  _job wed.job;
  _trigger wed.trigger;
BEGIN
  SELECT j.host_id INTO _host_id FROM wed.job j WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.tgid = _tgid;
  IF _host_id IS NULL THEN RETURN 'false'; END IF;
  PERFORM FROM wed.host WHERE host_id = _host_id AND expires_at < clock_timestamp() FOR UPDATE SKIP LOCKED;
  IF NOT FOUND AND EXISTS (SELECT FROM wed.host WHERE host_id = _host_id) THEN RETURN NULL; END IF;
  SELECT * INTO _job FROM wed.job j
  WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.tgid = _tgid AND j.host_id = _host_id FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN NULL; END IF;
  SELECT * INTO STRICT _trigger FROM wed.trigger WHERE tgid = _tgid;
  INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
  VALUES (_flow_id, _wid, _tgid, _job.trname, _job.attempt, 'abandoned', 'the host that ran it is gone', 'wedflow');
  IF _job.attempt >= greatest(_trigger.attempts, _attempts_min) THEN
    PERFORM wed.exhaust(_job, format('%s: abandoned after %s attempts', _job.trname, _job.attempt));
    RETURN 'true';
  END IF;
  UPDATE wed.job j SET host_id = NULL, token = 0, put_off = NULL,
    due = CASE WHEN j.attempt <= 1 THEN least(j.due, now())
      ELSE now() + wed.backoff_of(_trigger.backoff, j.attempt - 1) END
  WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.tgid = _tgid;
  PERFORM wed.ask_again_or_exhaust(_job, _trigger, NULL);
  PERFORM pg_notify('wed_jobs', '');
  RETURN 'true';
END $$;

-- Takes from a job whose attempt has ended what it reserves, and queues it anew from _ready on: requests that wait for
-- what it holds come first. A reservation that cannot be evaluated any more makes its instance an exception.
CREATE OR REPLACE FUNCTION wed.ask_again_or_exhaust(_job wed.job, _trigger wed.trigger, _ready timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF _trigger.constrained THEN
    PERFORM wed.ask_again(_job.flow_id, ARRAY[_job.wid], ARRAY[_job.tgid], _ready);
  END IF;
EXCEPTION
  WHEN lock_not_available THEN RAISE;
  WHEN OTHERS THEN PERFORM wed.exhaust(_job, format('%s: what it reserves cannot be evaluated: %s', _job.trname, SQLERRM));
END $$;

-- Removes hosts that are gone and have no jobs left.
CREATE OR REPLACE FUNCTION wed.remove_hosts() RETURNS bigint
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  WITH gone AS (
    DELETE FROM wed.host WHERE host_id = ANY (ARRAY(
      SELECT h.host_id FROM wed.host h WHERE h.expires_at < clock_timestamp()
        AND NOT EXISTS (SELECT FROM wed.job j WHERE j.host_id = h.host_id)
      FOR UPDATE SKIP LOCKED))
    RETURNING 1)
  SELECT count(*) FROM gone
$$;

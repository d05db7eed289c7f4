-- Frees the jobs of hosts that are gone, and jobs of hosts that there are not. Each such attempt is on record and
-- counts; from the second on a job waits, each its own time, so that one that kills its host meets others. Hosts whose
-- row is held (they claim or commit just now) and jobs whose row is held are left to the next sweep. A host's death is
-- not its jobs' fault, so a job has three attempts at the least.
CREATE OR REPLACE FUNCTION wed.free_abandoned() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _attempts_min CONSTANT integer := 3;
  _gone integer[];
  _of record;
  _freed bigint := 0;
BEGIN
  _gone := ARRAY(SELECT host_id FROM wed.host WHERE expires_at < clock_timestamp() FOR UPDATE SKIP LOCKED);
  _gone := _gone || ARRAY(SELECT h.host_id FROM wed.hosts_with_jobs() h
                          WHERE NOT EXISTS (SELECT FROM wed.host k WHERE k.host_id = h.host_id));
  IF _gone = '{}' THEN RETURN 0; END IF;
  FOR _of IN
    WITH held AS MATERIALIZED (
      SELECT ctid AS at FROM wed.job WHERE host_id = ANY (_gone) FOR UPDATE SKIP LOCKED
    ), freed AS (
      UPDATE wed.job j SET host_id = NULL, token = 0, put_off = NULL, due = CASE
        WHEN j.attempt >= greatest(t.attempts, _attempts_min) THEN 'infinity'
        WHEN j.attempt <= 1 THEN least(j.due, now())
        ELSE now() + wed.backoff_of(t.backoff, j.attempt - 1) * (0.5 + random()) END
      FROM held, wed.trigger t WHERE j.ctid = held.at AND t.tgid = j.tgid RETURNING j.*
    ), exhausted AS (
      INSERT INTO wed.exhausted SELECT f.flow_id, f.wid, f.tgid, f.seq,
        format('%s: abandoned after %s attempts', f.trname, f.attempt)
      FROM freed f WHERE f.due = 'infinity' ON CONFLICT DO NOTHING
    ), kept AS (
      INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
      SELECT flow_id, wid, tgid, trname, attempt, 'abandoned', 'the host that ran it is gone', 'wedflow' FROM freed)
    SELECT flow_id, array_agg(wid ORDER BY wid) AS wids, array_agg(tgid ORDER BY wid) AS tgids
      FROM freed GROUP BY flow_id ORDER BY flow_id
  LOOP
    _freed := _freed + cardinality(_of.wids);
    -- Requests that wait for what they hold come first now.
    IF EXISTS (SELECT FROM wed.flow WHERE flow_id = _of.flow_id AND constrained) THEN
      PERFORM wed.ask_again(_of.flow_id, _of.wids, _of.tgids, NULL);
    END IF;
  END LOOP;
  DELETE FROM wed.host WHERE host_id = ANY (_gone);
  IF _freed > 0 THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  RETURN _freed;
END $$;

-- A flow's history, status and stock, for its own role: views over tables that all flows share. The rows of this flow
-- are chosen behind a barrier (security_barrier), so that no condition of a query, whatever it costs and raises, sees a
-- row of another flow. What a query shows of a job or a trace row is worked out before the barrier, for the rows that
-- the query leaves. Their owner may only read (wed.own_views): neither LOCK TABLE nor FOR UPDATE reaches a shared
-- table.
CREATE OR REPLACE VIEW {{shape}}.job WITH (security_barrier) AS
  SELECT flow_id, tenant_id, wid, tgid, seq, trname, host_id, timeout, payload, attempt, due, priority, fired_at,
    awaits_siblings, put_off, blocked, worker, is_wait, NOT is_compensation AND host_id IS NULL AND EXISTS (
      SELECT FROM wed.trigger t WHERE t.tgid = j.tgid AND t.attributes_changed_at > j.fired_at) AS is_of_former_attributes
  FROM wed.job j WHERE flow_id = {{flow_id}};
CREATE OR REPLACE VIEW {{shape}}.trace WITH (security_barrier) AS
  SELECT wid, state, trf, trw, status, tstmp, seq, tgid, attempt, writer, note, fuel, elapsed_us, memory_bytes
  FROM wed.trace WHERE flow_id = {{flow_id}};

-- Returns the present state of an instance. In a function, since a view over the flow's table would hold its lock in
-- each worker's transaction, and keep definitions waiting.
CREATE OR REPLACE FUNCTION {{schema}}.wed_present_state(_wid integer) RETURNS jsonb
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN (SELECT to_jsonb(w.*) - 'wid' FROM {{schema}}.wed_flow w WHERE w.wid = _wid);
END $f$;

CREATE OR REPLACE VIEW {{schema}}.job_pool WITH (security_barrier = false) AS
  SELECT j.wid, j.tgid, j.trname,
    CASE WHEN j.host_id = 0 THEN 'worker:' || j.worker ELSE 'host:' || j.host_id END AS lckid, j.timeout,
    CASE WHEN j.is_of_former_attributes THEN {{schema}}.wed_present_state(j.wid)
      ELSE coalesce(j.payload, (SELECT r.state FROM {{shape}}.trace r WHERE r.wid = j.wid AND r.seq = j.seq
                                AND r.tstmp = j.fired_at))::jsonb END AS payload,
    j.attempt, CASE WHEN j.due < '9000-01-01 00:00:00+00' THEN j.due END AS due, j.priority,
    coalesce(CASE WHEN j.due >= '9000-01-01 00:00:00+00' AND j.due < 'infinity'
        THEN 'the end of a pause: ' || coalesce(wed.resume_commands(j.flow_id, j.wid, j.tgid), 'it is ending') END,
      CASE WHEN j.awaits_siblings THEN 'the pending transitions of its instance' END, j.put_off,
      CASE WHEN j.blocked IS NOT NULL OR j.is_wait AND j.due > clock_timestamp() THEN wed.waits_on(j.flow_id, j.wid, j.tgid) END,
      wed.waiting_text(wed.waiting_reason(j.flow_id, j.wid, j.tgid), j.tenant_id)) AS waits_for
  FROM {{shape}}.job j;
CREATE OR REPLACE VIEW {{schema}}.wed_waiting WITH (security_barrier = false) AS
  SELECT j.wid, j.tgid, j.trname, wed.waiting_reason(j.flow_id, j.wid, j.tgid) AS waits_code,
    CASE WHEN j.due < '9000-01-01 00:00:00+00' THEN j.due END AS due
  FROM {{shape}}.job j;
CREATE OR REPLACE VIEW {{schema}}.wed_trace WITH (security_barrier = false) AS
  SELECT wid, state::jsonb AS state, trf, trw, status, tstmp, seq, tgid, attempt, writer, note, fuel, elapsed_us,
    memory_bytes
  FROM {{shape}}.trace;
CREATE OR REPLACE VIEW {{schema}}.wed_attempt WITH (security_barrier) AS
  SELECT wid, tgid, trname, attempt, outcome, message, writer, tstmp, fuel, elapsed_us, memory_bytes
  FROM wed.attempt WHERE flow_id = {{flow_id}};
CREATE OR REPLACE VIEW {{schema}}.wed_instance WITH (security_barrier) AS
  SELECT wid, status, started, changed, key FROM wed.instance WHERE flow_id = {{flow_id}};
CREATE OR REPLACE VIEW {{schema}}.wed_version WITH (security_barrier) AS
  SELECT version, applied_at, actor, definition FROM wed.flow_version WHERE flow_id = {{flow_id}};
CREATE OR REPLACE VIEW {{schema}}.wed_order WITH (security_barrier) AS
  SELECT p.precedence_id, p.wid, coalesce(t.tgname, t.trname) AS "trigger", p.after, p.actor, p.added_at
  FROM wed.precedence p JOIN wed.trigger t USING (tgid) WHERE p.flow_id = {{flow_id}};
CREATE OR REPLACE VIEW {{schema}}.wed_reservation WITH (security_barrier) AS
  SELECT r.wid, r.tgid, t.tgname, t.trname, CASE WHEN v.resource LIKE '#%' THEN NULL ELSE v.resource END AS resource,
    v.key, v.amount, coalesce(v.held, false) AS held, r.holds, r.asked_at, r.granted_at
  FROM wed.request r JOIN wed.reservation v USING (request_id) JOIN wed.trigger t ON t.tgid = r.tgid
  WHERE r.flow_id = {{flow_id}} AND r.state NOT IN ('f', 'c');
CREATE OR REPLACE VIEW {{schema}}.wed_resource WITH (security_barrier) AS
  SELECT CASE WHEN s.resource LIKE '#%' THEN NULL ELSE s.resource END AS resource, s.key, s.capacity, s.minimum,
    (SELECT coalesce(sum(v.amount), 0) FROM wed.reservation v
     WHERE v.tenant_id = s.tenant_id AND v.resource = s.resource AND v.key = s.key AND v.held) AS held
  FROM wed.resource s WHERE s.tenant_id = {{tenant_id}} AND (s.resource = '#{{flow_id}}' OR s.resource IN (
    SELECT c.resource FROM wed.trigger_constraint c WHERE c.flow_id = {{flow_id}}));
CREATE OR REPLACE TRIGGER resource INSTEAD OF INSERT OR UPDATE OR DELETE ON {{schema}}.wed_resource
  FOR EACH ROW EXECUTE FUNCTION wed.on_resource({{flow_id}});
CREATE OR REPLACE TRIGGER resources AFTER INSERT ON {{schema}}.wed_resource
  FOR EACH STATEMENT EXECUTE FUNCTION wed.on_resources({{flow_id}});

-- Why a job waits, as a code of a closed list and in words.

-- Names the state of a job, which its columns say: those are what claims and the gate have indexes for.
CREATE OR REPLACE FUNCTION wed.state_of(_job wed.job) RETURNS wed.job_state
LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN _job.host_id IS NOT NULL THEN 'leased'
    WHEN _job.blocked IS NOT NULL THEN 'blocked'
    WHEN _job.awaits_siblings THEN 'awaiting_siblings'
    WHEN wed.is_paused(_job.due) THEN 'paused'
    WHEN _job.due > clock_timestamp() THEN 'delayed'
    ELSE 'ready' END::wed.job_state
$$;

-- Returns the reason why a job waits, as a code of the closed list time, locked, siblings, quota, paused, circuit,
-- no_host, no_component, not_runnable, no_worker, person, nobody, reservation, precedence, event, child; null while
-- somebody runs it, or for an exception, which waits for an operator. Called by the views of a flow's own role, which
-- has no other way to it.
CREATE OR REPLACE FUNCTION wed.waiting_reason(_flow_id integer, _wid integer, _tgid integer) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _job wed.job;
  _flow wed.flow;
BEGIN
  SELECT * INTO _job FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid;
  IF NOT FOUND OR _job.host_id = 0 THEN RETURN NULL; END IF;
  IF _job.host_id IS NOT NULL THEN
    -- Its host was lost, and there is none that takes it over.
    IF NOT EXISTS (SELECT FROM wed.host h WHERE wed.host_runs(h)) THEN RETURN 'no_host'; END IF;
    -- Its result waits in the host.
    IF _job.put_off IS NOT NULL THEN RETURN 'locked'; END IF;
    -- A host makes attempts at what keeps failing a few at a time, with pauses; the job may be waiting for its turn.
    RETURN CASE WHEN EXISTS (SELECT FROM wed.circuit c WHERE c.host_id = _job.host_id
      AND c.component_id = _job.component_id
                             AND c.trname = _job.trname) THEN 'circuit' END;
  END IF;
  IF wed.state_of(_job) = 'paused'
    OR EXISTS (SELECT FROM wed.tenant WHERE tenant_id = _job.tenant_id AND suspended_at IS NOT NULL) THEN
    RETURN 'paused';
  ELSIF _job.is_wait AND _job.due > clock_timestamp() THEN
    RETURN 'event';
  ELSIF wed.state_of(_job) = 'blocked' THEN
    -- After a failed attempt it is queued when its backoff has passed.
    RETURN CASE _job.blocked WHEN 'p' THEN 'precedence' WHEN 'c' THEN 'child' ELSE CASE
      WHEN EXISTS (SELECT FROM wed.request WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid AND state = 'd'
        AND ready_at > clock_timestamp()) THEN 'time' ELSE 'reservation' END END;
  ELSIF wed.state_of(_job) = 'awaiting_siblings' THEN
    -- An exception is nobody's sibling to wait for: an operator ends it.
    RETURN CASE WHEN EXISTS (SELECT FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid <> _tgid
      AND trname <> '_EXCPT') THEN 'siblings' END;
  ELSIF _job.put_off IS NOT NULL AND _job.due > clock_timestamp() THEN
    RETURN CASE WHEN _job.not_runnable THEN 'not_runnable' ELSE 'locked' END;
  ELSIF _job.due > clock_timestamp() THEN
    RETURN 'time';
  ELSIF _job.component_id IS NOT NULL THEN
    RETURN CASE
      WHEN NOT EXISTS (SELECT FROM wed.host h WHERE wed.host_runs(h)) THEN 'no_host'
      WHEN EXISTS (SELECT FROM wed.usage WHERE tenant_id = _job.tenant_id AND (resting OR over IS NOT NULL))
        OR wed.concurrency_left(_job.tenant_id) <= 0 THEN 'quota' END;
  ELSIF EXISTS (SELECT FROM wed.binding WHERE flow_id = _flow_id AND trname = _job.trname) THEN
    RETURN 'no_component';
  ELSIF EXISTS (SELECT FROM wed.subprocess WHERE flow_id = _flow_id AND trname = _job.trname) THEN
    -- A host starts its child within a second.
    RETURN CASE WHEN NOT EXISTS (SELECT FROM wed.host h WHERE wed.host_runs(h)) THEN 'no_host' ELSE 'time' END;
  ELSIF _job.trname = '_EXCPT' OR wed.is_job_locked(_wid, _tgid) THEN
    RETURN NULL;
  END IF;
  IF EXISTS (SELECT FROM wed.work_item i WHERE i.flow_id = _flow_id AND i.wid = _wid AND i.tgid = _tgid
             AND i.ended_at IS NULL AND wed.is_without_work(i)) THEN
    -- A host ends it within a second.
    RETURN CASE WHEN NOT EXISTS (SELECT FROM wed.host h WHERE wed.host_runs(h)) THEN 'no_host' ELSE 'time' END;
  ELSIF EXISTS (SELECT FROM wed.work_item i WHERE i.flow_id = _flow_id AND i.wid = _wid AND i.tgid = _tgid
             AND i.ended_at IS NULL) THEN
    RETURN CASE WHEN wed.item_for_nobody(_flow_id, _wid, _tgid) IS NULL THEN 'person' ELSE 'nobody' END;
  END IF;
  -- Who listens or polls has a session of the flow's role.
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  RETURN CASE WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE usename = _flow.role_name
    AND pid <> pg_backend_pid()) THEN 'no_worker' END;
END $$;

-- Returns the reason of a code of wed.waiting_reason in words, for a job of a tenant; null for `time`, which is no
-- reason to do anything, and for what names its own. The program has the same words. Called by the view job_pool of
-- every flow.
CREATE OR REPLACE FUNCTION wed.waiting_text(_code text, _tenant_id integer) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE _code
    WHEN 'no_host' THEN 'no host is running'
    WHEN 'no_component' THEN 'its component was not uploaded'
    WHEN 'no_worker' THEN 'no worker is connected'
    WHEN 'person' THEN 'it is a person''s work'
    WHEN 'nobody' THEN 'no person may do it'
    WHEN 'circuit' THEN 'the circuit breaker of its component is open'
    WHEN 'paused' THEN 'an operator paused it'
    WHEN 'quota' THEN 'the tenant''s quota is used up: ' || coalesce(
      (SELECT CASE WHEN u.resting THEN 'fuel_per_minute' ELSE u.over END FROM wed.usage u
       WHERE u.tenant_id = _tenant_id), 'concurrency')
    END
$$;

-- Returns the commands that take back the pauses of a job, widest first; null for one that is not paused.
-- Called by the views of a flow's own role, which has no other way to it.
CREATE OR REPLACE FUNCTION wed.resume_commands(_flow_id integer, _wid integer, _tgid integer) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT string_agg(format('`wed %s`', c.command), ' and ' ORDER BY c.width) FROM (
    SELECT 1 AS width, format('tenant resume %s', t.name) AS command
    FROM wed.flow f JOIN wed.tenant t USING (tenant_id)
    WHERE f.flow_id = _flow_id AND (t.suspended_at IS NOT NULL OR EXISTS (
      SELECT FROM wed.pause p WHERE p.tenant_id = t.tenant_id AND p.flow_id IS NULL))
    UNION ALL
    SELECT CASE WHEN p.wid IS NOT NULL THEN 4 WHEN p.tgid IS NOT NULL THEN 3 ELSE 2 END,
      CASE WHEN p.wid IS NOT NULL THEN format('instance resume %s %s', f.name, p.wid)
        WHEN p.tgid IS NOT NULL THEN format('flow resume %s --trigger %s', f.name,
          CASE WHEN g.tgname ~ '^[A-Za-z0-9_.-]+$' THEN g.tgname ELSE g.tgid::text END)
        ELSE format('flow resume %s', f.name) END
    FROM wed.pause p JOIN wed.flow f USING (flow_id) LEFT JOIN wed.trigger g ON g.tgid = p.tgid
    WHERE p.flow_id = _flow_id AND (p.wid IS NULL OR p.wid = _wid) AND (p.tgid IS NULL OR p.tgid = _tgid)
  ) c
$$;

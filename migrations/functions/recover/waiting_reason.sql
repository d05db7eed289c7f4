-- The reason why a job waits, as a code of the closed list time, locked, siblings, quota, paused, circuit, no_host,
-- no_component, not_runnable, no_worker, person, reservation, precedence; null while somebody runs it, or for an
-- exception, which waits for an operator. Called by the views of a flow's own role, which has no other way to it.
CREATE OR REPLACE FUNCTION wed.waiting_reason(_flow_id integer, _wid integer, _tgid integer) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _job wed.job;
  _flow wed.flow;
BEGIN
  SELECT * INTO _job FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid;
  IF NOT FOUND THEN RETURN NULL; END IF;
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
  ELSIF wed.state_of(_job) = 'blocked' THEN
    -- After a failed attempt it is queued when its backoff has passed.
    RETURN CASE WHEN _job.blocked = 'p' THEN 'precedence'
      WHEN EXISTS (SELECT FROM wed.request WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid AND state = 'd'
        AND ready_at > clock_timestamp()) THEN 'time' ELSE 'reservation' END;
  ELSIF wed.state_of(_job) = 'awaiting_siblings' THEN
    -- An exception is nobody's sibling to wait for: an operator ends it.
    RETURN CASE WHEN EXISTS (SELECT FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid <> _tgid
      AND trname <> '_EXCPT') THEN 'siblings' END;
  ELSIF _job.put_off IS NOT NULL AND _job.due > clock_timestamp() THEN
    RETURN CASE WHEN _job.put_off ~ '^it cannot run: ' THEN 'not_runnable' ELSE 'locked' END;
  ELSIF _job.due > clock_timestamp() THEN
    RETURN 'time';
  ELSIF _job.component_id IS NOT NULL THEN
    RETURN CASE
      WHEN NOT EXISTS (SELECT FROM wed.host h WHERE wed.host_runs(h)) THEN 'no_host'
      WHEN EXISTS (SELECT FROM wed.usage WHERE tenant_id = _job.tenant_id AND (resting OR over IS NOT NULL))
        OR wed.concurrency_left(_job.tenant_id) <= 0 THEN 'quota' END;
  ELSIF EXISTS (SELECT FROM wed.binding WHERE flow_id = _flow_id AND trname = _job.trname) THEN
    RETURN 'no_component';
  ELSIF _job.trname = '_EXCPT' OR EXISTS (
      SELECT FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND l.classid::bigint = _wid
        AND l.objid::bigint = _tgid AND l.database = (SELECT oid FROM pg_database
          WHERE datname = current_database())) THEN
    RETURN NULL;
  END IF;
  IF EXISTS (SELECT FROM wed.work_item i WHERE i.flow_id = _flow_id AND i.wid = _wid AND i.tgid = _tgid
             AND i.ended_at IS NULL) THEN
    RETURN 'person';
  END IF;
  -- Who listens or polls has a session of the flow's role.
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  RETURN CASE WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE usename = _flow.role_name
    AND pid <> pg_backend_pid()) THEN 'no_worker' END;
END $$;

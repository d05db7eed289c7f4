-- New instances, whoever starts them, are counted and held against the tenant's limits. Starts of the same instant may
-- go over a limit by their number. It is part of a tenant's transaction, which may stay open, so it writes nothing that
-- others share.
CREATE OR REPLACE FUNCTION wed.on_start() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  _new bigint;
  _top bigint;
  _quota wed.quota;
  _usage wed.usage;
BEGIN
  SELECT q.* INTO _quota FROM (SELECT flow_id FROM new_rows LIMIT 1) i
  JOIN wed.flow f USING (flow_id) JOIN wed.quota q USING (tenant_id);
  IF num_nonnulls(_quota.instances, _quota.jobs, _quota.trace_bytes, _quota.row_bytes, _quota.finished,
    _quota.attempt_bytes,
                  _quota.log_bytes, _quota.recording_bytes) = 0 THEN
    RETURN NULL;
  END IF;
  SELECT * INTO _usage FROM wed.usage WHERE tenant_id = _quota.tenant_id;
  IF _usage.trace_bytes > _quota.trace_bytes THEN
    PERFORM wed.refuse_quota('trace_bytes', _usage.trace_bytes, _quota.trace_bytes);
  ELSIF _usage.row_bytes > _quota.row_bytes THEN
    PERFORM wed.refuse_quota('row_bytes', _usage.row_bytes, _quota.row_bytes);
  END IF;
  PERFORM wed.refuse_quota(k.name, k.used, k.allowed)
  FROM (VALUES ('finished', _usage.finished, _quota.finished), ('attempt_bytes', _usage.attempt_bytes,
    _quota.attempt_bytes),
               ('log_bytes', _usage.log_bytes, _quota.log_bytes),
               ('recording_bytes', _usage.recording_bytes, _quota.recording_bytes)) k(name, used, allowed)
  WHERE k.used > k.allowed;
  SELECT count(*), max(nextval('wed.started_' || _quota.tenant_id)) INTO _new, _top FROM new_rows;
  IF _usage.instances + _top - _usage.started <= _quota.instances IS NOT FALSE
     AND _usage.jobs + _top - _usage.started <= _quota.jobs IS NOT FALSE THEN
    RETURN NULL;
  END IF;
  -- A limit is near, if nothing has ended meanwhile: count.
  IF _usage.measured_at < clock_timestamp() - interval '1 second' THEN
    SELECT m.instances, m.jobs INTO _usage.instances, _usage.jobs FROM wed.count_usage(_quota.tenant_id) m;
    _usage.started := _top - _new;
  END IF;
  IF (_usage.instances + _top - _usage.started > _quota.instances
      OR _usage.jobs + _top - _usage.started > _quota.jobs)
     AND pg_sequence_last_value(('wed.started_' || _quota.tenant_id)::regclass) = _top THEN
    -- What is refused now was not started: its numbers go back, unless others took some since. The next
    -- measurement rights what is left.
    PERFORM setval(('wed.started_' || _quota.tenant_id)::regclass, greatest(_top - _new, 1), _top > _new);
  END IF;
  IF _usage.instances + _top - _usage.started > _quota.instances THEN
    PERFORM wed.refuse_quota('instances', _usage.instances + _top - _usage.started - _new, _quota.instances);
  ELSIF _usage.jobs + _top - _usage.started > _quota.jobs THEN
    PERFORM wed.refuse_quota('jobs', _usage.jobs + _top - _usage.started - _new, _quota.jobs);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER quota AFTER INSERT ON wed.instance REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION wed.on_start();

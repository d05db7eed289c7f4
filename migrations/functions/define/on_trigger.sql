-- After a trigger is written: its condition is checked and stored as Postgres understood it.
CREATE OR REPLACE FUNCTION wed.on_trigger() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
  _checked record;
  _pending bigint;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = TG_ARGV[0]::integer FOR NO KEY UPDATE;
  IF TG_OP = 'DELETE' THEN
    SELECT count(*) INTO _pending FROM wed.job WHERE flow_id = _flow.flow_id AND tgid = OLD.tgid;
    IF _pending > 0 THEN
      RAISE EXCEPTION 'trigger % has % pending jobs', coalesce(OLD.tgname, OLD.tgid::text), _pending
        USING ERRCODE = 'WF013', HINT = 'Set enabled to false and let them finish first.';
    END IF;
    PERFORM wed.take_off_shape(_flow.shape_schema, OLD.tgid);
    DELETE FROM wed.trigger WHERE tgid = OLD.tgid;
    RETURN NULL;
  END IF;
  IF pg_trigger_depth() > 1 THEN
    RETURN NULL; -- on_attribute writes, after a renaming, and has done the rest
  END IF;
  _checked := wed.check_predicate(_flow.shape_schema, NEW.tgid, NEW.cpred);
  INSERT INTO wed.trigger AS t (tgid, flow_id, tenant_id, tgname, trname, cfinal, enabled, predicate, reads, timely,
      timeout, attempts, backoff, delay, priority, recheck, writes, component_id, weight, guarded)
  VALUES (NEW.tgid, _flow.flow_id, _flow.tenant_id, NEW.tgname, NEW.trname, NEW.cfinal, NEW.enabled, _checked.predicate,
      _checked.reads, _checked.timely, NEW.timeout, NEW.attempts, NEW.backoff, NEW.delay, NEW.priority, NEW.recheck, NEW.writes,
      wed.bound_component(_flow.flow_id, NEW.trname), _checked.weight, _checked.guarded)
  ON CONFLICT (tgid) DO UPDATE SET tgname = excluded.tgname, trname = excluded.trname, cfinal = excluded.cfinal,
    enabled = excluded.enabled, predicate = excluded.predicate, reads = excluded.reads,
    timely = excluded.timely, timeout = excluded.timeout, attempts = excluded.attempts, backoff = excluded.backoff,
    delay = excluded.delay, priority = excluded.priority, recheck = excluded.recheck,
    writes = excluded.writes, component_id = excluded.component_id, weight = excluded.weight,
    guarded = excluded.guarded;
  PERFORM wed.set_constraint(_flow, NEW.tgid, NEW.reserves, NEW.quantity, NEW.resource, NEW.holds, NEW.consumes, NEW.after);
  RETURN NULL;
END $$;

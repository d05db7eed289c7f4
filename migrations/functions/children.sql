-- Children: instances that a transition of another instance, their parent, started.
--
-- A trigger whose transition `starts` a flow (wed.subprocess) fires a job that calls for a child. The chore `children`
-- starts it in the transaction that blocks the job, so exactly once. The child's end is on record in the transaction
-- that ends it; the chore ends the parent's job with it in one transaction, so exactly once. A job that leaves the pool
-- in another way leaves its child, which the chore cancels, and so do that one's children theirs. The chore waits for
-- no instance: it comes back to what somebody holds.

-- Follows the pool: a fired job of a transition that starts a flow calls for a child.
CREATE OR REPLACE FUNCTION wed.on_calling_job() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO wed.child (flow_id, wid, tgid, seq, tenant_id)
  SELECT NEW.flow_id, NEW.wid, NEW.tgid, NEW.seq, NEW.tenant_id FROM wed.subprocess s
  WHERE s.flow_id = NEW.flow_id AND s.trname = NEW.trname ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER child_called AFTER INSERT ON wed.job
  FOR EACH ROW WHEN (NEW.component_id IS NULL AND NEW.blocked IS NULL AND NEW.trname <> '_EXCPT')
  EXECUTE FUNCTION wed.on_calling_job();

CREATE OR REPLACE TRIGGER child_granted AFTER UPDATE OF blocked ON wed.job
  FOR EACH ROW WHEN (NEW.component_id IS NULL AND OLD.blocked IS NOT NULL AND NEW.blocked IS NULL)
  EXECUTE FUNCTION wed.on_calling_job();

-- Records that a parent waits no longer: its job left the pool before the child had ended.
CREATE OR REPLACE FUNCTION wed.on_left_child() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.child SET state = 'left'
  WHERE flow_id = OLD.flow_id AND wid = OLD.wid AND tgid = OLD.tgid AND seq = OLD.seq AND state IN ('running', 'ended');
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER child_left AFTER DELETE ON wed.job
  FOR EACH ROW WHEN (OLD.blocked = 'c') EXECUTE FUNCTION wed.on_left_child();

-- Records a child's end in the transaction that ends it. An exception is one for a parent that has an attribute for it;
-- else the parent waits until somebody mends the child.
CREATE OR REPLACE FUNCTION wed.on_child_status() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.child c SET state = CASE WHEN wed.has_ended(c, NEW.status) THEN 'ended' ELSE 'running' END
  WHERE c.child_flow_id = NEW.flow_id AND c.child_wid = NEW.wid AND c.state IN ('running', 'ended');
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER child_status AFTER UPDATE OF status ON wed.instance
  FOR EACH ROW WHEN (NEW.is_child AND NEW.status <> OLD.status) EXECUTE FUNCTION wed.on_child_status();

-- Tells whether a child in a status has ended as its parent sees it.
CREATE OR REPLACE FUNCTION wed.has_ended(_child wed.child, _status "char") RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT _status = 'F' OR _status = 'E' AND (wed.subprocess_of(_child)).state_attribute IS NOT NULL
$$;

-- Tells whether an exception of an instance is its end: a parent waits for it that has an attribute for its failure,
-- and decides what becomes of it.
CREATE OR REPLACE FUNCTION wed.fails_to_parent(_flow_id integer, _wid integer) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM wed.child c WHERE c.child_flow_id = _flow_id AND c.child_wid = _wid
    AND c.state IN ('running', 'ended') AND wed.has_ended(c, 'E'))
$$;

-- Returns the transition that called for a child, as the parent's definition has it now; null where it has it no more.
CREATE OR REPLACE FUNCTION wed.subprocess_of(_child wed.child) RETURNS wed.subprocess
LANGUAGE sql STABLE AS $$
  SELECT s FROM wed.trigger t JOIN wed.subprocess s ON s.flow_id = t.flow_id AND s.trname = t.trname
  WHERE t.tgid = _child.tgid
$$;

-- Chore `children`: starts what was called for, tells parents of ends, cancels what was left.

CREATE OR REPLACE FUNCTION wed.due_children()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT c.tenant_id, c.flow_id, c.wid::bigint, c.tgid, min(c.called_at)
  FROM wed.child c JOIN wed.tenant t ON t.tenant_id = c.tenant_id AND t.suspended_at IS NULL
  LEFT JOIN wed.job j ON j.flow_id = c.flow_id AND j.wid = c.wid AND j.tgid = c.tgid AND j.seq = c.seq
  WHERE c.state IN ('called', 'ended', 'left')
    AND (c.state <> 'called' OR j.wid IS NULL OR j.due <= now() AND j.blocked IS NULL AND j.host_id IS NULL)
  GROUP BY 1, 2, 3, 4
$$;

CREATE OR REPLACE FUNCTION wed.do_children(_tenant_id integer, _flow_id integer, _wid bigint, _tgid integer)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _child wed.child;
  _is_done boolean;
  _found boolean := false;
BEGIN
  FOR _child IN
    SELECT * FROM wed.child c WHERE c.flow_id = _flow_id AND c.wid = _wid AND c.tgid = _tgid
      AND c.state IN ('called', 'ended', 'left') ORDER BY c.seq FOR UPDATE SKIP LOCKED
  LOOP
    IF _child.state = 'called' THEN
      _is_done := wed.start_child(_child);
    ELSIF _child.state = 'ended' THEN
      _is_done := wed.return_child(_child);
    ELSE
      _is_done := wed.cancel_child(_child);
    END IF;
    IF NOT _is_done THEN RETURN NULL; END IF;
    _found := true;
  END LOOP;
  RETURN to_jsonb(_found);
END $$;

-- Starts the child that a job calls for, and lets the job wait for it. A start that is refused is an attempt of the job
-- that failed. False: somebody is at the parent or its job.
CREATE OR REPLACE FUNCTION wed.start_child(_child wed.child) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _job wed.job;
  _status "char";
BEGIN
  IF NOT wed.hold_parent(_child) THEN RETURN false; END IF;
  SELECT * INTO _job FROM wed.job j
  WHERE j.flow_id = _child.flow_id AND j.wid = _child.wid AND j.tgid = _child.tgid AND j.seq = _child.seq FOR UPDATE;
  IF NOT FOUND THEN
    DELETE FROM wed.child c WHERE (c.flow_id, c.wid, c.tgid, c.seq)
      = (_child.flow_id, _child.wid, _child.tgid, _child.seq);
    RETURN true;
  ELSIF _job.due > now() OR _job.blocked IS NOT NULL OR _job.host_id IS NOT NULL THEN
    RETURN true;
  ELSIF NOT pg_try_advisory_xact_lock(_job.wid, _job.tgid) THEN
    RETURN false;
  END IF;
  PERFORM wed.refuse_more_children(_child.tenant_id);
  BEGIN
    _child := wed.insert_child(_child);
  EXCEPTION
    WHEN lock_not_available OR serialization_failure OR deadlock_detected THEN RAISE;
    WHEN OTHERS THEN
      PERFORM wed.fail_start(_child, _job, SQLERRM);
      RETURN true;
  END;
  UPDATE wed.instance i SET is_child = true WHERE i.flow_id = _child.child_flow_id AND i.wid = _child.child_wid
  RETURNING i.status INTO _status;
  UPDATE wed.child c SET child_flow_id = _child.child_flow_id, child_wid = _child.child_wid, depth = _child.depth,
    state = CASE WHEN wed.has_ended(c, _status) THEN 'ended' ELSE 'running' END
  WHERE (c.flow_id, c.wid, c.tgid, c.seq) = (_child.flow_id, _child.wid, _child.tgid, _child.seq);
  UPDATE wed.job j SET blocked = 'c', due = 'infinity', attempt = j.attempt + 1, put_off = NULL
  WHERE j.flow_id = _child.flow_id AND j.wid = _child.wid AND j.tgid = _child.tgid;
  RETURN true;
END $$;

-- Locks a parent's row until the transaction ends; false when another session holds it. A parent whose flow is no more
-- has none.
CREATE OR REPLACE FUNCTION wed.hold_parent(_child wed.child) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  RETURN NOT EXISTS (SELECT FROM wed.flow WHERE flow_id = _child.flow_id)
    OR wed.hold_instance(_child.flow_id, _child.wid, true);
END $$;

-- Refuses another child of a tenant that has very many: the start is put off.
CREATE OR REPLACE FUNCTION wed.refuse_more_children(_tenant_id integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _live_max CONSTANT integer := 10000;
BEGIN
  IF (SELECT count(*) FROM (SELECT FROM wed.child c WHERE c.tenant_id = _tenant_id
      AND c.state IN ('running', 'ended', 'left') LIMIT _live_max) l) >= _live_max THEN
    RAISE EXCEPTION 'the tenant has % children that run, and no more are started meanwhile', _live_max
      USING ERRCODE = '54000', HINT = 'Let some of them end, or cancel them.';
  END IF;
END $$;

-- Starts a child with what its parent gives it, in the parent's name. Returns it with its number and depth.
CREATE OR REPLACE FUNCTION wed.insert_child(_child wed.child) RETURNS wed.child
LANGUAGE plpgsql AS $$
DECLARE
  _depth_max CONSTANT integer := 8;
  _sub wed.subprocess := wed.subprocess_of(_child);
  _flow wed.flow;
  _values jsonb;
BEGIN
  _child.depth := 1 + coalesce((SELECT c.depth FROM wed.child c
    WHERE c.child_flow_id = _child.flow_id AND c.child_wid = _child.wid), 0);
  SELECT f.* INTO _flow FROM wed.flow f WHERE f.tenant_id = _child.tenant_id AND f.name = _sub.starts;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no flow "%" to start', _sub.starts USING ERRCODE = 'WF040',
      HINT = 'Make it with `wed flow apply`; then `wed instance retry`.';
  ELSIF _child.depth > _depth_max THEN
    RAISE EXCEPTION 'children are at most % deep, and this one would be %', _depth_max, _child.depth
      USING ERRCODE = '54000', HINT = 'A flow that starts itself needs a condition that ends it.';
  END IF;
  _values := wed.exchanged(_sub.inputs, _sub.shares, wed.present_state(_child.flow_id, _child.wid), _flow);
  PERFORM wed.refuse_values(_flow, _values);
  PERFORM set_config('wed.actor', wed.place_of(_child.flow_id, _child.wid), true);
  _child.child_flow_id := _flow.flow_id;
  _child.child_wid := wed.insert_values(_flow.schema_name, _values);
  PERFORM set_config('wed.actor', '', true);
  PERFORM wed.inherit_charge(_child);
  RETURN _child;
END $$;

-- Returns the state of an instance as a document.
CREATE OR REPLACE FUNCTION wed.present_state(_flow_id integer, _wid integer) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _state jsonb;
BEGIN
  EXECUTE format('SELECT to_jsonb(w.*) - ''wid'' FROM %I.wed_flow w WHERE w.wid = $1',
    (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id)) INTO _state USING _wid;
  RETURN _state;
END $$;

-- Values for a flow's instance from the state of another one: those that are named, and those that both have of the
-- shared ones.
CREATE OR REPLACE FUNCTION wed.exchanged(_named jsonb, _shares text[], _state jsonb, _into wed.flow) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _known text[];
  _missing text := (SELECT min(n.value) FROM jsonb_each_text(_named) n WHERE NOT _state ? n.value);
BEGIN
  IF _missing IS NOT NULL THEN
    RAISE EXCEPTION 'there is no attribute "%" to take a value from', _missing USING ERRCODE = '42703',
      HINT = 'Name attributes as the two flows have them now; `wed flow show` lists them.';
  END IF;
  EXECUTE format('SELECT coalesce(array_agg(aname::text), ''{}'') FROM %I.wed_attr', _into.schema_name) INTO _known;
  RETURN (SELECT coalesce(jsonb_object_agg(v.name, _state -> v.source), '{}') FROM (
    SELECT s AS name, s AS source FROM unnest(_shares) s WHERE _state ? s AND s = ANY (_known) AND NOT _named ? s
    UNION ALL SELECT n.key, n.value FROM jsonb_each_text(_named) n) v);
END $$;

-- Lets who is in charge of a parent with people be in charge of its child with people.
CREATE OR REPLACE FUNCTION wed.inherit_charge(_child wed.child) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM wed.work_plan WHERE flow_id = _child.child_flow_id) THEN
    INSERT INTO wed.work_instance (flow_id, wid, tenant_id)
    VALUES (_child.child_flow_id, _child.child_wid, _child.tenant_id) ON CONFLICT DO NOTHING;
    UPDATE wed.work_instance c SET creator = p.creator, in_charge = p.in_charge FROM wed.work_instance p
    WHERE p.flow_id = _child.flow_id AND p.wid = _child.wid AND c.flow_id = _child.child_flow_id
      AND c.wid = _child.child_wid;
    UPDATE wed.instance SET people = true WHERE flow_id = _child.child_flow_id AND wid = _child.child_wid;
  END IF;
END $$;

-- Records a start that was refused: the job has another attempt later, or it has failed.
CREATE OR REPLACE FUNCTION wed.fail_start(_child wed.child, _job wed.job, _message text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  _job.attempt := _job.attempt + 1;
  UPDATE wed.job j SET attempt = _job.attempt
  WHERE j.flow_id = _job.flow_id AND j.wid = _job.wid AND j.tgid = _job.tgid;
  INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
  VALUES (_job.flow_id, _job.wid, _job.tgid, _job.trname, _job.attempt, 'failed', left(_message, 8192), 'wedflow');
  IF _job.attempt < (SELECT attempts FROM wed.trigger WHERE tgid = _job.tgid) THEN
    PERFORM wed.retry_later(_job, NULL);
  ELSE
    PERFORM wed.fail_parent(_child, format('its child could not be started: %s', left(_message, 1000)));
  END IF;
END $$;

-- Tells a parent of its child's end: the job that waited ends with what the child has, or has failed. False: somebody
-- is at the parent.
CREATE OR REPLACE FUNCTION wed.return_child(_child wed.child) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _end text := wed.end_of(_child);
BEGIN
  IF NOT wed.hold_parent(_child) THEN RETURN false; END IF;
  IF _end <> 'final' THEN
    PERFORM wed.fail_parent(_child, format('%s %s', wed.place_of(_child.child_flow_id, _child.child_wid), _end));
    RETURN true;
  END IF;
  BEGIN
    PERFORM wed.end_calling_job(_child, wed.outputs_of(_child));
  EXCEPTION WHEN data_exception OR integrity_constraint_violation OR undefined_column THEN
    PERFORM wed.fail_parent(_child, format('%s has ended, and what it gives is refused: %s',
      wed.place_of(_child.child_flow_id, _child.child_wid), SQLERRM));
  END;
  RETURN true;
END $$;

-- Says how a child has ended.
CREATE OR REPLACE FUNCTION wed.end_of(_child wed.child) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN i.wid IS NULL THEN 'was removed'
    WHEN i.status = 'E' THEN 'is an exception'
    WHEN (SELECT r.trw FROM wed.trace r WHERE r.flow_id = i.flow_id AND r.wid = i.wid ORDER BY r.seq DESC LIMIT 1)
      = '_CANCEL' THEN 'was cancelled'
    ELSE 'final' END
  FROM (SELECT) one LEFT JOIN wed.instance i ON i.flow_id = _child.child_flow_id AND i.wid = _child.child_wid
$$;

-- Returns what a child that is final gives its parent.
CREATE OR REPLACE FUNCTION wed.outputs_of(_child wed.child) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _sub wed.subprocess := wed.subprocess_of(_child);
  _flow wed.flow;
BEGIN
  IF _sub.flow_id IS NULL THEN RETURN '{}'; END IF;
  SELECT f.* INTO STRICT _flow FROM wed.flow f WHERE f.flow_id = _child.flow_id;
  RETURN wed.exchanged(_sub.outputs, _sub.shares, wed.present_state(_child.child_flow_id, _child.child_wid), _flow)
    || CASE WHEN _sub.state_attribute IS NULL THEN '{}' ELSE jsonb_build_object(_sub.state_attribute, 'SUCCEEDED') END;
END $$;

-- Ends the job of a parent, whose row is held, with values. Tasks that these fire are left to any host.
CREATE OR REPLACE FUNCTION wed.end_calling_job(_child wed.child, _values jsonb, _note text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _token bigint;
BEGIN
  PERFORM wed.close_child(_child, 'returned');
  SELECT j.token INTO _token FROM wed.job j
  WHERE j.flow_id = _child.flow_id AND j.wid = _child.wid AND j.tgid = _child.tgid AND j.seq = _child.seq;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM set_config('wed.actor', coalesce(wed.place_of(_child.child_flow_id, _child.child_wid), ''), true);
  PERFORM wed.write_values(_child.flow_id, _child.wid, _values);
  PERFORM wed.pass_gate(wed.as_it_stands(_child.flow_id, _child.wid),
    wed.finished_job(_child.flow_id, _child.wid, _child.tgid, _token), NULL, _note => _note, _lease => false);
  PERFORM set_config('wed.actor', '', true);
  PERFORM pg_notify('wed_jobs', '');
END $$;

-- Lets a parent, whose row is held, know that its child failed: by its attribute, else it is an exception.
CREATE OR REPLACE FUNCTION wed.fail_parent(_child wed.child, _why text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _sub wed.subprocess := wed.subprocess_of(_child);
BEGIN
  IF _sub.state_attribute IS NOT NULL THEN
    PERFORM wed.end_calling_job(_child, jsonb_build_object(_sub.state_attribute, 'FAILED'), _why);
  ELSE
    PERFORM wed.close_child(_child, 'returned');
    PERFORM wed.pass_as_it_stands(_child.flow_id, _child.wid, _child.tgid, '_ABORT',
      format('%s: %s', coalesce(_sub.trname, 'a transition'), _why), NULL, NULL);
  END IF;
  -- An exception that nobody waits for any more.
  UPDATE wed.child c SET state = 'left' WHERE (c.flow_id, c.wid, c.tgid, c.seq)
    = (_child.flow_id, _child.wid, _child.tgid, _child.seq) AND c.child_wid IS NOT NULL;
END $$;

-- Cancels a child that its parent waits for no longer. False: somebody is at it.
CREATE OR REPLACE FUNCTION wed.cancel_child(_child wed.child) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM wed.instance WHERE flow_id = _child.child_flow_id AND wid = _child.child_wid
             AND status <> 'F') THEN
    IF NOT wed.hold_instance(_child.child_flow_id, _child.child_wid, true) THEN RETURN false; END IF;
    PERFORM wed.close_child(_child, 'cancelled');
    PERFORM wed.cancel_instance(_child.child_flow_id, _child.child_wid,
      coalesce(wed.place_of(_child.flow_id, _child.wid), 'its parent'), 'it waits for it no longer');
  ELSE
    PERFORM wed.close_child(_child, 'returned');
  END IF;
  RETURN true;
END $$;

-- Ends the record of a child; of one whose parent's flow is no more, nothing is left.
CREATE OR REPLACE FUNCTION wed.close_child(_child wed.child, _state text) RETURNS void
LANGUAGE sql AS $$
  UPDATE wed.child c SET state = _state, ended_at = clock_timestamp()
  WHERE (c.flow_id, c.wid, c.tgid, c.seq) = (_child.flow_id, _child.wid, _child.tgid, _child.seq);
  DELETE FROM wed.child c
  WHERE (c.flow_id, c.wid, c.tgid, c.seq) = (_child.flow_id, _child.wid, _child.tgid, _child.seq)
    AND NOT EXISTS (SELECT FROM wed.flow f WHERE f.flow_id = _child.flow_id)
$$;

-- Returns an instance in words; null where its flow is no more.
CREATE OR REPLACE FUNCTION wed.place_of(_flow_id integer, _wid integer) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT format('instance %s of %s', _wid,
    coalesce((SELECT f.name FROM wed.flow f WHERE f.flow_id = _flow_id), 'a removed flow')) WHERE _wid IS NOT NULL
$$;

-- Returns what a job that called for a child waits for, in words.
CREATE OR REPLACE FUNCTION wed.child_in_words(_flow_id integer, _wid integer, _tgid integer) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT coalesce(wed.place_of(c.child_flow_id, c.child_wid), 'its child')
    || CASE i.status WHEN 'E' THEN ', which is an exception' ELSE '' END
  FROM wed.child c LEFT JOIN wed.instance i ON i.flow_id = c.child_flow_id AND i.wid = c.child_wid
  WHERE c.flow_id = _flow_id AND c.wid = _wid AND c.tgid = _tgid AND c.state IN ('running', 'ended')
$$;

-- Returns the relatives of an instance: its parent, then its newest 100 children. The transition is the parent's.
CREATE OR REPLACE FUNCTION wed.relatives_of(_flow_id integer, _wid integer)
RETURNS TABLE (is_parent boolean, flow text, wid integer, transition text, state text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT true, f.name, c.wid, t.trname, c.state FROM wed.child c JOIN wed.flow f USING (flow_id)
  LEFT JOIN wed.trigger t ON t.tgid = c.tgid WHERE c.child_flow_id = _flow_id AND c.child_wid = _wid
  UNION ALL
  (SELECT false, f.name, c.child_wid, t.trname, c.state FROM wed.child c JOIN wed.flow f ON f.flow_id = c.child_flow_id
   LEFT JOIN wed.trigger t ON t.tgid = c.tgid WHERE c.flow_id = _flow_id AND c.wid = _wid
   ORDER BY c.called_at DESC, c.seq DESC LIMIT 100)
$$;

-- Makes a flow's transitions that start flows those of a definition. Refuses what names attributes that it has not.
CREATE OR REPLACE FUNCTION wed.apply_subprocesses(_flow wed.flow, _transitions jsonb) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _known text[];
  _bad record;
BEGIN
  SELECT t.key INTO _bad FROM jsonb_each(_transitions) t
  WHERE (t.value ? 'starts') = (t.value ? 'component') OR t.value ? 'starts' AND t.value ?| '{files,http}'
    OR NOT t.value ? 'starts' AND t.value ?| '{inputs,outputs,shares,state}' LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'transition "%" is performed by a component or starts a flow, with what belongs to it',
      left(_bad.key, 80) USING ERRCODE = 'WF013',
      HINT = 'Write component with files and http, or starts with inputs, outputs, shares and state.';
  END IF;
  EXECUTE format('SELECT coalesce(array_agg(aname::text), ''{}'') FROM %I.wed_attr', _flow.schema_name) INTO _known;
  SELECT t.key, n.name INTO _bad FROM jsonb_each(_transitions) t CROSS JOIN LATERAL (
    SELECT i.value AS name FROM jsonb_each_text(coalesce(t.value -> 'inputs', '{}')) i
    UNION ALL SELECT jsonb_object_keys(coalesce(t.value -> 'outputs', '{}'))
    UNION ALL SELECT jsonb_array_elements_text(coalesce(t.value -> 'shares', '[]'))
    UNION ALL SELECT t.value ->> 'state' WHERE t.value ? 'state') n
  WHERE n.name <> ALL (_known) LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'transition "%" names "%", which is no attribute of this flow', left(_bad.key, 80),
      left(_bad.name, 80) USING ERRCODE = 'WF013',
      HINT = 'inputs = { child = "own" }, outputs = { own = "child" }: one side is this flow''s.';
  END IF;
  DELETE FROM wed.subprocess WHERE flow_id = _flow.flow_id;
  INSERT INTO wed.subprocess (flow_id, trname, starts, inputs, outputs, shares, state_attribute)
  SELECT _flow.flow_id, t.key, t.value ->> 'starts', coalesce(t.value -> 'inputs', '{}'),
    coalesce(t.value -> 'outputs', '{}'),
    ARRAY(SELECT jsonb_array_elements_text(coalesce(t.value -> 'shares', '[]'))), t.value ->> 'state'
  FROM jsonb_each(_transitions) t WHERE t.value ? 'starts';
END $$;

-- Returns what a flow's transitions that start flows are, as a definition says it, by transition.
CREATE OR REPLACE FUNCTION wed.subprocesses_defined(_flow_id integer) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(jsonb_object_agg(s.trname, jsonb_strip_nulls(jsonb_build_object('starts', s.starts,
    'inputs', nullif(s.inputs, '{}'), 'outputs', nullif(s.outputs, '{}'),
    'shares', to_jsonb(nullif(s.shares, '{}')), 'state', s.state_attribute))), '{}')
  FROM wed.subprocess s WHERE s.flow_id = _flow_id
$$;

-- Returns the attributes that a child's end sets; null without a child.
CREATE OR REPLACE FUNCTION wed.given_back(_sub wed.subprocess) RETURNS jsonb
LANGUAGE sql STABLE AS $$
  SELECT jsonb_agg(g.name ORDER BY g.name) FROM (
    SELECT jsonb_object_keys(_sub.outputs) AS name UNION SELECT unnest(_sub.shares)
    UNION SELECT _sub.state_attribute) g WHERE g.name IS NOT NULL
$$;

-- Returns what of a flow's transitions that start flows will fail: flows that are not there, attributes that these have
-- not.
CREATE OR REPLACE FUNCTION wed.subprocess_faults(_flow_id integer) RETURNS SETOF text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _sub wed.subprocess;
  _schema text;
BEGIN
  FOR _sub IN SELECT * FROM wed.subprocess s WHERE s.flow_id = _flow_id ORDER BY s.trname LOOP
    SELECT c.schema_name INTO _schema FROM wed.flow f JOIN wed.flow c ON c.tenant_id = f.tenant_id
    WHERE f.flow_id = _flow_id AND c.name = _sub.starts;
    IF NOT FOUND THEN
      RETURN NEXT format('there is no flow %s: transition %s starts nothing until there is', _sub.starts, _sub.trname);
      CONTINUE;
    END IF;
    RETURN QUERY EXECUTE format($q$SELECT format('transition %%s names attribute "%%s", which flow %%s has not', $1, n,
        $2) FROM unnest($3) n WHERE n NOT IN (SELECT aname FROM %I.wed_attr) ORDER BY 1$q$, _schema)
      USING _sub.trname, _sub.starts, ARRAY(SELECT jsonb_object_keys(_sub.inputs) UNION
        SELECT o.value FROM jsonb_each_text(_sub.outputs) o);
  END LOOP;
END $$;

-- Gives an attribute its new name where transitions that start flows name it: the flow's own side, and that of flows
-- that start it.
CREATE OR REPLACE FUNCTION wed.rename_in_subprocesses(_flow wed.flow, _former text, _name text) RETURNS void
LANGUAGE sql AS $$
  UPDATE wed.subprocess SET inputs = wed.renamed_sources(inputs, _former, _name),
    outputs = wed.renamed_targets(outputs, _former, _name), shares = array_replace(shares, _former, _name),
    state_attribute = CASE state_attribute WHEN _former THEN _name ELSE state_attribute END
  WHERE flow_id = _flow.flow_id;
  UPDATE wed.subprocess s SET inputs = wed.renamed_targets(s.inputs, _former, _name),
    outputs = wed.renamed_sources(s.outputs, _former, _name)
  FROM wed.flow p WHERE p.flow_id = s.flow_id AND p.tenant_id = _flow.tenant_id AND s.starts = _flow.name
$$;

-- Renames a source in a list of attributes and their sources.
CREATE OR REPLACE FUNCTION wed.renamed_sources(_named jsonb, _former text, _name text) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(jsonb_object_agg(n.key, CASE n.value WHEN _former THEN _name ELSE n.value END), '{}')
  FROM jsonb_each_text(_named) n
$$;

-- Renames an attribute in a list of attributes and their sources.
CREATE OR REPLACE FUNCTION wed.renamed_targets(_named jsonb, _former text, _name text) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(jsonb_object_agg(CASE n.key WHEN _former THEN _name ELSE n.key END, n.value), '{}')
  FROM jsonb_each_text(_named) n
$$;

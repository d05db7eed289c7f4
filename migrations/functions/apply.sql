-- Applying a definition as a whole: attributes, triggers, bindings, work (decision 0050).

-- Returns what applying a definition would change, and which live instances a re-match would touch then. It is applied
-- and taken back.
CREATE OR REPLACE FUNCTION wed.preview_definition(_flow_id integer, _definition jsonb) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _applied jsonb;
  _instances jsonb;
BEGIN
  _applied := wed.apply_definition(_flow_id, _definition, '');
  _instances := wed.rematch_preview(_flow_id);
  RAISE EXCEPTION 'a preview' USING ERRCODE = 'WFPRE';
EXCEPTION WHEN SQLSTATE 'WFPRE' THEN
  RETURN jsonb_build_object('preview', true, 'applied', _applied, 'instances', _instances);
END $$;

-- Makes a flow what a definition says, in the form of wed.definition, and returns what changed. Whoever calls it holds
-- the flow's row. Attributes that the definition does not name are kept: their values would be lost.
CREATE OR REPLACE FUNCTION wed.apply_definition(_flow_id integer, _definition jsonb, _actor text) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _flow wed.flow;
  _before jsonb := wed.definition(_flow_id);
  _after jsonb;
  _applied jsonb := '{}';
BEGIN
  PERFORM wed.refuse_repeated(_definition);
  UPDATE wed.flow SET description = coalesce(_definition ->> 'description', '')
  WHERE flow_id = _flow_id RETURNING * INTO STRICT _flow;
  -- What is generated of a definition is made once, at its end (wed.after_definition).
  PERFORM set_config('wed.definition', 'whole', true);
  _applied := _applied || wed.apply_attributes(_flow, coalesce(_definition -> 'attribute', '[]'));
  -- A binding first, so that triggers find their components.
  _applied := _applied || wed.apply_bindings(_flow, coalesce(_definition -> 'transition', '{}'));
  _applied := _applied || wed.apply_triggers(_flow, coalesce(_definition -> 'trigger', '[]'));
  PERFORM wed.apply_final(_flow, _definition ->> 'final');
  PERFORM wed.order_by_attribute(_flow_id, _definition ->> 'order');
  PERFORM wed.set_start(_flow, _definition -> 'start');
  PERFORM wed.set_numbering(_flow_id, a ->> 'name', a ->> 'number' = 'gapless')
  FROM jsonb_array_elements(coalesce(_definition -> 'attribute', '[]')) a;
  PERFORM set_config('wed.definition', '', true);
  PERFORM wed.update_components(_flow_id);
  PERFORM wed.apply_work(_flow_id, coalesce(_definition -> 'trigger', '[]'));
  PERFORM wed.apply_schedules(_flow, _definition -> 'schedule', _actor);

  _after := wed.definition(_flow_id);
  IF _after <> _before THEN
    PERFORM wed.compile(_flow_id);
  END IF;
  PERFORM wed.keep_version(_flow_id, _actor);
  RETURN _applied || wed.changed_settings(_before, _after) || jsonb_build_object(
    'created', false, 'components_missing', wed.missing_components(_flow_id),
    'warnings', ARRAY(SELECT * FROM wed.binding_faults(_flow_id)
      UNION ALL SELECT * FROM wed.subprocess_faults(_flow_id) UNION ALL SELECT * FROM wed.lint_texts(_flow_id)));
END $$;

-- Refuses to go back to a definition with attributes that the flow has no more: they were renamed or dropped since. To
-- add them anew would give every running instance their defaults, next to the values that it has under another name.
CREATE OR REPLACE FUNCTION wed.refuse_lost_attributes(_flow_id integer, _version integer, _definition jsonb)
RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _lost text;
BEGIN
  EXECUTE format('SELECT string_agg(a ->> ''name'', '', '' ORDER BY 1)
                  FROM jsonb_array_elements(coalesce($1 -> ''attribute'', ''[]'')) a
                  WHERE a ->> ''name'' NOT IN (SELECT aname FROM %I.wed_attr)',
                 (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id)) INTO _lost USING _definition;
  IF _lost IS NOT NULL THEN
    RAISE EXCEPTION 'version % has attributes that were renamed or dropped since: %', _version, _lost
      USING ERRCODE = 'WF013', HINT = 'Name them as they were, or add them, in wed_attr; then roll back.';
  END IF;
END $$;

-- Refuses a definition with two attributes, triggers or schedules of one name: the later one would take the place of
-- the first without a word.
CREATE OR REPLACE FUNCTION wed.refuse_repeated(_definition jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _one record;
BEGIN
  SELECT kind, part ->> 'name' AS name INTO _one
  FROM unnest(ARRAY['attribute', 'trigger', 'schedule']) kind
  CROSS JOIN LATERAL jsonb_array_elements(coalesce(_definition -> kind, '[]')) part
  WHERE part ->> 'name' IS NOT NULL GROUP BY 1, 2 HAVING count(*) > 1 ORDER BY 1, 2 LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the definition has more than one % "%"', _one.kind, left(_one.name, 80) USING ERRCODE = 'WF013',
      HINT = 'Give each a name of its own.';
  END IF;
END $$;

-- Adds and changes the attributes of a flow that a definition names; returns those that were added, and those that it
-- does not name.
CREATE OR REPLACE FUNCTION wed.apply_attributes(_flow wed.flow, _attributes jsonb) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _attribute record;
  _present record;
  _added text[] := '{}';
  _kept text[];
  _written boolean := false;
  _retyped boolean := false;
BEGIN
  FOR _attribute IN
    SELECT a ->> 'name' AS aname, coalesce(a ->> 'type', 'text') AS atype, a ->> 'default' AS adv,
           coalesce((a ->> 'open')::boolean, false) AS open
    FROM jsonb_array_elements(_attributes) WITH ORDINALITY x(a, at) ORDER BY at
  LOOP
    EXECUTE format('SELECT aname, atype, adv, open FROM %I.wed_attr WHERE aname = $1', _flow.schema_name)
      INTO _present USING _attribute.aname;
    IF _present.aname IS NULL THEN
      EXECUTE format('INSERT INTO %I.wed_attr (aname, atype, adv, open) VALUES ($1, $2, $3, $4)', _flow.schema_name)
        USING _attribute.aname, _attribute.atype, _attribute.adv, _attribute.open;
      _added := _added || _attribute.aname;
      _written := true;
    ELSIF _present IS DISTINCT FROM _attribute THEN
      EXECUTE format('UPDATE %I.wed_attr SET atype = $2, adv = $3, open = $4 WHERE aname = $1', _flow.schema_name)
        USING _attribute.aname, _attribute.atype, _attribute.adv, _attribute.open;
      _written := true;
      _retyped := _retyped
        OR wed.attribute_type(_present.atype) IS DISTINCT FROM wed.attribute_type(_attribute.atype);
    END IF;
  END LOOP;
  IF _written THEN PERFORM wed.write_attributes(_flow, _added, _retyped); END IF;
  EXECUTE format('SELECT array_agg(aname ORDER BY aname) FROM %I.wed_attr
                  WHERE aname NOT IN (SELECT a ->> ''name'' FROM jsonb_array_elements($1) a)', _flow.schema_name)
    INTO _kept USING _attributes;
  RETURN jsonb_build_object('attributes_added', _added, 'attributes_kept', coalesce(_kept, '{}'));
END $$;

-- Returns what the template apply holds of a flow: the attributes that its components declare to write, or all; how a
-- row is returned; what its triggers restrict; its groups of conditions. With very many attributes no plan is kept:
-- what is assigned decides.
CREATE OR REPLACE FUNCTION wed.apply_values(_flow wed.flow) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
  _planned_max CONSTANT integer := 48;
  _declared text[] := wed.declared(_flow.flow_id, 'writes');
  _bytes_max CONSTANT integer := 262144;
  -- Null where a row is as large as it looks, which its table has measured.
  _bytes CONSTANT text := format('CASE WHEN %s THEN octet_length((_r.*)::text) END',
                                 wed.came_compressed(_flow.schema_name, '_r'));
  _column record;
BEGIN
  SELECT coalesce(count(*) BETWEEN 1 AND _planned_max, false) AS planned,
         string_agg(format('_p%s integer := array_position(_assigned, %L);', attnum, attname), E'\n  ' ORDER BY attnum)
           AS places,
         array_agg(attname::text ORDER BY attnum) AS names,
         string_agg(format('%I = CASE WHEN _p%s IS NULL THEN _r.%1$I ELSE _b.literals[_p%2$s]::%s END', attname, attnum,
                           format_type(atttypid, atttypmod)), E',\n        ' ORDER BY attnum) AS sets
  INTO _column
  FROM pg_attribute
  WHERE attrelid = format('%I.wed_flow', _flow.shape_schema)::regclass AND attnum > 1 AND NOT attisdropped
    AND (_declared IS NULL OR attname = ANY (_declared));
  RETURN jsonb_build_object(
    'places', CASE WHEN _column.planned THEN _column.places ELSE '' END,
    'written', CASE WHEN _column.planned THEN quote_literal(_column.names) ELSE 'NULL' END,
    'sets', CASE WHEN _column.planned THEN _column.sets ELSE 'wid = _r.wid' END,
    'bytes', _bytes,
    'bytes_max', _bytes_max,
    'bytes_text', quote_literal(format('%s > %s', _bytes, _bytes_max)),
    'schema_text', quote_literal(_flow.schema_name),
    'role_text', quote_literal(_flow.role_name),
    'refuse_restricted', CASE
      WHEN EXISTS (SELECT FROM wed.trigger WHERE flow_id = _flow.flow_id AND enabled AND writes IS NOT NULL)
      THEN 'PERFORM wed.refuse_restricted(_results, _assigned);' ELSE '' END,
    'keep_groups', coalesce(wed.keep_groups_text(_flow), ''));
END $$;

-- Makes a flow's triggers those of a definition. A trigger without a name is called by its number. Returns the names of
-- those that were added, changed and removed, and of those that stay disabled though the definition does not say so.
CREATE OR REPLACE FUNCTION wed.apply_triggers(_flow wed.flow, _triggers jsonb) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _trigger jsonb;
  _tgid integer;
  _removed text[] := wed.remove_triggers(_flow, ARRAY(SELECT t ->> 'name' FROM jsonb_array_elements(_triggers) t));
  _added text[] := '{}';
  _changed text[] := '{}';
  _disabled text[] := '{}';
BEGIN
  FOR _trigger IN SELECT t FROM jsonb_array_elements(_triggers) WITH ORDINALITY x(t, at) ORDER BY at LOOP
    _tgid := wed.trigger_named(_flow.flow_id, _trigger ->> 'name');
    IF wed.apply_trigger(_flow, _tgid, _trigger) THEN
      IF _tgid IS NULL THEN
        _added := _added || (_trigger ->> 'name');
      ELSE
        _changed := _changed || (_trigger ->> 'name');
      END IF;
    END IF;
    IF NOT _trigger ? 'enabled' AND NOT (SELECT enabled FROM wed.trigger WHERE tgid = _tgid) THEN
      _disabled := _disabled || (_trigger ->> 'name');
    END IF;
  END LOOP;
  -- Afterwards, as a policy may name a trigger that follows in the definition.
  FOR _trigger IN SELECT t FROM jsonb_array_elements(_triggers) t LOOP
    PERFORM wed.set_policy(_flow.flow_id, wed.trigger_named(_flow.flow_id, _trigger ->> 'name'),
      _trigger ->> 'compensation', wed.trigger_interval(_trigger, 'deadline'));
  END LOOP;
  RETURN jsonb_build_object('triggers_added', _added, 'triggers_changed', _changed, 'triggers_removed', _removed,
    'triggers_disabled', _disabled);
END $$;

-- Updates a trigger, or inserts it where there is none, as a definition says; returns false if it was so already. What
-- the definition leaves out is at its default, but for `enabled`, which stays.
CREATE OR REPLACE FUNCTION wed.apply_trigger(_flow wed.flow, _tgid integer, _trigger jsonb) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _columns jsonb := '{"cname": null, "attempts": 3, "priority": 0, "recheck": true, "writes": null, "reserves": null,
      "quantity": null, "resource": null, "holds": null, "consumes": false, "after": null, "waits_for": null}'
    || (_trigger - '{name,tgid,cfinal}'::text[])
    || jsonb_build_object('trname', _trigger -> 'transition', 'cname', _trigger -> 'condition',
         'cpred', _trigger -> 'when', 'timeout', coalesce(wed.trigger_interval(_trigger, 'timeout'), '1 minute'),
         'backoff', coalesce(wed.trigger_interval(_trigger, 'backoff'), '1 second'),
         'delay', coalesce(wed.trigger_interval(_trigger, 'delay'), '0'),
         'or_after', wed.trigger_interval(_trigger, 'or_after'));
  _list text := 'trname, cname, cpred, timeout, attempts, backoff, delay, priority, recheck, writes, reserves, '
    'quantity, resource, holds, consumes, after, waits_for, or_after, enabled';
  _is_changed boolean;
BEGIN
  IF _tgid IS NULL THEN
    EXECUTE format('INSERT INTO %1$I.wed_trig (tgname, %2$s)
                    SELECT $2, %2$s FROM jsonb_populate_record(NULL::%1$I.wed_trig, $1)', _flow.schema_name, _list)
      USING _columns, _trigger ->> 'name';
    RETURN true;
  END IF;
  EXECUTE format('SELECT jsonb_populate_record(w, $2) IS DISTINCT FROM w FROM %I.wed_trig w WHERE tgid = $1',
                 _flow.schema_name) INTO _is_changed USING _tgid, _columns;
  IF _is_changed THEN
    EXECUTE format('UPDATE %1$I.wed_trig w SET (%2$s) = (SELECT %2$s FROM jsonb_populate_record(w, $2))
                    WHERE tgid = $1', _flow.schema_name, _list) USING _tgid, _columns;
  END IF;
  RETURN _is_changed;
END $$;

-- Makes a flow's final condition the given one; null removes it.
CREATE OR REPLACE FUNCTION wed.apply_final(_flow wed.flow, _condition text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _present text;
BEGIN
  EXECUTE format('SELECT cpred FROM %I.wed_trig WHERE cfinal', _flow.schema_name) INTO _present;
  IF _present IS NOT DISTINCT FROM _condition THEN
    RETURN;
  ELSIF _condition IS NULL THEN
    EXECUTE format('DELETE FROM %I.wed_trig WHERE cfinal', _flow.schema_name);
  ELSIF _present IS NULL THEN
    EXECUTE format('INSERT INTO %I.wed_trig (cpred, cfinal) VALUES ($1, true)', _flow.schema_name) USING _condition;
  ELSE
    EXECUTE format('UPDATE %I.wed_trig SET cpred = $1 WHERE cfinal', _flow.schema_name) USING _condition;
  END IF;
END $$;

-- Removes the triggers of a flow that are not among the names that are kept; returns the names of the removed ones.
CREATE OR REPLACE FUNCTION wed.remove_triggers(_flow wed.flow, _kept text[]) RETURNS text[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _tgids integer[];
  _names text[];
BEGIN
  EXECUTE format('SELECT array_agg(tgid ORDER BY tgid), array_agg(name ORDER BY tgid)
                  FROM (SELECT tgid, coalesce(nullif(tgname, ''''), tgid::text) AS name
                        FROM %I.wed_trig WHERE NOT cfinal) w
                  WHERE name <> ALL ($1)', _flow.schema_name) INTO _tgids, _names USING _kept;
  IF _tgids IS NOT NULL THEN
    EXECUTE format('DELETE FROM %I.wed_trig WHERE tgid = ANY ($1)', _flow.schema_name) USING _tgids;
  END IF;
  RETURN coalesce(_names, '{}');
END $$;

-- Removes a trigger that has no pending jobs. The flow's table is locked before they are counted: who is about to fire
-- one commits first, and a later writer has the new conditions.
CREATE OR REPLACE FUNCTION wed.remove_trigger(_flow wed.flow, _tgid integer, _name text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _pending bigint;
BEGIN
  PERFORM set_config('lock_timeout', '5s', true);
  EXECUTE format('LOCK TABLE %I.wed_flow IN EXCLUSIVE MODE', _flow.schema_name);
  SELECT count(*) INTO _pending FROM wed.job WHERE flow_id = _flow.flow_id AND tgid = _tgid;
  IF _pending > 0 THEN
    RAISE EXCEPTION 'trigger % has % pending jobs', coalesce(_name, _tgid::text), _pending
      USING ERRCODE = 'WF013', HINT = 'Set enabled to false and let them finish first.';
  END IF;
  PERFORM wed.take_off_shape(_flow.shape_schema, _tgid);
  DELETE FROM wed.trigger WHERE tgid = _tgid;
END $$;

-- Replaces a flow's bindings and grants by those of a definition: documents with component, files and http, or with
-- the flow that is started, by transition. Returns the transitions that got another performer, and those that are
-- external workers' from now on.
CREATE OR REPLACE FUNCTION wed.apply_bindings(_flow wed.flow, _transitions jsonb) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _id integer := _flow.flow_id;
  _bound text[];
  _unbound text[];
BEGIN
  SELECT array_agg(format('%s by %s', t.key, coalesce(t.value ->> 'component', 'flow ' || (t.value ->> 'starts')))
    ORDER BY t.key) INTO _bound
  FROM jsonb_each(_transitions) t
  WHERE NOT EXISTS (SELECT FROM wed.binding b WHERE b.flow_id = _id AND b.trname = t.key
                    AND b.component_name = t.value ->> 'component')
    AND NOT EXISTS (SELECT FROM wed.subprocess s WHERE s.flow_id = _id AND s.trname = t.key
                    AND s.starts = t.value ->> 'starts');
  SELECT array_agg(b.trname ORDER BY b.trname) INTO _unbound
  FROM (SELECT trname FROM wed.binding WHERE flow_id = _id UNION SELECT trname FROM wed.subprocess
        WHERE flow_id = _id) b
  WHERE NOT _transitions ? b.trname;

  DELETE FROM wed.binding WHERE flow_id = _id;
  DELETE FROM wed."grant" WHERE flow_id = _id;
  INSERT INTO wed.binding (flow_id, trname, component_name)
  SELECT _id, t.key, t.value ->> 'component' FROM jsonb_each(_transitions) t WHERE t.value ? 'component';
  PERFORM wed.apply_subprocesses(_flow, _transitions);
  PERFORM wed.grant_transition(_id, t.key, coalesce((t.value ->> 'files')::boolean, false),
    ARRAY(SELECT jsonb_array_elements_text(coalesce(t.value -> 'http', '[]'))))
  FROM jsonb_each(_transitions) t;
  RETURN jsonb_build_object('transitions_bound', coalesce(_bound, '{}'),
    'transitions_unbound', coalesce(_unbound, '{}'));
END $$;

-- Plans the people's work that the triggers of a definition name; of a definition without any, forgets what an earlier
-- one named. The plan of a process is left as it is.
CREATE OR REPLACE FUNCTION wed.apply_work(_flow_id integer, _triggers jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _tasks jsonb := (SELECT jsonb_agg((t -> 'work') || jsonb_build_object('trigger', t -> 'name') ORDER BY at)
                   FROM jsonb_array_elements(_triggers) WITH ORDINALITY x(t, at) WHERE t ? 'work');
  _is_planned boolean := EXISTS (SELECT FROM wed.work_plan WHERE flow_id = _flow_id
                                 AND plan ->> 'source' = 'definition' AND plan -> 'tasks' <> '[]');
BEGIN
  IF _tasks IS NOT NULL OR _is_planned THEN
    PERFORM wed.plan_work(_flow_id, jsonb_build_object('source', 'definition', 'tasks', coalesce(_tasks, '[]')));
  END IF;
END $$;

-- Lists the components that bindings of a flow name and that were never uploaded.
CREATE OR REPLACE FUNCTION wed.missing_components(_flow_id integer) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT ARRAY(
    SELECT DISTINCT b.component_name FROM wed.binding b JOIN wed.flow f USING (flow_id)
    WHERE b.flow_id = _flow_id AND NOT EXISTS (SELECT FROM wed.component c
      WHERE c.tenant_id = f.tenant_id AND c.name = b.component_name)
    ORDER BY 1)
$$;

-- Returns what of a flow's definition will not run, said when it is applied or bound: transitions without a component
-- that was uploaded, components that do not declare the transition or use attributes that the flow has not or has as
-- another type, disabled triggers.
CREATE OR REPLACE FUNCTION wed.binding_faults(_flow_id integer) RETURNS SETOF text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _schema text := (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id);
  _types jsonb;
BEGIN
  EXECUTE format('SELECT coalesce(jsonb_object_agg(aname, atype), ''{}'') FROM %I.wed_attr', _schema) INTO _types;
  RETURN QUERY
    SELECT format('component %s was not uploaded: transition %s waits until it is', b.component_name, b.trname)
    FROM wed.binding b WHERE b.flow_id = _flow_id AND wed.bound_component(_flow_id, b.trname) IS NULL ORDER BY b.trname;
  RETURN QUERY
    WITH bound AS (
      SELECT b.trname, c.name, (SELECT t FROM jsonb_array_elements(c.manifest -> 'transitions') t
                                WHERE t ->> 'transition' = b.trname LIMIT 1) AS declared
      FROM wed.binding b JOIN wed.component c ON c.component_id = wed.bound_component(_flow_id, b.trname)
      WHERE b.flow_id = _flow_id)
    SELECT format('component %s does not declare transition %s', b.name, b.trname) FROM bound b WHERE b.declared IS NULL
    UNION ALL
    SELECT DISTINCT format(
      CASE WHEN _types ? (a ->> 'name') THEN 'transition %s of component %s uses attribute "%s" as %s, and it is %s'
        ELSE 'transition %s of component %s uses attribute "%s", which the flow has not' END,
      b.trname, b.name, a ->> 'name', a ->> 'kind', _types ->> (a ->> 'name'))
    FROM bound b CROSS JOIN LATERAL (VALUES (b.declared -> 'reads'), (b.declared -> 'writes')) l(list)
    CROSS JOIN LATERAL jsonb_array_elements(CASE jsonb_typeof(l.list) WHEN 'array' THEN l.list ELSE '[]' END) a
    WHERE NOT _types ? (a ->> 'name') OR a ->> 'kind' <> 'any'
      AND (wed.attribute_type(a ->> 'kind')).sql_type <> (wed.attribute_type(_types ->> (a ->> 'name'))).sql_type;
  RETURN QUERY
    SELECT format('trigger %s is disabled: its condition is not evaluated', coalesce(nullif(t.tgname, ''),
      t.tgid::text))
    FROM wed.trigger t WHERE t.flow_id = _flow_id AND NOT t.enabled ORDER BY t.tgid;
END $$;

-- Returns what of a tenant's flows does not fit a component that they bind, said when it is uploaded or activated.
CREATE OR REPLACE FUNCTION wed.component_faults(_tenant text, _component text) RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT format('flow %s: %s', f.name, w.fault)
  FROM wed.flow f JOIN wed.tenant t USING (tenant_id)
  CROSS JOIN LATERAL wed.binding_faults(f.flow_id) w(fault)
  WHERE t.name = _tenant AND w.fault ~ ('component ' || _component || ' ')
    AND EXISTS (SELECT FROM wed.binding b WHERE b.flow_id = f.flow_id AND b.component_name = _component)
  ORDER BY f.name
$$;

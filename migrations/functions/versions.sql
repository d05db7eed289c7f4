-- Versions of a definition: kept, compared, taken back.

-- Returns the present definition of a flow, whoever made it: what its flow.toml would say. Leaves out what is at its
-- default, except a trigger's timeout, attempts and backoff.
CREATE OR REPLACE FUNCTION wed.definition(_flow_id integer) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _flow wed.flow;
  _attributes jsonb;
  _triggers jsonb;
  _final text;
  _bindings jsonb;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  EXECUTE format(
    'SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
       ''name'', w.aname, ''type'', w.atype, ''default'', w.adv, ''open'', nullif(w.open, false),
       ''number'', (SELECT CASE WHEN n.gapless THEN ''gapless'' ELSE ''gaps'' END FROM wed.numbering n
                    WHERE n.flow_id = $1 AND n.attribute = w.aname))) ORDER BY a.attnum), ''[]'')
     FROM %1$I.wed_attr w JOIN pg_attribute a ON a.attrelid = ''%1$I.wed_flow''::regclass AND a.attname = w.aname',
    _flow.schema_name) INTO _attributes USING _flow_id;
  EXECUTE format(
    'SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
       ''name'', coalesce(nullif(w.tgname, ''''), w.tgid::text), ''transition'', w.trname, ''when'', w.cpred,
       ''condition'', w.cname, ''timeout'', w.timeout, ''attempts'', w.attempts, ''backoff'', w.backoff,
       ''delay'', nullif(w.delay, ''0''), ''priority'', nullif(w.priority, 0), ''recheck'', nullif(w.recheck, true),
       ''enabled'', nullif(w.enabled, true),
       ''writes'', to_jsonb(w.writes), ''compensation'', p.compensation, ''deadline'', p.deadline,
       ''work'', (SELECT t - ''trigger'' FROM wed.work_plan l, jsonb_array_elements(l.plan -> ''tasks'') t
                  WHERE l.flow_id = $1 AND l.plan ->> ''source'' = ''definition'' AND t ->> ''trigger'' = w.tgname),
       ''reserves'', w.reserves, ''quantity'', w.quantity, ''resource'', w.resource, ''holds'', w.holds,
       ''consumes'', nullif(w.consumes, false), ''after'', w.after, ''waits_for'', w.waits_for,
       ''or_after'', w.or_after)) ORDER BY w.tgid)
         FILTER (WHERE NOT w.cfinal), ''[]''),
       min(w.cpred) FILTER (WHERE w.cfinal)
     FROM %I.wed_trig w LEFT JOIN wed.trigger_policy p USING (tgid)',
    _flow.schema_name) INTO _triggers, _final USING _flow_id;
  SELECT nullif(wed.subprocesses_defined(_flow_id) || coalesce(jsonb_object_agg(b.trname, jsonb_strip_nulls(
           jsonb_build_object('component', b.component_name, 'files', nullif(g.files, false),
             'http', to_jsonb(nullif(g.http, '{}'))))), '{}'), '{}')
  INTO _bindings FROM wed.binding b LEFT JOIN wed."grant" g USING (flow_id, trname) WHERE b.flow_id = _flow_id;
  RETURN jsonb_strip_nulls(jsonb_build_object('name', _flow.name, 'description', nullif(_flow.description, ''),
    'final', _final, 'order', _flow.order_attribute, 'start', _flow.start_attributes,
    'schedule', wed.schedules_of(_flow_id)))
    || jsonb_build_object('attribute', _attributes, 'trigger', _triggers)
    || CASE WHEN _bindings IS NULL THEN '{}' ELSE jsonb_build_object('transition', _bindings) END;
END $$;

-- Returns the attributes that a flow's components read, or write (_kind), as they declare them. Null: any, because one
-- of them declares none.
CREATE OR REPLACE FUNCTION wed.declared(_flow_id integer, _kind text) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN bool_and(d.attributes IS NOT NULL) THEN ARRAY(
      SELECT DISTINCT r ->> 'name' FROM wed.trigger t JOIN wed.component c USING (component_id)
      CROSS JOIN LATERAL jsonb_array_elements(c.manifest -> 'transitions') e CROSS
        JOIN LATERAL jsonb_array_elements(e -> _kind) r
      WHERE t.flow_id = _flow_id AND e ->> 'transition' = t.trname) END
  FROM wed.trigger t JOIN wed.component c USING (component_id)
  LEFT JOIN LATERAL (SELECT nullif(e -> _kind, 'null') AS attributes
    FROM jsonb_array_elements(c.manifest -> 'transitions') e
                     WHERE e ->> 'transition' = t.trname) d ON true
  WHERE t.flow_id = _flow_id
$$;

-- Lists the parts of a definition: attributes, triggers, transitions, schedules, and the settings of the flow itself.
CREATE OR REPLACE FUNCTION wed.definition_parts(_definition jsonb)
RETURNS TABLE (part text, name text, value jsonb)
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'attribute', a ->> 'name', a - 'name' FROM jsonb_array_elements(_definition -> 'attribute') a
  UNION ALL
  SELECT 'trigger', t ->> 'name', t - 'name' FROM jsonb_array_elements(_definition -> 'trigger') t
  UNION ALL
  SELECT 'transition', b.key, b.value FROM jsonb_each(_definition -> 'transition') b
  UNION ALL
  SELECT 'schedule', s ->> 'name', s - 'name' FROM jsonb_array_elements(_definition -> 'schedule') s
  UNION ALL
  SELECT 'setting', s.key, s.value FROM jsonb_each(_definition) s
  WHERE s.key IN ('description', 'final', 'order', 'start')
$$;

-- Keeps the definition that a flow has, with who made it so, under the next version, from 1 on; one that is as the
-- newest is none. (wed.flow.version is another number, which each compilation raises.) One transaction leaves one
-- version, and a flow its newest 100 within 16 MiB, at least ten.
CREATE OR REPLACE FUNCTION wed.keep_version(_flow_id integer, _actor text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _definition jsonb := wed.definition(_flow_id);
  _newest record;
BEGIN
  DELETE FROM wed.flow_version WHERE flow_id = _flow_id AND xmin = pg_current_xact_id()::xid;
  SELECT version, definition INTO _newest FROM wed.flow_version WHERE flow_id = _flow_id ORDER BY version DESC LIMIT 1;
  IF _newest.definition = _definition THEN RETURN; END IF;
  INSERT INTO wed.flow_version (flow_id, version, definition, actor)
  VALUES (_flow_id, coalesce(_newest.version, 0) + 1, _definition, _actor);
  DELETE FROM wed.flow_version v USING (
    SELECT version, row_number() OVER newest AS place, sum(pg_column_size(definition)) OVER newest AS bytes
    FROM wed.flow_version WHERE flow_id = _flow_id WINDOW newest AS (ORDER BY version DESC)) o
  WHERE v.flow_id = _flow_id AND v.version = o.version AND (o.place > 100 OR o.place > 10 AND o.bytes > 16777216);
END $$;

-- Returns the definition that a flow had in a version. Without a number: that of the version `_before` places before
-- the newest, 0 for the newest itself.
CREATE OR REPLACE FUNCTION wed.version_definition(_flow_id integer, _version integer, _before integer) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _definition jsonb;
BEGIN
  IF _version IS NULL THEN
    SELECT definition INTO _definition FROM wed.flow_version WHERE flow_id = _flow_id
    ORDER BY version DESC OFFSET _before LIMIT 1;
  ELSE
    SELECT definition INTO _definition FROM wed.flow_version WHERE flow_id = _flow_id AND version = _version;
  END IF;
  IF _definition IS NULL THEN
    RAISE EXCEPTION 'the flow has no %', coalesce('version ' || _version, 'earlier version')
      USING ERRCODE = 'WF040',
        HINT = '`wed flow history` and the view wed_version list those that are kept, the newest 100.';
  END IF;
  RETURN _definition;
END $$;

-- Compares two definitions of a flow: each attribute, trigger, transition and setting that differs, as it was and as it
-- becomes; null where there is none.
CREATE OR REPLACE FUNCTION wed.difference(_before jsonb, _after jsonb)
RETURNS TABLE (part text, name text, was jsonb, becomes jsonb)
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT part, name, o.value, n.value
  FROM wed.definition_parts(_before) o FULL JOIN wed.definition_parts(_after) n USING (part, name)
  WHERE o.value IS DISTINCT FROM n.value ORDER BY part, name
$$;

-- Makes a flow what it was in a version, the one before the newest for null; returns what changed, and which live
-- instances a re-match would touch then. A preview changes nothing. Whoever may not grant gets no grant back that the
-- flow does not have now.
CREATE OR REPLACE FUNCTION wed.roll_back(_flow_id integer, _version integer, _preview boolean, _may_bind boolean,
  _actor text) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
  _from integer := coalesce(_version,
    (SELECT version FROM wed.flow_version WHERE flow_id = _flow_id ORDER BY version DESC OFFSET 1 LIMIT 1));
  _definition jsonb := wed.version_definition(_flow_id, _from, 1);
  _applied jsonb;
BEGIN
  PERFORM FROM wed.flow WHERE flow_id = _flow_id FOR NO KEY UPDATE;
  IF NOT _may_bind THEN
    _definition := _definition - 'schedule' || jsonb_build_object('transition',
      coalesce(wed.definition(_flow_id) -> 'transition', '{}'));
  END IF;
  PERFORM wed.refuse_lost_attributes(_flow_id, _from, _definition);
  IF _preview THEN
    RETURN jsonb_build_object('version', _from) || wed.preview_definition(_flow_id, _definition);
  END IF;
  _applied := wed.apply_definition(_flow_id, _definition, _actor);
  PERFORM wed.note_flow(_actor, _flow_id, 'flow.rollback', NULL, jsonb_build_object('version', _from) || _applied);
  RETURN jsonb_build_object('version', _from, 'preview', false, 'applied', _applied,
    'instances', wed.rematch_preview(_flow_id));
END $$;

-- Installs what a flow's schema has for its definitions: differences, and the way back. Does nothing for a flow that
-- has it.
CREATE OR REPLACE FUNCTION wed.install_versions(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _schema text := (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id);
BEGIN
  EXECUTE format('CREATE OR REPLACE FUNCTION %I.wed_difference(old integer DEFAULT NULL, new integer DEFAULT NULL)
    RETURNS TABLE (part text, name text, was jsonb, becomes jsonb) LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS %L', _schema,
    format('SELECT * FROM wed.difference(wed.version_definition(%1$s, $1, 1), wed.version_definition(%1$s, $2, 0))',
           _flow_id));
  EXECUTE format('CREATE OR REPLACE FUNCTION %I.wed_roll_back(version integer DEFAULT NULL,
      preview boolean DEFAULT true)
    RETURNS jsonb LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS %L', _schema,
    format('SELECT wed.roll_back(%s, $1, coalesce($2, true), false, session_user::text)', _flow_id));
END $$;

-- Refuses a trigger that does not fit its flow: writes of attributes that there are not, a second final condition, one
-- too many.
CREATE OR REPLACE FUNCTION wed.check_in_flow(_flow wed.flow, _tgid integer, _cfinal boolean, _writes text[])
  RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _triggers_max CONSTANT integer := 2000;
  _unknown text;
  _others integer;
BEGIN
  EXECUTE format('SELECT w FROM unnest($1) w WHERE w NOT IN (SELECT aname FROM %I.wed_attr) LIMIT 1', _flow.schema_name)
    INTO _unknown USING _writes;
  IF _unknown IS NOT NULL THEN
    RAISE EXCEPTION 'writes names "%", which is no attribute of this flow', _unknown
      USING ERRCODE = 'WF013', HINT = 'Insert it into wed_attr first.';
  END IF;
  IF _cfinal THEN
    EXECUTE format('SELECT tgid::text FROM %I.wed_trig WHERE cfinal AND tgid IS DISTINCT FROM $1', _flow.schema_name)
      INTO _unknown USING _tgid;
    IF _unknown IS NOT NULL THEN
      RAISE EXCEPTION 'this flow has a final condition already (tgid %)', _unknown
        USING ERRCODE = 'WF013', HINT = 'A flow has at most one: combine the predicates with OR.';
    END IF;
  END IF;
  IF _tgid IS NOT NULL THEN RETURN; END IF;
  EXECUTE format('SELECT count(*) FROM (SELECT FROM %I.wed_trig LIMIT $1) t', _flow.schema_name) INTO _others
    USING _triggers_max;
  IF _others >= _triggers_max THEN
    RAISE EXCEPTION 'a flow has at most % triggers', _triggers_max USING ERRCODE = 'WF013',
      HINT = 'Combine conditions, or make another flow.';
  END IF;
END $$;

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
       ''consumes'', nullif(w.consumes, false), ''after'', w.after)) ORDER BY w.tgid)
         FILTER (WHERE NOT w.cfinal), ''[]''),
       min(w.cpred) FILTER (WHERE w.cfinal)
     FROM %I.wed_trig w LEFT JOIN wed.trigger_policy p USING (tgid)',
    _flow.schema_name) INTO _triggers, _final USING _flow_id;
  SELECT jsonb_object_agg(b.trname, jsonb_strip_nulls(jsonb_build_object('component', b.component_name,
           'files', nullif(g.files, false), 'http', to_jsonb(nullif(g.http, '{}')))))
  INTO _bindings FROM wed.binding b LEFT JOIN wed."grant" g USING (flow_id, trname) WHERE b.flow_id = _flow_id;
  RETURN jsonb_strip_nulls(jsonb_build_object('name', _flow.name, 'description', nullif(_flow.description, ''),
    'final', _final, 'order', _flow.order_attribute))
    || jsonb_build_object('attribute', _attributes, 'trigger', _triggers)
    || CASE WHEN _bindings IS NULL THEN '{}' ELSE jsonb_build_object('transition', _bindings) END;
END $$;

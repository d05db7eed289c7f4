-- Replaces a flow's bindings and grants by those of a definition: documents with component, files and http, by
-- transition. Returns the transitions that got another component, and those that are external workers' from now on.
CREATE OR REPLACE FUNCTION wed.apply_bindings(_flow wed.flow, _transitions jsonb) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _id integer := _flow.flow_id;
  _bound text[];
  _unbound text[];
BEGIN
  SELECT array_agg(format('%s by %s', t.key, t.value ->> 'component') ORDER BY t.key) INTO _bound
  FROM jsonb_each(_transitions) t
  WHERE NOT EXISTS (SELECT FROM wed.binding b WHERE b.flow_id = _id AND b.trname = t.key
                    AND b.component_name = t.value ->> 'component');
  SELECT array_agg(b.trname ORDER BY b.trname) INTO _unbound
  FROM wed.binding b WHERE b.flow_id = _id AND NOT _transitions ? b.trname;

  DELETE FROM wed.binding WHERE flow_id = _id;
  DELETE FROM wed."grant" WHERE flow_id = _id;
  INSERT INTO wed.binding (flow_id, trname, component_name)
  SELECT _id, t.key, t.value ->> 'component' FROM jsonb_each(_transitions) t;
  PERFORM wed.grant_transition(_id, t.key, coalesce((t.value ->> 'files')::boolean, false),
    ARRAY(SELECT jsonb_array_elements_text(coalesce(t.value -> 'http', '[]'))))
  FROM jsonb_each(_transitions) t;
  RETURN jsonb_build_object('transitions_bound', coalesce(_bound, '{}'),
    'transitions_unbound', coalesce(_unbound, '{}'));
END $$;

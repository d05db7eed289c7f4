-- What of a flow's definition will not run, said when it is applied or bound: transitions without a component that was
-- uploaded, components that do not declare the transition or use attributes that the flow has not, disabled triggers.
CREATE OR REPLACE FUNCTION wed.binding_faults(_flow_id integer) RETURNS SETOF text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _schema text := (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id);
  _names text[];
BEGIN
  EXECUTE format('SELECT coalesce(array_agg(aname), ''{}'') FROM %I.wed_attr', _schema) INTO _names;
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
    SELECT DISTINCT format('transition %s of component %s uses attribute "%s", which the flow has not', b.trname,
      b.name, a ->> 'name')
    FROM bound b CROSS JOIN LATERAL (VALUES (b.declared -> 'reads'), (b.declared -> 'writes')) l(list)
    CROSS JOIN LATERAL jsonb_array_elements(CASE jsonb_typeof(l.list) WHEN 'array' THEN l.list ELSE '[]' END) a
    WHERE a ->> 'name' <> ALL (_names);
  RETURN QUERY
    SELECT format('trigger %s is disabled: its condition is not evaluated', coalesce(nullif(t.tgname, ''),
      t.tgid::text))
    FROM wed.trigger t WHERE t.flow_id = _flow_id AND NOT t.enabled ORDER BY t.tgid;
END $$;

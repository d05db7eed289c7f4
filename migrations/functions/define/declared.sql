-- The attributes that a flow's components read, or write (_kind), as they declare them. Null: any, because one of
-- them declares none.
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

-- States to evaluate a flow's conditions over: the values that its conditions compare each attribute with, those next
-- to them, the default and null; all combinations, or (whole false) 1024 of them.
CREATE OR REPLACE FUNCTION wed.lint_states(_flow_id integer, OUT states wed.evaluated[], OUT whole boolean)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
    SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _most CONSTANT integer := 1024;
  _flow wed.flow;
  _names text[];
  _values jsonb[];
  _all numeric;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  SELECT array_agg(v.name ORDER BY v.name), array_agg(v.list
      ORDER BY v.name), coalesce(exp(sum(ln(jsonb_array_length(v.list)))), 1)
  INTO _names, _values, _all FROM wed.lint_values(_flow_id) v;
  -- A list of the greatest length may have been cut.
  whole := _all <= _most + 0.5 AND NOT EXISTS (SELECT FROM unnest(_values) l WHERE jsonb_array_length(l) >= 64);
  EXECUTE format($f$
    SELECT %1$I.evaluate_%1$s(array_agg(r ORDER BY i)) FROM (
      SELECT i, jsonb_populate_record(NULL::%1$I.wed_flow, jsonb_build_object('wid', i + 1) || coalesce((
        -- A number in which each attribute has a digit; of too many combinations, digits by chance that is the same
        -- each time.
        SELECT jsonb_object_agg(n.name, l.list -> CASE WHEN $4 THEN (i / n.step) %% jsonb_array_length(l.list)
                 ELSE abs(hashint4(i * 1009 + n.at::integer)) %% jsonb_array_length(l.list) END)
        FROM (SELECT u.name, u.at, round(least(1e9, coalesce((SELECT exp(sum(ln(jsonb_array_length($2[b]))))
            FROM generate_series(1, u.at - 1) b), 1)))::integer AS step
              FROM unnest($1) WITH ORDINALITY u(name, at)) n
        CROSS JOIN LATERAL (SELECT $2[n.at] AS list) l), '{}')) AS r
      FROM generate_series(0, least($3, %2$s)::integer - 1) i) s $f$, _flow.shape_schema, _most)
    INTO states USING _names, _values, round(_all), whole;
END $$;

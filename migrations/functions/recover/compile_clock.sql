-- Makes the function of a flow that tells of some rows which conditions that look at the clock hold, and puts the
-- flow on the list of those that hosts look at by the clock (wed.fire_by_clock).
CREATE OR REPLACE FUNCTION wed.compile_clock(_flow wed.flow) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _held text;
BEGIN
  SELECT string_agg(format('CASE WHEN %s THEN %s END', guarded, tgid), E',\n      ' ORDER BY tgid) INTO _held
  FROM wed.trigger
  WHERE flow_id = _flow.flow_id AND enabled AND NOT cfinal AND timely AND predicate IS NOT NULL
    AND wed.reads_clock(predicate);
  -- The next look takes it off the list: who changes a definition waits for no look, which may wait for the flow's
  -- table.
  IF _held IS NULL THEN RETURN; END IF;
  EXECUTE format($f$
CREATE OR REPLACE FUNCTION %1$I.clock_%1$s(_rows %1$I.wed_flow[]) RETURNS TABLE (wid integer, tgids integer[])
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
SET datestyle = 'ISO, YMD' SET intervalstyle = 'iso_8601' SET standard_conforming_strings = on AS %2$L $f$,
    _flow.shape_schema, format($match$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT _row.wid, h.held FROM unnest(_rows) _row
  CROSS JOIN LATERAL (SELECT array_remove(ARRAY[%1$s]::integer[], NULL) AS held) h WHERE h.held <> '{}';
EXCEPTION WHEN OTHERS THEN
  -- Some condition fails on some row: the others are looked at one by one. The gate says so when that instance
  -- moves on.
  FOR _i IN 1 .. CASE WHEN cardinality(_rows) > 1 THEN cardinality(_rows) ELSE 0 END LOOP
    RETURN QUERY SELECT * FROM %2$I.clock_%2$s(_rows[_i:_i]);
  END LOOP;
END $match$, _held, _flow.shape_schema));
  EXECUTE format('GRANT CREATE ON SCHEMA %I TO wed_predicate', _flow.shape_schema);
  EXECUTE format('ALTER FUNCTION %1$I.clock_%1$s(%1$I.wed_flow[]) OWNER TO wed_predicate', _flow.shape_schema);
  EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM wed_predicate', _flow.shape_schema);
  EXECUTE format('REVOKE ALL ON FUNCTION %1$I.clock_%1$s(%1$I.wed_flow[]) FROM PUBLIC', _flow.shape_schema);
  EXECUTE format('GRANT EXECUTE ON FUNCTION %1$I.clock_%1$s(%1$I.wed_flow[]) TO %2$I', _flow.shape_schema,
    current_user);
  INSERT INTO wed.clock (flow_id) VALUES (_flow.flow_id) ON CONFLICT DO NOTHING;
END $$;

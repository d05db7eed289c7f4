-- Makes the functions of a flow that tell of some rows which conditions that look at the clock hold, and when one can
-- become true next (wed.moments_of), and puts the flow on the list of those that hosts look at (wed.do_clock).
CREATE OR REPLACE FUNCTION wed.compile_clock(_flow wed.flow) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _held text;
  _moments text;
  _known boolean;
BEGIN
  SELECT string_agg(format('CASE WHEN %s THEN %s END', t.guarded, t.tgid), E',\n      ' ORDER BY t.tgid),
    string_agg(m.moments, ', ' ORDER BY t.tgid), coalesce(bool_and(m.moments IS NOT NULL), false)
  INTO _held, _moments, _known
  FROM wed.trigger t CROSS JOIN LATERAL wed.moments_of(t.predicate, _flow.schema_name) m(moments)
  WHERE t.flow_id = _flow.flow_id AND wed.is_on_clock(t);
  UPDATE wed.flow SET timed = _known WHERE flow_id = _flow.flow_id AND timed <> _known;
  -- The next look takes it off the list: who changes a definition waits for no look, which may wait for the flow's
  -- table.
  IF _held IS NULL THEN RETURN; END IF;
  PERFORM wed.install_clock(_flow, 'clock', 'TABLE (wid integer, tgids integer[])', format($held$
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
END $held$, _held, _flow.shape_schema));
  IF _known THEN
    PERFORM wed.install_clock(_flow, 'moment', 'timestamptz', format($moment$
BEGIN
  RETURN (SELECT min(_m.at) FROM unnest(_rows) _row CROSS JOIN LATERAL (VALUES %s) _m(at) WHERE _m.at >= now());
EXCEPTION WHEN OTHERS THEN
  RETURN '-infinity'; -- some row has none
END $moment$, _moments));
  END IF;
  INSERT INTO wed.clock (flow_id) VALUES (_flow.flow_id) ON CONFLICT DO NOTHING;
  INSERT INTO wed.clock_changed (flow_id) VALUES (_flow.flow_id);
END $$;

-- Makes a function of a flow over some of its rows, which reads them as a condition does.
CREATE OR REPLACE FUNCTION wed.install_clock(_flow wed.flow, _name text, _returns text, _body text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _function text := format('%1$I.%2$s_%1$s(%1$I.wed_flow[])', _flow.shape_schema, _name);
BEGIN
  EXECUTE format('CREATE OR REPLACE FUNCTION %1$I.%2$s_%1$s(_rows %1$I.wed_flow[]) RETURNS %3$s
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = ''UTC''
    SET datestyle = ''ISO, YMD'' SET intervalstyle = ''iso_8601'' SET standard_conforming_strings = on AS %4$L',
    _flow.shape_schema, _name, _returns, _body);
  EXECUTE format('GRANT CREATE ON SCHEMA %I TO wed_predicate', _flow.shape_schema);
  EXECUTE format('ALTER FUNCTION %s OWNER TO wed_predicate', _function);
  EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM wed_predicate', _flow.shape_schema);
  EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', _function);
  EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', _function, current_user);
END $$;

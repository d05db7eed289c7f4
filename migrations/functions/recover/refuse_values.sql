-- Refuses values of attributes that a flow has not, and values that are none of their attribute's type, by its name.
CREATE OR REPLACE FUNCTION wed.refuse_values(_flow wed.flow, _values jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _known text[];
  _unknown text;
  _one record;
BEGIN
  IF jsonb_typeof(_values) IS DISTINCT FROM 'object' THEN
    RAISE EXCEPTION 'the values are no JSON object' USING ERRCODE = '22023', HINT = 'For example: {"qty": 3}';
  END IF;
  EXECUTE format('SELECT coalesce(array_agg(aname ORDER BY aname), ''{}'') FROM %I.wed_attr', _flow.schema_name)
    INTO _known;
  SELECT min(k) INTO _unknown FROM jsonb_object_keys(_values) k WHERE k <> ALL (_known);
  IF _unknown IS NOT NULL THEN
    RAISE EXCEPTION 'flow "%" has no attribute "%"', _flow.name, left(_unknown, 80) USING ERRCODE = '42703',
      HINT = format('It has: %s.', array_to_string(_known, ', '));
  END IF;
  FOR _one IN EXECUTE format('SELECT a.aname, a.atype, t.labels, v.value FROM jsonb_each($1) v
    JOIN %I.wed_attr a ON a.aname = v.key CROSS JOIN LATERAL wed.attribute_type(a.atype) t ORDER BY 1',
    _flow.schema_name) USING _values
  LOOP
    BEGIN
      EXECUTE format('SELECT FROM jsonb_populate_record(NULL::%I.wed_flow, $1)', _flow.schema_name)
        USING jsonb_build_object(_one.aname, _one.value);
    EXCEPTION WHEN data_exception THEN
      RAISE EXCEPTION 'attribute "%" is of type %: %', _one.aname, _one.atype, SQLERRM USING ERRCODE = SQLSTATE,
        HINT = format('Give a value of type %s, or null.', _one.atype);
    END;
    IF jsonb_typeof(_one.value) = 'string' AND _one.atype !~ '\]\s*$'
        AND (_one.value #>> '{}') <> ALL (_one.labels) THEN
      RAISE EXCEPTION 'attribute "%" has no value "%"', _one.aname, left(_one.value #>> '{}', 80)
        USING ERRCODE = '23514', HINT = format('It is one of %s.', array_to_string(_one.labels, ', '));
    END IF;
  END LOOP;
END $$;

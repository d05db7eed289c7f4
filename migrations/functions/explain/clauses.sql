-- The clauses of a condition as Postgres deparsed it (wed.trigger.predicate, wed.trigger.guarded): what AND, OR and NOT
-- join, each with its path from the root. The deparser puts every AND, OR and NOT in brackets of its own and writes
-- them in capitals, and a string of its has no escapes, so a clause is a whole node of the checked tree.
-- Of a condition of more than 200 clauses the rest stays joined.
CREATE OR REPLACE FUNCTION wed.clauses(_sql text)
  RETURNS TABLE (path integer[], kind text, sql text, names text[])
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  _clauses_max CONSTANT integer := 200;
  _t text[] := wed.condition_tokens(_sql);
  _close integer[] := wed.closing_brackets(_t);
  _paths text[] := ARRAY[''];
  _from integer[] := ARRAY[1];
  _to integer[] := ARRAY[cardinality(_t)];
  _n integer := 1;
  _i integer := 0;
  _a integer;
  _b integer;
  _ends integer[];
BEGIN
  WHILE _i < _n LOOP
    _i := _i + 1;
    _a := _from[_i];
    _b := _to[_i];
    WHILE _t[_a] ~ '^\s' OR _t[_b] ~ '^\s' OR (_t[_a] = '(' AND _close[_a] = _b) LOOP
      IF _t[_a] = '(' AND _close[_a] = _b THEN _b := _b - 1; _a := _a + 1;
      ELSIF _t[_a] ~ '^\s' THEN _a := _a + 1;
      ELSE _b := _b - 1; END IF;
    END LOOP;
    path := string_to_array(_paths[_i], '.')::integer[];
    sql := array_to_string(_t[_a:_b], '');
    names := wed.names_in(_t[_a:_b]);
    _ends := wed.joints(_t, _close, _a, _b);
    kind := CASE WHEN _n + cardinality(_ends) >= _clauses_max THEN 'test'
      WHEN _ends <> '{}' THEN lower(_t[_ends[1]]) WHEN _t[_a] = 'NOT' THEN 'not' ELSE 'test' END;
    RETURN NEXT;
    CONTINUE WHEN kind = 'test';
    _ends := _ends || (_b + 1);
    IF kind = 'not' THEN _a := _a + 1; END IF;
    FOR _k IN 1 .. cardinality(_ends) LOOP
      _n := _n + 1;
      _paths[_n] := concat_ws('.', nullif(_paths[_i], ''), _k);
      _from[_n] := _a;
      _to[_n] := _ends[_k] - 1;
      _a := _ends[_k] + 1;
    END LOOP;
  END LOOP;
END $$;

-- A deparsed condition, token by token.
CREATE OR REPLACE FUNCTION wed.condition_tokens(_sql text) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT ARRAY(SELECT m[1] FROM regexp_matches(
    -- The limit of time stands around the whole condition (wed.guarded).
    CASE WHEN _sql LIKE 'wed\_bounded.in\_time(%)' THEN substr(_sql, 20) ELSE _sql END,
    $r$('(?:[^']|'')*'|"(?:[^"]|"")*"|(?:[A-Za-z_]|[^\x01-\x7f])(?:[A-Za-z0-9_$]|[^\x01-\x7f])*$r$
      || $r$|[0-9.]+|\s+|::|[-+*/<>=~!@#%^&|?]+|.)$r$, 'g') AS m)
$$;

-- The token that closes each bracket, by the token that opens it.
CREATE OR REPLACE FUNCTION wed.closing_brackets(_t text[]) RETURNS integer[]
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _close integer[] := array_fill(NULL::integer, ARRAY[greatest(cardinality(_t), 1)]);
  _open integer[];
  _d integer := 0;
BEGIN
  FOR _i IN 1 .. cardinality(_t) LOOP
    IF _t[_i] IN ('(', '[') THEN
      _d := _d + 1;
      _open[_d] := _i;
    ELSIF _t[_i] IN (')', ']') AND _d > 0 THEN
      _close[_open[_d]] := _i;
      _d := _d - 1;
    END IF;
  END LOOP;
  RETURN _close;
END $$;

-- The tokens AND and OR that join clauses between two tokens, outside of any bracket.
CREATE OR REPLACE FUNCTION wed.joints(_t text[], _close integer[], _from integer, _to integer) RETURNS integer[]
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _at integer := _from;
  _joints integer[] := '{}';
BEGIN
  WHILE _at <= _to LOOP
    IF _t[_at] IN ('AND', 'OR') THEN _joints := _joints || _at; END IF;
    _at := coalesce(_close[_at], _at) + 1;
  END LOOP;
  RETURN _joints;
END $$;

-- The names in a clause that may be attributes: neither types nor functions.
CREATE OR REPLACE FUNCTION wed.names_in(_t text[]) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT ARRAY(
    SELECT DISTINCT CASE WHEN t LIKE '"%' THEN replace(substr(t, 2, length(t) - 2), '""', '"') ELSE t END
    FROM (SELECT t, lag(t) OVER w AS before, lead(t) OVER w AS after FROM unnest(_t) WITH ORDINALITY u(t, at)
          WINDOW w AS (ORDER BY at)) n
    WHERE t ~ $r$^([A-Za-z_"]|[^\x01-\x7f])$r$ AND coalesce(before, '') NOT IN ('::', '.')
      AND coalesce(after, '') NOT IN ('(', '.') ORDER BY 1)
$$;

-- A clause as a person reads it: text is not said to be text.
CREATE OR REPLACE FUNCTION wed.readable(_sql text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT string_agg(t, '' ORDER BY at) FILTER (WHERE NOT is_type)
  FROM (SELECT t, at, t = '::' AND lag(t) OVER w LIKE '''%' AND lead(t) OVER w = 'text'
          OR t = 'text' AND lag(t) OVER w = '::' AND lag(t, 2) OVER w LIKE '''%' AS is_type
        FROM unnest(wed.condition_tokens(_sql)) WITH ORDINALITY u(t, at) WINDOW w AS (ORDER BY at)) n
$$;

-- The values of some clauses over some states, an array for each state. They run as the role without rights, and are
-- parts of conditions that were checked when they were defined: nothing else calls this.
CREATE OR REPLACE FUNCTION wed.clause_values(_shape text, _clauses text[], _states jsonb)
  RETURNS TABLE (at bigint, answers boolean[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM set_config('wed.begun', extract(epoch FROM clock_timestamp())::text, true);
  RETURN QUERY EXECUTE format(
    'SELECT s.at, ARRAY[%2$s]::boolean[] FROM jsonb_array_elements($1) WITH ORDINALITY s(state, at)
     CROSS JOIN LATERAL jsonb_populate_record(NULL::%1$I.wed_flow, s.state) wed_flow',
    _shape, (SELECT string_agg(format('wed_bounded.in_time(%s)', c), ', ' ORDER BY n)
             FROM unnest(_clauses) WITH ORDINALITY u(c, n))) USING _states;
  PERFORM set_config('wed.begun', '', true);
END $$;

ALTER FUNCTION wed.clause_values(text, text[], jsonb) OWNER TO wed_predicate;

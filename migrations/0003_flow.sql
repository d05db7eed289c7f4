-- Flows: their schemas, their roles, and what writing wed_attr and wed_trig does.

-- The SQL type of an attribute type's name, and the labels of an enum.
CREATE FUNCTION wed.attribute_type(_atype text, OUT sql_type text, OUT labels text[])
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  _base text := lower(btrim(regexp_replace(_atype, '\s*\[\]\s*$', '')));
  _array text := CASE WHEN _atype ~ '\[\]\s*$' THEN '[]' ELSE '' END;
BEGIN
  sql_type := CASE _base
    WHEN 'text' THEN 'text' WHEN 'integer' THEN 'integer' WHEN 'int' THEN 'integer' WHEN 'int4' THEN 'integer'
    WHEN 'bigint' THEN 'bigint' WHEN 'int8' THEN 'bigint' WHEN 'numeric' THEN 'numeric'
    WHEN 'decimal' THEN 'numeric' WHEN 'float' THEN 'double precision' WHEN 'float8' THEN 'double precision'
    WHEN 'double precision' THEN 'double precision' WHEN 'boolean' THEN 'boolean' WHEN 'bool' THEN 'boolean'
    WHEN 'timestamptz' THEN 'timestamptz' WHEN 'timestamp with time zone' THEN 'timestamptz'
    WHEN 'date' THEN 'date' WHEN 'interval' THEN 'interval' WHEN 'uuid' THEN 'uuid' WHEN 'jsonb' THEN 'jsonb'
  END;
  IF sql_type IS NULL AND _base ~ '^enum\s*\([^()]+\)$' THEN
    SELECT array_agg(btrim(l, ' ''')) INTO labels
    FROM regexp_split_to_table(substring(btrim(_atype) FROM '\(([^()]*)\)'), ',') AS l;
    IF '' <> ALL (labels) THEN sql_type := 'text'; END IF;
  END IF;
  IF sql_type IS NULL THEN
    RAISE EXCEPTION 'unknown attribute type "%"', left(coalesce(_atype, 'null'), 80) USING ERRCODE = 'WF012',
      HINT = 'Use text, integer, bigint, numeric, float, boolean, timestamptz, date, interval, uuid, jsonb, enum(a,b,...), or one of these followed by [].';
  END IF;
  sql_type := sql_type || _array;
END $$;

CREATE FUNCTION wed.check_attribute_name(_name text) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF _name IS NULL OR _name !~ '^[[:alpha:]][[:alnum:]_]*$' THEN
    RAISE EXCEPTION 'the attribute name % is not allowed', coalesce(quote_literal(left(_name, 80)), 'null')
      USING ERRCODE = 'WF012', HINT = 'Begin with a letter, go on with letters, digits and underscores.';
  END IF;
  IF octet_length(_name) > 63 THEN
    RAISE EXCEPTION 'the attribute name "%..." is longer than 63 bytes', left(_name, 20)
      USING ERRCODE = 'WF012', HINT = 'Choose a shorter name.';
  END IF;
  IF lower(_name) IN ('wid', 'ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid') THEN
    RAISE EXCEPTION 'the attribute name "%" is taken by the server', _name USING ERRCODE = 'WF012',
      HINT = 'wid numbers the instances; ctid, xmin, xmax, cmin, cmax and tableoid are Postgres''s own.';
  END IF;
END $$;

-- The attributes that a flow's components read, or write (_kind), as they declare them. Null: any, because one of
-- them declares none.
CREATE FUNCTION wed.declared(_flow_id integer, _kind text) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN bool_and(d.attributes IS NOT NULL) THEN ARRAY(
      SELECT DISTINCT r ->> 'name' FROM wed.trigger t JOIN wed.component c USING (component_id)
      CROSS JOIN LATERAL jsonb_array_elements(c.manifest -> 'transitions') e CROSS JOIN LATERAL jsonb_array_elements(e -> _kind) r
      WHERE t.flow_id = _flow_id AND e ->> 'transition' = t.trname) END
  FROM wed.trigger t JOIN wed.component c USING (component_id)
  LEFT JOIN LATERAL (SELECT nullif(e -> _kind, 'null') AS attributes FROM jsonb_array_elements(c.manifest -> 'transitions') e
                     WHERE e ->> 'transition' = t.trname) d ON true
  WHERE t.flow_id = _flow_id
$$;

-- The expression that makes a JSON object of some of the attributes (_only; null: all) of a _row of a flow's shape, as text.
-- row_to_json says the same, and asks the catalog about the type of each value of each row. What is
-- said between quotes is made by one function; it comes last, because its opening brace is easily left out.
CREATE FUNCTION wed.state_as_text(_shape text, _only text[]) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN quoted IS NULL AND bare IS NULL THEN '''{}'''
    WHEN bare IS NULL THEN quoted
    -- A call has a hundred arguments at most.
    ELSE format(CASE WHEN many THEN 'concat(VARIADIC ARRAY[%s, %s])' ELSE 'concat(%s, %s)' END, bare,
                coalesce(''','', right(' || quoted || ', -1)', '''}''')) END
  FROM (
    SELECT 'json_object(ARRAY[' || string_agg(format('%L, _row.%I::text', name, name), ', ' ORDER BY at)
             FILTER (WHERE is_quoted) || '])::text' AS quoted,
           string_agg(format(CASE WHEN is_plain THEN '%L, coalesce(_row.%I::text, ''null'')'
                                  ELSE '%L, coalesce(to_json(_row.%I)::text, ''null'')' END,
                             CASE WHEN at = 1 THEN '{"' ELSE ',"' END || name || '":', name), ', ' ORDER BY at)
             FILTER (WHERE NOT is_quoted) AS bare,
           count(*) > 40 AS many
    FROM (
      SELECT a.attname::text AS name, k.*, row_number() OVER (PARTITION BY k.is_quoted ORDER BY a.attnum) AS at
      FROM pg_attribute a
      CROSS JOIN LATERAL (
        SELECT a.atttypid IN ('text'::regtype, 'uuid'::regtype, 'date'::regtype, 'interval'::regtype) AS is_quoted,
               a.atttypid IN ('integer'::regtype, 'bigint'::regtype, 'boolean'::regtype, 'jsonb'::regtype) AS is_plain) k
      WHERE a.attrelid = format('%I.wed_flow', _shape)::regclass AND a.attnum > 1 AND NOT a.attisdropped
        AND (_only IS NULL OR a.attname = ANY (_only))) a) s
$$;

-- The expression that says whether some attribute of a row of a flow came compressed: from another table, since a flow's own
-- are kept as they are (0009). Such a row is measured as text, for a compressed value is small where it is kept and large
-- where it is computed with. It looks at the row itself: one that passed through an array has lost
-- what told it, where another value of it is stored apart.
CREATE FUNCTION wed.came_compressed(_schema text, _row text) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT coalesce('coalesce(' || string_agg(format('pg_column_compression(%s.%I)', _row, a.attname), ', ' ORDER BY a.attnum)
                  || ') IS NOT NULL', 'false')
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
  WHERE a.attrelid = format('%I.wed_flow', _schema)::regclass AND a.attnum > 1 AND NOT a.attisdropped
    AND (a.atttypid IN ('text'::regtype, 'jsonb'::regtype) OR t.typcategory = 'A')
$$;

-- Makes the functions of a flow anew that are its own part of the gate, and raises its version.
-- Aliases begin with an underscore, which no attribute does. The bodies are written as literals: between
-- dollars, a string constant of a condition could end them. The caller has set search_path, time zone and
-- styles, so that a condition means the same whoever writes. Their names hold their schema's: Postgres goes through all
-- functions of one name to find one, whatever schema is named.
--
-- match evaluates the enabled conditions over some rows: one expression for all of them. Where there are
-- many triggers, those that read the same attributes are a group, and a group is left out (_kept) when
-- none of these has changed; group 0 is always evaluated. Conditions that depend on the time are in it.
--
-- apply is how a host's results become states: literals for some attributes (_assigned, values column by
-- column in _lit), by a statement whose plan is kept, of those attributes that the flow's components declare to
-- write, where they are 48 at most, and by one made for it otherwise; or, where expressions are among them, a
-- checked SET clause (_set), run with the flow's own rights. It returns the new states evaluated, ordered by wid;
-- _careful finds out which instance's condition fails where one does.
CREATE FUNCTION wed.compile(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
  _flow wed.flow;
  _fired text;
  _final text;
  _grouped boolean;
  _restricts boolean;
  _groups text;
  _state text;
  _sent text;
  _read text[] := wed.declared(_flow_id, 'reads');
  _written text[] := wed.declared(_flow_id, 'writes');
  _few boolean;
  _any text;
  _declare text;
  _assignable text[];
  _sets text;
  _returned text;
  _measure text;
  _newest text;
  _found text;
BEGIN
  UPDATE wed.flow f SET version = version + 1 WHERE f.flow_id = _flow_id RETURNING * INTO _flow;
  -- What they make stays until all of them are evaluated. Few ask for more than the values that they look at.
  IF (SELECT sum(greatest(weight - 4, 0)) FROM wed.trigger WHERE flow_id = _flow_id AND enabled) > 1024 THEN
    RAISE EXCEPTION 'the conditions of the flow could take more than 1 GB of memory together' USING ERRCODE = 'WF011',
      HINT = 'On the largest row that there may be. Make fewer documents in them, and fewer long texts.';
  END IF;

  -- Only rows whose group is another one now are written.
  UPDATE wed.trigger t SET condition_group = n.number
  FROM (SELECT t.tgid, coalesce(g.number, 0) AS number FROM wed.trigger t
        LEFT JOIN (SELECT reads, row_number() OVER (ORDER BY count(*) DESC, reads) AS number FROM wed.trigger
                   WHERE flow_id = _flow_id AND enabled AND NOT cfinal AND predicate IS NOT NULL AND NOT timely
                     AND (SELECT count(*) FROM wed.trigger
                          WHERE flow_id = _flow_id AND enabled AND NOT cfinal) > 16
                   GROUP BY reads HAVING count(*) >= 4 LIMIT 32) g
          ON t.enabled AND NOT t.cfinal AND t.predicate IS NOT NULL AND NOT t.timely AND t.reads = g.reads
        WHERE t.flow_id = _flow_id) n
  WHERE t.tgid = n.tgid AND t.condition_group <> n.number;

  SELECT coalesce(bool_or(condition_group > 0), false), coalesce(bool_or(writes IS NOT NULL), false)
  INTO _grouped, _restricts FROM wed.trigger WHERE flow_id = _flow_id AND enabled;
  SELECT coalesce(string_agg(CASE WHEN g = 0 THEN c
                             ELSE format('CASE WHEN %s = ANY (_kept) THEN ''{}''::bigint[] ELSE %s END', g, c) END,
                             E'\n    || ' ORDER BY g), '''{}''::bigint[]')
  INTO _fired
  FROM (SELECT condition_group AS g, format('array_remove(ARRAY[%s]::bigint[], NULL)', string_agg(
          format('CASE WHEN %s THEN %s END', wed.guarded(predicate), (condition_group::bigint << 32) + tgid), E',\n      ' ORDER BY tgid)) AS c
        FROM wed.trigger WHERE flow_id = _flow_id AND enabled AND NOT cfinal AND predicate IS NOT NULL
        GROUP BY condition_group) g;
  SELECT coalesce(string_agg(format('coalesce(%s, false)', wed.guarded(predicate)), ' OR '), 'false') INTO _final
  FROM wed.trigger WHERE flow_id = _flow_id AND enabled AND cfinal AND predicate IS NOT NULL;
  SELECT string_agg(format('(%s, %L::text[])', condition_group, reads), ', ') INTO _groups
  FROM (SELECT DISTINCT condition_group, reads FROM wed.trigger
        WHERE flow_id = _flow_id AND enabled AND condition_group > 0) g;

  _state := wed.state_as_text(_flow.shape_schema, NULL);
  _sent := wed.state_as_text(_flow.shape_schema, _read);
  SELECT count(*) FILTER (WHERE written) BETWEEN 1 AND 48,
         string_agg(format('_p%s integer := (array_position(_assigned, %L) - 1) * _n;', attnum, attname), E'\n  '
                    ORDER BY attnum) FILTER (WHERE written),
         array_agg(attname::text ORDER BY attnum) FILTER (WHERE written),
         string_agg(format('%I = CASE WHEN _p%s IS NULL THEN _r.%1$I ELSE _lit[_p%2$s + %%1$s]::%s END', attname, attnum,
                           format_type(atttypid, atttypmod)), E',\n        ' ORDER BY attnum)
           FILTER (WHERE written)
  INTO _few, _declare, _assignable, _sets
  FROM pg_attribute CROSS JOIN LATERAL (SELECT _written IS NULL OR attname = ANY (_written) AS written) w
  WHERE attrelid = format('%I.wed_flow', _flow.shape_schema)::regclass AND attnum > 1 AND NOT attisdropped;
  -- A host's own statements look at each row as they return it, the gate at all of a statement's (below): a constraint would be
  -- read from its text, and planned, by every statement, and this one is long. (How large a row is as it is kept is one, 0009.)
  _returned := format('CASE WHEN NOT (%s) OR wed_bounded.measure_row(_r.wid, (_r.*)::text) THEN ROW(_r.*)::%%I.wed_flow END',
                      wed.came_compressed(_flow.schema_name, '_r'));
  _measure := format('PERFORM wed_bounded.measure_row(_new.wid, (_new.*)::text) FROM new_rows _new WHERE %s;',
                     wed.came_compressed(_flow.schema_name, '_new'));
  -- Where a row's old versions must all be kept, each of them is in the index, in the order in which they were written, and the newest
  -- is looked for from its end. (Not by equality: that Postgres would take for any order.)
  _newest := format('CROSS JOIN LATERAL (SELECT _l.ctid AS _row FROM %I.wed_flow _l WHERE _l.wid >= _b._wid AND _l.wid <= _b._wid
                     ORDER BY _l.wid DESC LIMIT 1) _f WHERE _r.ctid = _f._row', _flow.schema_name);
  _found := format('CASE WHEN _held THEN %L ELSE %L END', _newest, 'WHERE _r.wid = _b._wid');
  -- For whatever is assigned, a statement made for it.
  _any := CASE WHEN _state = '''{}''' THEN 'RAISE EXCEPTION ''the flow has no attributes'' USING ERRCODE = ''42703'';'
    ELSE format($c$EXECUTE (SELECT format('WITH _u AS (UPDATE %1$I.wed_flow _r SET %%s FROM ROWS FROM (unnest($1)%%s) AS _b(_wid%%s)
                    %%s RETURNING _r.wid, %2$s AS _state)
                    SELECT array_agg(_u._state ORDER BY _u.wid) FROM _u',
        string_agg(format('%%I = _b._%%s::%%s', u.name, u.at, coalesce(format_type(a.atttypid, a.atttypmod), 'text')), ', '),
        string_agg(format(', unnest($2[%%s:%%s])', (u.at - 1) * _n + 1, u.at * _n), '' ORDER BY u.at),
        string_agg(format(', _%%s', u.at), '' ORDER BY u.at), %3$s)
      FROM unnest(_assigned) WITH ORDINALITY u(name, at)
      -- One that there is not is left to the statement to name.
      LEFT JOIN pg_attribute a ON a.attrelid = '%1$I.wed_flow'::regclass AND a.attname = u.name AND a.attnum > 1) INTO _rows USING _wids, _lit;$c$,
        _flow.schema_name, format(_returned, _flow.shape_schema), _found) END;
  -- As a literal: between dollars, a tenant's string constant could end the body.
  EXECUTE format($f$
CREATE OR REPLACE FUNCTION %1$I.match_%1$s(_rows %1$I.wed_flow[], _kept integer[]) RETURNS wed.evaluated[]
LANGUAGE plpgsql STABLE SECURITY DEFINER AS %2$L $f$, _flow.shape_schema, format($match$
#variable_conflict use_column
BEGIN
  RETURN ARRAY(SELECT ROW(%1$s, %2$s, _row.wid, %3$s, %4$s,
    %5$s,
    %6$s, %7$s, NULL)::wed.evaluated FROM unnest(_rows) _row);
END $match$, _flow_id, _flow.version,
    _state, CASE WHEN _sent = _state THEN 'NULL::text' ELSE _sent END,
    _fired, CASE WHEN _grouped THEN 'coalesce(_kept, ''{}'')' ELSE 'NULL::integer[]' END, _final));

  EXECUTE format($f$
CREATE OR REPLACE FUNCTION %1$I.apply_%1$s(
  _wids integer[], _tgids integer[], _assigned text[], _set text, _literals integer, _lit text[], _careful boolean,
  _held boolean DEFAULT false)
RETURNS wed.evaluated[]
LANGUAGE plpgsql AS %2$L $f$, _flow.shape_schema, format($apply$
#variable_conflict use_column
DECLARE
  _n integer := cardinality(_wids);
  _rows %1$I.wed_flow[];
  _theirs %2$I.wed_flow[];
  _kept integer[];
  _order wed.batch;
  %3$s
BEGIN%4$s
  IF _set IS NOT NULL THEN
    PERFORM set_config('role', %5$L, true);
    EXECUTE format('WITH _u AS (UPDATE %2$I.wed_flow _r SET %%s FROM ROWS FROM (unnest($1)%%s) AS _b(_wid%%s)
                    %%s RETURNING _r.wid, %7$s AS _state)
                    SELECT array_agg(_u._state ORDER BY _u.wid) FROM _u', _set,
      (SELECT string_agg(format(', unnest($2[%%s:%%s])', (at - 1) * _n + 1, at * _n), '' ORDER BY at) FROM generate_series(1, _literals) at),
      (SELECT string_agg(format(', _%%s', at), '' ORDER BY at) FROM generate_series(1, _literals) at), %8$s)
      INTO _theirs USING _wids, _lit;
    PERFORM set_config('role', 'none', true);
    _rows := ARRAY(SELECT ROW(_t.*)::%1$I.wed_flow FROM unnest(_theirs) _t);
  %6$s
  END IF;
  RETURN CASE WHEN _careful THEN %1$I.evaluate_%1$s(_rows) ELSE %1$I.match_%1$s(_rows, _kept) END;
END $apply$, _flow.shape_schema, _flow.schema_name, CASE WHEN _few THEN _declare END,
    CASE WHEN _restricts THEN $c$
  PERFORM wed.refuse_write(_i.wid, t.trname, _a.name, t.writes)
  FROM ROWS FROM (unnest(_wids), unnest(_tgids)) AS _i(wid, tgid) JOIN wed.trigger t ON t.tgid = _i.tgid
  CROSS JOIN unnest(_assigned) _a(name) WHERE _a.name <> ALL (t.writes);$c$ ELSE '' END
    || CASE WHEN _grouped THEN format($c$
  IF NOT _held AND (SELECT bool_and(version = %s) FROM wed.job WHERE flow_id = %s AND wid = ANY (_wids)) THEN
    _kept := ARRAY(SELECT number FROM (VALUES %s) AS v(number, reads) WHERE NOT reads && _assigned);
  END IF;$c$, _flow.version, _flow_id, _groups) ELSE '' END,
    _flow.role_name,
    CASE WHEN _few THEN format($c$ELSIF NOT _assigned <@ %1$L::text[] THEN
    %5$s
  ELSIF _held THEN
    WITH _u AS (UPDATE %2$I.wed_flow _r SET
        %8$s
        FROM unnest(_wids) WITH ORDINALITY _b(_wid, _at) %7$s
        RETURNING _r.wid, %6$s AS _state)
      SELECT array_agg(_u._state ORDER BY _u.wid) INTO _rows FROM _u;
  ELSIF _n = 1 THEN
    UPDATE %2$I.wed_flow _r SET
        %4$s
      WHERE _r.wid = _wids[1] RETURNING ARRAY[%6$s] INTO _rows;
  ELSE
    _order.wids := _wids;
    WITH _u AS (UPDATE %2$I.wed_flow _r SET
        %3$s
        WHERE _r.wid = ANY (_order.wids) RETURNING %6$s AS _state)
      -- In the order of _wids, in which the index finds them. (Where a state were not its job's, settling would refuse it.)
      SELECT array_agg(_u._state) INTO _rows FROM _u;$c$,
      _assignable, _flow.schema_name, format(_sets, 'width_bucket(_r.wid, _order.wids)'), format(_sets, '1'), _any,
      format(_returned, _flow.shape_schema), _newest, format(_sets, '_b._at'))
    ELSE 'ELSE ' || _any END,
    format(_returned, _flow.schema_name), _found));

  EXECUTE format($f$
CREATE OR REPLACE FUNCTION %1$I.gate_insert() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
SET datestyle = 'ISO, YMD' SET intervalstyle = 'iso_8601' SET standard_conforming_strings = on
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan AS %2$L $f$, _flow.shape_schema, format($gate$
BEGIN
  %1$s
  PERFORM wed.gate_insert(%2$s, %3$I.evaluate_%3$s(ARRAY(
    SELECT ROW(_new.*)::%3$I.wed_flow FROM new_rows _new ORDER BY _new.wid)));
  RETURN NULL;
END $gate$, _measure, _flow_id, _flow.shape_schema));

  EXECUTE format($f$
CREATE OR REPLACE FUNCTION %1$I.gate_update() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
SET datestyle = 'ISO, YMD' SET intervalstyle = 'iso_8601' SET standard_conforming_strings = on
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan AS %2$L $f$, _flow.shape_schema, format($gate$
DECLARE _wids integer[]; _writer record;
BEGIN
  %1$s
  _wids := ARRAY(SELECT _new.wid FROM new_rows _new ORDER BY _new.wid);
  IF cardinality(_wids) = 0 THEN RETURN NULL; END IF;
  IF _wids <> ARRAY(SELECT _old.wid FROM old_rows _old ORDER BY _old.wid) THEN
    RAISE EXCEPTION 'the wid of an instance cannot change' USING ERRCODE = 'WF008',
      HINT = 'Set attributes only.';
  END IF;
  _writer := wed.writer(%2$s, _wids);
  IF _writer.allowed IS NOT NULL THEN
    PERFORM wed.check_writes(_wids, _writer.allowed,
      ARRAY(SELECT to_jsonb(_old) FROM old_rows _old ORDER BY _old.wid),
      ARRAY(SELECT to_jsonb(_new) FROM new_rows _new ORDER BY _new.wid));
  END IF;
  PERFORM wed.gate_update(%3$I.evaluate_%3$s(ARRAY(
    SELECT ROW(_new.*)::%3$I.wed_flow FROM new_rows _new ORDER BY _new.wid)), _writer.tgids);
  RETURN NULL;
END $gate$, _measure, _flow_id, _flow.shape_schema));
END $$;

-- What a new, changed or removed attribute does.
CREATE FUNCTION wed.on_attribute() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET client_min_messages = warning
SET standard_conforming_strings = on SET timezone = 'UTC' SET datestyle = 'ISO, YMD' SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _flow wed.flow;
  _type record;
  _schema text;
  _users text;
BEGIN
  -- One definition at a time in a flow.
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = TG_ARGV[0]::integer FOR NO KEY UPDATE;
  -- The table is locked for an instant only; better a clear error than a queue behind a long reader.
  SET LOCAL lock_timeout = '5s';
  IF TG_OP IN ('INSERT', 'UPDATE') THEN
    PERFORM wed.check_attribute_name(NEW.aname);
    _type := wed.attribute_type(NEW.atype);
  END IF;
  IF TG_OP IN ('INSERT', 'UPDATE') THEN
    -- Instances that there are get a default without passing anything that measures them.
    EXECUTE format('SELECT sum(octet_length(adv)) FROM %I.wed_attr', _flow.schema_name) INTO _users;
    IF _users::bigint > 131072 THEN
      RAISE EXCEPTION 'the default values of the attributes take % bytes together', _users USING ERRCODE = 'WF033',
        HINT = 'At most 131072 (128 KiB). Set long values where instances are started.';
    END IF;
  END IF;
  IF TG_OP = 'INSERT' OR (TG_OP = 'UPDATE' AND NEW.aname <> OLD.aname) THEN
    EXECUTE format('SELECT aname FROM %I.wed_attr WHERE lower(aname) = lower($1) AND aname <> $1',
                   _flow.schema_name) INTO _users USING NEW.aname;
    IF _users IS NOT NULL THEN
      RAISE EXCEPTION 'the attribute name "%" differs from "%" only in case', NEW.aname, _users
        USING ERRCODE = 'WF012', HINT = 'Choose another name.';
    END IF;
  END IF;
  IF TG_OP = 'DELETE' THEN
    SELECT string_agg(coalesce(tgname, trname, 'the final condition'), ', ') INTO _users
    FROM wed.trigger WHERE flow_id = _flow.flow_id AND OLD.aname = ANY (reads);
    IF _users IS NOT NULL THEN
      RAISE EXCEPTION 'attribute "%" is used by the condition of: %', OLD.aname, _users
        USING ERRCODE = 'WF013', HINT = 'Change or remove these triggers first.';
    END IF;
  ELSIF TG_OP = 'UPDATE' AND wed.attribute_type(OLD.atype) IS DISTINCT FROM _type THEN
    EXECUTE format('SELECT true FROM %I.wed_flow LIMIT 1', _flow.schema_name) INTO _users;
    IF _users IS NOT NULL THEN
      RAISE EXCEPTION 'the type of attribute "%" cannot change while the flow has instances', OLD.aname
        USING ERRCODE = 'WF013', HINT = 'Add a new attribute of the new type.';
    END IF;
    SELECT string_agg(coalesce(tgname, trname, 'the final condition'), ', ') INTO _users
    FROM wed.trigger WHERE flow_id = _flow.flow_id AND OLD.aname = ANY (reads);
    IF _users IS NOT NULL THEN
      RAISE EXCEPTION 'attribute "%" is used by the condition of: %', OLD.aname, _users
        USING ERRCODE = 'WF013', HINT = 'Change its type before writing conditions over it.';
    END IF;
  END IF;
  IF TG_OP = 'UPDATE' AND NEW.aname <> OLD.aname THEN
    PERFORM wed.put_on_shape(_flow.shape_schema, t.tgid, t.predicate)
    FROM wed.trigger t WHERE t.flow_id = _flow.flow_id AND OLD.aname = ANY (t.reads);
  END IF;
  FOREACH _schema IN ARRAY ARRAY[_flow.schema_name, _flow.shape_schema] LOOP
    IF TG_OP = 'INSERT' THEN
      EXECUTE format('ALTER TABLE %I.wed_flow ADD COLUMN %I %s DEFAULT %L', _schema, NEW.aname,
                     _type.sql_type, NEW.adv);
    ELSIF TG_OP = 'UPDATE' THEN
      IF NEW.aname <> OLD.aname THEN
        EXECUTE format('ALTER TABLE %I.wed_flow RENAME COLUMN %I TO %I', _schema, OLD.aname, NEW.aname);
      END IF;
      EXECUTE format('ALTER TABLE %I.wed_flow DROP CONSTRAINT IF EXISTS %I, DROP CONSTRAINT IF EXISTS %I, DROP CONSTRAINT IF EXISTS %I',
                     _schema, 'enum_' || OLD.aname, 'digits_' || OLD.aname, 'size_' || md5(OLD.aname));
      IF wed.attribute_type(OLD.atype) IS DISTINCT FROM _type THEN
        EXECUTE format('ALTER TABLE %I.wed_flow ALTER COLUMN %I DROP DEFAULT, ALTER COLUMN %2$I TYPE %s USING NULL',
                       _schema, NEW.aname, _type.sql_type);
      END IF;
      EXECUTE format('ALTER TABLE %I.wed_flow ALTER COLUMN %I SET DEFAULT %L', _schema, NEW.aname, NEW.adv);
    ELSE
      EXECUTE format('ALTER TABLE %I.wed_flow DROP COLUMN %I', _schema, OLD.aname);
    END IF;
    IF TG_OP <> 'DELETE' AND _schema = _flow.schema_name THEN
      PERFORM wed.bound_attribute(_schema, NEW.aname, _type.sql_type);
    END IF;
    IF TG_OP <> 'DELETE' AND _type.labels IS NOT NULL AND _schema = _flow.schema_name THEN
      EXECUTE format('ALTER TABLE %I.wed_flow ADD CONSTRAINT %I CHECK (%I %s) NOT VALID', _schema,
        'enum_' || NEW.aname, NEW.aname,
        CASE WHEN _type.sql_type = 'text' THEN format('= ANY (%L::text[])', _type.labels)
             ELSE format('<@ %L::text[]', _type.labels) END);
    END IF;
  END LOOP;
  IF TG_OP = 'UPDATE' AND NEW.aname <> OLD.aname THEN
    -- Conditions follow the name: their tree holds the column, not the text.
    UPDATE wed.trigger t SET
      predicate = (SELECT pg_get_expr(conbin, conrelid) FROM pg_constraint
                   WHERE conrelid = format('%I.wed_flow', _flow.shape_schema)::regclass
                     AND conname = 'c' || t.tgid),
      reads = array_replace(reads, OLD.aname, NEW.aname)
    WHERE flow_id = _flow.flow_id AND OLD.aname = ANY (reads);
    PERFORM wed.take_off_shape(_flow.shape_schema, t.tgid)
    FROM wed.trigger t WHERE t.flow_id = _flow.flow_id AND NEW.aname = ANY (t.reads);
    EXECUTE format('UPDATE %I.wed_trig w SET cpred = t.predicate, writes = array_replace(w.writes, $1, $2)
                    FROM wed.trigger t WHERE t.tgid = w.tgid AND ($2 = ANY (t.reads) OR $1 = ANY (w.writes))',
                   _flow.schema_name) USING OLD.aname, NEW.aname;
    UPDATE wed.trigger SET writes = array_replace(writes, OLD.aname, NEW.aname)
    WHERE flow_id = _flow.flow_id AND OLD.aname = ANY (writes);
  END IF;
  EXECUTE format('UPDATE wed.flow SET open_attributes = ARRAY(SELECT aname FROM %I.wed_attr WHERE open) WHERE flow_id = $1',
                 _flow.schema_name) USING _flow.flow_id;
  RETURN NULL;
END $$;

-- Before a trigger is written: its number, and what no column constraint can say well.
CREATE FUNCTION wed.before_trigger() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _unknown text;
  _schema text;
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.tgid IS NOT NULL THEN
      RAISE EXCEPTION 'tgid is given by the server' USING ERRCODE = 'WF013',
        HINT = 'Leave tgid out of the INSERT.';
    END IF;
    NEW.tgid := nextval('wed.tgid_seq');
  ELSIF NEW.tgid IS DISTINCT FROM OLD.tgid THEN
    RAISE EXCEPTION 'the tgid of a trigger cannot change' USING ERRCODE = 'WF013',
      HINT = 'Change the other columns, or insert a new trigger.';
  END IF;
  NEW.cfinal := coalesce(NEW.cfinal, false);
  NEW.enabled := coalesce(NEW.enabled, true);
  NEW.recheck := coalesce(NEW.recheck, true);
  NEW.timeout := coalesce(NEW.timeout, '1 minute');
  NEW.attempts := coalesce(NEW.attempts, 3);
  NEW.backoff := coalesce(NEW.backoff, '1 second');
  NEW.delay := coalesce(NEW.delay, '0');
  NEW.priority := coalesce(NEW.priority, 0);
  IF NOT NEW.cfinal AND coalesce(NEW.trname, '') = '' THEN
    RAISE EXCEPTION 'a trigger needs the name of the transition it fires (trname)' USING ERRCODE = 'WF013',
      HINT = 'Set trname, or set cfinal for the final condition.';
  END IF;
  IF NEW.cfinal AND NEW.trname IS NOT NULL AND NEW.trname <> '_FINAL' THEN
    RAISE EXCEPTION 'the final condition fires no transition' USING ERRCODE = 'WF013',
      HINT = 'Leave trname out.';
  END IF;
  IF NOT NEW.cfinal AND (NEW.trname ~ '^_' OR octet_length(NEW.trname) > 63 OR NEW.trname ~ '[[:cntrl:]]') THEN
    RAISE EXCEPTION 'the transition name % is not allowed', quote_literal(left(NEW.trname, 80))
      USING ERRCODE = 'WF013', HINT = 'At most 63 bytes, no control characters, no underscore in front.';
  END IF;
  IF NEW.timeout <= '0' OR NEW.backoff < '0' OR NEW.delay < '0' OR NEW.attempts NOT BETWEEN 1 AND 1000 THEN
    RAISE EXCEPTION 'timeout must be positive, delay and backoff not negative, attempts from 1 to 1000'
      USING ERRCODE = 'WF013', HINT = 'For example: timeout ''30 s'', backoff ''1 s'', attempts 3.';
  END IF;
  SELECT schema_name INTO _schema FROM wed.flow WHERE flow_id = TG_ARGV[0]::integer;
  -- Deeper than one, it is on_attribute that writes, after a renaming.
  IF NEW.writes IS NOT NULL AND pg_trigger_depth() = 1 THEN
    EXECUTE format('SELECT w FROM unnest($1) w WHERE w NOT IN (SELECT aname FROM %I.wed_attr) LIMIT 1', _schema)
      INTO _unknown USING NEW.writes;
    IF _unknown IS NOT NULL THEN
      RAISE EXCEPTION 'writes names "%", which is no attribute of this flow', _unknown
        USING ERRCODE = 'WF013', HINT = 'Insert it into wed_attr first.';
    END IF;
  END IF;
  IF NEW.cfinal THEN
    EXECUTE format('SELECT tgid::text FROM %I.wed_trig WHERE cfinal AND tgid <> $1', _schema)
      INTO _unknown USING NEW.tgid;
    IF _unknown IS NOT NULL THEN
      RAISE EXCEPTION 'this flow has a final condition already (tgid %)', _unknown
        USING ERRCODE = 'WF013', HINT = 'A flow has at most one: combine the predicates with OR.';
    END IF;
  END IF;
  RETURN NEW;
END $$;

-- After a trigger is written: its condition is checked and stored as Postgres understood it.
CREATE FUNCTION wed.on_trigger() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
  _checked record;
  _pending bigint;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = TG_ARGV[0]::integer FOR NO KEY UPDATE;
  IF TG_OP = 'DELETE' THEN
    SELECT count(*) INTO _pending FROM wed.job WHERE flow_id = _flow.flow_id AND tgid = OLD.tgid;
    IF _pending > 0 THEN
      RAISE EXCEPTION 'trigger % has % pending jobs', coalesce(OLD.tgname, OLD.tgid::text), _pending
        USING ERRCODE = 'WF013', HINT = 'Set enabled to false and let them finish first.';
    END IF;
    PERFORM wed.take_off_shape(_flow.shape_schema, OLD.tgid);
    DELETE FROM wed.trigger WHERE tgid = OLD.tgid;
    RETURN NULL;
  END IF;
  IF pg_trigger_depth() > 1 THEN
    RETURN NULL; -- on_attribute writes, after a renaming, and has done the rest
  END IF;
  _checked := wed.check_predicate(_flow.shape_schema, NEW.tgid, NEW.cpred);
  INSERT INTO wed.trigger AS t (tgid, flow_id, tenant_id, tgname, trname, cfinal, enabled, predicate, reads, timely,
      timeout, attempts, backoff, delay, priority, recheck, writes, component_id, weight)
  VALUES (NEW.tgid, _flow.flow_id, _flow.tenant_id, NEW.tgname, NEW.trname, NEW.cfinal, NEW.enabled, _checked.predicate,
      _checked.reads, _checked.timely, NEW.timeout, NEW.attempts, NEW.backoff, NEW.delay, NEW.priority, NEW.recheck, NEW.writes,
      wed.bound_component(_flow.flow_id, NEW.trname), _checked.weight)
  ON CONFLICT (tgid) DO UPDATE SET tgname = excluded.tgname, trname = excluded.trname, cfinal = excluded.cfinal,
    enabled = excluded.enabled, predicate = excluded.predicate, reads = excluded.reads,
    timely = excluded.timely, timeout = excluded.timeout, attempts = excluded.attempts, backoff = excluded.backoff,
    delay = excluded.delay, priority = excluded.priority, recheck = excluded.recheck,
    writes = excluded.writes, component_id = excluded.component_id, weight = excluded.weight;
  RETURN NULL;
END $$;

-- The component that performs a transition of a flow: the active version of the one bound to it.
CREATE FUNCTION wed.bound_component(_flow_id integer, _trname text) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT c.component_id
  FROM wed.binding b JOIN wed.flow f USING (flow_id)
  JOIN wed.component c ON c.tenant_id = f.tenant_id AND c.name = b.component_name
  WHERE b.flow_id = _flow_id AND b.trname = _trname
  ORDER BY c.activated_at DESC, c.version DESC LIMIT 1
$$;

-- After a statement on wed_attr or wed_trig. A server that applies a whole definition compiles once, at its end
-- (wed.resolve_bindings); only a session of the owner is believed to be one.
CREATE FUNCTION wed.after_definition() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF session_user = current_user AND current_setting('wed.definition', true) = 'whole' THEN
    RETURN NULL;
  END IF;
  IF pg_trigger_depth() = 1 THEN
    PERFORM wed.compile(TG_ARGV[0]::integer);
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION wed.refuse_truncate() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% cannot be truncated', TG_TABLE_NAME USING ERRCODE = 'WF009',
    HINT = 'Instances keep their history; drop the flow to remove all of it.';
END $$;

-- Resolves the components of a flow's triggers and pending jobs anew.
CREATE FUNCTION wed.resolve_bindings(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.trigger SET component_id = wed.bound_component(flow_id, trname)
  WHERE flow_id = _flow_id AND component_id IS DISTINCT FROM wed.bound_component(flow_id, trname);
  UPDATE wed.job j SET component_id = t.component_id FROM wed.trigger t
  WHERE t.flow_id = _flow_id AND j.flow_id = _flow_id AND j.tgid = t.tgid AND j.host_id IS NULL
    AND j.component_id IS DISTINCT FROM t.component_id;
  IF FOUND THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  PERFORM wed.compile(_flow_id);
END $$;

-- Makes an empty flow: its schemas, its tables, its role.
CREATE FUNCTION wed.create_flow(_tenant text, _name text, _description text DEFAULT '') RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _id integer;
  _s text := 'wf_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 16);
  _c text := _s || '_shape';
  _password text := replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
  _excpt integer := nextval('wed.tgid_seq');
  _statement text;
BEGIN
  INSERT INTO wed.flow (tenant_id, name, description, schema_name, shape_schema, role_name, role_password, excpt_tgid)
  SELECT tenant_id, _name, coalesce(_description, ''), _s, _c, _s, _password, _excpt
  FROM wed.tenant WHERE name = _tenant RETURNING flow_id INTO _id;
  IF _id IS NULL THEN
    RAISE EXCEPTION 'there is no tenant "%"', _tenant USING ERRCODE = 'WF015', HINT = 'Create the tenant first.';
  END IF;
  -- The trigger of _EXCPT is the server's: no condition fires it, the gate does.
  INSERT INTO wed.trigger (tgid, flow_id, tenant_id, tgname, trname, cfinal, enabled, timeout, attempts, backoff, delay, priority, recheck)
  SELECT _excpt, _id, tenant_id, '_EXCPT', '_EXCPT', false, true, '1 day', 3, '1 minute', '0', 0, false
  FROM wed.flow WHERE flow_id = _id;

  EXECUTE format('CREATE ROLE %I LOGIN PASSWORD %L NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION CONNECTION LIMIT %s',
    _s, _password, coalesce((SELECT q.connections FROM wed.quota q JOIN wed.tenant t USING (tenant_id) WHERE t.name = _tenant), -1));
  -- Defaults, which a session may change: what it cannot change are its connections and its jobs' timeouts. A
  -- worker is idle in its transaction while it works, so that is as long as work may take.
  EXECUTE format('ALTER ROLE %I IN DATABASE %I SET statement_timeout = %L', _s, current_database(), '5min');
  EXECUTE format('ALTER ROLE %I IN DATABASE %I SET idle_in_transaction_session_timeout = %L', _s, current_database(), '1h');
  EXECUTE format('ALTER ROLE %I IN DATABASE %I SET search_path = %I, pg_catalog', _s, current_database(), _s);
  EXECUTE format('GRANT %I TO %I', _s, current_user);
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), _s);

  FOREACH _statement IN ARRAY ARRAY[
    'CREATE SCHEMA %1$I',
    'CREATE SCHEMA %2$I',
    'GRANT USAGE ON SCHEMA %1$I TO %1$I',
    'GRANT USAGE, CREATE ON SCHEMA %2$I TO wed_predicate',
    $t$CREATE TABLE %1$I.wed_attr (
      aname text PRIMARY KEY, adv text, atype text NOT NULL DEFAULT 'text', open boolean NOT NULL DEFAULT false)$t$,
    $t$CREATE TABLE %1$I.wed_trig (
      tgid integer PRIMARY KEY, tgname text, enabled boolean NOT NULL DEFAULT true, trname text, cname text,
      cpred text NOT NULL, cfinal boolean NOT NULL DEFAULT false, timeout interval NOT NULL DEFAULT '1 minute',
      attempts integer NOT NULL DEFAULT 3, backoff interval NOT NULL DEFAULT '1 second',
      delay interval NOT NULL DEFAULT '0', priority integer NOT NULL DEFAULT 0,
      recheck boolean NOT NULL DEFAULT true, writes text[])$t$,
    'CREATE TABLE %2$I.wed_flow (wid integer)',
    'ALTER TABLE %2$I.wed_flow OWNER TO wed_predicate',
    -- Statistics are for who asks in SQL; the gate's plans need none, and each analysis and each vacuum discards them in
    -- every session. Old versions of a row are tidied away by whoever reads its page.
    $t$CREATE TABLE %1$I.wed_flow (
      wid integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY)
      WITH (fillfactor = 70, autovacuum_analyze_threshold = 20000, autovacuum_vacuum_threshold = 20000)$t$,
    $t$CREATE VIEW %1$I.job_pool AS
      SELECT j.wid, j.tgid, j.trname, 'host:' || j.host_id AS lckid, j.timeout,
        coalesce(j.payload, (SELECT r.state FROM wed.trace r WHERE r.flow_id = j.flow_id AND r.wid = j.wid
                             AND r.seq = j.seq AND r.tstmp = j.fired_at))::jsonb AS payload,
        j.attempt, j.due, j.priority, coalesce(j.waits_for,
          (SELECT 'its tenant''s fuel_per_minute' FROM wed.usage u
           WHERE u.tenant_id = j.tenant_id AND u.resting AND j.host_id IS NULL AND j.component_id IS NOT NULL)) AS waits_for
      FROM wed.job j WHERE j.flow_id = %3$s$t$,
    $t$CREATE VIEW %1$I.wed_trace AS
      SELECT wid, state::jsonb AS state, trf, trw, status, tstmp, seq, tgid, attempt, writer, note, fuel, elapsed_us, memory_bytes
      FROM wed.trace WHERE flow_id = %3$s$t$,
    $t$CREATE VIEW %1$I.wed_attempt AS
      SELECT wid, tgid, trname, attempt, outcome, message, writer, tstmp, fuel, elapsed_us, memory_bytes
      FROM wed.attempt WHERE flow_id = %3$s$t$,
    $t$CREATE VIEW %1$I.wed_instance AS
      SELECT wid, status, started, changed FROM wed.instance WHERE flow_id = %3$s$t$,
    'GRANT SELECT, INSERT, UPDATE, DELETE ON %1$I.wed_attr, %1$I.wed_trig TO %1$I',
    'GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON %1$I.wed_flow TO %1$I',
    'GRANT SELECT ON %1$I.job_pool, %1$I.wed_trace, %1$I.wed_attempt, %1$I.wed_instance TO %1$I',

    -- Definitions.
    'CREATE TRIGGER attribute AFTER INSERT OR UPDATE OR DELETE ON %1$I.wed_attr
       FOR EACH ROW EXECUTE FUNCTION wed.on_attribute(%3$s)',
    'CREATE TRIGGER zz_compile AFTER INSERT OR UPDATE OR DELETE ON %1$I.wed_attr
       FOR EACH STATEMENT EXECUTE FUNCTION wed.after_definition(%3$s)',
    'CREATE TRIGGER before_trigger BEFORE INSERT OR UPDATE ON %1$I.wed_trig
       FOR EACH ROW EXECUTE FUNCTION wed.before_trigger(%3$s)',
    'CREATE TRIGGER trigger AFTER INSERT OR UPDATE OR DELETE ON %1$I.wed_trig
       FOR EACH ROW EXECUTE FUNCTION wed.on_trigger(%3$s)',
    'CREATE TRIGGER zz_compile AFTER INSERT OR UPDATE OR DELETE ON %1$I.wed_trig
       FOR EACH STATEMENT EXECUTE FUNCTION wed.after_definition(%3$s)',

    -- The gate: what is the flow's own of it. The rest is in 0004_gate.sql. Its plans are made once in
    -- a session, perhaps when the tables are still empty: they must be by index all the same.
    $t$CREATE FUNCTION %2$I.evaluate_%2$s(_rows %2$I.wed_flow[]) RETURNS wed.evaluated[]
    LANGUAGE plpgsql AS $f$
    DECLARE _all wed.evaluated[]; _one wed.evaluated;
    BEGIN
      BEGIN
        RETURN %2$I.match_%2$s(_rows, NULL);
      EXCEPTION WHEN OTHERS THEN
        NULL; -- some condition fails on some row: find out which
      END;
      FOR _i IN 1 .. cardinality(_rows) LOOP
        BEGIN
          _one := (%2$I.match_%2$s(_rows[_i:_i], NULL))[1];
        EXCEPTION WHEN OTHERS THEN
          _one := ROW(%3$s, NULL, (_rows[_i]).wid, (to_jsonb(_rows[_i]) - 'wid')::text, NULL, '{}', '{}', false,
                      'a condition failed: ' || SQLERRM)::wed.evaluated;
        END;
        _all := _all || _one;
      END LOOP;
      RETURN _all;
    END $f$ $t$,
    $t$CREATE FUNCTION %2$I.current_%2$s(_wids integer[]) RETURNS wed.evaluated[]
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
    SET datestyle = 'ISO, YMD' SET intervalstyle = 'iso_8601' SET standard_conforming_strings = on
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    SET plan_cache_mode = force_generic_plan AS $f$
      SELECT %2$I.evaluate_%2$s(ARRAY(SELECT ROW(_now.*)::%2$I.wed_flow FROM %1$I.wed_flow _now
                                 WHERE _now.wid = ANY (_wids) ORDER BY _now.wid))
    $f$ $t$
  ] LOOP
    EXECUTE format(_statement, _s, _c, _id);
  END LOOP;
  PERFORM wed.bound_rows(_s);
  PERFORM wed.compile(_id);

  FOREACH _statement IN ARRAY ARRAY[
    'CREATE TRIGGER gate_insert AFTER INSERT ON %1$I.wed_flow REFERENCING NEW TABLE AS new_rows
       FOR EACH STATEMENT EXECUTE FUNCTION %2$I.gate_insert()',
    'CREATE TRIGGER gate_update AFTER UPDATE ON %1$I.wed_flow
       REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
       WHEN (wed.is_by_hand())
       EXECUTE FUNCTION %2$I.gate_update()',
    'CREATE TRIGGER gate_delete BEFORE DELETE ON %1$I.wed_flow FOR EACH ROW EXECUTE FUNCTION wed.refuse_delete()',
    'CREATE TRIGGER gate_truncate BEFORE TRUNCATE ON %1$I.wed_flow
       FOR EACH STATEMENT EXECUTE FUNCTION wed.refuse_truncate()',

    -- The papers' worker protocol, made safe: the lock of (wid, tgid) is granted only while the job is
    -- there, is nobody''s, is due, and its condition holds. Unqualified calls find these first.
    $t$CREATE FUNCTION %1$I.pg_try_advisory_xact_lock(integer, integer) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $f$ SELECT wed.take_job(%3$s, $1, $2) $f$ $t$,
    $t$CREATE FUNCTION %1$I.wed_rematch(preview boolean DEFAULT true)
    RETURNS TABLE (wid integer, fires text[], becomes text) LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $f$ SELECT * FROM wed.rematch(%3$s, preview) $f$ $t$,
    'REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %2$I FROM PUBLIC',
    'REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %1$I FROM PUBLIC',
    'GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %1$I TO %1$I'
  ] LOOP
    EXECUTE format(_statement, _s, _c, _id);
  END LOOP;
  EXECUTE format('ALTER FUNCTION %1$I.match_%1$s(%1$I.wed_flow[], integer[]) OWNER TO wed_predicate', _c);
  EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM wed_predicate', _c);
  EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %I FROM PUBLIC', _c);
  EXECUTE format('GRANT EXECUTE ON FUNCTION %1$I.match_%1$s(%1$I.wed_flow[], integer[]) TO %2$I', _c, current_user);
  RETURN _id;
END $$;

-- Whether who writes is no host: a host's batch takes its states through the gate itself (write_states); only a session
-- of the owner is believed to be one. Every writer may call it, with whatever search_path. The condition of a trigger
-- is read from its text by every statement, so it is short.
DO $$ BEGIN
  EXECUTE format($f$CREATE FUNCTION wed.is_by_hand() RETURNS boolean LANGUAGE plpgsql STABLE AS $b$
BEGIN
  RETURN session_user OPERATOR(pg_catalog.<>) %L::pg_catalog.name
    OR (pg_catalog.current_setting('wed.commit', true) OPERATOR(pg_catalog.=) 'batch') IS NOT TRUE;
END $b$ $f$, (SELECT r.rolname FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner WHERE n.nspname = 'wed'));
END $$;

-- Removes a flow with everything of it. What it leaves in the tables that all flows share is nobody's from
-- then on, and is removed by remove_residue in steps: of a flow of millions of instances that takes minutes.
CREATE FUNCTION wed.drop_flow(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id FOR UPDATE;
  EXECUTE format('DROP SCHEMA %I CASCADE', _flow.schema_name);
  EXECUTE format('DROP SCHEMA %I CASCADE', _flow.shape_schema);
  EXECUTE format('DROP OWNED BY %I', _flow.role_name);
  EXECUTE format('DROP ROLE %I', _flow.role_name);
  DELETE FROM wed.job WHERE flow_id = _flow_id;
  DELETE FROM wed.flow WHERE flow_id = _flow_id;
  INSERT INTO wed.residue VALUES (_flow_id);
END $$;

-- Removes what removed flows have left, of at most _limit instances. Returns whether there may be more.
CREATE FUNCTION wed.remove_residue(_limit integer) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow_id integer;
  _wids integer[];
  _table text;
BEGIN
  SELECT flow_id INTO _flow_id FROM wed.residue ORDER BY flow_id LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN false; END IF;
  _wids := ARRAY(SELECT wid FROM wed.instance WHERE flow_id = _flow_id ORDER BY wid LIMIT _limit);
  FOREACH _table IN ARRAY ARRAY['trace', 'attempt', 'log', 'recording', 'instance'] LOOP
    EXECUTE format('DELETE FROM wed.%I WHERE flow_id = $1 AND wid = ANY ($2)', _table) USING _flow_id, _wids;
  END LOOP;
  IF cardinality(_wids) < _limit THEN
    DELETE FROM wed.residue WHERE flow_id = _flow_id;
  END IF;
  RETURN true;
END $$;

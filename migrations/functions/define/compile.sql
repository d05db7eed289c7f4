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
CREATE OR REPLACE FUNCTION wed.compile(_flow_id integer) RETURNS void
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
  PERFORM wed.bound_conditions(_flow);
  PERFORM wed.mark_constrained(_flow_id);
  PERFORM wed.compile_keys(_flow);
  PERFORM wed.compile_clock(_flow);
  -- Only rows whose group is another one now are written.
  UPDATE wed.trigger t SET condition_group = n.number
  FROM (SELECT t.tgid, coalesce(g.number, 0) AS number FROM wed.trigger t
        LEFT JOIN (SELECT reads, row_number() OVER (ORDER BY count(*) DESC, reads) AS number FROM wed.trigger
                   WHERE flow_id = _flow_id AND enabled AND NOT cfinal AND predicate IS NOT NULL AND NOT timely AND NOT constrained
                     AND (SELECT count(*) FROM wed.trigger
                          WHERE flow_id = _flow_id AND enabled AND NOT cfinal) > 16
                   GROUP BY reads HAVING count(*) >= 4 LIMIT 32) g
          ON t.enabled AND NOT t.cfinal AND t.predicate IS NOT NULL AND NOT t.timely AND NOT t.constrained AND t.reads = g.reads
        WHERE t.flow_id = _flow_id) n
  WHERE t.tgid = n.tgid AND t.condition_group <> n.number;

  SELECT coalesce(bool_or(condition_group > 0), false), coalesce(bool_or(writes IS NOT NULL), false)
  INTO _grouped, _restricts FROM wed.trigger WHERE flow_id = _flow_id AND enabled;
  SELECT coalesce(string_agg(CASE WHEN g = 0 THEN c
                             ELSE format('CASE WHEN %s = ANY (_kept) THEN ''{}''::bigint[] ELSE %s END', g, c) END,
                             E'\n    || ' ORDER BY g), '''{}''::bigint[]')
  INTO _fired
  FROM (SELECT condition_group AS g, format('array_remove(ARRAY[%s]::bigint[], NULL)', string_agg(
          format('CASE WHEN %s THEN %s END', guarded, CASE
            -- Keys that cannot be evaluated are as a condition that cannot.
            WHEN c.keys IS NOT NULL THEN format('CASE WHEN %s IS NOT NULL THEN %s END', wed.keys_expression(c), t.tgid)
            ELSE ((condition_group::bigint << 32) + t.tgid)::text END), E',\n      ' ORDER BY t.tgid)) AS c
        FROM wed.trigger t LEFT JOIN wed.trigger_constraint c USING (tgid)
        WHERE t.flow_id = _flow_id AND enabled AND NOT cfinal AND predicate IS NOT NULL
        GROUP BY condition_group) g;
  SELECT coalesce(string_agg(format('coalesce(%s, false)', guarded), ' OR '), 'false') INTO _final
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
DECLARE _answers wed.evaluated[];
BEGIN
  PERFORM set_config('wed.begun', extract(epoch FROM clock_timestamp())::text, true);
  _answers := ARRAY(SELECT ROW(%1$s, %2$s, _row.wid, %3$s, %4$s,
    %5$s,
    %6$s, %7$s, NULL)::wed.evaluated FROM unnest(_rows) _row);
  PERFORM set_config('wed.begun', '', true);
  RETURN _answers;
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
    -- Where the flow was changed while this waited for its table, what came back has the new columns and this has not.
    IF (SELECT version FROM wed.flow WHERE flow_id = %9$s) <> %10$s THEN
      RAISE EXCEPTION 'the flow was changed meanwhile' USING ERRCODE = '40001';
    END IF;
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
    format(_returned, _flow.schema_name), _found, _flow_id, _flow.version));

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

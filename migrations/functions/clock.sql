-- Conditions that look at the clock: what has become true without a change of the state (decision 0042).

-- Chore `clock`: conditions that have become true by the clock fire, traced as _CLOCK; jobs whose condition it made
-- false are listed as stale.

-- Flows with conditions on the clock of which one can have become true, or whose instances have changed, and those that
-- got their first one. Where the moments are not known, that is each flow with a pending job.
CREATE OR REPLACE FUNCTION wed.due_clock()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT f.tenant_id, c.flow_id, 0::bigint, 0, c.not_before FROM wed.clock c JOIN wed.flow f USING (flow_id)
  WHERE c.not_before <= clock_timestamp() AND (CASE WHEN f.timed THEN c.next_look <= clock_timestamp()
      ELSE EXISTS (SELECT FROM wed.job j WHERE j.flow_id = c.flow_id) END
    OR EXISTS (SELECT FROM wed.clock_changed d WHERE d.flow_id = c.flow_id))
  UNION ALL
  SELECT DISTINCT f.tenant_id, d.flow_id, 0::bigint, 0, now() FROM wed.clock_changed d JOIN wed.flow f USING (flow_id)
  WHERE NOT EXISTS (SELECT FROM wed.clock c WHERE c.flow_id = d.flow_id)
$$;

-- Looks at running instances of a flow, one after another until 150 ms have passed; the next look continues there. At
-- the end of a round it is known when a condition can become true next (wed.look_by_clock).
CREATE OR REPLACE FUNCTION wed.do_clock(_tenant_id integer, _flow_id integer, _thing bigint, _tgid integer)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _most CONSTANT integer := 20000;
  _begun timestamptz := clock_timestamp();
  _clock wed.clock;
  _flow wed.flow;
  _wids integer[];
  -- One at first, so that a look at slow conditions gets somewhere.
  _some integer := 1;
  _at integer := 1;
  _look record;
  _fired bigint := 0;
BEGIN
  INSERT INTO wed.clock (flow_id) SELECT _flow_id
  WHERE NOT EXISTS (SELECT FROM wed.clock WHERE flow_id = _flow_id) ON CONFLICT DO NOTHING;
  SELECT * INTO _clock FROM wed.clock WHERE flow_id = _flow_id AND not_before <= _begun FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN 'false'; END IF;
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id;
  IF NOT wed.has_clock(_flow_id) THEN
    DELETE FROM wed.clock_changed WHERE flow_id = _flow_id;
    -- A definition that has come meanwhile is seen here, or has listed the flow anew.
    IF NOT wed.has_clock(_flow_id) THEN
      DELETE FROM wed.clock WHERE flow_id = _flow_id;
      RETURN 'false';
    END IF;
  END IF;
  -- What changes during a round is for the next one.
  IF _clock.from_wid = 0 THEN DELETE FROM wed.clock_changed WHERE flow_id = _flow_id; END IF;
  _wids := ARRAY(SELECT DISTINCT j.wid FROM wed.job j
                 WHERE j.flow_id = _flow_id AND j.wid > _clock.from_wid AND j.trname <> '_EXCPT' ORDER BY 1 LIMIT _most);
  WHILE _at <= cardinality(_wids) AND (_at = 1 OR clock_timestamp() < _begun + interval '150 ms') LOOP
    SELECT * INTO _look FROM wed.look_by_clock(_flow, _wids[_at : _at + _some - 1]);
    _fired := _fired + _look.fired;
    _clock.seen_from := least(_clock.seen_from, _look.seen_from);
    _at := _at + _some;
    _some := least(_some * 4, 4096);
  END LOOP;
  IF _at <= cardinality(_wids) OR cardinality(_wids) = _most THEN
    UPDATE wed.clock SET from_wid = _wids[least(_at - 1, cardinality(_wids))], seen_from = _clock.seen_from,
      next_look = '-infinity' WHERE flow_id = _flow_id;
  ELSE
    UPDATE wed.clock SET from_wid = 0, seen_from = 'infinity', next_look = _clock.seen_from,
      not_before = clock_timestamp() + wed.pause_of_looks(_flow, clock_timestamp() - _begun) WHERE flow_id = _flow_id;
  END IF;
  RETURN to_jsonb(_fired);
END $$;

-- Tells whether a condition of a flow looks at the clock. Volatile: asked again, it sees what was committed meanwhile.
CREATE OR REPLACE FUNCTION wed.has_clock(_flow_id integer) RETURNS boolean
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM wed.trigger t WHERE t.flow_id = _flow_id AND wed.is_on_clock(t))
$$;

-- Tells whether a trigger's condition looks at the clock.
CREATE OR REPLACE FUNCTION wed.is_on_clock(_trigger wed.trigger) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT _trigger.enabled AND NOT _trigger.cfinal AND _trigger.timely AND wed.reads_clock(_trigger.predicate)
$$;

-- Fires what has become true of some instances, and lists jobs left to external workers that have become false.
-- Returns how many fired something, and the earliest moment at which something can become true next: minus infinity
-- where it is not known, and where an instance was not free.
CREATE OR REPLACE FUNCTION wed.look_by_clock(
  _flow wed.flow, _wids integer[], OUT fired bigint, OUT seen_from timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
  _due integer[];
BEGIN
  _due := ARRAY(SELECT n.wid FROM wed.newly_true(_flow, _wids) n ORDER BY n.wid);
  fired := CASE WHEN _due = '{}' THEN 0 ELSE wed.fire_due(_flow, _due) END;
  seen_from := '-infinity';
  IF _flow.timed AND fired = cardinality(_due) THEN
    EXECUTE format('SELECT coalesce(%1$I.moment_%1$s(ARRAY(SELECT ROW(w.*)::%1$I.wed_flow FROM %2$I.wed_flow w
      WHERE w.wid = ANY ($1))), ''infinity'')', _flow.shape_schema, _flow.schema_name) INTO seen_from USING _wids;
  END IF;
  EXECUTE format('INSERT INTO wed.stale (flow_id, wid, tgid) SELECT j.flow_id, j.wid, j.tgid FROM wed.job j
    JOIN wed.trigger t USING (tgid)
    WHERE j.flow_id = $1 AND j.wid = ANY ($2) AND j.host_id IS NULL
      AND (j.component_id IS NULL AND j.due <= now() OR j.is_wait) AND t.recheck AND wed.is_on_clock(t) AND NOT EXISTS (
        SELECT FROM %1$I.clock_%1$s(ARRAY(SELECT ROW(w.*)::%1$I.wed_flow FROM %2$I.wed_flow w WHERE w.wid = j.wid)) c
        WHERE j.tgid = ANY (c.tgids)) ON CONFLICT DO NOTHING', _flow.shape_schema, _flow.schema_name)
    USING _flow.flow_id, _wids;
END $$;

-- Returns how long a flow is not looked at after a look: its looks take a quarter of the time at most. Where the
-- moments are not known, a tenant's flows share a twentieth.
CREATE OR REPLACE FUNCTION wed.pause_of_looks(_flow wed.flow, _took interval) RETURNS interval
LANGUAGE sql STABLE AS $$
  SELECT greatest(interval '400 ms', _took * CASE WHEN _flow.timed THEN 3 ELSE 20 * (
    SELECT count(*) FROM wed.clock c JOIN wed.flow f USING (flow_id)
    WHERE f.tenant_id = _flow.tenant_id AND NOT f.timed) END)
$$;

-- Returns expressions of the moments at which a condition can become true, as rows of VALUES: where it compares
-- attributes of dates and times with the clock, and looks at the clock in no other way. Null: they are not known.
CREATE OR REPLACE FUNCTION wed.moments_of(_predicate text, _schema text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _clock CONSTANT text := '(?:now\(\)|CURRENT_TIMESTAMP|CURRENT_DATE)';
  _span CONSTANT text := ' [+-] ''[^'']*''::interval\)';
  _comparison CONSTANT text := ' (?:<=|>=|<>|<|>|=) ';
  _attribute text := (SELECT '(?:' || string_agg(regexp_replace(quote_ident(a.attname), '\W', '\\\&', 'g'), '|') || ')'
    FROM pg_attribute a WHERE a.attrelid = to_regclass(format('%I.wed_flow', _schema)) AND a.attnum > 0
      AND NOT a.attisdropped AND a.atttypid IN ('timestamptz'::regtype, 'timestamp'::regtype, 'date'::regtype));
  _attribute_side text := format('((?<![\w".])%1$s(?![\w".])|\(%1$s%2$s)', _attribute, _span);
  _clock_side text := format('(%1$s|\(%1$s%2$s)', _clock, _span);
  _there text := _attribute_side || _comparison || _clock_side;
  _back text := _clock_side || _comparison || _attribute_side;
BEGIN
  IF _attribute IS NULL
     OR wed.reads_clock(regexp_replace(regexp_replace(_predicate, _there, 'true', 'g'), _back, 'true', 'g')) THEN
    RETURN NULL;
  END IF;
  RETURN (
    SELECT string_agg(wed.moment_of(m.attribute, m.clock), ', ') FROM (
      SELECT m[1] AS attribute, m[2] AS clock FROM regexp_matches(_predicate, _there, 'g') m
      UNION
      SELECT m[2], m[1] FROM regexp_matches(_predicate, _back, 'g') m) m);
END $$;

-- Returns the moment at which the clock shows an attribute's time: later by what is taken from the clock. Of a date
-- the clock shows none but midnights: the ones before and behind it.
CREATE OR REPLACE FUNCTION wed.moment_of(_attribute text, _clock text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN _clock ~ 'CURRENT_DATE'
    THEN format('(date_trunc(''day'', %1$s)), (date_trunc(''day'', %1$s) + ''1 day'')', m.moment)
    ELSE format('(%s)', m.moment) END
  FROM (SELECT format('(%s)::timestamptz', _attribute) || coalesce(
    CASE WHEN _clock LIKE '% - ''%' THEN ' + ' ELSE ' - ' END
      || substring(_clock FROM '(''[^'']*''::interval)\)$'), '') AS moment) m
$$;

-- Conditions that look at the clock and have become true for some running instances: their trigger is not pending, and
-- the present state has not fired it already (its job may have been skipped).
CREATE OR REPLACE FUNCTION wed.newly_true(_flow wed.flow, _wids integer[]) RETURNS TABLE (wid integer, tgids integer[])
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY EXECUTE format($q$
    SELECT c.wid, n.tgids FROM %1$I.clock_%1$s(ARRAY(
      SELECT ROW(w.*)::%1$I.wed_flow FROM %2$I.wed_flow w WHERE w.wid = ANY ($2) ORDER BY w.wid)) c
    CROSS JOIN LATERAL (
      SELECT array_agg(g.tgid ORDER BY g.tgid) AS tgids FROM unnest(c.tgids) g(tgid)
      WHERE NOT EXISTS (SELECT FROM wed.job j WHERE j.flow_id = $1 AND j.wid = c.wid AND j.tgid = g.tgid)
        AND NOT EXISTS (SELECT FROM wed.trace s WHERE s.flow_id = $1 AND s.wid = c.wid AND s.tgid = g.tgid
          AND s.trw = '_SKIP'
                        AND NOT EXISTS (SELECT FROM wed.trace l WHERE l.flow_id = $1 AND l.wid = c.wid AND l.seq > s.seq
                                        AND (wed.names_transition(l.trw) OR l.trw IN ('_EVENT', '_ADHOC'))))) n
    WHERE n.tgids IS NOT NULL $q$, _flow.shape_schema, _flow.schema_name) USING _flow.flow_id, _wids;
END $$;

-- Lets instances for which a condition has become true by the clock pass the gate as they stand: only what has become
-- true is fired. Instances that somebody writes just now are left to the next look.
CREATE OR REPLACE FUNCTION wed.fire_due(_flow wed.flow, _wids integer[]) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _rows wed.evaluated[];
BEGIN
  EXECUTE format('SELECT array_agg(wid ORDER BY wid) FROM (
      SELECT wid FROM %I.wed_flow WHERE wid = ANY ($1) ORDER BY wid
        FOR NO KEY UPDATE SKIP LOCKED) w', _flow.schema_name)
    INTO _wids USING _wids;
  IF _wids IS NULL THEN RETURN 0; END IF;
  EXECUTE format('SELECT %1$I.current_%1$s($1)', _flow.shape_schema) INTO _rows USING _wids;
  -- No version has the number 0: the next state's conditions are all evaluated.
  SELECT array_agg(ROW(r.flow_id, 0, r.wid, r.state, r.payload, n.tgids::bigint[], r.kept, false,
    NULL)::wed.evaluated ORDER BY r.wid)
  INTO _rows
  FROM unnest(_rows) r JOIN wed.newly_true(_flow, _wids) n ON n.wid = r.wid
  JOIN wed.instance i ON i.flow_id = _flow.flow_id AND i.wid = r.wid AND i.status = 'R'
  WHERE NOT r.final AND r.fault IS NULL;
  IF _rows IS NULL THEN RETURN 0; END IF;
  PERFORM wed.pass_gate(_rows, NULL, _cause => '_CLOCK');
  RETURN cardinality(_rows);
END $$;

-- Makes the functions of a flow that tell of some rows which conditions that look at the clock hold, and when one can
-- become true next (wed.moments_of), and brings the flow to the list of those that hosts look at (wed.do_clock).
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
  -- Hosts write the flow's row of wed.clock all the time: it is left to them, and no definition meets them there.
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

-- Tells whether a predicate, as Postgres writes it, looks at the clock. (Text within quotes is left out.)
CREATE OR REPLACE FUNCTION wed.reads_clock(_predicate text) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT regexp_replace(_predicate, '''(?:[^'']|'''')*''', '', 'g')
    ~*
      '\m(now|statement_timestamp|transaction_timestamp|clock_timestamp|timeofday|age)\(|'
      '\m(current_date|current_time|current_timestamp|localtime|localtimestamp)\M'
$$;

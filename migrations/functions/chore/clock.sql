-- Chore `clock`: conditions that have become true by the clock fire, traced as _CLOCK; jobs whose condition it made
-- false are listed as stale.

-- Flows with conditions on the clock of which one can have become true, or whose instances have changed.
CREATE OR REPLACE FUNCTION wed.due_clock()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT f.tenant_id, c.flow_id, 0::bigint, 0, c.not_before FROM wed.clock c JOIN wed.flow f USING (flow_id)
  WHERE c.not_before <= clock_timestamp() AND (c.next_look <= clock_timestamp()
    OR EXISTS (SELECT FROM wed.clock_changed d WHERE d.flow_id = c.flow_id))
$$;

-- Looks at running instances of a flow, some after the other until 150 ms have passed; the next look goes on there. At
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
  SELECT * INTO _clock FROM wed.clock WHERE flow_id = _flow_id AND not_before <= _begun FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN 'false'; END IF;
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id;
  IF NOT EXISTS (SELECT FROM wed.trigger t WHERE t.flow_id = _flow_id AND wed.is_on_clock(t)) THEN
    DELETE FROM wed.clock WHERE flow_id = _flow_id;
    DELETE FROM wed.clock_changed WHERE flow_id = _flow_id;
    RETURN 'false';
  END IF;
  -- What changes during a round is for the next one.
  IF _clock.from_wid = 0 THEN DELETE FROM wed.clock_changed WHERE flow_id = _flow_id; END IF;
  _wids := ARRAY(SELECT DISTINCT j.wid FROM wed.job j
                 WHERE j.flow_id = _flow_id AND j.wid > _clock.from_wid AND j.trname <> '_EXCPT' ORDER BY 1 LIMIT _most);
  WHILE _at <= cardinality(_wids) AND clock_timestamp() < _begun + interval '150 ms' LOOP
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
    WHERE j.flow_id = $1 AND j.wid = ANY ($2) AND j.host_id IS NULL AND j.component_id IS NULL AND j.due <= now()
      AND t.recheck AND wed.is_on_clock(t) AND NOT EXISTS (
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

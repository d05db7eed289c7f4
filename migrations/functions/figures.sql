-- Figures of flows for people: how many instances and jobs there are, and what the last hour brought. What is much is
-- estimated or read at spots, and said to be, so that a figure costs the same in a large installation.

-- Counts a flow's instances by status and its jobs, exactly up to 10,000 of each. Beyond, `estimated` is true: the
-- statistics of the last analysis say how many there are.
CREATE OR REPLACE FUNCTION wed.count_flow(_flow_id integer, OUT regular bigint, OUT final bigint, OUT exception bigint,
  OUT jobs bigint, OUT estimated boolean)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _counted_max CONSTANT integer := 10000;
BEGIN
  SELECT count(*) FILTER (WHERE i.status = 'R'), count(*) FILTER (WHERE i.status = 'F'),
    count(*) FILTER (WHERE i.status = 'E'), count(*) > _counted_max
  INTO regular, final, exception, estimated
  FROM (SELECT n.status FROM wed.instance n WHERE n.flow_id = _flow_id ORDER BY n.wid LIMIT _counted_max + 1) i;
  SELECT count(*) INTO jobs
  FROM (SELECT FROM wed.job n WHERE n.flow_id = _flow_id ORDER BY n.wid LIMIT _counted_max + 1) j;
  IF estimated THEN
    SELECT count(*) INTO exception FROM (SELECT FROM wed.instance n WHERE n.flow_id = _flow_id AND n.status = 'E'
      ORDER BY n.wid LIMIT _counted_max + 1) e;
    regular := wed.estimate_rows(format('wed.instance WHERE flow_id = %s AND status = ''R''', _flow_id));
    final := wed.estimate_rows(format('wed.instance WHERE flow_id = %s AND status = ''F''', _flow_id));
  END IF;
  IF jobs > _counted_max THEN
    estimated := true;
    jobs := greatest(jobs, wed.estimate_rows(format('wed.job WHERE flow_id = %s', _flow_id)));
  END IF;
  IF exception > _counted_max THEN
    exception := greatest(exception,
      wed.estimate_rows(format('wed.instance WHERE flow_id = %s AND status = ''E''', _flow_id)));
  END IF;
END $$;

-- Returns the number of rows that the planner expects of a query, given from the word behind FROM on.
CREATE OR REPLACE FUNCTION wed.estimate_rows(_from text) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) SELECT FROM ' || _from INTO _plan;
  RETURN (_plan -> 0 -> 'Plan' ->> 'Plan Rows')::numeric::bigint;
END $$;

-- Describes the last hour of a tenant's flows, by minute, 59 before the present one: attempts by outcome (`committed`,
-- or how they failed), and the median time for which jobs waited before they ran; also for how long the oldest job that
-- a host could run is due. `sampled` is true where only some pages were read.
CREATE OR REPLACE FUNCTION wed.last_hour(_tenant text) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flows_max CONSTANT integer := 1000;
  _since timestamptz := date_trunc('minute', clock_timestamp()) - interval '59 minutes';
  _flow_ids integer[] := ARRAY(SELECT f.flow_id FROM wed.flow f JOIN wed.tenant t USING (tenant_id)
                               WHERE t.name = _tenant ORDER BY f.name LIMIT _flows_max);
  _sampled boolean;
  _flows jsonb;
BEGIN
  WITH counted AS MATERIALIZED (
    SELECT * FROM wed.count_attempts(_flow_ids, _since)
  ), outcome AS (
    SELECT c.flow_id, c.outcome, wed.by_minute(array_agg(c.minute), array_agg(c.number)) AS by_minute
    FROM counted c GROUP BY c.flow_id, c.outcome
  ), attempts AS (
    SELECT o.flow_id, jsonb_object_agg(o.outcome, o.by_minute) AS outcomes FROM outcome o GROUP BY o.flow_id
  ), waits AS (
    SELECT w.flow_id, wed.by_minute(array_agg(w.minute), array_agg(w.wait_us)) AS by_minute
    FROM wed.sample_waits(_flow_ids, _since) w GROUP BY w.flow_id)
  SELECT coalesce(jsonb_agg(jsonb_build_object('flow', f.name, 'attempts', coalesce(a.outcomes, '{}'),
      'wait_us', coalesce(w.by_minute, '[]'), 'oldest_s', d.oldest_s) ORDER BY f.name), '[]'),
    (SELECT coalesce(bool_or(c.sampled), false) FROM counted c)
  INTO _flows, _sampled
  FROM wed.flow f LEFT JOIN attempts a USING (flow_id) LEFT JOIN waits w USING (flow_id)
  CROSS JOIN LATERAL wed.oldest_due(f.flow_id) d(oldest_s)
  WHERE f.flow_id = ANY (_flow_ids) AND (a.flow_id IS NOT NULL OR d.oldest_s IS NOT NULL);
  RETURN jsonb_build_object('since', wed.rfc3339(_since), 'sampled', _sampled, 'flows', _flows);
END $$;

-- Spreads numbers over the minutes of an hour; a minute without any is null.
CREATE OR REPLACE FUNCTION wed.by_minute(_minute integer[], _number bigint[]) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_agg(n.number ORDER BY m.minute) FROM generate_series(0, 59) m(minute)
  LEFT JOIN (SELECT u.minute, sum(u.number)::bigint AS number FROM unnest(_minute, _number) u(minute, number)
    GROUP BY u.minute) n USING (minute)
$$;

-- Returns for how many seconds the oldest job that a host could run is due, of the jobs of the 10,000 oldest instances
-- that have any; null: none is.
CREATE OR REPLACE FUNCTION wed.oldest_due(_flow_id integer) RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT extract(epoch FROM clock_timestamp() - min(j.due) FILTER (
    WHERE j.host_id IS NULL AND j.component_id IS NOT NULL AND j.due <= clock_timestamp()))::bigint
  FROM (SELECT n.due, n.host_id, n.component_id FROM wed.job n WHERE n.flow_id = _flow_id
    ORDER BY n.wid LIMIT 10000) j
$$;

-- Counts commits and failed attempts of some flows in the hour since a moment, by minute. What is sampled is spread
-- evenly over five minutes.
CREATE OR REPLACE FUNCTION wed.count_attempts(_flow_ids integer[], _since timestamptz)
RETURNS TABLE (flow_id integer, outcome text, minute integer, number bigint, sampled boolean)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _part regclass;
  _pages record;
BEGIN
  FOR _part IN SELECT wed.trace_since(_since) UNION ALL SELECT 'wed.attempt'::regclass LOOP
    SELECT * INTO _pages FROM wed.pages_since(_part, _since);
    RETURN QUERY EXECUTE format($q$
      SELECT c.flow_id, c.outcome, c.part * $4 + m, (c.rows * $3 / $4)::bigint, $3 > 1
      FROM (SELECT p.flow_id, %s AS outcome, floor(extract(epoch FROM p.tstmp - $2) / 60 / $4)::integer AS part,
          count(*) AS rows
        FROM (%s) p WHERE p.flow_id = ANY ($1) AND p.tstmp >= $2 AND p.tstmp < $2 + interval '1 hour'
        GROUP BY 1, 2, 3) c
      CROSS JOIN generate_series(0, $4 - 1) m $q$,
      CASE _part WHEN 'wed.attempt'::regclass THEN 'p.outcome' ELSE '''committed''::text' END, _pages.query)
    USING _flow_ids, _since, _pages.weight, CASE WHEN _pages.weight > 1 THEN 5 ELSE 1 END;
  END LOOP;
END $$;

-- Returns the median time in microseconds, by minute, for which jobs had waited since the state that they were given,
-- without their run; of 300 commits of components.
CREATE OR REPLACE FUNCTION wed.sample_waits(_flow_ids integer[], _since timestamptz)
RETURNS TABLE (flow_id integer, minute integer, wait_us bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _part regclass;
  _pages record;
BEGIN
  FOR _part IN SELECT wed.trace_since(_since) LOOP
    SELECT * INTO _pages FROM wed.pages_since(_part, _since);
    RETURN QUERY EXECUTE format($q$
      WITH taken AS MATERIALIZED (
        SELECT p.flow_id, p.wid, p.from_seq, p.tstmp, p.elapsed_us FROM (%s) p
        WHERE p.flow_id = ANY ($1) AND p.from_seq IS NOT NULL AND p.elapsed_us IS NOT NULL
          AND p.tstmp >= $2 AND p.tstmp < $2 + interval '1 hour'
        ORDER BY random() LIMIT 300)
      SELECT s.flow_id, floor(extract(epoch FROM s.tstmp - $2) / 60)::integer,
        percentile_cont(0.5) WITHIN GROUP (
          ORDER BY greatest(extract(epoch FROM s.tstmp - b.tstmp) * 1000000 - s.elapsed_us, 0))::bigint
      FROM taken s CROSS JOIN LATERAL (SELECT t.tstmp FROM wed.trace t
        WHERE t.flow_id = s.flow_id AND t.wid = s.wid AND t.seq = s.from_seq LIMIT 1) b
      GROUP BY 1, 2 $q$, _pages.query)
    USING _flow_ids, _since;
  END LOOP;
END $$;

-- Returns the partitions of the trace that may have rows since a moment.
CREATE OR REPLACE FUNCTION wed.trace_since(_since timestamptz) RETURNS SETOF regclass
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
  SELECT c.oid::regclass FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = 'wed.trace'::regclass AND c.relname IN ('trace_else',
    'trace_' || to_char(_since, 'YYYYMMDD'), 'trace_' || to_char(clock_timestamp(), 'YYYYMMDD'))
$$;

-- Returns a query of a table's rows since about a moment, and the number of rows for which each of them stands. Rows
-- are written in the order of `tstmp`, nearly, so the first page of them is found by halves. Of more than 1,000 pages
-- from there on, five are read at each of 60 spots.
CREATE OR REPLACE FUNCTION wed.pages_since(_table regclass, _since timestamptz, OUT query text,
  OUT weight double precision)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _pages_max CONSTANT bigint := 1000;
  _spots CONSTANT bigint := 60;
  _spot_pages CONSTANT bigint := 5;
  _first bigint := 0;
  _end bigint := pg_relation_size(_table) / current_setting('block_size')::bigint;
  _beyond bigint := _end;
  _middle bigint;
  _newest timestamptz;
BEGIN
  WHILE _first < _beyond LOOP
    _middle := (_first + _beyond) / 2;
    EXECUTE format('SELECT max(p.tstmp) FROM (%s) p', wed.pages_between(_table, _middle, _middle + 1)) INTO _newest;
    IF _newest >= _since THEN _beyond := _middle; ELSE _first := _middle + 1; END IF;
  END LOOP;
  -- Writers fill several pages at a time.
  _first := greatest(_first - _spot_pages, 0);
  IF _end - _first <= _pages_max THEN
    weight := 1;
    query := wed.pages_between(_table, _first, _end);
    RETURN;
  END IF;
  weight := (_end - _first)::double precision / (_spots * _spot_pages);
  SELECT string_agg(wed.pages_between(_table, s.page, s.page + _spot_pages), ' UNION ALL ') INTO query
  FROM (SELECT _first + (_end - _first) * n / _spots AS page FROM generate_series(0, _spots - 1) n) s;
END $$;

-- Writes the query of all rows in some pages of a table, the last one exclusive.
CREATE OR REPLACE FUNCTION wed.pages_between(_table regclass, _first bigint, _beyond bigint) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT format('SELECT * FROM %s WHERE ctid >= ''(%s,0)'' AND ctid < ''(%s,0)''', _table, _first, _beyond)
$$;

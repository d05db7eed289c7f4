-- A tenant as a file: what belongs to it, as queries for COPY, and a checksum of what it has (decision 0086).

-- Lists the tables with rows of tenants and the condition that chooses one tenant's ({{tenant}}: its number), in the
-- order of their import. Without a condition, rows stay behind: definitions or hosts make them anew, or they are the
-- installation's. An entry is the table and what its rows belong to.
CREATE OR REPLACE FUNCTION wed.portable_tables() RETURNS TABLE (place bigint, name text, is_tenants text)
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT e.at, split_part(e.entry, ':', 1), o.condition
  FROM regexp_split_to_table(btrim($list$
    tenant:tenant flow:tenant trigger:tenant quota:tenant user:tenant token:tenant component:tenant person:tenant
    role_of_people:tenant membership:person work_calendar:tenant binding:flow setting:flow secret:flow grant:flow
    flow_version:flow trigger_policy:flow numbering:flow free_number:flow instance:flow trace:flow job:tenant
    stale:flow changed_condition:flow renaming:flow exhausted:flow attempt:flow log:flow recording:flow going_back:flow
    lost_reservation:flow request:tenant reservation:tenant resource:tenant precedence:flow task_done:flow instance_name:flow
    subprocess:flow child:tenant
    schedule:flow pause:tenant webhook:tenant hook:flow outbox:tenant waiting_told:flow work_plan:flow work_task:flow
    work_instance:tenant work_item:tenant work_offer:person work_position:person work_message:person
    work_event:flow work_report:flow work_note:flow work_reservation:flow idempotency:tenant audit:tenant receipt:tenant
    attribute: trigger_constraint: clock: clock_changed: usage: file_usage: resource_lock: postponed: given_wid: circuit:
    host: residue: allowed_call: allowed_type: call_weight: function_source: installation: operator: retention:
    taken_move: template: weighing: $list$), '\s+') WITH ORDINALITY e(entry, at)
  LEFT JOIN (VALUES
    ('tenant', 'tenant_id = {{tenant}}'),
    ('flow', 'flow_id IN (SELECT flow_id FROM wed.flow WHERE tenant_id = {{tenant}})'),
    ('person', 'person_id IN (SELECT person_id FROM wed.person WHERE tenant_id = {{tenant}})')) o(owner, condition)
    ON o.owner = split_part(e.entry, ':', 2)
$$;

-- Lists the columns of a table that are written: not those that are generated from others.
CREATE OR REPLACE FUNCTION wed.written_columns(_table regclass) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
  WHERE attrelid = _table AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
$$;

-- Lists the parts of a tenant's file, each with the query that reads it. Shared tables come first, then of each flow
-- its attributes, triggers, series of numbers, and last its states. Without _with_secrets tokens, inbound hooks and the
-- secrets of webhooks stay behind; secrets of flows are always encrypted. Passwords of flows' roles are never in it:
-- new ones are made.
CREATE OR REPLACE FUNCTION wed.tenant_parts(_tenant_id integer, _with_secrets boolean)
RETURNS TABLE (name text, columns text[], query text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
BEGIN
  RETURN QUERY
    SELECT t.name, c.columns, format('SELECT %s FROM wed.%I WHERE %s%s',
      (SELECT string_agg(CASE WHEN NOT _with_secrets AND t.name = 'webhook' AND u IN ('secret', 'old_secret')
            OR t.name = 'flow' AND u = 'role_password' THEN quote_literal('') ELSE quote_ident(u) END, ', ' ORDER BY at)
       FROM unnest(c.columns) WITH ORDINALITY x(u, at)),
      t.name, replace(t.is_tenants, '{{tenant}}', _tenant_id::text),
      CASE WHEN NOT _with_secrets AND t.name IN ('token', 'hook') THEN ' AND false' ELSE '' END)
    FROM wed.portable_tables() t
    CROSS JOIN LATERAL (SELECT wed.written_columns(format('wed.%I', t.name)::regclass) AS columns) c
    WHERE t.is_tenants IS NOT NULL ORDER BY t.place;
  FOR _flow IN SELECT * FROM wed.flow f WHERE f.tenant_id = _tenant_id ORDER BY f.flow_id LOOP
    RETURN QUERY SELECT 'definition', '{flow_id,kind,place,definition}'::text[], format(
      'SELECT %1$s, ''attribute'', a.attnum::bigint, to_jsonb(w) FROM %2$I.wed_attr w
         JOIN pg_catalog.pg_attribute a ON a.attname = w.aname AND a.attrelid = %3$L::regclass
       UNION ALL SELECT %1$s, ''trigger'', w.tgid, to_jsonb(w) FROM %2$I.wed_trig w
       UNION ALL SELECT %1$s, ''sequence'', s.last, to_jsonb(s.attribute) FROM wed.series_of(%1$s) s',
      _flow.flow_id, _flow.schema_name, format('%I.wed_flow', _flow.schema_name));
  END LOOP;
  FOR _flow IN SELECT * FROM wed.flow f WHERE f.tenant_id = _tenant_id ORDER BY f.flow_id LOOP
    RETURN QUERY SELECT 'states of ' || _flow.flow_id, c.columns, format('SELECT %s FROM %I.wed_flow',
        (SELECT string_agg(quote_ident(u), ', ' ORDER BY at) FROM unnest(c.columns) WITH ORDINALITY x(u, at)),
        _flow.schema_name)
      FROM (SELECT wed.written_columns(format('%I.wed_flow', _flow.schema_name)::regclass) AS columns) c;
  END LOOP;
END $$;

-- Lists the sequences of a flow with the last number that each gave: of its instances (attribute wid), and of
-- attributes that are numbered with gaps.
CREATE OR REPLACE FUNCTION wed.series_of(_flow_id integer) RETURNS TABLE (attribute text, last bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'wid', coalesce(pg_sequence_last_value(wed.wid_sequence(_flow_id)), 0)
  UNION ALL
  SELECT n.attribute, coalesce(pg_sequence_last_value(
      to_regclass(format('%I.%I', f.shape_schema, 'number_' || md5(n.attribute)))), 0)
  FROM wed.numbering n JOIN wed.flow f USING (flow_id) WHERE n.flow_id = _flow_id AND NOT n.gapless
$$;

-- Adds rows up to a number and a checksum, whatever order they come in.
CREATE OR REPLACE FUNCTION wed.summed(_query text, _tenant_id integer) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' SET extra_float_digits = 1 SET bytea_output = 'hex' AS $$
DECLARE
  _sum jsonb;
BEGIN
  EXECUTE format('SELECT jsonb_build_object(''rows'', count(*), ''sum'', coalesce(sum((''x'' ||
      left(md5(q::text), 15))::bit(60)::bigint::numeric), 0)::text) FROM (%s) q', _query)
    INTO _sum USING _tenant_id;
  RETURN _sum;
END $$;

-- Counts and sums what a tenant has, by names instead of numbers, so that it is the same in every installation.
CREATE OR REPLACE FUNCTION wed.tenant_checksum(_tenant_id integer) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_object_agg(q.name, wed.summed(q.query, _tenant_id)) FROM (
    VALUES ('instances', 'SELECT f.name, i.wid, i.status, i.started, i.changed
        FROM wed.instance i JOIN wed.flow f USING (flow_id) WHERE f.tenant_id = $1'),
      ('trace', 'SELECT f.name, r.wid, r.seq, r.status, r.trw, r.trf, r.state, r.tstmp, r.attempt, r.writer, r.note
        FROM wed.trace r JOIN wed.flow f USING (flow_id) WHERE f.tenant_id = $1'),
      ('jobs', 'SELECT f.name, j.wid, t.tgname, j.trname, j.seq, j.last_seq, j.due, j.priority, j.payload, j.blocked,
          j.awaits_siblings, c.name AS component, c.version
        FROM wed.job j JOIN wed.flow f USING (flow_id) JOIN wed.trigger t ON t.tgid = j.tgid
          LEFT JOIN wed.component c ON c.component_id = j.component_id WHERE f.tenant_id = $1'),
      ('components', 'SELECT name, version, digest, activated_at FROM wed.component WHERE tenant_id = $1'),
      ('people', 'SELECT p.name, p.active, array(SELECT r.name FROM wed.membership m
          JOIN wed.role_of_people r USING (role_id) WHERE m.person_id = p.person_id ORDER BY 1)
        FROM wed.person p WHERE p.tenant_id = $1'),
      ('work', 'SELECT f.name, w.wid, w.task, w.part, w.state, p.name AS holder, w.claim, w.arrived_at, w.ended_at
        FROM wed.work_item w JOIN wed.flow f USING (flow_id) LEFT JOIN wed.person p ON p.person_id = w.holder
        WHERE f.tenant_id = $1'),
      ('schedules', 'SELECT f.name AS flow, s.name, s.cron, s.zone, s.state, s.next_at
        FROM wed.schedule s JOIN wed.flow f USING (flow_id) WHERE f.tenant_id = $1')
    UNION ALL
    SELECT 'states of ' || f.name, format('SELECT %s FROM %I.wed_flow', string_agg(quote_ident(a.attname), ', '
      ORDER BY a.attname), f.schema_name)
    FROM wed.flow f JOIN pg_attribute a ON a.attrelid = format('%I.wed_flow', f.schema_name)::regclass
      AND a.attnum > 0 AND NOT a.attisdropped
    WHERE f.tenant_id = _tenant_id GROUP BY f.name, f.schema_name) q(name, query)
$$;

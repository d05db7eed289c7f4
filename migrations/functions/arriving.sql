-- A tenant's file taken in: rows are staged in temporary tables, numbers are given anew, and all is one transaction.

-- Makes the temporary tables that a file's parts are read into, and the list of old and new numbers.
CREATE OR REPLACE FUNCTION wed.stage_tenant() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _name text;
BEGIN
  FOR _name IN SELECT t.name FROM wed.portable_tables() t WHERE t.is_tenants IS NOT NULL LOOP
    EXECUTE format('CREATE TEMPORARY TABLE %I ON COMMIT DROP AS SELECT %s FROM wed.%I WHERE false', 'in_' || _name,
      (SELECT string_agg(quote_ident(c), ', ') FROM unnest(wed.written_columns(format('wed.%I', _name)::regclass)) c),
      _name);
  END LOOP;
  CREATE TEMPORARY TABLE in_definition (flow_id integer, kind text, place bigint, definition jsonb) ON COMMIT DROP;
  CREATE TEMPORARY TABLE new_number (kind text, old bigint, new bigint, PRIMARY KEY (kind, old)) ON COMMIT DROP;
END $$;

-- Makes the tenant with its components, people and flows, as far as the tables that take the states. Returns its
-- number. Its limits are set last: nothing that it has is refused.
CREATE OR REPLACE FUNCTION wed.import_definitions(_name text, _move_id uuid) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _tenant_id integer;
  _table text;
  _flow record;
BEGIN
  INSERT INTO wed.tenant (name, created_at, description, token_days, moving, move_id)
  SELECT _name, created_at, description, token_days, 'arriving', _move_id FROM pg_temp.in_tenant
  RETURNING tenant_id INTO STRICT _tenant_id;
  DELETE FROM wed.quota WHERE tenant_id = _tenant_id;
  INSERT INTO wed.quota SELECT (jsonb_populate_record(NULL::wed.quota, jsonb_build_object('tenant_id', _tenant_id,
    'connections', i.connections))).* FROM pg_temp.in_quota i;
  FOREACH _table IN ARRAY ARRAY['user', 'token', 'component', 'person', 'role_of_people', 'membership',
      'work_calendar'] LOOP
    PERFORM wed.import_table(_table, _tenant_id);
  END LOOP;
  FOR _flow IN SELECT * FROM pg_temp.in_flow ORDER BY flow_id LOOP
    PERFORM wed.import_definition(_flow.flow_id, wed.create_flow(_name, _flow.name, _flow.description));
  END LOOP;
  RETURN _tenant_id;
END $$;

-- Makes a flow's attributes and triggers what they were, in the order of their numbers. Its table is left without the
-- gate, so that its states can be read in.
CREATE OR REPLACE FUNCTION wed.import_definition(_old integer, _new integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _flow wed.flow;
  _row record;
  _tgid integer;
  _names text[] := '{}';
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _new;
  INSERT INTO pg_temp.new_number SELECT 'flow', _old, _new UNION ALL
    SELECT 'trigger', excpt_tgid, _flow.excpt_tgid FROM pg_temp.in_flow WHERE flow_id = _old;
  INSERT INTO wed.binding SELECT _new, trname, component_name FROM pg_temp.in_binding WHERE flow_id = _old;
  PERFORM set_config('wed.definition', 'whole', true);
  FOR _row IN SELECT * FROM pg_temp.in_definition WHERE flow_id = _old AND kind = 'attribute' ORDER BY place LOOP
    EXECUTE format('INSERT INTO %1$I.wed_attr SELECT (jsonb_populate_record(NULL::%1$I.wed_attr, $1)).*',
      _flow.schema_name) USING _row.definition;
    _names := _names || (_row.definition ->> 'aname');
  END LOOP;
  PERFORM wed.write_attributes(_flow, _names, false);
  FOR _row IN SELECT * FROM pg_temp.in_definition WHERE flow_id = _old AND kind = 'trigger' ORDER BY place LOOP
    EXECUTE format('INSERT INTO %1$I.wed_trig SELECT (jsonb_populate_record(NULL::%1$I.wed_trig, $1)).* RETURNING tgid',
      _flow.schema_name) INTO _tgid USING _row.definition - 'tgid';
    INSERT INTO pg_temp.new_number VALUES ('trigger', _row.place, _tgid);
  END LOOP;
  PERFORM set_config('wed.definition', '', true);
  UPDATE wed.flow f SET version = i.version, attributes_version = i.attributes_version, created_at = i.created_at,
    ordered = i.ordered, order_attribute = i.order_attribute, start_attributes = i.start_attributes
  FROM pg_temp.in_flow i WHERE f.flow_id = _new AND i.flow_id = _old;
  UPDATE wed.trigger SET attributes_changed_at = (
    SELECT max(i.attributes_changed_at) FROM pg_temp.in_trigger i WHERE i.flow_id = _old) WHERE flow_id = _new;
  EXECUTE format('ALTER TABLE %I.wed_flow DISABLE TRIGGER USER', _flow.schema_name);
END $$;

-- Returns the table that takes the states of a flow, by the flow's number in the file.
CREATE OR REPLACE FUNCTION wed.states_table(_old integer) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN (SELECT format('%I.wed_flow', f.schema_name) FROM pg_temp.new_number n JOIN wed.flow f ON f.flow_id = n.new
          WHERE n.kind = 'flow' AND n.old = _old);
END $$;

-- Takes in what belongs to instances and people once the states are there, puts the gate back, and sets the limits.
-- The tenant is left suspended. Jobs come before people's tasks: they have their work items already.
CREATE OR REPLACE FUNCTION wed.import_rest(_tenant_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _table text;
  _flow wed.flow;
BEGIN
  PERFORM wed.import_table('trigger', _tenant_id);
  FOR _table IN SELECT t.name FROM wed.portable_tables() t WHERE t.is_tenants IS NOT NULL AND t.name NOT IN ('tenant',
      'flow', 'trigger', 'quota', 'user', 'token', 'component', 'person', 'role_of_people', 'membership',
      'work_calendar', 'binding', 'secret', 'numbering', 'free_number') ORDER BY t.place LOOP
    PERFORM wed.import_table(_table, _tenant_id);
  END LOOP;
  FOR _flow IN SELECT f.* FROM wed.flow f WHERE f.tenant_id = _tenant_id ORDER BY f.flow_id LOOP
    EXECUTE format('ALTER TABLE %I.wed_flow ENABLE TRIGGER USER', _flow.schema_name);
    PERFORM wed.import_series(_flow);
    PERFORM wed.keep_paused(_flow.flow_id);
    PERFORM wed.compile(_flow.flow_id);
  END LOOP;
  DELETE FROM wed.quota WHERE tenant_id = _tenant_id;
  PERFORM wed.import_table('quota', _tenant_id);
  PERFORM wed.suspend_tenant(_tenant_id, true);
END $$;

-- Lets a flow's sequences and series of numbers continue where they were.
CREATE OR REPLACE FUNCTION wed.import_series(_flow wed.flow) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _old integer := (SELECT old FROM pg_temp.new_number WHERE kind = 'flow' AND new = _flow.flow_id);
  _row record;
BEGIN
  PERFORM wed.set_numbering(_flow.flow_id, attribute, gapless) FROM pg_temp.in_numbering WHERE flow_id = _old;
  UPDATE wed.numbering n SET made_to = i.made_to FROM pg_temp.in_numbering i
  WHERE n.flow_id = _flow.flow_id AND i.flow_id = _old AND i.attribute = n.attribute;
  DELETE FROM wed.free_number WHERE flow_id = _flow.flow_id;
  INSERT INTO wed.free_number (flow_id, attribute, number)
  SELECT _flow.flow_id, attribute, number FROM pg_temp.in_free_number WHERE flow_id = _old;
  FOR _row IN SELECT place AS last, definition #>> '{}' AS attribute FROM pg_temp.in_definition
    WHERE flow_id = _old AND kind = 'sequence' AND place > 0
  LOOP
    PERFORM setval(CASE _row.attribute WHEN 'wid' THEN wed.wid_sequence(_flow.flow_id)
      ELSE format('%I.%I', _flow.shape_schema, 'number_' || md5(_row.attribute))::regclass END, _row.last);
  END LOOP;
END $$;

-- Inserts the staged rows of a table with their new numbers, in the order of their old ones.
CREATE OR REPLACE FUNCTION wed.import_table(_table text, _tenant_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _into regclass := format('wed.%I', _table)::regclass;
  _staged text := format('pg_temp.%I', 'in_' || _table);
  _column record;
  _lists record;
BEGIN
  FOR _column IN SELECT a.attname, wed.number_kind(a.attname) AS kind FROM pg_attribute a
    WHERE a.attrelid = _staged::regclass AND a.attnum > 0 AND wed.number_kind(a.attname) IS NOT NULL LOOP
    PERFORM wed.give_numbers(_column.kind, _staged, _column.attname);
  END LOOP;
  SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns,
    string_agg(wed.import_expression(_table, a, _tenant_id), ', ' ORDER BY a.attnum) AS expressions,
    (SELECT format(' ORDER BY s.%I', i.attname) FROM pg_attribute i
     WHERE i.attrelid = _into AND i.attidentity <> '' ORDER BY i.attnum LIMIT 1) AS ordered
  INTO _lists
  FROM pg_attribute a WHERE a.attrelid = _into AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    AND (a.attidentity = '' OR wed.number_kind(a.attname) IS NOT NULL);
  EXECUTE format('INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM %s s%s%s', _into, _lists.columns,
    _lists.expressions, _staged,
    -- Of triggers those that no row of wed_trig makes: compensations. Tokens that are here already are somebody's.
    CASE _table WHEN 'trigger' THEN ' WHERE NOT s.cfinal AND s.predicate IS NULL AND s.trname <> ''_EXCPT'''
      WHEN 'token' THEN ' WHERE NOT EXISTS (SELECT FROM wed.token o WHERE o.hash = s.hash)' ELSE '' END,
    _lists.ordered);
END $$;

-- Returns the kind of thing that a column numbers, by its name; null where its value stays.
CREATE OR REPLACE FUNCTION wed.number_kind(_column name) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE _column WHEN 'flow_id' THEN 'flow' WHEN 'child_flow_id' THEN 'flow'
    WHEN 'tgid' THEN 'trigger' WHEN 'component_id' THEN 'component'
    WHEN 'person_id' THEN 'person' WHEN 'holder' THEN 'person' WHEN 'in_charge' THEN 'person'
    WHEN 'role_id' THEN 'role_of_people' WHEN 'creator_role' THEN 'role_of_people'
    WHEN 'calendar_id' THEN 'work_calendar' WHEN 'user_id' THEN 'user' WHEN 'webhook_id' THEN 'webhook'
    WHEN 'item_id' THEN 'work_item' WHEN 'request_id' THEN 'request' END
$$;

-- Gives new numbers to things of a kind that a staged column names and that have none yet, in the order of the old
-- ones. Deleted things get new numbers, too, so that their records cannot be taken for those of others.
CREATE OR REPLACE FUNCTION wed.give_numbers(_kind text, _staged text, _column text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _next text := CASE _kind WHEN 'trigger' THEN 'wed.next_tgid()' ELSE
    format('nextval(%L)', (SELECT pg_get_serial_sequence(format('wed.%I', _kind), a.attname) FROM pg_attribute a
      WHERE a.attrelid = format('wed.%I', _kind)::regclass AND a.attidentity <> '')) END;
BEGIN
  EXECUTE format('INSERT INTO pg_temp.new_number SELECT %1$L, o.old, %2$s FROM (
      SELECT DISTINCT s.%3$I AS old FROM %4$s s WHERE s.%3$I IS NOT NULL
        AND NOT EXISTS (SELECT FROM pg_temp.new_number n WHERE n.kind = %1$L AND n.old = s.%3$I) ORDER BY 1) o',
    _kind, _next, _column, _staged);
END $$;

-- Returns the expression that makes a column's value from a staged row (s).
CREATE OR REPLACE FUNCTION wed.import_expression(_table text, _column pg_attribute, _tenant_id integer) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _kind text := wed.number_kind(_column.attname);
  _new text := '(SELECT n.new FROM pg_temp.new_number n WHERE n.kind = %L AND n.old = %s)';
  _value text := format('s.%I', _column.attname);
BEGIN
  RETURN CASE
    WHEN _column.attname = 'tenant_id' THEN _tenant_id::text
    WHEN _kind IS NOT NULL THEN format(_new, _kind, _value) || '::' || format_type(_column.atttypid, NULL)
    WHEN _column.attname IN ('only_people', 'not_people') THEN format('CASE WHEN %s IS NOT NULL THEN ARRAY(SELECT
      %s::integer FROM unnest(%1$s) WITH ORDINALITY u(person, at) ORDER BY at) END', _value,
      format(_new, 'person', 'u.person'))
    -- Raised, so that no transaction of another server equals one of this server or of an earlier one.
    WHEN _column.atttypid = 'xid8'::regtype THEN format('(%s::text::numeric + 281474976710656)::text::xid8', _value)
    WHEN _table = 'job' AND _column.attname = 'host_id' THEN 'NULL'
    WHEN _table = 'job' AND _column.attname = 'token' THEN '0'
    -- The number of a group of conditions stands above 32 bits of the trigger's; -1 is no trigger.
    WHEN _table = 'job' AND _column.attname = 'satisfied' THEN format('CASE WHEN %s IS NOT NULL THEN ARRAY(SELECT
      CASE x WHEN -1 THEN x ELSE (x >> 32 << 32) + %s END FROM unnest(%1$s) WITH ORDINALITY u(x, at) ORDER BY at) END',
      _value, format(_new, 'trigger', 'x & 4294967295'))
    -- A flow's own resources are called by its number.
    WHEN _column.attname = 'resource' THEN format('CASE WHEN %s LIKE ''#%%'' THEN ''#'' || %s ELSE %1$s END', _value,
      format(_new, 'flow', format('substr(%s, 2)::bigint', _value)))
    WHEN _table = 'webhook' AND _column.attname = 'secret' THEN 'coalesce(nullif(s.secret, ''''), wed.webhook_secret())'
    WHEN _table = 'webhook' AND _column.attname = 'old_secret' THEN 'nullif(s.old_secret, '''')'
    -- Senders post to the same address, unless it is somebody's here.
    WHEN _table = 'hook' AND _column.attname = 'address' THEN 'CASE WHEN EXISTS (SELECT FROM wed.hook h
      WHERE h.address = s.address) THEN ''hk_'' || replace(gen_random_uuid()::text, ''-'', '''') ELSE s.address END'
    WHEN _table = 'webhook' AND _column.attname = 'name' THEN 'CASE WHEN EXISTS (SELECT FROM wed.webhook w
      WHERE w.name = s.name) THEN ''wh_'' || left(replace(gen_random_uuid()::text, ''-'', ''''), 16) ELSE s.name END'
    WHEN _table = 'audit' AND _column.attname = 'tenant_name' THEN
      quote_literal((SELECT name FROM wed.tenant WHERE tenant_id = _tenant_id))
    ELSE _value END;
END $$;

-- Writing wed_attr: adding, renaming, retyping and removing attributes while instances run.

-- Returns the SQL type of an attribute type's name, and the labels of an enum.
CREATE OR REPLACE FUNCTION wed.attribute_type(_atype text, OUT sql_type text, OUT labels text[])
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
      HINT =
        'Use text, integer, bigint, numeric, float, boolean, timestamptz, date, interval, uuid, jsonb, '
        'enum(a,b,...), or one of these followed by [].';
  END IF;
  sql_type := sql_type || _array;
END $$;

-- Adds, changes or removes an attribute, after its row of wed_attr was written. One definition at a time in a flow; its
-- table is locked for an instant, before anything is looked for in it: better a clear error than a queue behind a long
-- reader.
CREATE OR REPLACE FUNCTION wed.on_attribute() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
  _said text;
  _detail text;
  _hint text;
  _flow wed.flow;
  _renamed boolean := TG_OP = 'UPDATE' AND NEW.aname <> OLD.aname;
  _retyped boolean := false;
  _widened boolean := false;
  -- Part of a whole definition, which adds its attributes together (wed.write_attributes).
  _is_part boolean := session_user = current_user AND coalesce(current_setting('wed.definition', true), '') = 'whole';
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = TG_ARGV[0]::integer FOR NO KEY UPDATE;
  IF TG_OP <> 'DELETE' THEN
    PERFORM wed.check_attribute(_flow, NEW.aname, NEW.atype, TG_OP = 'INSERT' OR _renamed);
    PERFORM wed.check_default(NEW.aname, NEW.atype, NEW.adv);
    _retyped := TG_OP = 'UPDATE' AND wed.attribute_type(OLD.atype) IS DISTINCT FROM wed.attribute_type(NEW.atype);
    _widened := _retyped AND wed.is_wider(OLD.atype, NEW.atype);
  END IF;
  PERFORM set_config('lock_timeout', '5s', true);
  EXECUTE format('LOCK TABLE %I.wed_flow IN ACCESS EXCLUSIVE MODE', _flow.schema_name);
  IF TG_OP = 'DELETE' OR _renamed OR _retyped THEN
    PERFORM wed.refuse_constrained(_flow, OLD.aname);
  END IF;
  IF TG_OP = 'DELETE' THEN
    PERFORM wed.refuse_used(_flow, OLD.aname, 'Change or remove these triggers first.');
    PERFORM wed.refuse_scheduled(_flow, OLD.aname);
    PERFORM wed.drop_attribute(_flow, OLD.aname);
  ELSIF TG_OP = 'INSERT' AND NOT _is_part THEN
    PERFORM wed.add_attributes(_flow, ARRAY[NEW.aname]);
  ELSIF TG_OP = 'UPDATE' THEN
    IF _retyped AND NOT _widened THEN PERFORM wed.refuse_retyping(_flow, OLD.aname); END IF;
    IF _renamed THEN PERFORM wed.rename_attribute(_flow, OLD.aname, NEW.aname); END IF;
    IF _widened THEN PERFORM wed.put_readers_on_shape(_flow, NEW.aname); END IF;
    PERFORM wed.alter_attribute(_flow, NEW.aname, NEW.atype, NEW.adv, OLD.aname, _retyped);
    IF _widened THEN PERFORM wed.take_readers_off_shape(_flow, NEW.aname, NEW.aname); END IF;
  END IF;
  IF NOT _is_part THEN
    PERFORM wed.keep_attributes(_flow, TG_OP = 'DELETE' OR _renamed OR _retyped);
  END IF;
  RETURN NULL;
EXCEPTION WHEN OTHERS THEN
  -- An error with a place in a fragment (classes 22 and 42) is raised as it is, and to hosts any. All others are raised
  -- again in this, the outermost function: whoever writes by hand reads why, and no statements of ours (CONTEXT).
  IF session_user = current_user OR SQLSTATE ~ '^(22|42)' THEN RAISE; END IF;
  GET STACKED DIAGNOSTICS _said = MESSAGE_TEXT, _detail = PG_EXCEPTION_DETAIL, _hint = PG_EXCEPTION_HINT;
  IF _detail = '' AND _hint = '' THEN RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said;
  ELSIF _detail = '' THEN RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said, HINT = _hint;
  ELSIF _hint = '' THEN RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said, DETAIL = _detail;
  END IF;
  RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said, DETAIL = _detail, HINT = _hint;
END $$;

-- Refuses to remove an attribute that a schedule gives a value.
CREATE OR REPLACE FUNCTION wed.refuse_scheduled(_flow wed.flow, _name text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _users text := (SELECT string_agg(name, ', ' ORDER BY name) FROM wed.schedule
                  WHERE flow_id = _flow.flow_id AND state ? _name);
BEGIN
  IF _users IS NOT NULL THEN
    RAISE EXCEPTION 'attribute "%" is given a value by the schedules: %', _name, _users USING ERRCODE = 'WF013',
      HINT = 'Set these schedules without it first.';
  END IF;
END $$;

-- Refuses an attribute whose name or type is not allowed, whose name is another's but for case, or with which the
-- defaults of all attributes are too long together: instances that there are get a default without passing anything
-- that measures them.
CREATE OR REPLACE FUNCTION wed.check_attribute(_flow wed.flow, _name text, _atype text, _named boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _defaults_max CONSTANT bigint := 131072;
  _bytes bigint;
  _other text;
BEGIN
  PERFORM wed.check_attribute_name(_name), wed.attribute_type(_atype);
  EXECUTE format('SELECT sum(octet_length(adv)) FROM %I.wed_attr', _flow.schema_name) INTO _bytes;
  IF _bytes > _defaults_max THEN
    RAISE EXCEPTION 'the default values of the attributes take % bytes together', _bytes USING ERRCODE = 'WF033',
      HINT = format('At most %s (128 KiB). Set long values where instances are started.', _defaults_max);
  END IF;
  IF NOT _named THEN RETURN; END IF;
  EXECUTE format('SELECT aname FROM %I.wed_attr WHERE lower(aname) = lower($1) AND aname <> $1', _flow.schema_name)
    INTO _other USING _name;
  IF _other IS NOT NULL THEN
    RAISE EXCEPTION 'the attribute name "%" differs from "%" only in case', _name, _other
      USING ERRCODE = 'WF012', HINT = 'Choose another name.';
  END IF;
END $$;

CREATE OR REPLACE FUNCTION wed.check_attribute_name(_name text) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF _name IS NULL OR _name !~ '^[[:alpha:]][[:alnum:]_]*$' THEN
    RAISE EXCEPTION 'the attribute name % is not allowed', coalesce(quote_literal(left(_name, 80)), 'null')
      USING ERRCODE = 'WF012', HINT = 'Begin with a letter, continue with letters, digits and underscores.';
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

-- Refuses a default that is no value of its attribute's type, or one that no instance could be given: instances that
-- are there get it without passing anything that holds them to digits, depth or elements.
CREATE OR REPLACE FUNCTION wed.check_default(_name text, _atype text, _default text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _type record := wed.attribute_type(_atype);
BEGIN
  IF _default IS NULL THEN RETURN; END IF;
  IF _type.labels IS NOT NULL AND _type.sql_type = 'text' AND _default <> ALL (_type.labels) THEN
    RAISE EXCEPTION 'the default of attribute "%" is none of its values: "%"', _name, left(_default, 80)
      USING ERRCODE = '23514', HINT = format('It is one of %s.', array_to_string(_type.labels, ', '));
  END IF;
  EXECUTE format('SELECT CAST(%L AS %s)', _default, _type.sql_type);
  PERFORM wed.check_bound(b.expression) FROM wed.bounds_of(_name, _type.sql_type,
    format('CAST(%L AS %s)', _default, _type.sql_type)) b;
EXCEPTION WHEN data_exception THEN
  RAISE EXCEPTION 'the default of attribute "%" has another type than %: %', _name, _atype, SQLERRM
    USING ERRCODE = SQLSTATE, HINT = format('Give a value of type %s, or none.', _atype);
END $$;

-- Evaluates a bound, which is true or raises.
CREATE OR REPLACE FUNCTION wed.check_bound(_expression text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE 'SELECT ' || _expression;
END $$;

-- Adds the columns of attributes that stand in wed_attr to a flow's table and to its shape, in the order of their
-- names here: all by one statement, since each makes a table's description anew.
CREATE OR REPLACE FUNCTION wed.add_attributes(_flow wed.flow, _names text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _columns text;
  _bounds text;
BEGIN
  EXECUTE format($f$
    SELECT string_agg(format('ADD COLUMN %%I %%s DEFAULT %%L', w.aname, t.sql_type, w.adv), ', ' ORDER BY u.at),
           string_agg(', ' || b.clauses, '' ORDER BY u.at)
    FROM unnest($1) WITH ORDINALITY u(name, at) JOIN %I.wed_attr w ON w.aname = u.name
    CROSS JOIN LATERAL wed.attribute_type(w.atype) t
    CROSS JOIN LATERAL wed.bound_clauses($2, w.aname, w.atype) b(clauses)$f$, _flow.schema_name)
    INTO _columns, _bounds USING _names, _flow.schema_name;
  EXECUTE format('ALTER TABLE %I.wed_flow %s%s', _flow.schema_name, _columns, _bounds);
  EXECUTE format('ALTER TABLE %I.wed_flow %s', _flow.shape_schema, _columns);
END $$;

-- Returns the clauses of ALTER TABLE that hold an attribute's column to the size of its type's values, and to an enum's
-- labels: numbers, in documents too, to their digits, documents to their depth, an array to its elements, and what may
-- be long to what the row's size counts: the value as it is, not compressed (came_compressed). Those that are there are
-- left out. Null where nothing bounds it.
CREATE OR REPLACE FUNCTION wed.bound_clauses(_schema text, _name text, _atype text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT string_agg(CASE WHEN c.name IS NULL THEN format('ALTER COLUMN %I SET STORAGE EXTERNAL', _name)
    ELSE format('ADD CONSTRAINT %I CHECK (%s) NOT VALID', c.name, c.expression) END, ', ' ORDER BY c.name NULLS FIRST)
  FROM wed.attribute_type(_atype) t CROSS JOIN LATERAL (
    SELECT NULL, NULL WHERE t.sql_type IN ('text', 'jsonb') OR t.sql_type ~ '\[\]$'
    UNION ALL
    SELECT b.constraint_name, b.expression FROM wed.bounds_of(_name, t.sql_type, quote_ident(_name)) b
    UNION ALL
    SELECT wed.constraint_name('enum', _name), format(
      CASE WHEN t.sql_type = 'text' THEN '%I = ANY (%L::text[])' ELSE '%I <@ %L::text[]' END, _name, t.labels)
    WHERE t.labels IS NOT NULL) c(name, expression)
  WHERE NOT EXISTS (SELECT FROM pg_constraint o
    WHERE o.conrelid = format('%I.wed_flow', _schema)::regclass AND o.conname = c.name)
$$;

-- Bounds an attribute's column.
CREATE OR REPLACE FUNCTION wed.bind_attribute(_schema text, _name text, _atype text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _clauses text := wed.bound_clauses(_schema, _name, _atype);
BEGIN
  IF _clauses IS NOT NULL THEN
    EXECUTE format('ALTER TABLE %I.wed_flow %s', _schema, _clauses);
  END IF;
END $$;

-- Gives an attribute another name. Conditions follow it: on the shape their tree holds the column, not the text. So do
-- the values of schedules, and people's tasks with their forms.
CREATE OR REPLACE FUNCTION wed.rename_attribute(_flow wed.flow, _former text, _name text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _schema text;
BEGIN
  PERFORM wed.put_readers_on_shape(_flow, _former);
  FOREACH _schema IN ARRAY ARRAY[_flow.schema_name, _flow.shape_schema] LOOP
    EXECUTE format('ALTER TABLE %I.wed_flow RENAME COLUMN %I TO %I', _schema, _former, _name);
  END LOOP;
  PERFORM wed.take_readers_off_shape(_flow, _former, _name);
  EXECUTE format('UPDATE %I.wed_trig w SET cpred = t.predicate, writes = array_replace(w.writes, $1, $2),
                    waits_for = CASE WHEN w.waits_for = $1 THEN $2 ELSE w.waits_for END
                  FROM wed.trigger t WHERE t.tgid = w.tgid AND ($2 = ANY (t.reads) OR $1 = ANY (w.writes))',
                 _flow.schema_name) USING _former, _name;
  UPDATE wed.trigger SET writes = array_replace(writes, _former, _name)
  WHERE flow_id = _flow.flow_id AND _former = ANY (writes);
  UPDATE wed.trigger SET waits_for = _name WHERE flow_id = _flow.flow_id AND waits_for = _former;
  UPDATE wed.schedule SET state = state - _former || jsonb_build_object(_name, state -> _former)
  WHERE flow_id = _flow.flow_id AND state ? _former;
  INSERT INTO wed.renaming (flow_id, former, name) VALUES (_flow.flow_id, _former, _name);
  UPDATE wed.flow SET start_attributes = array_replace(start_attributes, _former, _name)
  WHERE flow_id = _flow.flow_id AND _former = ANY (start_attributes);
  PERFORM wed.rename_in_work(_flow.flow_id, _former, _name);
  PERFORM wed.rename_in_subprocesses(_flow, _former, _name);
END $$;

-- Puts the conditions that read an attribute on the flow's shape, as constraints: Postgres changes them with the
-- column.
CREATE OR REPLACE FUNCTION wed.put_readers_on_shape(_flow wed.flow, _name text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM wed.put_on_shape(_flow.shape_schema, t.tgid, t.predicate)
  FROM wed.trigger t WHERE t.flow_id = _flow.flow_id AND _name = ANY (t.reads);
END $$;

-- Takes the conditions that read an attribute from the shape, as the change of its column has left them. They are
-- written anew as they are run when the definition is compiled.
CREATE OR REPLACE FUNCTION wed.take_readers_off_shape(_flow wed.flow, _former text, _name text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE wed.trigger t SET
    predicate = (SELECT pg_get_expr(conbin, conrelid) FROM pg_constraint
                 WHERE conrelid = format('%I.wed_flow', _flow.shape_schema)::regclass AND conname = 'c' || t.tgid),
    reads = array_replace(reads, _former, _name), guarded = NULL
  WHERE flow_id = _flow.flow_id AND _former = ANY (reads);
  PERFORM wed.take_off_shape(_flow.shape_schema, t.tgid)
  FROM wed.trigger t WHERE t.flow_id = _flow.flow_id AND _name = ANY (t.reads);
END $$;

-- Gives an attribute's column another type or default; constraints of its former name and type go.
CREATE OR REPLACE FUNCTION wed.alter_attribute(
  _flow wed.flow, _name text, _atype text, _default text, _former text, _retyped boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _type record := wed.attribute_type(_atype);
  _schema text;
BEGIN
  FOREACH _schema IN ARRAY ARRAY[_flow.schema_name, _flow.shape_schema] LOOP
    EXECUTE
      format('ALTER TABLE %I.wed_flow DROP CONSTRAINT IF EXISTS %I, DROP CONSTRAINT IF EXISTS %I, DROP CONSTRAINT '
      'IF EXISTS %I, DROP CONSTRAINT IF EXISTS %I',
      _schema, wed.constraint_name('enum', _former), wed.constraint_name('digits', _former),
      'size_' || md5(_former), 'depth_' || md5(_former));
    IF _retyped THEN
      EXECUTE
        format('ALTER TABLE %I.wed_flow ALTER COLUMN %I DROP DEFAULT, ALTER COLUMN %2$I TYPE %s USING %2$I::text::%3$s',
                     _schema, _name, _type.sql_type);
    END IF;
    EXECUTE format('ALTER TABLE %I.wed_flow ALTER COLUMN %I SET DEFAULT %L', _schema, _name, _default);
  END LOOP;
  PERFORM wed.bind_attribute(_flow.schema_name, _name, _atype);
  IF EXISTS (SELECT FROM wed.numbering WHERE flow_id = _flow.flow_id AND attribute = _name) THEN
    EXECUTE format('ALTER TABLE %I.wed_flow ALTER COLUMN %I DROP DEFAULT', _flow.schema_name, _name);
  END IF;
END $$;

-- Removes an attribute's column.
CREATE OR REPLACE FUNCTION wed.drop_attribute(_flow wed.flow, _name text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _schema text;
BEGIN
  FOREACH _schema IN ARRAY ARRAY[_flow.schema_name, _flow.shape_schema] LOOP
    EXECUTE format('ALTER TABLE %I.wed_flow DROP COLUMN %I', _schema, _name);
  END LOOP;
  UPDATE wed.flow SET start_attributes = array_remove(start_attributes, _name)
  WHERE flow_id = _flow.flow_id AND _name = ANY (start_attributes);
END $$;

-- Returns the name of a constraint of an attribute's column: kind and attribute, or a digest where that is no name any
-- more.
CREATE OR REPLACE FUNCTION wed.constraint_name(_kind text, _attribute text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT _kind || '_' || CASE WHEN octet_length(_kind || '_' || _attribute) <= 63 THEN _attribute
    ELSE md5(_attribute) END
$$;

-- Refuses another type of an attribute while its flow, whose table is locked, has instances, or conditions read it.
CREATE OR REPLACE FUNCTION wed.refuse_retyping(_flow wed.flow, _name text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _found boolean;
BEGIN
  EXECUTE format('SELECT true FROM %I.wed_flow LIMIT 1', _flow.schema_name) INTO _found;
  IF _found THEN
    RAISE EXCEPTION 'the type of attribute "%" cannot change while the flow has instances', _name
      USING ERRCODE = 'WF013', HINT = 'An enum may get more labels, and an integer become a bigint. For others, add a '
        'new attribute of the new type.';
  END IF;
  PERFORM wed.refuse_used(_flow, _name, 'Change its type before writing conditions over it.');
END $$;

-- Tells whether every value of one type is one of the other, with the same meaning in conditions: an enum with more
-- labels, a bigint for an integer (not numeric, which divides otherwise).
CREATE OR REPLACE FUNCTION wed.is_wider(_former text, _atype text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  _from record := wed.attribute_type(_former);
  _to record := wed.attribute_type(_atype);
BEGIN
  RETURN _from.sql_type = _to.sql_type AND _from.labels <@ _to.labels
    OR (_from.sql_type, _to.sql_type) IN (('integer', 'bigint'), ('integer[]', 'bigint[]'));
END $$;

-- Refuses a change of an attribute that conditions read.
CREATE OR REPLACE FUNCTION wed.refuse_used(_flow wed.flow, _name text, _hint text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _users text;
BEGIN
  SELECT string_agg(coalesce(tgname, trname, 'the final condition'), ', ') INTO _users
  FROM wed.trigger WHERE flow_id = _flow.flow_id AND _name = ANY (reads);
  IF _users IS NOT NULL THEN
    RAISE EXCEPTION 'attribute "%" is used by the condition of: %', _name, _users USING ERRCODE = 'WF013', HINT = _hint;
  END IF;
END $$;

-- Ends the attributes of a whole definition, whose rows of wed_attr are written: adds the new ones, and keeps all.
CREATE OR REPLACE FUNCTION wed.write_attributes(_flow wed.flow, _added text[], _retyped boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  -- Another session than the owner's has added each with its row.
  _added := ARRAY(SELECT u.name FROM unnest(_added) WITH ORDINALITY u(name, at) WHERE NOT EXISTS (
    SELECT FROM pg_attribute a WHERE a.attrelid = format('%I.wed_flow', _flow.schema_name)::regclass
      AND a.attname = u.name) ORDER BY u.at);
  IF _added <> '{}' THEN PERFORM wed.add_attributes(_flow, _added); END IF;
  PERFORM wed.keep_attributes(_flow, _retyped);
END $$;

-- Keeps what hosts and the gate need of a flow's attributes in our own tables: wed_attr is its tenant's, who may lock
-- it. _changed: an attribute has another name or type, or is gone, so that results which were made before are made
-- anew.
CREATE OR REPLACE FUNCTION wed.keep_attributes(_flow wed.flow, _changed boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _gone bigint;
  _came bigint;
BEGIN
  -- What is as it was stays: each row that is written looks for its flow.
  EXECUTE format('DELETE FROM wed.attribute o WHERE flow_id = $1 AND NOT EXISTS (
                    SELECT FROM %1$I.wed_attr w JOIN pg_attribute a ON a.attname = w.aname
                      AND a.attrelid = ''%1$I.wed_flow''::regclass
                    WHERE (w.aname, w.atype, a.attnum) = (o.aname, o.atype, o.attnum))', _flow.schema_name)
    USING _flow.flow_id;
  GET DIAGNOSTICS _gone = ROW_COUNT;
  EXECUTE format('INSERT INTO wed.attribute SELECT $1, w.aname, w.atype, a.attnum FROM %1$I.wed_attr w
                  JOIN pg_attribute a ON a.attname = w.aname AND a.attrelid = ''%1$I.wed_flow''::regclass
                  ON CONFLICT DO NOTHING', _flow.schema_name)
    USING _flow.flow_id;
  GET DIAGNOSTICS _came = ROW_COUNT;
  EXECUTE format('UPDATE wed.flow SET open_attributes = ARRAY(SELECT aname FROM %I.wed_attr WHERE open),
                    attributes_version = CASE WHEN $2 THEN version + 1 ELSE attributes_version END WHERE flow_id = $1',
                 _flow.schema_name) USING _flow.flow_id, _changed;
  IF _gone + _came > 0 THEN
    UPDATE wed.trigger SET attributes_changed_at = clock_timestamp() WHERE flow_id = _flow.flow_id;
  END IF;
END $$;

-- Returns a state that was written at a time with the present names of its attributes.
CREATE OR REPLACE FUNCTION wed.with_present_names(_flow_id integer, _state jsonb, _at timestamptz) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _renaming record;
BEGIN
  FOR _renaming IN SELECT former, name FROM wed.renaming WHERE flow_id = _flow_id AND renamed_at > _at
                   ORDER BY renamed_at LOOP
    IF _state ? _renaming.former THEN
      _state := _state - _renaming.former || jsonb_build_object(_renaming.name, _state -> _renaming.former);
    END IF;
  END LOOP;
  RETURN _state;
END $$;

-- Returns the expression that says whether some attribute of a row of a flow came compressed: from another table, since
-- a flow's own are kept as they are. Such a row is measured as text, for a compressed value is small where it is kept
-- and large where it is computed with. It looks at the row itself: one that passed through an array has lost what told
-- it, where another value of it is stored out of line.
CREATE OR REPLACE FUNCTION wed.came_compressed(_schema text, _row text) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT coalesce('coalesce(' || string_agg(format('pg_column_compression(%s.%I)', _row, a.attname),
    ', ' ORDER BY a.attnum)
                  || ') IS NOT NULL', 'false')
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
  WHERE a.attrelid = format('%I.wed_flow', _schema)::regclass AND a.attnum > 1 AND NOT a.attisdropped
    AND (a.atttypid IN ('text'::regtype, 'jsonb'::regtype) OR t.typcategory = 'A')
$$;

-- Returns the bounds of a value of an attribute, each an expression over it that is true or raises, and the name of the
-- constraint that it makes.
CREATE OR REPLACE FUNCTION wed.bounds_of(_name text, _sql_type text, _value text)
RETURNS TABLE (constraint_name text, expression text)
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'size_' || md5(_name), format('cardinality(%1$s) <= 4096 OR wed_bounded.refuse_elements(%2$L, '
    'cardinality(%1$s))', _value, _name) WHERE _sql_type ~ '\[\]$'
  UNION ALL
  SELECT 'depth_' || md5(_name), format('pg_column_size(%1$s) < 800 OR wed_bounded.is_shallow(%1$s) '
    'OR wed_bounded.refuse_depth(%2$L)', _value, _name)
  WHERE _sql_type IN ('jsonb', 'jsonb[]')
  UNION ALL
  SELECT wed.constraint_name('digits', _name), CASE WHEN _sql_type = 'numeric' THEN
      format('(abs(%1$s) < 1e100 AND scale(%1$s) <= 100) IS NOT FALSE AND %1$s <> ''NaN'' '
        'OR wed_bounded.few_digits(%1$s) OR wed_bounded.refuse_digits(%2$L)', _value, _name)
    ELSE format('wed_bounded.few_digits(%s) OR wed_bounded.refuse_digits(%L)', _value, _name) END
  WHERE _sql_type IN ('numeric', 'numeric[]', 'jsonb', 'jsonb[]')
$$;

-- Holds a flow's rows to their size.
CREATE OR REPLACE FUNCTION wed.bound_rows(_schema text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format('ALTER TABLE %I.wed_flow ADD CONSTRAINT bytes CHECK (pg_column_size(wed_flow.*) <= 262144
                    OR wed_bounded.refuse_row(wed_flow.*))', _schema);
END $$;

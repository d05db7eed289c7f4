-- What a new, changed or removed attribute does.
CREATE OR REPLACE FUNCTION wed.on_attribute() RETURNS trigger
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
  IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND (NEW.aname <> OLD.aname OR wed.attribute_type(OLD.atype) IS DISTINCT FROM _type) THEN
    PERFORM wed.refuse_constrained(_flow, OLD.aname);
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
      reads = array_replace(reads, OLD.aname, NEW.aname), guarded = NULL
    WHERE flow_id = _flow.flow_id AND OLD.aname = ANY (reads);
    PERFORM wed.take_off_shape(_flow.shape_schema, t.tgid)
    FROM wed.trigger t WHERE t.flow_id = _flow.flow_id AND NEW.aname = ANY (t.reads);
    EXECUTE format('UPDATE %I.wed_trig w SET cpred = t.predicate, writes = array_replace(w.writes, $1, $2)
                    FROM wed.trigger t WHERE t.tgid = w.tgid AND ($2 = ANY (t.reads) OR $1 = ANY (w.writes))',
                   _flow.schema_name) USING OLD.aname, NEW.aname;
    UPDATE wed.trigger SET writes = array_replace(writes, OLD.aname, NEW.aname)
    WHERE flow_id = _flow.flow_id AND OLD.aname = ANY (writes);
  END IF;
  IF TG_OP = 'UPDATE' AND EXISTS (SELECT FROM wed.numbering WHERE flow_id = _flow.flow_id AND attribute = NEW.aname) THEN
    PERFORM wed.number_default(_flow, NEW.aname);
  END IF;
  EXECUTE format('UPDATE wed.flow SET open_attributes = ARRAY(SELECT aname FROM %I.wed_attr WHERE open) WHERE flow_id = $1',
                 _flow.schema_name) USING _flow.flow_id;
  RETURN NULL;
END $$;

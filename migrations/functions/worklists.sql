-- Lists, documents and history of people's work.

-- Returns a person's worklist in one of the orders arrival, priority, deadline, size, own: all that the person holds,
-- and of what is offered the first _limit, at most 1000.
CREATE OR REPLACE FUNCTION wed.worklist(
  _tenant text, _name text, _order text DEFAULT 'arrival', _limit integer DEFAULT 100,
    _now timestamptz DEFAULT clock_timestamp())
RETURNS SETOF jsonb LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
  _most integer := least(greatest(_limit, 1), 1000);
  _items wed.work_item[];
BEGIN
  IF _order NOT IN ('arrival', 'priority', 'deadline', 'size', 'own') THEN
    RAISE EXCEPTION 'there is no order "%" of a worklist', left(_order, 80) USING ERRCODE = 'WF085',
      HINT = 'Use arrival, priority, deadline, size or own.';
  END IF;
  _items := ARRAY(SELECT f FROM wed.found_work(_person, _order, _most, _now) f);
  _items := wed.first_work(_items, _person.person_id, _order, _most);
  RETURN QUERY
    SELECT d.document || e.extent
    FROM (SELECT u.item_id, row_number() OVER () AS place FROM unnest(_items) u) i
    JOIN wed.work_documents(_items) d USING (item_id)
    JOIN wed.work_extents(_items, _person.person_id) e USING (item_id) ORDER BY i.place;
END $$;

-- Items in an order: all that are held, and of the others the first _most.
CREATE OR REPLACE FUNCTION wed.first_work(_items wed.work_item[], _person_id integer, _order text, _most integer)
RETURNS wed.work_item[] LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH keyed AS (
    SELECT i AS item, i.item_id, i.holder IS NOT NULL AS held,
      CASE _order WHEN 'priority' THEN -i.priority WHEN 'deadline' THEN extract(epoch FROM i.deadline_at)
                  WHEN 'size' THEN s.bytes WHEN 'own' THEN o.position END AS key
    FROM unnest(_items) i
    LEFT JOIN wed.work_position o ON o.person_id = _person_id AND o.item_id = i.item_id
    LEFT JOIN wed.work_sizes(CASE _order WHEN 'size' THEN _items END) s ON s.item_id = i.item_id),
  ranked AS (SELECT *, row_number() OVER (PARTITION BY held ORDER BY key NULLS LAST, item_id) AS place FROM keyed)
  SELECT array_agg(item ORDER BY key NULLS LAST, item_id) FROM ranked WHERE held OR place <= _most
$$;

-- Says of items, for a person: the bytes of their data, the state they were read from (`base`), the component with its
-- size, and a mark that changes when anything that is taken away with the item does: its data, its plan, its
-- component, its claim, the tasks taken along. PL/pgSQL, which keeps the plan.
CREATE OR REPLACE FUNCTION wed.work_extents(_items wed.work_item[], _person_id integer)
RETURNS TABLE (item_id bigint, extent jsonb)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH item AS (SELECT i.* FROM unnest(_items) i),
  task AS MATERIALIZED (
    SELECT t.tgid, p.applied_at, wed.application_bytes(f.tenant_id, t.application) AS bytes,
      wed.application_mark(f.tenant_id, t.application) AS mark
    FROM wed.work_task t JOIN wed.flow f USING (flow_id) LEFT JOIN wed.work_plan p USING (flow_id)
    WHERE t.tgid IN (SELECT i.tgid FROM item i)),
  along AS (
    SELECT r.flow_id, r.wid, string_agg(r.tgid::text, ',' ORDER BY r.place) AS tasks,
      sum(wed.application_bytes(f.tenant_id, w.application)) AS bytes
    FROM wed.work_reservation r JOIN wed.work_task w USING (tgid) JOIN wed.flow f ON f.flow_id = r.flow_id
    WHERE r.person_id = _person_id AND (r.flow_id, r.wid) IN (SELECT i.flow_id, i.wid FROM item i)
    GROUP BY r.flow_id, r.wid)
  SELECT i.item_id, jsonb_build_object('data_bytes', coalesce(s.bytes, 0), 'base', j.last_seq,
    'application_bytes', t.bytes, 'application_mark', t.mark, 'behind_bytes', coalesce(a.bytes, 0),
    'mark', md5(concat_ws(' ', j.last_seq, t.applied_at, t.mark, i.claim, i.deadline_at, a.tasks,
      (SELECT max(n.note_id) FROM wed.work_note n WHERE n.flow_id = i.flow_id AND n.wid = i.wid
       AND n.item_id = i.item_id AND n.digest IS NOT NULL))))
  FROM item i
  LEFT JOIN wed.job j ON j.flow_id = i.flow_id AND j.wid = i.wid AND j.tgid = i.tgid
  LEFT JOIN task t ON t.tgid = i.tgid
  LEFT JOIN wed.work_sizes(_items) s ON s.item_id = i.item_id
  LEFT JOIN along a ON a.flow_id = i.flow_id AND a.wid = i.wid;
END $$;

-- Returns the bytes of the attributes that people see of items. A flow that is removed has none.
CREATE OR REPLACE FUNCTION wed.work_sizes(_items wed.work_item[]) RETURNS TABLE (item_id bigint, bytes bigint)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _of record;
BEGIN
  FOR _of IN
    SELECT f.schema_name, array_agg(i) AS items, ARRAY(
      SELECT DISTINCT unnest(t.inputs) FROM wed.work_task t WHERE t.tgid = ANY (array_agg(i.tgid))) AS inputs
    FROM unnest(_items) i JOIN wed.flow f USING (flow_id) WHERE f.schema_name IS NOT NULL GROUP BY f.flow_id
  LOOP
    RETURN QUERY SELECT * FROM wed.data_sizes(_of.schema_name, _of.items, _of.inputs);
  END LOOP;
END $$;

-- Returns the bytes of those attributes of a flow's items that people see; _inputs are those of all tasks. Sizes are
-- read without the values.
CREATE OR REPLACE FUNCTION wed.data_sizes(_schema text, _items wed.work_item[], _inputs text[])
RETURNS TABLE (item_id bigint, bytes bigint)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _sum text;
BEGIN
  SELECT string_agg(format('CASE WHEN %L = ANY (t.inputs) THEN coalesce(%s(w.%I), 0) ELSE 0 END', a.attname,
    CASE WHEN a.atttypid IN ('text'::regtype, 'varchar'::regtype) THEN 'octet_length' ELSE 'pg_column_size' END,
    a.attname), ' + ') INTO _sum
  FROM pg_attribute a WHERE a.attrelid = to_regclass(format('%I.wed_flow', _schema)) AND a.attnum > 0
    AND NOT a.attisdropped AND a.attname = ANY (_inputs) AND a.attname <> 'wid';
  IF _sum IS NULL THEN RETURN; END IF;
  RETURN QUERY EXECUTE format(
    'SELECT i.item_id, (%s)::bigint FROM unnest($1) i JOIN %I.wed_flow w ON w.wid = i.wid
     JOIN wed.work_task t ON t.tgid = i.tgid', _sum, _schema) USING _items;
END $$;

-- Returns the mark of this installation.
CREATE OR REPLACE FUNCTION wed.installation_mark() RETURNS uuid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT mark FROM wed.installation $$;

-- Returns the item of a number that a person may see: held or offered, of an instance the person answers for, or ended
-- by the person.
CREATE OR REPLACE FUNCTION wed.see_work(_person wed.person, _item_id bigint, _now timestamptz) RETURNS wed.work_item
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _item wed.work_item;
BEGIN
  SELECT i.* INTO _item FROM wed.work_item i WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id
    AND (i.holder = _person.person_id OR wed.is_offered(i, _person, _now)
         OR EXISTS (SELECT FROM wed.membership m WHERE m.person_id = _person.person_id AND m.role_id = i.role_id)
         OR EXISTS (SELECT FROM wed.work_event e WHERE e.item_id = i.item_id AND e.person = _person.name)
         OR wed.answers_for(_person.person_id, i.flow_id, i.wid));
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no work item % for "%"', _item_id, _person.name USING ERRCODE = 'WF080',
      HINT = 'List your items: `wed work list`.';
  END IF;
  RETURN _item;
END $$;

-- Returns the tasks that a person takes away together with an item: those reserved for the person in its instance, in
-- the order in which they were reserved; each as an item that will be, with its form and the data as they are now.
CREATE OR REPLACE FUNCTION wed.work_behind(_item wed.work_item, _person_id integer, _types jsonb, _state jsonb)
  RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(jsonb_agg(jsonb_build_object(
    'task', w.task, 'transition', t.trname, 'state', 'LOCKED', 'flow', f.name, 'wid', _item.wid,
    'instance', wed.work_place(_item.flow_id, _item.wid), 'role', r.name, 'kind', w.kind, 'description', w.description,
    'priority', w.priority, 'disconnected', w.disconnected,
    'application', wed.uploaded_component(_item.tenant_id, w.application),
    'application_bytes', wed.application_bytes(_item.tenant_id, w.application),
    'application_mark', wed.application_mark(_item.tenant_id, w.application), 'inputs', w.inputs, 'outputs', o.outputs,
    'types', (SELECT coalesce(jsonb_object_agg(k, _types -> k), '{}') FROM unnest(w.inputs || o.outputs) k
      WHERE _types ? k),
    'data', (SELECT coalesce(jsonb_object_agg(k, _state -> k), '{}') FROM unnest(w.inputs || o.outputs) k
      WHERE _state ? k),
    'form', coalesce(w.form, wed.work_form(w, o.outputs, _types))) ORDER BY v.place), '[]')
  FROM wed.work_reservation v
  JOIN wed.work_task w USING (tgid)
  JOIN wed.trigger t USING (tgid)
  JOIN wed.flow f ON f.flow_id = v.flow_id
  LEFT JOIN wed.role_of_people r ON r.role_id = w.role_id
  CROSS JOIN LATERAL (SELECT coalesce(w.outputs, t.writes, '{}') AS outputs) o
  WHERE v.flow_id = _item.flow_id AND v.wid = _item.wid AND v.person_id = _person_id
$$;

-- Returns an item with what is needed to do it: the input attributes with their types and values, the attributes that a
-- report may set, the form. For its holder and those to whom it is offered; others see no data.
CREATE OR REPLACE FUNCTION wed.work_data(_tenant text, _name text, _item_id bigint,
  _now timestamptz DEFAULT clock_timestamp())
RETURNS jsonb LANGUAGE plpgsql STABLE SET search_path = pg_catalog,
  pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
  _item wed.work_item := wed.see_work(_person, _item_id, _now);
  _task wed.work_task;
  _schema text := (SELECT schema_name FROM wed.flow WHERE flow_id = _item.flow_id);
  _types jsonb;
  _state jsonb;
  _outputs text[];
BEGIN
  SELECT * INTO _task FROM wed.work_task WHERE tgid = _item.tgid;
  IF _schema IS NULL OR _task.tgid IS NULL THEN RETURN wed.work_document(_item); END IF;
  EXECUTE format('SELECT jsonb_object_agg(aname, atype) FROM %I.wed_attr', _schema) INTO _types;
  _outputs := wed.work_outputs(_item);
  IF _item.holder = _person.person_id OR _item.state = 'READY' AND wed.is_offered(_item, _person, _now) THEN
    EXECUTE format('SELECT to_jsonb(w.*) - ''wid'' FROM %I.wed_flow w WHERE wid = $1', _schema) INTO _state
      USING _item.wid;
  END IF;
  RETURN wed.work_document(_item)
    || (SELECT e.extent FROM wed.work_extents(ARRAY[_item], _person.person_id) e) || jsonb_build_object(
    'behind', CASE WHEN _item.holder = _person.person_id THEN wed.work_behind(_item, _person.person_id, _types, _state)
      ELSE '[]' END,
    'deadline_epoch', extract(epoch FROM _item.deadline_at),
    'warnings', (SELECT w.warnings FROM wed.work_instance w WHERE w.flow_id = _item.flow_id AND w.wid = _item.wid),
    'inputs', _task.inputs, 'outputs', _outputs, 'state_attribute', _task.state_attribute,
    'types', (SELECT coalesce(jsonb_object_agg(k, _types -> k), '{}') FROM unnest(_task.inputs || _outputs) k
      WHERE _types ? k),
    'data', (SELECT coalesce(jsonb_object_agg(k, _state -> k), '{}') FROM unnest(_task.inputs || _outputs) k
      WHERE _state ? k),
    'form', coalesce(_task.form, wed.work_form(_task, _outputs, _types)));
END $$;

-- Returns the attributes of data of a plan; a name that is no datum is an attribute's. Null when no list is given.
CREATE OR REPLACE FUNCTION wed.data_attributes(_plan jsonb, _names jsonb) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN jsonb_typeof(_names) = 'array' THEN ARRAY(
    SELECT coalesce((SELECT d ->> 'attribute' FROM jsonb_array_elements(_plan -> 'data') d
      WHERE d ->> 'name' = n LIMIT 1), n)
    FROM jsonb_array_elements_text(_names) n) END
$$;

-- Items as people see them. An application that is not uploaded is none: it is done without one.
-- PL/pgSQL, which keeps the plan.
CREATE OR REPLACE FUNCTION wed.work_documents(_items wed.work_item[]) RETURNS TABLE (item_id bigint, document jsonb)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH item AS (SELECT i.* FROM unnest(_items) i),
  task AS MATERIALIZED (
    SELECT t.tgid, t.trname, w.kind, w.description, w.application,
      wed.uploaded_component(f.tenant_id, w.application) AS uploaded
    FROM wed.trigger t JOIN wed.flow f USING (flow_id) LEFT JOIN wed.work_task w USING (tgid)
    WHERE t.tgid IN (SELECT i.tgid FROM item i))
  SELECT i.item_id, jsonb_build_object(
    'item', i.item_id, 'instance', coalesce(n.name, f.name || '/' || i.wid), 'flow', f.name, 'wid', i.wid,
    'task', i.task, 'transition', t.trname, 'state', i.state,
    'holder', p.name, 'role', r.name, 'kind', t.kind, 'description', coalesce(t.description, ''),
    'priority', i.priority,
    'arrived_at', wed.rfc3339(i.arrived_at), 'deadline_at', wed.rfc3339(i.deadline_at),
    'ended_at', wed.rfc3339(i.ended_at),
    'disconnected', i.disconnected, 'application', t.uploaded,
    'part', nullif(i.part, 0), 'element', i.element,
    'application_planned', t.application, 'claim', i.claim)
  FROM item i
  LEFT JOIN task t ON t.tgid = i.tgid
  LEFT JOIN wed.flow f ON f.flow_id = i.flow_id
  LEFT JOIN wed.instance_name n ON n.flow_id = i.flow_id AND n.wid = i.wid
  LEFT JOIN wed.person p ON p.person_id = i.holder
  LEFT JOIN wed.role_of_people r ON r.role_id = i.role_id;
END $$;

-- Returns an item as people see it.
CREATE OR REPLACE FUNCTION wed.work_document(_item wed.work_item) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT d.document FROM wed.work_documents(ARRAY[_item]) d
$$;

-- Returns an attachment of an item that a person may see: its digest and bytes.
CREATE OR REPLACE FUNCTION wed.work_attachment(_tenant text, _name text, _item_id bigint, _note_id bigint,
  OUT digest text, OUT bytes bytea)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _item wed.work_item := wed.see_work(wed.person_of(_tenant, _name), _item_id, clock_timestamp());
BEGIN
  SELECT n.digest, n.bytes INTO work_attachment.digest, work_attachment.bytes FROM wed.work_note n
  WHERE n.note_id = _note_id AND n.item_id = _item.item_id AND n.flow_id = _item.flow_id AND n.bytes IS NOT NULL;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'work item % has no attachment %', _item_id, _note_id USING ERRCODE = 'WF080',
      HINT = 'Its history lists them: `wed work history`.';
  END IF;
END $$;

-- Returns the size of a tenant's component in use; null when there is none.
CREATE OR REPLACE FUNCTION wed.application_bytes(_tenant_id integer, _name text) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT octet_length(c.bytes) FROM wed.component c WHERE c.tenant_id = _tenant_id AND c.name = _name
  ORDER BY c.activated_at DESC LIMIT 1
$$;

-- Returns what tells a version of a tenant's component from others: the ETag under which it is served. Null when there
-- is none.
CREATE OR REPLACE FUNCTION wed.application_mark(_tenant_id integer, _name text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT format('"%s-%s-%s"', c.name, c.version, c.digest) FROM wed.component c WHERE c.tenant_id = _tenant_id
    AND c.name = _name
  ORDER BY c.activated_at DESC LIMIT 1
$$;

-- Returns the name of a tenant's component if it is uploaded, else null.
CREATE OR REPLACE FUNCTION wed.uploaded_component(_tenant_id integer, _name text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT min(c.name) FROM wed.component c WHERE c.tenant_id = _tenant_id AND c.name = _name
$$;

-- Returns a text that changes when a person's worklist (its first 1000 items) or delivered messages do.
CREATE OR REPLACE FUNCTION wed.work_mark(_tenant text, _name text, _now timestamptz DEFAULT clock_timestamp())
  RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT md5(concat_ws(' ',
    (SELECT max(m.message_id) FROM wed.work_message m WHERE m.person_id = p.person_id AND m.delivered_at IS NOT NULL),
    (SELECT string_agg(concat_ws(':', f.item_id, f.state, f.claim), ',' ORDER BY f.item_id)
     FROM wed.found_work(p, 'arrival', 1000, _now) f)))
  FROM wed.person_of(_tenant, _name) p
$$;

-- Returns the name of an instance in messages.
CREATE OR REPLACE FUNCTION wed.work_place(_flow_id integer, _wid integer) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce((SELECT name FROM wed.instance_name WHERE flow_id = _flow_id AND wid = _wid),
                  coalesce((SELECT name FROM wed.flow WHERE flow_id = _flow_id), 'a removed flow') || '/' || _wid)
$$;

-- Returns who did what with an item, when, and what was said of it; oldest first, at most 1000 entries.
CREATE OR REPLACE FUNCTION wed.work_history(_tenant text, _name text, _item_id bigint, _limit integer DEFAULT 1000)
RETURNS SETOF jsonb LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('at', wed.rfc3339(h.at), 'person', h.person, 'action', h.action, 'detail', h.detail)
  FROM wed.see_work(wed.person_of(_tenant, _name), _item_id, clock_timestamp()) i
  CROSS JOIN LATERAL (
    SELECT e.at, e.person, e.action, e.detail, 0 AS kind, e.event_id AS id FROM wed.work_event e
      WHERE e.item_id = i.item_id
    UNION ALL
    SELECT n.at, n.person, CASE WHEN n.file_name IS NULL THEN 'commented' ELSE 'attached' END,
           jsonb_strip_nulls(jsonb_build_object('text', n.text, 'file', n.file_name, 'bytes', octet_length(n.bytes),
             'digest', n.digest, 'note', n.note_id)),
           1, n.note_id
    FROM wed.work_note n WHERE n.flow_id = i.flow_id AND n.wid = i.wid AND n.item_id = i.item_id) h
  ORDER BY h.at, h.kind, h.id LIMIT least(greatest(_limit, 1), 1000)
$$;

-- Returns the items of an instance, newest first, each with what was done and said of it: for operators. At most 200
-- items, and 100 entries of each.
CREATE OR REPLACE FUNCTION wed.work_of_instance(_flow_id integer, _wid integer) RETURNS SETOF jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('item', i.item_id, 'task', i.task, 'state', i.state,
    'arrived_at', wed.rfc3339(i.arrived_at), 'ended_at', wed.rfc3339(i.ended_at), 'holder', (SELECT p.name FROM wed.person p WHERE p.person_id = i.holder),
    'history', (
      SELECT coalesce(jsonb_agg(jsonb_build_object('at', wed.rfc3339(h.at), 'person', h.person, 'action', h.action,
        'text', h.text) ORDER BY h.at DESC), '[]')
      FROM (
        SELECT e.at, e.person, e.action, coalesce(e.detail ->> 'reason', e.detail ->> 'to') AS text
        FROM wed.work_event e WHERE e.item_id = i.item_id
        UNION ALL
        SELECT n.at, n.person, CASE WHEN n.file_name IS NULL THEN 'commented' ELSE 'attached' END,
               concat_ws(' ', nullif(n.text, ''), n.file_name)
        FROM wed.work_note n WHERE n.flow_id = _flow_id AND n.wid = _wid AND n.item_id = i.item_id
        ORDER BY 1 DESC LIMIT 100) h))
  FROM wed.work_item i WHERE i.flow_id = _flow_id AND i.wid = _wid ORDER BY i.item_id DESC LIMIT 200
$$;

-- Adds a comment to an item, with a file when one is given: at most 1 MiB each, 200 of an instance, 16 MiB together.
CREATE OR REPLACE FUNCTION wed.add_work_note(
  _tenant text, _name text, _item_id bigint, _text text, _file text DEFAULT NULL,
    _bytes bytea DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
  _item wed.work_item := wed.see_work(_person, _item_id, clock_timestamp());
  _id bigint;
BEGIN
  IF octet_length(_text) > 16384 OR octet_length(_bytes) > 1048576
     OR (SELECT count(*) >= 200 OR sum(octet_length(text) + coalesce(octet_length(bytes), 0)) > 16777216
         FROM wed.work_note WHERE flow_id = _item.flow_id AND wid = _item.wid) THEN
    RAISE EXCEPTION 'the note is too long, or the instance has 200 notes or 16 MiB of them' USING ERRCODE = 'WF085',
      HINT = 'A comment has at most 16 KiB, an attachment 1 MiB.';
  END IF;
  INSERT INTO wed.work_note (item_id, flow_id, wid, person, text, file_name, bytes)
  VALUES (_item_id, _item.flow_id, _item.wid, _person.name, _text, _file, _bytes) RETURNING note_id INTO _id;
  PERFORM wed.tell_people(_item.tenant_id);
  RETURN _id;
END $$;

-- Says for whom the data say an item is: the people to whom alone it is offered (null: its role), and those who may not
-- hold it. Names that nobody has leave it to who is in charge.
CREATE OR REPLACE FUNCTION wed.people_for(_item wed.work_item, _task wed.work_task, OUT only_people integer[],
  OUT not_people integer[])
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _named text := coalesce(_task.assignee, _task.candidates);
  _names text[];
  _former integer := wed.last_performer(_item, _task.same_as);
BEGIN
  not_people := ARRAY(
    SELECT DISTINCT i.holder FROM wed.work_item i WHERE i.flow_id = _item.flow_id AND i.wid = _item.wid
      AND i.task = _task.not_by AND i.state IN ('SUCCEEDED', 'FAILED') AND i.holder IS NOT NULL);
  IF _named IS NOT NULL THEN
    -- Of a list that the task goes through each element is for whom it names.
    _names := CASE WHEN _named = _task.for_each AND _item.part > 0 THEN ARRAY[_item.element #>> '{}']
                   ELSE wed.names_in(_item.flow_id, _item.wid, _named) END;
    only_people := ARRAY(
      SELECT p.person_id FROM wed.person p WHERE p.tenant_id = _item.tenant_id AND (p.name = ANY (_names)
        OR _task.assignee IS NULL AND EXISTS (SELECT FROM wed.membership m WHERE m.person_id = p.person_id
          AND m.role_id IN (SELECT wed.role_named(_item.tenant_id, n) FROM unnest(_names) n)))
      ORDER BY p.person_id LIMIT 10000);
  ELSIF _former IS NOT NULL THEN
    only_people := ARRAY[_former];
  END IF;
  IF only_people <@ not_people THEN
    only_people := wed.in_charge(_item.flow_id, _item.wid);
  END IF;
END $$;

-- The names that an attribute of an instance holds: a text, or a list of texts.
CREATE OR REPLACE FUNCTION wed.names_in(_flow_id integer, _wid integer, _attribute text) RETURNS text[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _value jsonb;
BEGIN
  EXECUTE format('SELECT to_jsonb(w.%I) FROM %I.wed_flow w WHERE w.wid = $1', _attribute,
                 (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id)) INTO _value USING _wid;
  RETURN CASE jsonb_typeof(_value)
    WHEN 'array' THEN ARRAY(SELECT n #>> '{}' FROM jsonb_array_elements(_value) n WHERE jsonb_typeof(n) = 'string')
    WHEN 'string' THEN ARRAY[_value #>> '{}'] ELSE '{}' END;
END $$;

-- Who ended a task of an item's instance last; null when nobody did.
CREATE OR REPLACE FUNCTION wed.last_performer(_item wed.work_item, _task text) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT i.holder FROM wed.work_item i WHERE i.flow_id = _item.flow_id AND i.wid = _item.wid AND i.task = _task
    AND i.state IN ('SUCCEEDED', 'FAILED') AND i.holder IS NOT NULL
  ORDER BY i.ended_at DESC LIMIT 1
$$;

-- Refuses a person who may not hold an item: whoever did the task that another one has to do.
CREATE OR REPLACE FUNCTION wed.refuse_performer(_item wed.work_item, _person_id integer) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _person_id = ANY (_item.not_people) THEN
    RAISE EXCEPTION '"%" may not do work item % (%), for that person did %',
        (SELECT name FROM wed.person WHERE person_id = _person_id), _item.item_id, _item.task,
        (SELECT not_by FROM wed.work_task WHERE tgid = _item.tgid) USING ERRCODE = 'WF083',
      HINT = 'Another person has to do it.';
  END IF;
END $$;

-- Whether the data say for whom a task is.
CREATE OR REPLACE FUNCTION wed.is_for_some(_task wed.work_task) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(_task.assignee, _task.candidates, _task.same_as, _task.not_by) IS NOT NULL
$$;

-- The item of a number that a person may see: held or offered, of an instance the person answers for, or ended by
-- the person.
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

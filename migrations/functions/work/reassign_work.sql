-- Gives what a person holds to another, oldest first, at most _limit items. For administrators, and who is in charge.
CREATE OR REPLACE FUNCTION wed.reassign_work(
  _tenant text, _name text, _from text, _to text, _limit integer,
    _now timestamptz DEFAULT clock_timestamp()) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _former wed.person := wed.person_of(_tenant, _from);
  _other wed.person := wed.person_of(_tenant, _to);
  _item wed.work_item;
  _moved bigint := 0;
BEGIN
  FOR _item IN
    SELECT * FROM wed.work_item i WHERE i.holder = _former.person_id AND i.ended_at IS NULL
      AND wed.answers_for(_person.person_id, i.flow_id, i.wid)
    ORDER BY i.item_id LIMIT least(_limit, 1000) FOR UPDATE
  LOOP
    PERFORM wed.hand_over(_item, _other.person_id, _person.name, 'reassigned', _now);
    _moved := _moved + 1;
  END LOOP;
  RETURN _moved;
END $$;

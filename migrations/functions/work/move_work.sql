-- Puts an item at a place of a person's own order: before another item, or last.
CREATE OR REPLACE FUNCTION wed.move_work(_tenant text, _name text, _item_id bigint,
  _before bigint DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
  _at integer;
  _moved wed.work_item := wed.see_work(_person, _item_id, clock_timestamp());
  _all bigint[] := ARRAY(SELECT (d ->> 'item')::bigint FROM wed.worklist(_tenant, _name, 'own', 1000) d);
BEGIN
  _all := array_remove(_all, _item_id);
  _at := coalesce(array_position(_all, _before), cardinality(_all) + 1);
  _all := _all[:_at - 1] || _moved.item_id || _all[_at:];
  DELETE FROM wed.work_position WHERE person_id = _person.person_id;
  INSERT INTO wed.work_position (person_id, item_id, position)
  SELECT _person.person_id, e.item_id, e.at FROM unnest(_all) WITH ORDINALITY e(item_id, at);
END $$;

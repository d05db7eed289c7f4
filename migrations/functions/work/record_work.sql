-- Appends to an item's history who did what.
CREATE OR REPLACE FUNCTION wed.record_work(_item wed.work_item, _person text, _action text, _detail jsonb,
  _now timestamptz)
RETURNS void LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO wed.work_event (item_id, flow_id, wid, at, person, action, detail)
  VALUES (_item.item_id, _item.flow_id, _item.wid, _now, _person, _action, wed.short_detail(jsonb_strip_nulls(_detail)))
$$;

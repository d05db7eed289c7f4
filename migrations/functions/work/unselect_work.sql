-- Gives a selected item back.
CREATE OR REPLACE FUNCTION wed.unselect_work(_tenant text, _name text, _item_id bigint,
  _now timestamptz DEFAULT clock_timestamp(), _claim integer DEFAULT NULL)
RETURNS jsonb LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT wed.release_work(_tenant, _name, _item_id, ARRAY['SELECTED', 'RUNNING'], _now, _claim)
$$;

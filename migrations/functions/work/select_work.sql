-- Takes an item off the other worklists for a person who does it now.
CREATE OR REPLACE FUNCTION wed.select_work(_tenant text, _name text, _item_id bigint,
  _now timestamptz DEFAULT clock_timestamp(), _claim integer DEFAULT NULL)
RETURNS jsonb LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT wed.claim_work(_tenant, _name, _item_id, 'SELECTED', _now, _claim)
$$;

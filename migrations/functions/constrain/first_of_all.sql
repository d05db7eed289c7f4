-- The requests that are first in the queues of some keys and can be granted: of each the locks of all its keys are held, or
-- are to be had at once. One that another transaction changes is being given up there.
CREATE OR REPLACE FUNCTION wed.first_of_all(_keys wed.resource_key[], INOUT _locked wed.resource_key[], OUT ids bigint[])
LANGUAGE plpgsql AS $$
DECLARE
  _needs wed.resource_key[];
BEGIN
  WITH l AS MATERIALIZED (
    SELECT r.* FROM (SELECT DISTINCT wed.first_in_queue(k) AS id FROM unnest(_keys) k) f
    JOIN wed.request r ON r.request_id = f.id AND r.state IN ('n', 'w') ORDER BY r.request_id FOR UPDATE OF r SKIP LOCKED
  ), g AS (
    SELECT l.request_id FROM l WHERE wed.in_the_way(ROW(l.*)::wed.request) IS NULL)
  SELECT array_agg(DISTINCT g.request_id), array_agg(DISTINCT ROW(v.tenant_id, v.resource, v.key)::wed.resource_key)
  INTO ids, _needs FROM g JOIN wed.reservation v USING (request_id);
  IF _needs <@ _locked IS NOT FALSE THEN RETURN; END IF;
  -- Counted keys bring in others, whose locks nobody foresaw.
  _locked := _locked || wed.lock_keys(ARRAY(SELECT unnest(_needs) EXCEPT SELECT unnest(_locked)), true);
  ids := ARRAY(
    SELECT i FROM unnest(ids) i JOIN wed.request r ON r.request_id = i
    WHERE wed.in_the_way(r) IS NULL AND NOT EXISTS (
      SELECT FROM wed.reservation v WHERE v.request_id = i AND ROW(v.tenant_id, v.resource, v.key)::wed.resource_key <> ALL (_locked)));
  IF ids = '{}' THEN ids := NULL; END IF;
END $$;

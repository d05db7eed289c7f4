-- The requests that are first in the queues of some keys and can be granted: of each the locks of all its keys are held
-- (_covered), or are available at once. One that another transaction changes is being given up there.
CREATE OR REPLACE FUNCTION wed.first_of_all(_keys wed.resource_key[], _covered bigint[]) RETURNS bigint[]
LANGUAGE plpgsql AS $$
DECLARE
  _ids bigint[];
  _some bigint[];
BEGIN
  _ids := ARRAY(SELECT DISTINCT f FROM (SELECT wed.first_in_queue(k) AS f FROM unnest(_keys) k) q WHERE f IS NOT NULL);
  IF _ids = '{}' THEN RETURN NULL; END IF;
  -- Counted keys bring in others, whose locks nobody foresaw.
  IF NOT _ids <@ _covered THEN
    _some := ARRAY(SELECT i FROM unnest(_ids) i WHERE i <> ALL (_covered));
    _ids := ARRAY(
      SELECT i FROM unnest(_ids) i WHERE i = ANY (_covered)
      UNION ALL
      SELECT n.i FROM (
        SELECT s.i, ARRAY(SELECT ROW(tenant_id, resource, key)::wed.resource_key FROM wed.reservation
            WHERE request_id = s.i) AS needs
        FROM unnest(_some) s(i)) n
      WHERE cardinality(wed.lock_keys(n.needs, true)) = cardinality(n.needs));
  END IF;
  RETURN (
    WITH l AS MATERIALIZED (
      SELECT r.* FROM wed.request r WHERE r.request_id = ANY (_ids) AND r.state IN ('n', 'w')
      ORDER BY r.request_id FOR UPDATE OF r SKIP LOCKED)
    SELECT array_agg(l.request_id) FROM l WHERE wed.in_the_way(ROW(l.*)::wed.request) IS NULL);
END $$;

-- Deals with requests that are new or freed: what was freed is handed over to who waits for it, in this transaction. First
-- the locks of all their keys, and of those that the first in their queues need too; from then on every statement sees
-- what others have committed of these keys, and nobody else can grant one of them.
CREATE OR REPLACE FUNCTION wed.hand_over_keys(_requests bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
  _keys wed.resource_key[];
  _own wed.resource_key[];
BEGIN
  IF _requests = '{}' THEN RETURN; END IF;
  _own := ARRAY(SELECT DISTINCT ROW(tenant_id, resource, key)::wed.resource_key FROM wed.reservation
                WHERE request_id = ANY (_requests) AND held IS NOT NULL);
  _keys := ARRAY(
    SELECT unnest(_own) UNION
    SELECT ROW(v.tenant_id, v.resource, v.key)::wed.resource_key FROM unnest(_own) k
    CROSS JOIN LATERAL (SELECT wed.first_in_queue(k) AS request_id OFFSET 0) f JOIN wed.reservation v USING (request_id));
  PERFORM wed.lock_keys(_keys, false);
  PERFORM wed.consume(_requests);
  DELETE FROM wed.reservation v USING wed.request r
  WHERE r.request_id = ANY (_requests) AND r.state IN ('f', 'c') AND v.request_id = r.request_id;
  DELETE FROM wed.request WHERE request_id = ANY (_requests) AND state IN ('f', 'c');
  UPDATE wed.request SET state = 'w', leads = false WHERE request_id = ANY (_requests) AND state = 'n';
  -- Who held a key by two requests holds it by the other.
  UPDATE wed.reservation v SET beside = false FROM unnest(_own) k
  WHERE v.tenant_id = k.tenant_id AND v.resource = k.resource AND v.key = k.key AND v.held AND v.beside
    AND NOT EXISTS (SELECT FROM wed.reservation o WHERE o.tenant_id = k.tenant_id AND o.resource = k.resource AND o.key = k.key
                    AND o.held AND o.amount IS NULL AND (NOT o.beside OR o.request_id < v.request_id));
  PERFORM wed.grant_keys(_own, _keys);
END $$;

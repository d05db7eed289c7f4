-- Removes requests with their keys, whose locks are held. Who held a key by two requests holds it by the other.
CREATE OR REPLACE FUNCTION wed.drop_requests(_requests bigint[], _keys wed.resource_key[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM wed.reservation WHERE request_id = ANY (_requests);
  DELETE FROM wed.request WHERE request_id = ANY (_requests);
  IF EXISTS (SELECT FROM wed.reservation WHERE beside) THEN
    UPDATE wed.reservation v SET beside = false FROM unnest(_keys) k
    WHERE v.tenant_id = k.tenant_id AND v.resource = k.resource AND v.key = k.key AND v.held AND v.beside
      AND NOT EXISTS (SELECT FROM wed.reservation o WHERE o.tenant_id = k.tenant_id AND o.resource = k.resource
          AND o.key = k.key
                      AND o.held AND o.amount IS NULL AND (NOT o.beside OR o.request_id < v.request_id));
  END IF;
END $$;

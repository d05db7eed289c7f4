-- The request that is first in the queue for a key.
CREATE OR REPLACE FUNCTION wed.first_in_queue(_key wed.resource_key) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT request_id FROM wed.reservation
          WHERE tenant_id = _key.tenant_id AND resource = _key.resource AND key = _key.key AND NOT held
          ORDER BY priority DESC, request_id LIMIT 1);
END $$;

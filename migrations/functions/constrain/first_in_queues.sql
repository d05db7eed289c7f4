-- The requests that are first in the queues of some keys.
CREATE OR REPLACE FUNCTION wed.first_in_queues(_keys wed.resource_key[]) RETURNS SETOF bigint
LANGUAGE sql STABLE ROWS 10 AS $$
  SELECT DISTINCT f.request_id FROM unnest(_keys) k CROSS JOIN LATERAL (
    SELECT v.request_id FROM wed.reservation v WHERE v.tenant_id = k.tenant_id AND v.resource = k.resource
        AND v.key = k.key AND NOT v.held
    ORDER BY v.priority DESC, v.request_id LIMIT 1) f
$$;

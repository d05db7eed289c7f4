-- The key that a request cannot have just now: another request is before it in the queue, or another instance holds
-- it, or too little of it is left; null when it can have all.
CREATE OR REPLACE FUNCTION wed.in_the_way(_request wed.request) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    SELECT v.key FROM wed.reservation v
    WHERE v.request_id = _request.request_id AND (
      wed.first_in_queue(ROW(v.tenant_id, v.resource, v.key)::wed.resource_key) IS DISTINCT FROM v.request_id
      OR EXISTS (
        SELECT FROM wed.reservation o JOIN wed.request r USING (request_id)
        WHERE o.tenant_id = v.tenant_id AND o.resource = v.resource AND o.key = v.key AND o.held
          AND (o.amount IS NULL OR v.amount IS NULL) AND (r.flow_id, r.wid) <> (_request.flow_id, _request.wid))
      OR v.amount IS NOT NULL AND v.amount + (
        SELECT coalesce(sum(o.amount), 0) FROM wed.reservation o JOIN wed.request r USING (request_id)
        WHERE o.tenant_id = v.tenant_id AND o.resource = v.resource AND o.key = v.key AND o.held
          AND (r.flow_id, r.wid, r.tgid) <> (_request.flow_id, _request.wid, _request.tgid))
        > coalesce((SELECT s.capacity - s.minimum FROM wed.resource s
                    WHERE s.tenant_id = v.tenant_id AND s.resource = v.resource AND s.key = v.key), 0))
    ORDER BY v.key LIMIT 1);
END $$;

-- Locks the keys of some requests as far as nobody else has them locked, and answers the requests of which none is.
CREATE OR REPLACE FUNCTION wed.lockable_requests(_requests bigint[]) RETURNS bigint[]
LANGUAGE plpgsql AS $$
DECLARE
  _keys wed.resource_key[];
  _busy wed.resource_key[];
BEGIN
  IF _requests = '{}' THEN RETURN _requests; END IF;
  _keys := ARRAY(
    SELECT DISTINCT ROW(l.tenant_id, l.resource, l.key)::wed.resource_key FROM wed.reservation v
    JOIN wed.resource_lock l ON l.tenant_id = v.tenant_id AND l.resource = v.resource AND l.key = v.key
    WHERE v.request_id = ANY (_requests));
  _busy := ARRAY(SELECT unnest(_keys) EXCEPT SELECT unnest(wed.lock_keys(_keys, true)));
  IF _busy = '{}' THEN RETURN _requests; END IF;
  RETURN ARRAY(SELECT i FROM unnest(_requests) i WHERE NOT EXISTS (
    SELECT FROM wed.reservation v WHERE v.request_id = i
      AND ROW(v.tenant_id, v.resource, v.key)::wed.resource_key = ANY (_busy)));
END $$;

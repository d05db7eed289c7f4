-- Locks keys, in the order that everybody keeps. With _now those that others hold are left out. Answers what it locked.
CREATE OR REPLACE FUNCTION wed.lock_keys(_keys wed.resource_key[], _now boolean) RETURNS wed.resource_key[]
LANGUAGE plpgsql AS $$
BEGIN
  IF _now THEN
    RETURN ARRAY(
      SELECT ROW(l.tenant_id, l.resource, l.key)::wed.resource_key FROM unnest(_keys) k
      JOIN wed.resource_lock l ON l.tenant_id = k.tenant_id AND l.resource = k.resource AND l.key = k.key
      FOR UPDATE OF l SKIP LOCKED);
  END IF;
  INSERT INTO wed.resource_lock (tenant_id, resource, key, used_at)
  SELECT DISTINCT k.tenant_id, k.resource, k.key, now() FROM unnest(_keys) k ORDER BY 1, 2, 3
  ON CONFLICT (tenant_id, resource, key) DO UPDATE SET used_at = excluded.used_at;
  RETURN _keys;
END $$;

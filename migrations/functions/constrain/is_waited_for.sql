-- Whether anybody waits for one of some keys.
CREATE OR REPLACE FUNCTION wed.is_waited_for(_keys wed.resource_key[]) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM unnest(_keys) k JOIN wed.reservation v
                 ON v.tenant_id = k.tenant_id AND v.resource = k.resource AND v.key = k.key AND NOT v.held);
END $$;

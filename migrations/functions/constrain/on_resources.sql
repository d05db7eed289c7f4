-- After a statement has written stock: holds the tenant to its quota of keys. Keys that were locked lately count too,
-- each has a row until the sweep removes it (wed.remove_unused_locks); of those four times as many are allowed.
CREATE OR REPLACE FUNCTION wed.on_resources() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _locks_of_key CONSTANT integer := 4;
  _of record;
  _used bigint;
BEGIN
  SELECT q.tenant_id, q.resources AS allowed INTO _of FROM wed.flow f JOIN wed.quota q USING (tenant_id)
  WHERE f.flow_id = TG_ARGV[0]::integer AND q.resources IS NOT NULL;
  IF NOT FOUND THEN RETURN NULL; END IF;
  SELECT count(*) INTO _used FROM (SELECT FROM wed.resource WHERE tenant_id = _of.tenant_id LIMIT _of.allowed + 1) r;
  IF _used > _of.allowed THEN PERFORM wed.refuse_quota('resources', _of.allowed, _of.allowed); END IF;
  SELECT count(*) INTO _used FROM (
    SELECT FROM wed.resource_lock WHERE tenant_id = _of.tenant_id LIMIT _locks_of_key * _of.allowed + 1) l;
  IF _used > _locks_of_key * _of.allowed THEN PERFORM wed.refuse_quota('resources', _of.allowed, _of.allowed); END IF;
  RETURN NULL;
END $$;

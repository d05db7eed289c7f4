-- Where to begin to look at _most of a tenant's requests of a state: of more, at a moment by chance, so that who looks
-- again and again sees each of them at some time.
CREATE OR REPLACE FUNCTION wed.moment_of_waiting(_tenant_id integer, _state "char", _most integer) RETURNS timestamptz
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _oldest timestamptz;
  _newest timestamptz;
BEGIN
  IF (SELECT count(*) FROM (SELECT FROM wed.request WHERE tenant_id = _tenant_id AND state = _state
                            AND (state <> 'h' OR leads) LIMIT _most + 1) r) <= _most THEN
    RETURN '-infinity';
  END IF;
  SELECT min(ready_at), max(ready_at) INTO _oldest, _newest FROM wed.request
  WHERE tenant_id = _tenant_id AND state = _state AND (state <> 'h' OR leads);
  RETURN _oldest + random() * (_newest - _oldest);
END $$;

-- Makes a token. At most two of one name are live: the present one, and the one it is being replaced by.
CREATE OR REPLACE FUNCTION wed.create_token(
  _tenant_id integer, _user text, _name text, _prefix text, _hash bytea, _scopes text[], _days integer,
  _live integer, _flows text[] DEFAULT '{}') RETURNS timestamptz
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _user_id integer;
  _most integer;
  _expires timestamptz := clock_timestamp() + _days * interval '1 day';
BEGIN
  -- The lock serialises two makers of one name.
  SELECT u.user_id, t.token_days INTO _user_id, _most FROM wed.user u JOIN wed.tenant t USING (tenant_id)
  WHERE u.tenant_id = _tenant_id AND u.name = _user FOR NO KEY UPDATE OF u;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF _days NOT BETWEEN 1 AND _most THEN
    RAISE EXCEPTION 'a token of this tenant lives for 1 to % days, not for %', _most, _days
      USING ERRCODE = 'WF023', HINT = 'Ask for fewer days.';
  END IF;
  IF (SELECT count(*) FROM wed.token WHERE user_id = _user_id AND name = _name AND revoked_at IS NULL
      AND expires_at > clock_timestamp()) >= _live THEN
    RAISE EXCEPTION 'user "%" has % named "%" already', _user,
        CASE _live WHEN 1 THEN 'a live token' ELSE 'two live tokens' END, _name
      USING ERRCODE = 'WF023', HINT = CASE _live WHEN 1 THEN 'Rotate it, or choose another name.'
        ELSE 'Revoke the older one first, or wait until it expires.' END;
  END IF;
  INSERT INTO wed.token (tenant_id, user_id, name, prefix, hash, scopes, flows, expires_at)
  VALUES (_tenant_id, _user_id, _name, _prefix, _hash, _scopes, _flows, _expires);
  RETURN _expires;
END $$;

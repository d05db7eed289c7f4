-- Claims a key in the transaction of what is to be done once: null, or the answer that was given under it before.
-- Another transaction with the key is waited for; a key that was used for something else is refused.
CREATE OR REPLACE FUNCTION wed.claim_key(_tenant_id integer, _user text, _key text, _asked jsonb) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _fingerprint bytea := sha256(convert_to(_asked::text, 'UTF8'));
  _before wed.idempotency;
BEGIN
  IF octet_length(_key) NOT BETWEEN 1 AND 255 THEN
    RAISE EXCEPTION 'the key has % bytes, and 1 to 255 are allowed', octet_length(_key) USING ERRCODE = '22023',
      HINT = 'Leave the key out, or choose one for each thing that is to be done once, best a random UUID.';
  END IF;
  INSERT INTO wed.idempotency (tenant_id, user_name, key, fingerprint) VALUES (_tenant_id, _user, _key, _fingerprint)
  ON CONFLICT DO NOTHING;
  IF FOUND THEN RETURN NULL; END IF;
  SELECT * INTO STRICT _before FROM wed.idempotency WHERE tenant_id = _tenant_id AND user_name = _user AND key = _key;
  IF _before.fingerprint <> _fingerprint THEN
    RAISE EXCEPTION 'the key "%" was used for something else', left(_key, 80) USING ERRCODE = 'WF046',
      HINT = 'Use a new key for each thing that is to be done once, best a random UUID.';
  END IF;
  RETURN coalesce(_before.answer, '{}');
END $$;

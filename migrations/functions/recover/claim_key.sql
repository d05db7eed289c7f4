-- Returns what two equal requests have in common: the same for any order of members and any way to write a number.
CREATE OR REPLACE FUNCTION wed.fingerprint(_asked jsonb) RETURNS bytea
LANGUAGE sql IMMUTABLE AS $$
  SELECT int8send(jsonb_hash_extended(_asked, 1)) || int8send(jsonb_hash_extended(_asked, 2))
$$;

-- Claims a key in the transaction of what is to be done once: null, or the answer that was given under it before.
-- Another transaction with the key is waited for; a key that was used for something else is refused. Keys of a user are
-- one set, whichever token is used.
CREATE OR REPLACE FUNCTION wed.claim_key(_tenant_id integer, _actor text, _key text, _asked jsonb) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _user text := wed.owner_of_keys(_actor);
  _before wed.idempotency;
BEGIN
  IF octet_length(_key) NOT BETWEEN 1 AND 255 THEN
    RAISE EXCEPTION 'the key has % bytes, and 1 to 255 are allowed', octet_length(_key) USING ERRCODE = '22023',
      HINT = 'Leave the key out, or choose one for each thing that is to be done once, best a random UUID.';
  END IF;
  INSERT INTO wed.idempotency (tenant_id, user_name, key, fingerprint)
  VALUES (_tenant_id, _user, _key, wed.fingerprint(_asked)) ON CONFLICT DO NOTHING;
  IF FOUND THEN RETURN NULL; END IF;
  SELECT * INTO STRICT _before FROM wed.idempotency WHERE tenant_id = _tenant_id AND user_name = _user AND key = _key;
  IF _before.fingerprint <> wed.fingerprint(_asked) THEN
    RAISE EXCEPTION 'the key "%" was used for something else', left(_key, 80) USING ERRCODE = 'WF046',
      HINT = 'Use a new key for each thing that is to be done once, best a random UUID.';
  END IF;
  RETURN coalesce(_before.answer, '{}');
END $$;

-- Keeps the answer of what was done under a key.
CREATE OR REPLACE FUNCTION wed.keep_answer(_tenant_id integer, _actor text, _key text, _answer jsonb) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  UPDATE wed.idempotency SET answer = _answer
  WHERE tenant_id = _tenant_id AND user_name = wed.owner_of_keys(_actor) AND key = _key
$$;

-- Returns whose keys an actor uses: a token's user, or the actor itself.
CREATE OR REPLACE FUNCTION wed.owner_of_keys(_actor text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT regexp_replace(_actor, '^token:([^/]*)/.*$', '\1')
$$;

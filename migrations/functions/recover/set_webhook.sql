-- Announces a tenant's exceptions, of one flow or (null) of all, to a URL from now on, or no more. Answers the
-- secret that signs the messages (Standard Webhooks); an existing webhook keeps its own.
CREATE OR REPLACE FUNCTION wed.set_webhook(_tenant_id integer, _flow_id integer, _url text, _announce boolean,
  _actor text)
RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _secret text;
BEGIN
  IF NOT _announce THEN
    DELETE FROM wed.webhook WHERE tenant_id = _tenant_id AND flow_id IS NOT DISTINCT FROM _flow_id
      AND url = _url RETURNING secret INTO _secret;
    IF _secret IS NULL THEN
      RAISE EXCEPTION 'there is no webhook %', left(_url, 200) USING ERRCODE = 'WF040',
        HINT = '`wed webhook list` shows the webhooks there are.';
    END IF;
  ELSIF _url !~ '^https?://[^[:space:]@]+$' OR octet_length(_url) > 2048 THEN
    RAISE EXCEPTION 'the URL "%" is none that messages can be posted to', left(_url, 200) USING ERRCODE = '22023',
      HINT = 'It begins with http:// or https://, has no blanks and no user name, and at most 2048 bytes.';
  ELSIF (SELECT count(*) FROM wed.webhook WHERE tenant_id = _tenant_id) >= 50 THEN
    RAISE EXCEPTION 'the tenant has 50 webhooks already' USING ERRCODE = 'WF047', HINT = 'Remove one first.';
  ELSE
    INSERT INTO wed.webhook (tenant_id, flow_id, url, secret, actor)
    VALUES (_tenant_id, _flow_id, _url, 'whsec_' || encode(sha256(uuid_send(gen_random_uuid()) ||
      uuid_send(gen_random_uuid())), 'base64'), _actor)
    ON CONFLICT (tenant_id, flow_id, url) DO UPDATE SET actor = excluded.actor RETURNING secret INTO _secret;
  END IF;
  PERFORM wed.note(_actor, t.name, CASE WHEN _announce THEN 'webhook.set' ELSE 'webhook.remove' END, _url,
    jsonb_build_object('flow', (SELECT name FROM wed.flow WHERE flow_id = _flow_id)))
  FROM wed.tenant t WHERE t.tenant_id = _tenant_id;
  RETURN CASE WHEN _announce THEN _secret END;
END $$;

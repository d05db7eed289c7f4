-- Grants what can be had of some keys, whose locks are held (_locked). Who is first in the queues of all the keys that it needs,
-- and finds all of them free, has them; nobody is passed by, so that the oldest request of the highest priority is never
-- delayed by others that wait.
CREATE OR REPLACE FUNCTION wed.grant_keys(_keys wed.resource_key[], _locked wed.resource_key[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _at integer := 1;
  _id bigint;
  _first wed.request;
  _needs wed.resource_key[];
  _granted wed.request[] := '{}';
BEGIN
  WHILE _at <= cardinality(_keys) LOOP
    _id := wed.first_in_queue(_keys[_at]);
    _at := _at + 1;
    CONTINUE WHEN _id IS NULL;
    -- One that another transaction changes is being given up there.
    SELECT * INTO _first FROM wed.request WHERE request_id = _id AND state IN ('n', 'w') FOR UPDATE SKIP LOCKED;
    CONTINUE WHEN NOT FOUND;
    _needs := ARRAY(SELECT ROW(tenant_id, resource, key)::wed.resource_key FROM wed.reservation WHERE request_id = _id);
    IF NOT _needs <@ _locked THEN
      _locked := _locked || wed.lock_keys(ARRAY(SELECT unnest(_needs) EXCEPT SELECT unnest(_locked)), true);
      CONTINUE WHEN NOT _needs <@ _locked;
    END IF;
    CONTINUE WHEN wed.in_the_way(_first) IS NOT NULL;
    -- What the same trigger holds of its last firing is replaced.
    DELETE FROM wed.reservation v USING wed.request o WHERE o.flow_id = _first.flow_id AND o.wid = _first.wid AND o.tgid = _first.tgid
      AND o.state = 'h' AND v.request_id = o.request_id;
    DELETE FROM wed.request o WHERE o.flow_id = _first.flow_id AND o.wid = _first.wid AND o.tgid = _first.tgid AND o.state = 'h';
    UPDATE wed.reservation v SET held = true, beside = v.amount IS NULL AND EXISTS (
        SELECT FROM wed.reservation o WHERE o.tenant_id = v.tenant_id AND o.resource = v.resource AND o.key = v.key
        AND o.held AND o.amount IS NULL AND o.request_id <> v.request_id)
    WHERE v.request_id = _id;
    UPDATE wed.request SET state = 'h', leads = false, granted_at = clock_timestamp() WHERE request_id = _id;
    _granted := _granted || _first;
    -- Perhaps there is enough for the next one too.
    _keys := _keys || _needs;
  END LOOP;
  PERFORM wed.unblock(g.flow_id, array_agg(g.wid), array_agg(g.tgid), false) FROM unnest(_granted) g GROUP BY g.flow_id;
END $$;

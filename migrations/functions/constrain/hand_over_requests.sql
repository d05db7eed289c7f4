-- Deals with requests that are new or freed: what was freed is handed over to who waits for it, in this transaction. First
-- the locks of all their keys, and of those that the first in their queues need too; from then on every statement sees
-- what others have committed of these keys, and nobody else can grant one of them. Answers how many jobs the hosts have to do by that.
CREATE OR REPLACE FUNCTION wed.hand_over_requests(_requests bigint[]) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  _keys wed.resource_key[];
  _own wed.resource_key[];
  _first bigint[];
  _freed bigint[];
  _hosted bigint;
BEGIN
  IF _requests = '{}' THEN RETURN 0; END IF;
  SELECT array_agg(DISTINCT k.key) INTO _own
  FROM (SELECT ROW(tenant_id, resource, key)::wed.resource_key AS key FROM wed.reservation
        WHERE request_id = ANY (_requests) AND held IS NOT NULL) k;
  _first := ARRAY(SELECT DISTINCT f FROM (SELECT wed.first_in_queue(o) AS f FROM unnest(_own) o) q WHERE f <> ALL (_requests));
  IF _first = '{}' THEN
    _keys := _own;
  ELSE
    SELECT array_agg(k) INTO _keys FROM (
      SELECT unnest(_own) UNION
      SELECT ROW(tenant_id, resource, key)::wed.resource_key FROM wed.reservation WHERE request_id = ANY (_first)) q(k);
  END IF;
  PERFORM wed.lock_keys(_keys, false);
  _freed := ARRAY(SELECT request_id FROM wed.request WHERE request_id = ANY (_requests) AND state IN ('f', 'c'));
  IF _freed <> '{}' THEN
    PERFORM wed.consume(_freed);
    DELETE FROM wed.reservation WHERE request_id = ANY (_freed);
    DELETE FROM wed.request WHERE request_id = ANY (_freed);
    -- Who held a key by two requests holds it by the other.
    UPDATE wed.reservation v SET beside = false FROM unnest(_own) k
    WHERE v.tenant_id = k.tenant_id AND v.resource = k.resource AND v.key = k.key AND v.held AND v.beside
      AND NOT EXISTS (SELECT FROM wed.reservation o WHERE o.tenant_id = k.tenant_id AND o.resource = k.resource AND o.key = k.key
                      AND o.held AND o.amount IS NULL AND (NOT o.beside OR o.request_id < v.request_id));
  END IF;
  _hosted := wed.grant_keys(_own, _requests || _first);
  UPDATE wed.request SET state = 'w', leads = false WHERE request_id = ANY (_requests) AND state = 'n';
  RETURN coalesce(_hosted, 0);
END $$;

-- Deals with requests of this transaction that are new or freed (_requests), with those that end just now (_ended),
-- and with what leased jobs ask for: what was freed is handed over to the queue, in this transaction. First
-- the locks of all their keys, and of those that the first in their queues need too; from then on every statement
-- sees what others have committed of these keys, and nobody else can grant one of them. Answers how many jobs the
-- hosts have to do by that.
CREATE OR REPLACE FUNCTION wed.hand_over_requests(_requests bigint[], _ended bigint[], _asked wed.asking[])
RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  _all bigint[] := _requests || _ended;
  _own wed.resource_key[];
  _more wed.resource_key[] := '{}';
  _first bigint[] := '{}';
  _freed bigint[];
  _hosted bigint := 0;
BEGIN
  _own := ARRAY(
    SELECT ROW(tenant_id, resource, key)::wed.resource_key FROM wed.reservation WHERE request_id = ANY (_all)
        AND held IS NOT NULL
    UNION ALL
    SELECT ROW(a.tenant_id, a.resource, a.key)::wed.resource_key FROM unnest(_asked) a);
  IF _own = '{}' AND _all = '{}' THEN RETURN 0; END IF;
  IF wed.is_waited_for(_own) THEN
    _first := ARRAY(SELECT f FROM wed.first_in_queues(_own) f WHERE f <> ALL (_all));
    _more := ARRAY(SELECT ROW(tenant_id, resource, key)::wed.resource_key FROM wed.reservation
        WHERE request_id = ANY (_first));
  END IF;
  PERFORM wed.lock_keys(_own || _more, false);
  _freed := _ended || ARRAY(SELECT request_id FROM wed.request WHERE request_id = ANY (_requests)
      AND state IN ('f', 'c'));
  IF _freed <> '{}' THEN
    PERFORM wed.consume(_requests);
    PERFORM wed.drop_requests(_freed, _own);
  END IF;
  IF _asked <> '{}' THEN PERFORM wed.reserve_free(_asked); END IF;
  IF wed.is_waited_for(_own) THEN
    _all := _requests || ARRAY(SELECT DISTINCT a.request_id FROM unnest(_asked) a);
    _hosted := coalesce(wed.grant_keys(_own, _all || _first), 0);
    UPDATE wed.request SET state = 'w', leads = false WHERE request_id = ANY (_all) AND state = 'n';
  END IF;
  RETURN _hosted;
END $$;

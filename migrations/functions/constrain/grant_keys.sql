-- Grants what is available of some keys. The locks of all keys of the requests in _covered are held. The first in
-- the queues of all the keys that it needs, and finds all of them free, has them; nobody is passed by, so that the
-- oldest request of the highest priority is never delayed by others that wait. Those that are first everywhere have
-- no key in common: they are granted together. Answers how many jobs the hosts have to do.
CREATE OR REPLACE FUNCTION wed.grant_keys(_keys wed.resource_key[], _covered bigint[]) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  _ids bigint[];
  _all bigint[] := '{}';
  _hosted bigint;
BEGIN
  LOOP
    _ids := wed.first_of_all(_keys, _covered);
    EXIT WHEN _ids IS NULL;
    -- What the same trigger holds of its last firing is replaced.
    WITH o AS (
      SELECT o.request_id FROM wed.request r JOIN wed.request o
      ON o.flow_id = r.flow_id AND o.wid = r.wid AND o.tgid = r.tgid AND o.state = 'h' WHERE r.request_id = ANY (_ids)
    ), v AS (
      DELETE FROM wed.reservation v USING o WHERE v.request_id = o.request_id)
    DELETE FROM wed.request r USING o WHERE r.request_id = o.request_id;
    UPDATE wed.reservation v SET held = true, beside = v.amount IS NULL AND EXISTS (
        SELECT FROM wed.reservation o WHERE o.tenant_id = v.tenant_id AND o.resource = v.resource AND o.key = v.key
        AND o.held AND o.amount IS NULL AND o.request_id <> v.request_id)
    WHERE v.request_id = ANY (_ids);
    UPDATE wed.request SET state = 'h', leads = false, granted_at = clock_timestamp() WHERE request_id = ANY (_ids);
    _all := _all || _ids;
    -- Perhaps there is enough for the next one too.
    SELECT array_agg(DISTINCT ROW(v.tenant_id, v.resource, v.key)::wed.resource_key) INTO _keys FROM wed.reservation v
    WHERE v.request_id = ANY (_ids) AND EXISTS (
      SELECT FROM wed.reservation n WHERE n.tenant_id = v.tenant_id AND n.resource = v.resource AND n.key = v.key
          AND NOT n.held);
    EXIT WHEN _keys IS NULL;
  END LOOP;
  _hosted := (
    SELECT sum(wed.make_due(g.flow_id, g.wids, g.tgids, false))
    FROM (SELECT flow_id, array_agg(wid ORDER BY wid) AS wids, array_agg(tgid ORDER BY wid) AS tgids FROM wed.request
          WHERE request_id = ANY (_all) GROUP BY flow_id ORDER BY flow_id) g);
  PERFORM wed.mark_undue(_all);
  RETURN _hosted;
END $$;

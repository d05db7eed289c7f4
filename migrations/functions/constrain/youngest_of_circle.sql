-- Of requests that wait in circles, the youngest one whose instance holds what another of them waits for, with that
-- one's instance and the key.
CREATE OR REPLACE FUNCTION wed.youngest_of_circle(_stuck bigint[])
RETURNS TABLE (flow_id integer, wid integer, tgid integer, trname text, key text, by_wid integer)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT r.flow_id, r.wid, r.tgid, t.trname, n.key, w.wid
  FROM wed.request r JOIN wed.trigger t ON t.tgid = r.tgid
  JOIN wed.request h ON h.flow_id = r.flow_id AND h.wid = r.wid AND h.state = 'h'
  JOIN wed.reservation n ON n.request_id = h.request_id
  JOIN wed.reservation v ON v.tenant_id = n.tenant_id AND v.resource = n.resource AND v.key = n.key
    AND v.request_id = ANY (_stuck)
  JOIN wed.request w ON w.request_id = v.request_id AND (w.flow_id, w.wid) <> (r.flow_id, r.wid)
  WHERE r.request_id = ANY (_stuck) ORDER BY r.request_id DESC LIMIT 1
$$;

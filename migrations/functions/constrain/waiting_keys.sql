-- The keys of which a job's request waits, and who is in its way, at most eight names a key.
CREATE OR REPLACE FUNCTION wed.waiting_keys(_flow_id integer, _wid integer, _tgid integer)
RETURNS TABLE (resource text, key text, amount numeric, capacity numeric, is_first boolean, holders text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN v.resource LIKE '#%' THEN NULL ELSE v.resource END, v.key, v.amount, s.capacity - s.minimum,
    wed.first_in_queue(ROW(v.tenant_id, v.resource, v.key)::wed.resource_key) = v.request_id,
    (SELECT string_agg(h.who, ', ') FROM (
       SELECT format('instance %s of %s', o.wid, f.name) || CASE WHEN n.amount IS NULL THEN ''
           ELSE format(': %s', n.amount) END AS who
       FROM wed.reservation n JOIN wed.request o USING (request_id) JOIN wed.flow f ON f.flow_id = o.flow_id
       WHERE n.tenant_id = v.tenant_id AND n.resource = v.resource AND n.key = v.key AND n.held
         AND (o.flow_id, o.wid) <> (_flow_id, _wid) ORDER BY o.request_id LIMIT 8) h)
  FROM wed.request r JOIN wed.reservation v USING (request_id)
  LEFT JOIN wed.resource s ON s.tenant_id = v.tenant_id AND s.resource = v.resource AND s.key = v.key
  WHERE r.flow_id = _flow_id AND r.wid = _wid AND r.tgid = _tgid AND r.state IN ('n', 'w')
  ORDER BY v.key
$$;

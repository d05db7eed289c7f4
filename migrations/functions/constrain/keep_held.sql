-- Of what some jobs need, holds on to what their instances' ended transitions held (_freed) and nobody waits for:
-- these requests are kept. The others ask anew; a job whose trigger holds the same keys on already asks for nothing.
CREATE OR REPLACE FUNCTION wed.keep_held(
  _flow_id integer, _tenant_id integer, _jobs tid[], _wids integer[], _tgids integer[], _keys jsonb[], _freed bigint[],
  OUT kept bigint[], OUT asked wed.asking[])
LANGUAGE plpgsql AS $$
BEGIN
  WITH c AS MATERIALIZED (
    SELECT d.tgid, d.holds, d.consumes, coalesce(d.resource, '#' || _flow_id) AS resource, t.priority
    FROM (SELECT DISTINCT tgid FROM unnest(_tgids) u(tgid)) u JOIN wed.trigger_constraint d USING (tgid)
        JOIN wed.trigger t USING (tgid)
  ), a AS MATERIALIZED (
    SELECT u.*, c.holds, c.consumes, c.resource, c.priority, h.mine, h.others,
           s.same AND row_number() OVER (PARTITION BY h.mine) = 1 AS keeps
    FROM ROWS FROM (unnest(_jobs), unnest(_wids), unnest(_tgids), unnest(_keys)) u(job, wid, tgid, keys)
    JOIN c ON c.tgid = u.tgid
    CROSS JOIN LATERAL (
      SELECT min(request_id) FILTER (WHERE mine) AS mine, array_agg(request_id) FILTER (WHERE NOT mine) AS others
      FROM (SELECT request_id, request_id = ANY (_freed) AS mine FROM wed.request
            WHERE flow_id = _flow_id AND wid = u.wid AND state = 'h' OFFSET 0) r) h
    CROSS JOIN LATERAL (
      SELECT coalesce(jsonb_object_agg(n.key, n.amount) = u.keys AND bool_and(
          n.resource = c.resource AND NOT n.beside AND (
            SELECT true FROM wed.reservation q
            WHERE q.tenant_id = n.tenant_id AND q.resource = n.resource AND q.key = n.key AND NOT q.held
            LIMIT 1) IS NULL), false) AS same
      FROM wed.reservation n WHERE n.request_id = h.mine) s
    WHERE u.keys <> '{}'
  ), held AS (
    UPDATE wed.request r
    SET tgid = a.tgid, holds = a.holds, consumes = a.consumes, asked_at = now(), granted_at = clock_timestamp()
    FROM a WHERE a.keeps AND r.request_id = a.mine
  ), n AS (
    SELECT a.*, nextval('wed.request_request_id_seq') AS request_id FROM a
    WHERE NOT a.keeps AND (a.others IS NULL OR NOT EXISTS (
      SELECT FROM wed.request r WHERE r.request_id = ANY (a.others) AND r.tgid = a.tgid
        AND a.keys = (SELECT jsonb_object_agg(v.key, v.amount) FROM wed.reservation v
                      WHERE v.request_id = r.request_id))))
  SELECT ARRAY(SELECT a.mine FROM a WHERE a.keeps), ARRAY(
    SELECT ROW(n.request_id, e.nth, _flow_id, _tenant_id, n.wid, n.tgid, n.job, n.resource, e.key,
               (e.value #>> '{}')::numeric, n.holds, n.consumes,
               CASE WHEN n.others IS NOT NULL AND wed.holds_up(_flow_id, n.wid) THEN 2147483647
                 ELSE n.priority END)::wed.asking
    FROM n CROSS JOIN LATERAL jsonb_each(n.keys) WITH ORDINALITY e(key, value, nth))
  INTO kept, asked;
END $$;

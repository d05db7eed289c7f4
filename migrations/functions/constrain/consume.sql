-- Takes from the capacities what requests consumed. Where less than the minimum would be left, the commit is refused.
CREATE OR REPLACE FUNCTION wed.consume(_requests bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _bad record;
BEGIN
  IF NOT EXISTS (SELECT FROM wed.request WHERE request_id = ANY (_requests) AND state = 'c' AND consumes)
      THEN RETURN; END IF;
  WITH used AS (
    SELECT v.tenant_id, v.resource, v.key, sum(v.amount) AS amount FROM wed.reservation v
        JOIN wed.request r USING (request_id)
    WHERE r.request_id = ANY (_requests) AND r.state = 'c' AND v.held AND v.amount IS NOT NULL GROUP BY 1, 2, 3
  ), locked AS MATERIALIZED (
    SELECT s.ctid AS at, u.* , s.capacity, s.minimum FROM used u JOIN wed.resource s USING (tenant_id, resource, key)
    ORDER BY u.tenant_id, u.resource, u.key FOR UPDATE OF s
  ), taken AS (
    UPDATE wed.resource s SET capacity = s.capacity - l.amount FROM locked l
    WHERE s.tenant_id = l.tenant_id AND s.resource = l.resource AND s.key = l.key
        AND l.capacity - l.amount >= l.minimum)
  SELECT * INTO _bad FROM locked WHERE capacity - amount < minimum ORDER BY resource, key LIMIT 1;
  IF FOUND THEN PERFORM wed.refuse_capacity(_bad.key, _bad.capacity - _bad.amount, _bad.minimum); END IF;
END $$;

-- A tenant's waiting requests that can never be granted unless one of them is given up. At first all of instances
-- that hold something and have nothing else to do; then those are left out that could proceed when all others release
-- what they hold. Of many it looks at some by chance, and gives up after a while: the next sweep looks at others.
CREATE OR REPLACE FUNCTION wed.stuck_requests(_tenant_id integer) RETURNS bigint[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _until timestamptz := clock_timestamp() + interval '300 ms';
  _most integer := (ARRAY[100, 300, 1000])[1 + floor(random() * 3)];
  _stuck bigint[];
  _left bigint[];
BEGIN
  _stuck := ARRAY(
    SELECT r.request_id FROM (
      SELECT * FROM wed.request WHERE tenant_id = _tenant_id AND state = 'w'
        AND ready_at >= wed.moment_of_waiting(_tenant_id, 'w', _most) ORDER BY ready_at LIMIT _most) r
    WHERE EXISTS (SELECT FROM wed.request h WHERE h.flow_id = r.flow_id AND h.wid = r.wid
        AND h.state = 'h')
      AND NOT EXISTS (SELECT FROM wed.job j WHERE j.flow_id = r.flow_id AND j.wid = r.wid AND j.blocked IS NULL)
    ORDER BY r.request_id);
  LOOP
    EXIT WHEN _stuck = '{}';
    IF clock_timestamp() > _until THEN RETURN '{}'; END IF;
    _left := ARRAY(
      WITH o AS (
        -- What stuck instances hold.
        SELECT n.*, h.flow_id, h.wid FROM wed.request h JOIN wed.reservation n USING (request_id)
        WHERE h.state = 'h' AND (h.flow_id, h.wid) IN (SELECT s.flow_id, s.wid FROM wed.request s
            WHERE s.request_id = ANY (_stuck)))
      SELECT DISTINCT r.request_id FROM wed.request r JOIN wed.reservation v USING (request_id)
      LEFT JOIN wed.resource s ON s.tenant_id = v.tenant_id AND s.resource = v.resource AND s.key = v.key
      CROSS JOIN LATERAL (
        SELECT bool_or(o.amount IS NULL OR v.amount IS NULL) AS apart, sum(o.amount) AS amount FROM o
        WHERE o.tenant_id = v.tenant_id AND o.resource = v.resource AND o.key = v.key
            AND (o.flow_id, o.wid) <> (r.flow_id, r.wid)) h
      WHERE r.request_id = ANY (_stuck) AND (
        h.apart OR h.amount + v.amount > coalesce(s.capacity - s.minimum, 0)
        OR EXISTS (SELECT FROM wed.reservation f WHERE f.tenant_id = v.tenant_id AND f.resource = v.resource
            AND f.key = v.key
                   AND NOT f.held AND f.request_id < v.request_id AND f.request_id = ANY (_stuck))));
    EXIT WHEN cardinality(_left) = cardinality(_stuck);
    _stuck := _left;
  END LOOP;
  RETURN _stuck;
END $$;

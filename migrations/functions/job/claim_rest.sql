-- Claims what else is due of the flows of claimed jobs, where a flow has few jobs: a batch has work with each of its
-- flows, however many results of it there are. What was claimed together stays together, so that jobs of small
-- flows go through a host as one. Only instances whose numbers are _near are looked at: where a flow's jobs come
-- and go, those that are gone are still in the index, all of them. At most as many more as _limit, of a tenant that
-- has a share (_per_tenant_max) as many more as a flow may have, none of lower priority, and none where concurrency is
-- bounded.
CREATE OR REPLACE FUNCTION wed.claim_rest(
  _host_id integer, _now timestamptz, _claimed tid[], _limit integer, _per_tenant_max integer) RETURNS tid[]
LANGUAGE plpgsql AS $$
DECLARE
  _few CONSTANT integer := 8;
  _near CONSTANT integer := 32;
  _more tid[];
BEGIN
  WITH f AS MATERIALIZED (
    SELECT j.flow_id, j.tenant_id, count(*) AS claimed, min(j.priority) AS priority, random() AS turn,
           min(j.wid) - _near AS first, max(j.wid) + _near AS last
    FROM unnest(_claimed) a(at)
    CROSS JOIN LATERAL (SELECT flow_id, tenant_id, priority, wid::bigint FROM wed.job WHERE ctid = a.at OFFSET 0) j
    GROUP BY j.flow_id, j.tenant_id HAVING count(*) < _few AND max(j.wid) - min(j.wid) <= _near
  ), s AS MATERIALIZED (
    SELECT f.*, sum(n.jobs - f.claimed) OVER (PARTITION BY f.tenant_id ORDER BY f.turn) AS theirs,
           sum(n.jobs - f.claimed) OVER (ORDER BY f.turn) AS more
    FROM f CROSS JOIN LATERAL (
      -- In the order of the index that is to be used, here and below.
      SELECT count(*) AS jobs FROM (
        SELECT FROM wed.job WHERE flow_id = f.flow_id AND wid BETWEEN f.first AND f.last ORDER BY wid LIMIT _few + 1) j)
          n
    WHERE n.jobs <= _few AND n.jobs > f.claimed
      AND (SELECT q.concurrency FROM wed.quota q WHERE q.tenant_id = f.tenant_id) IS NULL
  ), l AS MATERIALIZED (
    SELECT j.at, pg_try_advisory_xact_lock(j.wid, j.tgid) AS ours FROM s
    CROSS JOIN LATERAL (
      SELECT q.ctid AS at, q.wid, q.tgid FROM wed.job q
      WHERE q.flow_id = s.flow_id AND q.wid BETWEEN s.first AND s.last AND q.host_id IS NULL
        AND q.component_id IS NOT NULL AND q.due <= _now AND q.last_seq <= q.seq AND q.priority >= s.priority
        AND NOT (SELECT timely FROM wed.trigger WHERE tgid = q.tgid)
      ORDER BY q.wid LIMIT _few FOR UPDATE SKIP LOCKED) j
    WHERE s.more <= _limit AND (_per_tenant_max IS NULL OR s.theirs <= _few)
  ), u AS (
    UPDATE wed.job j SET host_id = _host_id, token = nextval('wed.fence'), attempt = j.attempt + 1, put_off = NULL
    FROM l WHERE l.ours AND j.ctid = l.at RETURNING j.ctid)
  SELECT coalesce(array_agg(u.ctid), '{}') INTO _more FROM u;
  RETURN _more;
END $$;

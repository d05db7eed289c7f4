-- Makes blocked jobs due, and tells external workers; answers how many are the hosts'. A job whose row another
-- transaction holds is left (the chore reservations): to wait for it here could be in a circle. _delayed: their delay
-- begins now.
CREATE OR REPLACE FUNCTION wed.make_due(_flow_id integer, _wids integer[], _tgids integer[], _delayed boolean) RETURNS
    bigint
LANGUAGE plpgsql AS $$
DECLARE
  _hosted bigint;
BEGIN
  IF _wids = '{}' THEN RETURN 0; END IF;
  WITH b AS MATERIALIZED (
    SELECT j.at, t.delay FROM ROWS FROM (unnest(_wids), unnest(_tgids)) u(wid, tgid)
    CROSS JOIN LATERAL (
      SELECT q.ctid AS at FROM wed.job q WHERE q.flow_id = _flow_id AND q.wid >= u.wid AND q.wid <= u.wid
          AND q.tgid = u.tgid
        AND q.blocked IS NOT NULL FOR UPDATE SKIP LOCKED) j
    CROSS JOIN LATERAL (SELECT delay FROM wed.trigger WHERE tgid = u.tgid OFFSET 0) t
  ), d AS (
    UPDATE wed.job j SET blocked = NULL, due = now() + CASE WHEN _delayed THEN b.delay ELSE '0' END
    FROM b WHERE j.ctid = b.at
    RETURNING j.component_id IS NOT NULL AS hosted,
      CASE WHEN j.component_id IS NULL THEN pg_notify(trname, format('{"wid":%s,"tgid":%s}', wid, tgid)) END AS told)
  SELECT count(*) FILTER (WHERE hosted) INTO _hosted FROM d;
  IF EXISTS (SELECT FROM wed.pause p JOIN wed.flow f ON f.tenant_id = p.tenant_id AND f.flow_id = _flow_id) THEN
    PERFORM wed.keep_paused(_flow_id);
  END IF;
  RETURN _hosted;
END $$;

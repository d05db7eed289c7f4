-- Makes blocked jobs due, and tells who works on them. A job whose row another transaction holds is left (keep_reservations):
-- to wait for it here could be in a circle. _delayed: their delay begins now.
CREATE OR REPLACE FUNCTION wed.unblock(_flow_id integer, _wids integer[], _tgids integer[], _delayed boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _hosts boolean;
BEGIN
  IF _wids = '{}' THEN RETURN; END IF;
  WITH b AS MATERIALIZED (
    SELECT j.ctid AS at, t.delay FROM ROWS FROM (unnest(_wids), unnest(_tgids)) u(wid, tgid)
    JOIN wed.job j ON j.flow_id = _flow_id AND j.wid = u.wid AND j.tgid = u.tgid AND j.blocked IS NOT NULL
    JOIN wed.trigger t ON t.tgid = j.tgid ORDER BY j.wid, j.tgid FOR UPDATE OF j SKIP LOCKED
  ), d AS (
    UPDATE wed.job j SET blocked = NULL, due = now() + CASE WHEN _delayed THEN b.delay ELSE '0' END
    FROM b WHERE j.ctid = b.at
    RETURNING j.component_id IS NOT NULL AS hosted,
      CASE WHEN j.component_id IS NULL THEN pg_notify(j.trname, format('{"wid":%s,"tgid":%s}', j.wid, j.tgid)) END AS told)
  SELECT bool_or(hosted) INTO _hosts FROM d;
  IF _hosts THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  IF EXISTS (SELECT FROM wed.pause p JOIN wed.flow f ON f.tenant_id = p.tenant_id AND f.flow_id = _flow_id) THEN
    PERFORM wed.keep_paused(_flow_id);
  END IF;
END $$;

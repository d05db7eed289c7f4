-- The commands that take back the pauses of a job, widest first; null for one that is not paused.
-- Called by the views of a flow's own role, which has no other way to it.
CREATE OR REPLACE FUNCTION wed.resume_commands(_flow_id integer, _wid integer, _tgid integer) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT string_agg(format('`wed %s`', c.command), ' and ' ORDER BY c.width) FROM (
    SELECT 1 AS width, format('tenant resume %s', t.name) AS command
    FROM wed.flow f JOIN wed.tenant t USING (tenant_id)
    WHERE f.flow_id = _flow_id AND (t.suspended_at IS NOT NULL OR EXISTS (
      SELECT FROM wed.pause p WHERE p.tenant_id = t.tenant_id AND p.flow_id IS NULL))
    UNION ALL
    SELECT CASE WHEN p.wid IS NOT NULL THEN 4 WHEN p.tgid IS NOT NULL THEN 3 ELSE 2 END,
      CASE WHEN p.wid IS NOT NULL THEN format('instance resume %s %s', f.name, p.wid)
        WHEN p.tgid IS NOT NULL THEN format('flow resume %s --trigger %s', f.name,
          CASE WHEN g.tgname ~ '^[A-Za-z0-9_.-]+$' THEN g.tgname ELSE g.tgid::text END)
        ELSE format('flow resume %s', f.name) END
    FROM wed.pause p JOIN wed.flow f USING (flow_id) LEFT JOIN wed.trigger g ON g.tgid = p.tgid
    WHERE p.flow_id = _flow_id AND (p.wid IS NULL OR p.wid = _wid) AND (p.tgid IS NULL OR p.tgid = _tgid)
  ) c
$$;

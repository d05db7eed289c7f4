-- Which tenants a claim may give more jobs to: those that got as many as _share.
CREATE OR REPLACE FUNCTION wed.rooms_left(_rooms wed.room[], _leased tid[], _share integer) RETURNS wed.room[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(
    SELECT ROW(n.tenant_id, n.jobs - _share)::wed.room
    FROM (SELECT j.tenant_id, count(*) AS got FROM unnest(_leased) a(at)
          CROSS JOIN LATERAL (SELECT tenant_id FROM wed.job WHERE ctid = a.at OFFSET 0) j GROUP BY j.tenant_id) g
    JOIN unnest(_rooms) n USING (tenant_id) WHERE g.got >= _share AND n.jobs > _share ORDER BY n.tenant_id);
END $$;

-- Finds what each tenant may claim: the tenants that a claim gives jobs to, and how many to each at most.
CREATE OR REPLACE FUNCTION wed.find_tenant_claims(
  _now timestamptz, _limit integer, _per_tenant_max integer, _excluded integer[], _busy integer[]) RETURNS wed.room[]
LANGUAGE plpgsql AS $$
BEGIN
  RETURN ARRAY(
    SELECT ROW(r.tenant_id, r.jobs)::wed.room
    FROM (SELECT t.tenant_id, least(wed.concurrency_left(t.tenant_id), coalesce(_per_tenant_max, _limit)) AS jobs
          FROM unnest(wed.tenants_with_work(_now, _excluded)) t(tenant_id)
          ORDER BY t.tenant_id = ANY (_busy), random() LIMIT _limit) r
    WHERE r.jobs > 0);
END $$;

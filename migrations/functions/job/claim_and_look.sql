-- Claims (wed.claim), and says in a last row without a job what is left: whether jobs are due that nobody has claimed,
-- and in how many milliseconds the next one is that is not due yet.
CREATE OR REPLACE FUNCTION wed.claim_and_look(
  _host_id integer, _limit integer, _per_tenant_max integer, _excluded integer[], _busy integer[])
RETURNS TABLE (job wed.claimed, waits boolean, next_ms bigint)
LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT c, NULL::boolean, NULL::bigint
    FROM wed.claim(_host_id, _limit, _per_tenant_max, _excluded, _busy) c;
  RETURN QUERY SELECT NULL::wed.claimed, d.waits, d.next_ms FROM wed.next_due() d;
END $$;

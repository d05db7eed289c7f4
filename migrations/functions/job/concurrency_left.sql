-- Returns how many more jobs of a tenant hosts may have in flight; null without a limit.
CREATE OR REPLACE FUNCTION wed.concurrency_left(_tenant_id integer) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _allowed bigint := (SELECT concurrency FROM wed.quota WHERE tenant_id = _tenant_id);
BEGIN
  RETURN CASE WHEN _allowed IS NOT NULL
    THEN _allowed - (SELECT count(*) FROM wed.job WHERE tenant_id = _tenant_id AND host_id IS NOT NULL) END;
END $$;

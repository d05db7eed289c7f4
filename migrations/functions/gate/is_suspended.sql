-- Whether the tenant of a flow is suspended: nothing of it is started or changed.
CREATE OR REPLACE FUNCTION wed.is_suspended(_flow_id integer) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM wed.flow f JOIN wed.tenant t USING (tenant_id)
                 WHERE f.flow_id = _flow_id AND t.suspended_at IS NOT NULL);
END $$;

-- Tenants whose jobs nobody claims: suspended, over their fuel, or far over a limit on bytes.
CREATE OR REPLACE FUNCTION wed.resting() RETURNS integer[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(SELECT tenant_id FROM wed.tenant WHERE suspended_at IS NOT NULL
               UNION ALL SELECT tenant_id FROM wed.usage WHERE resting OR over IS NOT NULL);
END $$;

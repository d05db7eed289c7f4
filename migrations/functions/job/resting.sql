-- Tenants whose jobs nobody claims: suspended, or over their fuel.
CREATE OR REPLACE FUNCTION wed.resting() RETURNS integer[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(SELECT tenant_id FROM wed.tenant WHERE suspended_at IS NOT NULL
               UNION ALL SELECT tenant_id FROM wed.usage WHERE resting);
END $$;

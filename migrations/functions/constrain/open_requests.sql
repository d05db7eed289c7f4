-- The requests that this transaction made or freed, and that nobody has dealt with.
CREATE OR REPLACE FUNCTION wed.open_requests() RETURNS bigint[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(SELECT request_id FROM wed.request WHERE xid = pg_current_xact_id() AND state IN ('n', 'f', 'c')
      ORDER BY request_id);
END $$;

-- The token and the request of the API by which this transaction acts; empty for all who act otherwise, and for a
-- flow's own role, which could set anything.
CREATE OR REPLACE FUNCTION wed.asked_by() RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN session_user = current_user
    THEN coalesce(nullif(current_setting('wed.request', true), '')::jsonb, '{}')
    ELSE '{}' END
$$;

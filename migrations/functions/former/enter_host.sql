-- A program of wed 0.1.0 calls this to register a host and to prolong its leases: refused, since the database is
-- newer.
CREATE OR REPLACE FUNCTION wed.enter_host(_name text, _lease interval) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed.refuse_other_interface(1);
END $$;

CREATE OR REPLACE FUNCTION wed.keep_host(_host_id integer, _lease interval) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed.refuse_other_interface(1);
END $$;

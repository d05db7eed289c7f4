-- Tells hosts of work that another has left. On its own and not waiting for the disk, because transactions that
-- notify commit one after another.
CREATE OR REPLACE FUNCTION wed.tell_hosts() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM pg_notify('wed_jobs', '');
END $$;

-- Refuses to delete instances, but for the owner's removal of finished ones that are old enough (wed.do_expired).
CREATE OR REPLACE FUNCTION wed.refuse_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF pg_catalog.current_setting('wed.commit', true) = 'expire'
     AND current_user = (SELECT r.rolname FROM pg_catalog.pg_namespace n
       JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner
                         WHERE n.nspname = 'wed') THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'instances are not deleted (instance %)', OLD.wid USING ERRCODE = 'WF009',
    HINT = 'Let the instance reach its final state; `wed db retention --instances` removes finished ones after a time.';
END $$;

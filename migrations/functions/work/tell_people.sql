-- Tells watchers that worklists of a tenant may have changed. A hint: it carries the tenant's number only.
CREATE OR REPLACE FUNCTION wed.tell_people(_tenant_id integer) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$ SELECT pg_notify('wed_work', _tenant_id::text) $$;

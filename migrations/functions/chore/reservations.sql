-- Chores of a tenant's reservations: `reservations` looks after its requests, `circles` ends one of instances that wait
-- for each other.

CREATE OR REPLACE FUNCTION wed.due_reservations()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT t.tenant_id, 0, 0::bigint, 0, now() FROM wed.tenant t WHERE EXISTS (
    SELECT FROM wed.request r WHERE r.tenant_id = t.tenant_id AND (r.state <> 'h' OR r.leads))
$$;

CREATE OR REPLACE FUNCTION wed.do_reservations(_tenant_id integer, _flow_id integer, _thing bigint, _tgid integer)
RETURNS jsonb LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT to_jsonb(wed.keep_tenants_reservations(_tenant_id))
$$;

CREATE OR REPLACE FUNCTION wed.due_circles()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT t.tenant_id, 0, 0::bigint, 0, now() FROM wed.tenant t WHERE EXISTS (
    SELECT FROM wed.request r WHERE r.tenant_id = t.tenant_id AND r.state = 'w')
$$;

-- Ends the youngest of instances that wait for each other in a circle: each holds something until later, waits for what
-- another holds, and has nothing else to do. It is an exception, which frees what it holds.
CREATE OR REPLACE FUNCTION wed.do_circles(_tenant_id integer, _flow_id integer, _thing bigint, _tgid integer)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _one record;
BEGIN
  SELECT * INTO _one FROM wed.youngest_of_circle(wed.stuck_requests(_tenant_id));
  IF NOT FOUND THEN RETURN 'false'; END IF;
  IF NOT wed.hold_instance(_one.flow_id, _one.wid, true) THEN RETURN NULL; END IF;
  RETURN to_jsonb(wed.pass_as_it_stands(_one.flow_id, _one.wid, _one.tgid, '_ABORT', format(
    '%s: waits in a circle: instance %s waits for %s, which this one holds', _one.trname, _one.by_wid, _one.key),
    NULL, NULL));
END $$;

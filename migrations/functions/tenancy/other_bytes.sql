-- What a tenant keeps outside of instances, their history and components: weighed with the rest (wed.weigh_usage), and
-- refused above the limit `other_bytes`.

-- Adds up the weights of tables, by tenant.
CREATE OR REPLACE FUNCTION wed.weigh_tables(_tables regclass[]) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(jsonb_object_agg(tenant, bytes), '{}')
  FROM (SELECT w.key AS tenant, sum(w.value::bigint) AS bytes
        FROM unnest(_tables) t(name), jsonb_each_text(wed.weigh_table(t.name)) w GROUP BY w.key) s
$$;

-- Returns the tables that count as other bytes.
CREATE OR REPLACE FUNCTION wed.other_tables() RETURNS regclass[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT ARRAY['wed.work_note', 'wed.setting', 'wed.secret', 'wed.schedule', 'wed.flow_version', 'wed.user',
    'wed.token', 'wed.idempotency', 'wed.outbox', 'wed.audit']::regclass[]
$$;

-- Refuses what a tenant adds while it is above its limit. The argument says by which column a row is of a tenant.
CREATE OR REPLACE FUNCTION wed.refuse_other_bytes() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _tenant_id integer;
  _used bigint;
  _allowed bigint;
BEGIN
  IF TG_ARGV[0] = 'tenant_id' THEN
    _tenant_id := NEW.tenant_id;
  ELSE
    _tenant_id := (SELECT tenant_id FROM wed.flow WHERE flow_id = NEW.flow_id);
  END IF;
  SELECT u.other_bytes, q.other_bytes INTO _used, _allowed
  FROM wed.usage u JOIN wed.quota q USING (tenant_id) WHERE u.tenant_id = _tenant_id;
  IF _used > _allowed THEN PERFORM wed.refuse_quota('other_bytes', _used, _allowed); END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER other_bytes BEFORE INSERT ON wed.work_note
  FOR EACH ROW EXECUTE FUNCTION wed.refuse_other_bytes('flow_id');
CREATE OR REPLACE TRIGGER other_bytes BEFORE INSERT ON wed.setting
  FOR EACH ROW EXECUTE FUNCTION wed.refuse_other_bytes('flow_id');
CREATE OR REPLACE TRIGGER other_bytes BEFORE INSERT ON wed.secret
  FOR EACH ROW EXECUTE FUNCTION wed.refuse_other_bytes('flow_id');
CREATE OR REPLACE TRIGGER other_bytes BEFORE INSERT ON wed.schedule
  FOR EACH ROW EXECUTE FUNCTION wed.refuse_other_bytes('flow_id');
CREATE OR REPLACE TRIGGER other_bytes BEFORE INSERT ON wed.flow_version
  FOR EACH ROW EXECUTE FUNCTION wed.refuse_other_bytes('flow_id');
CREATE OR REPLACE TRIGGER other_bytes BEFORE INSERT ON wed.user
  FOR EACH ROW EXECUTE FUNCTION wed.refuse_other_bytes('tenant_id');

-- New flows and components, whoever makes them. The row of the tenant serialises two makers.
CREATE OR REPLACE FUNCTION wed.on_thing() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  _suspended timestamptz;
  _used bigint;
  _allowed bigint;
BEGIN
  SELECT t.suspended_at, CASE TG_TABLE_NAME WHEN 'flow' THEN q.flows ELSE q.components END INTO _suspended, _allowed
  FROM wed.tenant t JOIN wed.quota q USING (tenant_id) WHERE t.tenant_id = NEW.tenant_id FOR NO KEY UPDATE OF t;
  IF TG_TABLE_NAME = 'flow' AND _suspended IS NOT NULL THEN
    -- It would bring a role that may log in.
    RAISE EXCEPTION 'the tenant is suspended' USING ERRCODE = 'WF021', HINT = 'The operator resumes it.';
  END IF;
  IF _allowed IS NOT NULL THEN
    EXECUTE format('SELECT count(*) FROM wed.%I WHERE tenant_id = $1', TG_TABLE_NAME) INTO _used USING NEW.tenant_id;
    IF _used >= _allowed THEN
      PERFORM wed.refuse_quota(TG_TABLE_NAME || 's', _used, _allowed);
    END IF;
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER quota BEFORE INSERT ON wed.flow FOR EACH ROW EXECUTE FUNCTION wed.on_thing();

CREATE OR REPLACE TRIGGER quota BEFORE INSERT ON wed.component FOR EACH ROW EXECUTE FUNCTION wed.on_thing();

-- Writing wed_resource: the stock of a key. The key's lock first, in the order that everybody keeps; a request that
-- waits for more is served when the transaction commits.
CREATE OR REPLACE FUNCTION wed.on_resource() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow_id integer := TG_ARGV[0];
  _tenant_id integer;
  _resource text;
  _of record;
BEGIN
  _of := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
  _resource := coalesce(_of.resource, '#' || _flow_id);
  SELECT tenant_id INTO _tenant_id FROM wed.flow WHERE flow_id = _flow_id;
  IF TG_OP <> 'DELETE' THEN NEW.minimum := coalesce(NEW.minimum, 0); END IF;
  PERFORM wed.check_resource(_flow_id, TG_OP, to_jsonb(OLD), to_jsonb(NEW));
  PERFORM wed.lock_keys(ARRAY[ROW(_tenant_id, _resource, _of.key)::wed.resource_key], false);
  IF TG_OP = 'DELETE' THEN
    DELETE FROM wed.resource WHERE tenant_id = _tenant_id AND resource = _resource AND key = OLD.key;
    RETURN OLD;
  ELSIF TG_OP = 'UPDATE' THEN
    -- By the difference: what another transaction committed while this one waited for the key was not in OLD, so it is
    -- not in NEW.
    SELECT r.capacity + (NEW.capacity - OLD.capacity), r.minimum + (NEW.minimum - OLD.minimum)
    INTO NEW.capacity, NEW.minimum
    FROM wed.resource r WHERE tenant_id = _tenant_id AND resource = _resource AND key = NEW.key FOR UPDATE;
    IF NOT FOUND THEN RETURN NULL; END IF;
    PERFORM wed.check_resource(_flow_id, TG_OP, to_jsonb(OLD), to_jsonb(NEW));
  END IF;
  IF NEW.minimum > NEW.capacity THEN PERFORM wed.refuse_capacity(NEW.key, NEW.capacity, NEW.minimum); END IF;
  PERFORM wed.write_resource(TG_OP, ROW(_tenant_id, _resource, NEW.key)::wed.resource_key, NEW.capacity, NEW.minimum);
  RETURN NEW;
END $$;

-- Writes the stock of a key whose lock is held, and has the first request in its queue looked at when the transaction
-- commits.
CREATE OR REPLACE FUNCTION wed.write_resource(
  _operation text, _key wed.resource_key, _capacity numeric, _minimum numeric) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _operation = 'INSERT' THEN
    INSERT INTO wed.resource (tenant_id, resource, key, capacity, minimum)
    VALUES (_key.tenant_id, _key.resource, _key.key, _capacity, _minimum) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'there is a row of "%" already', _key.key USING ERRCODE = '23505',
        HINT = 'Update its capacity.';
    END IF;
  ELSE
    UPDATE wed.resource SET capacity = _capacity, minimum = _minimum
    WHERE tenant_id = _key.tenant_id AND resource = _key.resource AND key = _key.key;
  END IF;
  -- The first in the queue stands for the key at the end of the transaction.
  UPDATE wed.request SET state = 'n', leads = true, xid = pg_current_xact_id()
  WHERE request_id = (
    SELECT request_id FROM wed.request WHERE request_id = wed.first_in_queue(_key) AND state = 'w'
    FOR UPDATE SKIP LOCKED);
END $$;

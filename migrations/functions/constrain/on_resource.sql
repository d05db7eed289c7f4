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
  PERFORM wed.check_resource(_flow_id, TG_OP, to_jsonb(OLD), to_jsonb(NEW));
  IF TG_OP <> 'DELETE' THEN
    NEW.minimum := coalesce(NEW.minimum, 0);
    IF NEW.minimum > NEW.capacity THEN PERFORM wed.refuse_capacity(NEW.key, NEW.capacity, NEW.minimum); END IF;
  END IF;
  PERFORM wed.lock_keys(ARRAY[ROW(_tenant_id, _resource, _of.key)::wed.resource_key], false);
  IF TG_OP = 'DELETE' THEN
    DELETE FROM wed.resource WHERE tenant_id = _tenant_id AND resource = _resource AND key = OLD.key;
    RETURN OLD;
  ELSIF TG_OP = 'INSERT' THEN
    INSERT INTO wed.resource (tenant_id, resource, key, capacity, minimum)
    VALUES (_tenant_id, _resource, NEW.key, NEW.capacity, NEW.minimum) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'there is a row of "%" already', NEW.key USING ERRCODE = '23505', HINT = 'Update its capacity.';
    END IF;
  ELSE
    UPDATE wed.resource SET capacity = NEW.capacity, minimum = NEW.minimum
    WHERE tenant_id = _tenant_id AND resource = _resource AND key = NEW.key;
  END IF;
  -- The first in the queue stands for the key at the end of the transaction.
  UPDATE wed.request SET state = 'n', leads = true, xid = pg_current_xact_id()
  WHERE request_id = (
    SELECT request_id FROM wed.request
    WHERE request_id = wed.first_in_queue(ROW(_tenant_id, _resource, NEW.key)::wed.resource_key)
        AND state = 'w' FOR UPDATE SKIP LOCKED);
  RETURN NEW;
END $$;

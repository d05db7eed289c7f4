-- Removes a trigger that has no pending jobs. The flow's table is locked before they are counted: who is about to fire
-- one commits first, and a later writer has the new conditions.
CREATE OR REPLACE FUNCTION wed.remove_trigger(_flow wed.flow, _tgid integer, _name text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _pending bigint;
BEGIN
  PERFORM set_config('lock_timeout', '5s', true);
  EXECUTE format('LOCK TABLE %I.wed_flow IN EXCLUSIVE MODE', _flow.schema_name);
  SELECT count(*) INTO _pending FROM wed.job WHERE flow_id = _flow.flow_id AND tgid = _tgid;
  IF _pending > 0 THEN
    RAISE EXCEPTION 'trigger % has % pending jobs', coalesce(_name, _tgid::text), _pending
      USING ERRCODE = 'WF013', HINT = 'Set enabled to false and let them finish first.';
  END IF;
  PERFORM wed.take_off_shape(_flow.shape_schema, _tgid);
  DELETE FROM wed.trigger WHERE tgid = _tgid;
END $$;

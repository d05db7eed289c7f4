-- Makes a flow's triggers those of a definition. A trigger without a name is called by its number. Returns the names of
-- those that were added, changed and removed, and of those that stay disabled though the definition does not say so.
CREATE OR REPLACE FUNCTION wed.apply_triggers(_flow wed.flow, _triggers jsonb) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _trigger jsonb;
  _tgid integer;
  _removed text[] := wed.remove_triggers(_flow, ARRAY(SELECT t ->> 'name' FROM jsonb_array_elements(_triggers) t));
  _added text[] := '{}';
  _changed text[] := '{}';
  _disabled text[] := '{}';
BEGIN
  FOR _trigger IN SELECT t FROM jsonb_array_elements(_triggers) WITH ORDINALITY x(t, at) ORDER BY at LOOP
    _tgid := wed.trigger_named(_flow.flow_id, _trigger ->> 'name');
    IF wed.apply_trigger(_flow, _tgid, _trigger) THEN
      IF _tgid IS NULL THEN
        _added := _added || (_trigger ->> 'name');
      ELSE
        _changed := _changed || (_trigger ->> 'name');
      END IF;
    END IF;
    IF NOT _trigger ? 'enabled' AND NOT (SELECT enabled FROM wed.trigger WHERE tgid = _tgid) THEN
      _disabled := _disabled || (_trigger ->> 'name');
    END IF;
  END LOOP;
  -- Afterwards, as a policy may name a trigger that follows in the definition.
  FOR _trigger IN SELECT t FROM jsonb_array_elements(_triggers) t LOOP
    PERFORM wed.set_policy(_flow.flow_id, wed.trigger_named(_flow.flow_id, _trigger ->> 'name'),
      _trigger ->> 'compensation', wed.trigger_interval(_trigger, 'deadline'));
  END LOOP;
  RETURN jsonb_build_object('triggers_added', _added, 'triggers_changed', _changed, 'triggers_removed', _removed,
    'triggers_disabled', _disabled);
END $$;

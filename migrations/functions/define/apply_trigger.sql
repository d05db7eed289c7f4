-- Updates a trigger, or inserts it where there is none, as a definition says; returns false if it was so already. What
-- the definition leaves out is at its default, but for `enabled`, which stays.
CREATE OR REPLACE FUNCTION wed.apply_trigger(_flow wed.flow, _tgid integer, _trigger jsonb) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _columns jsonb := '{"cname": null, "attempts": 3, "priority": 0, "recheck": true, "writes": null, "reserves": null,
      "quantity": null, "resource": null, "holds": null, "consumes": false, "after": null}'
    || (_trigger - '{name,tgid,cfinal}'::text[])
    || jsonb_build_object('trname', _trigger -> 'transition', 'cname', _trigger -> 'condition',
         'cpred', _trigger -> 'when', 'timeout', coalesce(wed.trigger_interval(_trigger, 'timeout'), '1 minute'),
         'backoff', coalesce(wed.trigger_interval(_trigger, 'backoff'), '1 second'),
         'delay', coalesce(wed.trigger_interval(_trigger, 'delay'), '0'));
  _list text := 'trname, cname, cpred, timeout, attempts, backoff, delay, priority, recheck, writes, reserves, '
    'quantity, resource, holds, consumes, after, enabled';
  _is_changed boolean;
BEGIN
  IF _tgid IS NULL THEN
    EXECUTE format('INSERT INTO %1$I.wed_trig (tgname, %2$s)
                    SELECT $2, %2$s FROM jsonb_populate_record(NULL::%1$I.wed_trig, $1)', _flow.schema_name, _list)
      USING _columns, _trigger ->> 'name';
    RETURN true;
  END IF;
  EXECUTE format('SELECT jsonb_populate_record(w, $2) IS DISTINCT FROM w FROM %I.wed_trig w WHERE tgid = $1',
                 _flow.schema_name) INTO _is_changed USING _tgid, _columns;
  IF _is_changed THEN
    EXECUTE format('UPDATE %1$I.wed_trig w SET (%2$s) = (SELECT %2$s FROM jsonb_populate_record(w, $2))
                    WHERE tgid = $1', _flow.schema_name, _list) USING _tgid, _columns;
  END IF;
  RETURN _is_changed;
END $$;

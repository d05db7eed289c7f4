-- Refuses to go back to a definition with attributes that the flow has no more: they were renamed or dropped since. To
-- add them anew would give every running instance their defaults, next to the values that it has under another name.
CREATE OR REPLACE FUNCTION wed.refuse_lost_attributes(_flow_id integer, _version integer, _definition jsonb)
RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _lost text;
BEGIN
  EXECUTE format('SELECT string_agg(a ->> ''name'', '', '' ORDER BY 1)
                  FROM jsonb_array_elements(coalesce($1 -> ''attribute'', ''[]'')) a
                  WHERE a ->> ''name'' NOT IN (SELECT aname FROM %I.wed_attr)',
                 (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id)) INTO _lost USING _definition;
  IF _lost IS NOT NULL THEN
    RAISE EXCEPTION 'version % has attributes that were renamed or dropped since: %', _version, _lost
      USING ERRCODE = 'WF013', HINT = 'Name them as they were, or add them, in wed_attr; then roll back.';
  END IF;
END $$;

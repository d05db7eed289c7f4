-- Removes the triggers of a flow that are not among the names that are kept; returns the names of the removed ones.
CREATE OR REPLACE FUNCTION wed.remove_triggers(_flow wed.flow, _kept text[]) RETURNS text[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _tgids integer[];
  _names text[];
BEGIN
  EXECUTE format('SELECT array_agg(tgid ORDER BY tgid), array_agg(name ORDER BY tgid)
                  FROM (SELECT tgid, coalesce(nullif(tgname, ''''), tgid::text) AS name
                        FROM %I.wed_trig WHERE NOT cfinal) w
                  WHERE name <> ALL ($1)', _flow.schema_name) INTO _tgids, _names USING _kept;
  IF _tgids IS NOT NULL THEN
    EXECUTE format('DELETE FROM %I.wed_trig WHERE tgid = ANY ($1)', _flow.schema_name) USING _tgids;
  END IF;
  RETURN coalesce(_names, '{}');
END $$;

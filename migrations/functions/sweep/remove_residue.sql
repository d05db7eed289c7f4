-- Removes what removed flows have left, of at most _limit instances. Returns whether there may be more.
CREATE OR REPLACE FUNCTION wed.remove_residue(_limit integer) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow_id integer;
  _wids integer[];
  _table text;
BEGIN
  SELECT flow_id INTO _flow_id FROM wed.residue ORDER BY flow_id LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN false; END IF;
  _wids := ARRAY(SELECT wid FROM wed.instance WHERE flow_id = _flow_id ORDER BY wid LIMIT _limit);
  FOREACH _table IN ARRAY ARRAY['trace', 'attempt', 'log', 'recording', 'work_note', 'work_report', 'work_event',
    'work_item',
                               'work_reservation', 'work_instance', 'instance_name', 'instance'] LOOP
    EXECUTE format('DELETE FROM wed.%I WHERE flow_id = $1 AND wid = ANY ($2)', _table) USING _flow_id, _wids;
  END LOOP;
  IF cardinality(_wids) < _limit THEN
    DELETE FROM wed.residue WHERE flow_id = _flow_id;
  END IF;
  RETURN true;
END $$;

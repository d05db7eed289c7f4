-- Which of some instances another session holds at this moment.
CREATE OR REPLACE FUNCTION wed.locked_instances(_flow_id integer, _wids integer[]) RETURNS integer[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
  _free integer[];
BEGIN
  EXECUTE format('SELECT array_agg(wid) FROM (SELECT wid FROM %I.wed_flow WHERE wid = ANY ($1) FOR NO KEY UPDATE SKIP LOCKED) f',
                 (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id)) INTO _free USING _wids;
  RETURN ARRAY(SELECT w FROM unnest(_wids) w WHERE w <> ALL (coalesce(_free, '{}')));
END $$;

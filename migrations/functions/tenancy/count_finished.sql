-- Counts a flow's final instances that are kept: those there are, less those that have pending jobs. (An estimate of
-- the planner's where its table was analyzed with more than 100 000 rows.)
CREATE OR REPLACE FUNCTION wed.count_finished(_flow_id integer) RETURNS bigint
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET lock_timeout = '20ms' AS $$
DECLARE
  _table regclass := (SELECT to_regclass(format('%I.wed_flow', schema_name)) FROM wed.flow WHERE flow_id = _flow_id);
  _rows bigint := (SELECT reltuples::bigint FROM pg_class WHERE oid = _table);
BEGIN
  IF _rows <= 100000 THEN
    BEGIN
      EXECUTE format('SELECT count(*) FROM %s', _table) INTO _rows;
    EXCEPTION WHEN lock_not_available THEN
      NULL; -- its tenant has locked it: nobody waits for that
    END;
  END IF;
  RETURN greatest(_rows - (SELECT count(DISTINCT wid) FROM wed.job WHERE flow_id = _flow_id), 0);
END $$;

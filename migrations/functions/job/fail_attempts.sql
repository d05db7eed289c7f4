-- Records attempts of a host that changed nothing, and decides what becomes of their jobs: another attempt later, or,
-- when those are used up, an exception. after_us is when the transition wants to be tried again instead of after the
-- trigger's backoff. The outcome 'final_pending' is no failure: the result makes the instance final while others of it
-- are pending, so it waits until one of them has left the pool; when all of them wait for each other so, the instance
-- is an exception. Where another session holds a lock that is in the way, none is recorded (wed.refuse_locked).
CREATE OR REPLACE FUNCTION wed.fail_attempts(_host_id integer, _failures jsonb, _records jsonb DEFAULT NULL)
  RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _failure wed.failure;
BEGIN
  IF _records IS NOT NULL THEN
    PERFORM wed.keep_records(_host_id, _records);
  END IF;
  FOR _failure IN SELECT * FROM jsonb_populate_recordset(NULL::wed.failure, _failures) ORDER BY flow, wid LOOP
    PERFORM wed.fail_attempt(_host_id, _failure);
  END LOOP;
EXCEPTION WHEN lock_not_available THEN
  PERFORM wed.refuse_locked(ARRAY(
    SELECT ROW(NULL, f.shape_schema, NULL, NULL,
      array_agg(ROW(x.wid, NULL, NULL, NULL, NULL, NULL, NULL)::wed.result))::wed.result_group
    FROM jsonb_populate_recordset(NULL::wed.failure, _failures) x JOIN wed.flow f ON f.flow_id = x.flow
    GROUP BY f.shape_schema));
END $$;

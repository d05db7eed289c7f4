-- Removes what is older than the given time; never what is younger than 30 days. Itself on record.
CREATE OR REPLACE FUNCTION wed.forget_audit(_actor text, _older interval) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _forgotten bigint;
BEGIN
  IF _older IS NULL OR _older < interval '30 days' THEN
    RAISE EXCEPTION 'the audit log is kept for 30 days at the least' USING ERRCODE = 'WF022',
      HINT = 'Give a longer time.';
  END IF;
  DELETE FROM wed.audit WHERE at < clock_timestamp() - _older;
  GET DIAGNOSTICS _forgotten = ROW_COUNT;
  PERFORM wed.note(_actor, NULL, 'audit.forget', _older::text, jsonb_build_object('entries', _forgotten));
  RETURN _forgotten;
END $$;

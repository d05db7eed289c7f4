-- Removes attempts, logs and recordings that are older than they are kept, at most _limit of each. Answers how many.
CREATE OR REPLACE FUNCTION wed.expire_records(_limit integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _kind record;
  _removed bigint := 0;
  _count bigint;
BEGIN
  FOR _kind IN
    SELECT k.name, k.keep FROM wed.retention r
    CROSS JOIN LATERAL (VALUES ('attempt', r.attempts), ('log', r.logs), ('recording', r.recordings)) k(name, keep)
    WHERE k.keep IS NOT NULL
  LOOP
    EXECUTE format('DELETE FROM wed.%1$I WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM wed.%1$I WHERE tstmp < now() - $1 LIMIT $2 FOR UPDATE SKIP LOCKED))', _kind.name)
      USING _kind.keep, _limit;
    GET DIAGNOSTICS _count = ROW_COUNT;
    _removed := _removed + _count;
  END LOOP;
  RETURN _removed;
END $$;

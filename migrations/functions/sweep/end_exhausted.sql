-- Makes instances exceptions that have a job without attempts left (wed.exhausted): one whose instance another session
-- holds just now is left to the next sweep.
CREATE OR REPLACE FUNCTION wed.end_exhausted(_limit integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
  _of wed.exhausted;
  _ended bigint := 0;
BEGIN
  FOR _of IN SELECT * FROM wed.exhausted ORDER BY flow_id, wid LIMIT _limit FOR UPDATE SKIP LOCKED LOOP
    BEGIN
      IF NOT EXISTS (SELECT FROM wed.job WHERE flow_id = _of.flow_id AND wid = _of.wid AND tgid = _of.tgid
        AND seq = _of.seq) THEN
        DELETE FROM wed.exhausted WHERE flow_id = _of.flow_id AND wid = _of.wid AND tgid = _of.tgid;
      ELSIF wed.hold_instance(_of.flow_id, _of.wid, true) THEN
        PERFORM wed.pass_as_it_stands(_of.flow_id, _of.wid, _of.tgid, '_ABORT', _of.message, NULL, NULL);
        DELETE FROM wed.exhausted WHERE flow_id = _of.flow_id AND wid = _of.wid AND tgid = _of.tgid;
        _ended := _ended + 1;
      END IF;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      NULL; -- its flow's table is locked, or a job of it
    END;
  END LOOP;
  RETURN _ended;
END $$;

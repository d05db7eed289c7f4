-- Ends external workers whose overrun is on record (wed.count_overdue).
CREATE OR REPLACE FUNCTION wed.end_overdue() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _late record;
  _ended bigint := 0;
BEGIN
  FOR _late IN SELECT * FROM wed.late_workers() w WHERE w.due > now() LOOP
    IF pg_terminate_backend(_late.pid, 2000) THEN _ended := _ended + 1; END IF;
    -- What kept others from the job until now (wed.count_overdue).
    UPDATE wed.job j SET due = j.due - interval '1 second'
    FROM (SELECT ctid AS at FROM wed.job WHERE flow_id = _late.flow_id AND wid = _late.wid AND tgid = _late.tgid
      AND due = _late.due
          FOR UPDATE SKIP LOCKED) q WHERE j.ctid = q.at;
  END LOOP;
  RETURN _ended;
END $$;

-- Ends jobs that were not done within their triggers' deadlines, pauses not counted: their instances are exceptions,
-- traced as _DEADLINE.
CREATE OR REPLACE FUNCTION wed.end_late(_limit integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' SET intervalstyle = 'postgres' AS $$
DECLARE
  _late record;
  _ended bigint := 0;
BEGIN
  FOR _late IN
    SELECT j.flow_id, j.wid, j.tgid, j.trname, p.deadline FROM wed.trigger_policy p
    JOIN wed.job j ON j.flow_id = p.flow_id AND j.tgid = p.tgid
    WHERE p.deadline IS NOT NULL AND j.fired_at + p.deadline + coalesce(j.paused_for, '0') <= clock_timestamp() AND NOT wed.is_paused(j.due)
    ORDER BY j.flow_id, j.wid LIMIT _limit
  LOOP
    BEGIN
      IF wed.pass_as_it_stands(_late.flow_id, _late.wid, _late.tgid, '_DEADLINE',
                               format('%s: not done within %s', _late.trname, _late.deadline), NULL, NULL) THEN
        _ended := _ended + 1;
      END IF;
    EXCEPTION WHEN lock_not_available THEN
      NULL; -- somebody commits for it just now
    END;
  END LOOP;
  RETURN _ended;
END $$;

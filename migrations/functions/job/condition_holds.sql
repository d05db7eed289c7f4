-- Whether a pending job's condition holds in the committed state, without a lock; null when another session keeps it
-- from being looked at. While the state that fired the job is still the last one, nothing but time can have changed it.
CREATE OR REPLACE FUNCTION wed.condition_holds(_flow_id integer, _wid integer, _tgid integer) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '20ms' AS $$
BEGIN
  PERFORM FROM wed.job j JOIN wed.trigger t USING (tgid)
  WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.tgid = _tgid AND t.recheck AND t.trname <> '_EXCPT'
    AND (j.last_seq > j.seq OR t.timely);
  RETURN NOT FOUND OR EXISTS (
    SELECT FROM unnest(wed.as_it_stands(_flow_id, _wid)) r CROSS JOIN LATERAL unnest(r.fired) f
      WHERE f & 4294967295 = _tgid);
EXCEPTION WHEN lock_not_available THEN
  RETURN NULL; -- somebody has locked the table
END $$;

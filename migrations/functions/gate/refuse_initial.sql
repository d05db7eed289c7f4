-- Refuses new instances that may not be: of a suspended tenant, with a number out of bounds, whose state cannot be
-- evaluated or satisfies nothing. A number given by hand leaves as many to the sequence as there are below it.
CREATE OR REPLACE FUNCTION wed.refuse_initial(_flow_id integer, _rows wed.evaluated[]) RETURNS void
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _given_max CONSTANT integer := 1000000000;
  _last bigint := coalesce(pg_sequence_last_value(wed.wid_sequence(_flow_id)), 0);
  _bad wed.evaluated;
BEGIN
  IF wed.is_suspended(_flow_id) THEN
    RAISE EXCEPTION 'the tenant is suspended' USING ERRCODE = 'WF021', HINT = 'The operator resumes it.';
  END IF;
  SELECT * INTO _bad FROM unnest(_rows) r
  WHERE r.wid < 1 OR r.wid > greatest(_given_max, _last) OR r.fault IS NOT NULL OR (r.fired = '{}' AND NOT r.final)
  ORDER BY r.wid LIMIT 1;
  IF _bad.wid IS NULL THEN
    RETURN;
  ELSIF _bad.wid > greatest(_given_max, _last) THEN
    RAISE EXCEPTION 'the wid of an instance, where it is given, is at most %, and % is more', _given_max, _bad.wid
      USING ERRCODE = '23514', HINT = 'Leave it out: the next free one is taken.';
  ELSIF _bad.wid < 1 THEN
    RAISE EXCEPTION 'the wid of an instance is a positive number, and % is none', _bad.wid USING ERRCODE = '23514',
      HINT = 'Leave it out: the next free one is taken.';
  ELSIF _bad.fault IS NOT NULL THEN
    RAISE EXCEPTION 'the initial state of instance % cannot be evaluated: %', _bad.wid, _bad.fault
      USING ERRCODE = 'WF014', HINT = 'Mend the values, or write the condition so that it holds for them too.';
  END IF;
  RAISE EXCEPTION 'the initial state of instance % satisfies no condition', _bad.wid
    USING ERRCODE = 'WF001', DETAIL = left(_bad.state::jsonb::text, 1000),
      HINT = 'A new instance must fire at least one transition, or be final; see wed_trig.';
END $$;

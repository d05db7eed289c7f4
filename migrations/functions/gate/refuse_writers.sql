-- Refuses writes that a rule forbids, and attributes that their writers may not set: the first by wid.
CREATE OR REPLACE FUNCTION wed.refuse_writers(_writings wed.writing[], _changes wed.change[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _bad record;
BEGIN
  SELECT w.* INTO _bad FROM unnest(_writings) w WHERE w.refusal IS NOT NULL ORDER BY w.wid LIMIT 1;
  IF FOUND THEN
    PERFORM wed.refuse_update(_bad.refusal, _bad.wid);
  END IF;
  SELECT w.*, a.name INTO _bad
  FROM ROWS FROM (unnest(_writings), unnest(_changes)) AS w(wid, tgid, transition, may_set, refusal, of_wid, attributes)
  CROSS JOIN LATERAL unnest(w.attributes) a(name)
  WHERE a.name <> ALL (w.may_set) ORDER BY w.wid LIMIT 1;
  IF NOT FOUND THEN RETURN; END IF;
  IF _bad.tgid IS NOT NULL THEN
    PERFORM wed.refuse_write(_bad.wid, _bad.transition, _bad.name, _bad.may_set);
  END IF;
  RAISE EXCEPTION 'this session holds no lock on a pending job of instance %, and attribute "%" is not open', _bad.wid,
    _bad.name
    USING ERRCODE = 'WF003',
      HINT =
        'Take the job''s lock first, SELECT pg_try_advisory_xact_lock(wid, tgid) with a row of job_pool, or declare '
        'the attribute open (UPDATE wed_attr SET open = true).';
END $$;

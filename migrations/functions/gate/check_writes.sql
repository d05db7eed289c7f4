-- Holds what an update changed against what its writer may set.
CREATE OR REPLACE FUNCTION wed.check_writes(_wids integer[], _allowed jsonb[], _old jsonb[], _new jsonb[]) RETURNS void
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _bad record;
BEGIN
  SELECT r.wid, r.allowed, n.key INTO _bad
  FROM ROWS FROM (unnest(_wids), unnest(_allowed), unnest(_old), unnest(_new)) AS r(wid, allowed, old, new)
  CROSS JOIN LATERAL jsonb_each(r.new) n
  WHERE r.allowed IS NOT NULL AND r.old -> n.key IS DISTINCT FROM n.value
    AND NOT r.allowed -> 'set' ? n.key
  ORDER BY r.wid LIMIT 1;
  IF NOT FOUND THEN RETURN; END IF;
  IF _bad.allowed ? 'event' THEN
    RAISE EXCEPTION 'this session holds no lock on a pending job of instance %, and attribute "%" is not open',
        _bad.wid, _bad.key USING ERRCODE = 'WF003',
      HINT = 'Take the job''s lock first, SELECT pg_try_advisory_xact_lock(wid, tgid) with a row of job_pool, or declare the attribute open (UPDATE wed_attr SET open = true).';
  END IF;
  PERFORM wed.refuse_write(_bad.wid, _bad.allowed ->> 'transition', _bad.key,
                           ARRAY(SELECT jsonb_array_elements_text(_bad.allowed -> 'set')));
END $$;

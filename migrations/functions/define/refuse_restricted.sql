-- Refuses results that assign an attribute which their trigger may not write.
CREATE OR REPLACE FUNCTION wed.refuse_restricted(_results wed.result[], _assigned text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _bad record;
BEGIN
  SELECT r.wid, t.trname, t.writes, a.name INTO _bad
  FROM unnest(_results) r CROSS JOIN LATERAL (SELECT trname, writes FROM wed.trigger WHERE tgid = r.tgid OFFSET 0) t
  CROSS JOIN unnest(_assigned) a(name) WHERE a.name <> ALL (t.writes) LIMIT 1;
  IF FOUND THEN
    PERFORM wed.refuse_write(_bad.wid, _bad.trname, _bad.name, _bad.writes);
  END IF;
END $$;

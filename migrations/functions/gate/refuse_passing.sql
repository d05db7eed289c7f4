-- Refuses what a rule forbids (wed.decide), naming the first instance.
CREATE OR REPLACE FUNCTION wed.refuse_passing(_passing wed.passing[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _bad record;
BEGIN
  SELECT p.refusal, p.wid INTO _bad FROM unnest(_passing) p WHERE p.refusal IS NOT NULL LIMIT 1;
  IF FOUND THEN
    PERFORM wed.refuse_update(_bad.refusal, _bad.wid);
  END IF;
END $$;

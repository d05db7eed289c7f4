-- Takes changed states through the gate, ordered by wid, unless their writers may not set what they set
-- (wed.identify_writers).
CREATE OR REPLACE FUNCTION wed.gate_update(_rows wed.evaluated[], _writings wed.writing[], _changes wed.change[])
  RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _jobs wed.result[];
BEGIN
  PERFORM wed.refuse_writers(_writings, _changes);
  IF NOT EXISTS (SELECT FROM unnest(_writings) w WHERE w.tgid IS NULL) THEN
    _jobs := ARRAY(SELECT ROW(w.wid, w.tgid, 0, NULL, NULL, NULL, NULL)::wed.result FROM unnest(_writings) w);
    PERFORM wed.pass_gate(_rows, _jobs);
    RETURN;
  END IF;
  -- Events are passed separately: what wrote is not a job's transition.
  PERFORM wed.pass_gate(wed.select_rows(_rows, _writings, true), NULL, _trw => '_EVENT');
  _jobs := ARRAY(SELECT ROW(w.wid, w.tgid, 0, NULL, NULL, NULL, NULL)::wed.result FROM unnest(_writings) w
    WHERE w.tgid IS NOT NULL);
  IF _jobs <> '{}' THEN
    PERFORM wed.pass_gate(wed.select_rows(_rows, _writings, false), _jobs);
  END IF;
END $$;

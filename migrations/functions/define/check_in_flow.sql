-- Refuses a trigger that does not fit its flow: writes of attributes that there are not, a second final condition, one
-- too many.
CREATE OR REPLACE FUNCTION wed.check_in_flow(_flow wed.flow, _tgid integer, _cfinal boolean, _writes text[])
  RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _triggers_max CONSTANT integer := 2000;
  _unknown text;
  _others integer;
BEGIN
  EXECUTE format('SELECT w FROM unnest($1) w WHERE w NOT IN (SELECT aname FROM %I.wed_attr) LIMIT 1', _flow.schema_name)
    INTO _unknown USING _writes;
  IF _unknown IS NOT NULL THEN
    RAISE EXCEPTION 'writes names "%", which is no attribute of this flow', _unknown
      USING ERRCODE = 'WF013', HINT = 'Insert it into wed_attr first.';
  END IF;
  IF _cfinal THEN
    EXECUTE format('SELECT tgid::text FROM %I.wed_trig WHERE cfinal AND tgid IS DISTINCT FROM $1', _flow.schema_name)
      INTO _unknown USING _tgid;
    IF _unknown IS NOT NULL THEN
      RAISE EXCEPTION 'this flow has a final condition already (tgid %)', _unknown
        USING ERRCODE = 'WF013', HINT = 'A flow has at most one: combine the predicates with OR.';
    END IF;
  END IF;
  IF _tgid IS NOT NULL THEN RETURN; END IF;
  EXECUTE format('SELECT count(*) FROM (SELECT FROM %I.wed_trig LIMIT $1) t', _flow.schema_name) INTO _others
    USING _triggers_max;
  IF _others >= _triggers_max THEN
    RAISE EXCEPTION 'a flow has at most % triggers', _triggers_max USING ERRCODE = 'WF013',
      HINT = 'Combine conditions, or make another flow.';
  END IF;
END $$;

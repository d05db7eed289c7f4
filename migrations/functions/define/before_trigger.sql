-- Before a trigger is written: its number, and what no column constraint can say well.
CREATE OR REPLACE FUNCTION wed.before_trigger() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _unknown text;
  _schema text;
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.tgid IS NOT NULL THEN
      RAISE EXCEPTION 'tgid is given by the server' USING ERRCODE = 'WF013',
        HINT = 'Leave tgid out of the INSERT.';
    END IF;
  ELSIF NEW.tgid IS DISTINCT FROM OLD.tgid THEN
    RAISE EXCEPTION 'the tgid of a trigger cannot change' USING ERRCODE = 'WF013',
      HINT = 'Change the other columns, or insert a new trigger.';
  END IF;
  NEW.cfinal := coalesce(NEW.cfinal, false);
  NEW.enabled := coalesce(NEW.enabled, true);
  NEW.recheck := coalesce(NEW.recheck, true);
  NEW.timeout := coalesce(NEW.timeout, '1 minute');
  NEW.attempts := coalesce(NEW.attempts, 3);
  NEW.backoff := coalesce(NEW.backoff, '1 second');
  NEW.delay := coalesce(NEW.delay, '0');
  NEW.priority := coalesce(NEW.priority, 0);
  NEW.consumes := coalesce(NEW.consumes, false);
  IF NOT NEW.cfinal AND coalesce(NEW.trname, '') = '' THEN
    RAISE EXCEPTION 'a trigger needs the name of the transition it fires (trname)' USING ERRCODE = 'WF013',
      HINT = 'Set trname, or set cfinal for the final condition.';
  END IF;
  IF NEW.cfinal AND NEW.trname IS NOT NULL AND NEW.trname <> '_FINAL' THEN
    RAISE EXCEPTION 'the final condition fires no transition' USING ERRCODE = 'WF013',
      HINT = 'Leave trname out.';
  END IF;
  IF NOT NEW.cfinal AND (NEW.trname ~ '^_' OR octet_length(NEW.trname) > 63 OR NEW.trname ~ '[[:cntrl:]]') THEN
    RAISE EXCEPTION 'the transition name % is not allowed', quote_literal(left(NEW.trname, 80))
      USING ERRCODE = 'WF013', HINT = 'At most 63 bytes, no control characters, no underscore in front.';
  END IF;
  -- Longer ones make no moment that a job could be due at.
  IF greatest(NEW.timeout, NEW.backoff, NEW.delay) > interval '100 years' THEN
    RAISE EXCEPTION 'timeout, backoff and delay are at most 100 years' USING ERRCODE = 'WF013',
      HINT = 'For example: timeout ''30 s'', backoff ''1 s'', delay ''2 days''.';
  END IF;
  IF NEW.timeout <= '0' OR NEW.backoff < '0' OR NEW.delay < '0' OR NEW.attempts NOT BETWEEN 1 AND 1000 THEN
    RAISE EXCEPTION 'timeout must be positive, delay and backoff not negative, attempts from 1 to 1000'
      USING ERRCODE = 'WF013', HINT = 'For example: timeout ''30 s'', backoff ''1 s'', attempts 3.';
  END IF;
  SELECT schema_name INTO _schema FROM wed.flow WHERE flow_id = TG_ARGV[0]::integer;
  -- Deeper than one, it is on_attribute that writes, after a renaming.
  IF NEW.writes IS NOT NULL AND pg_trigger_depth() = 1 THEN
    EXECUTE format('SELECT w FROM unnest($1) w WHERE w NOT IN (SELECT aname FROM %I.wed_attr) LIMIT 1', _schema)
      INTO _unknown USING NEW.writes;
    IF _unknown IS NOT NULL THEN
      RAISE EXCEPTION 'writes names "%", which is no attribute of this flow', _unknown
        USING ERRCODE = 'WF013', HINT = 'Insert it into wed_attr first.';
    END IF;
  END IF;
  IF NEW.cfinal THEN
    EXECUTE format('SELECT tgid::text FROM %I.wed_trig WHERE cfinal AND tgid IS DISTINCT FROM $1', _schema)
      INTO _unknown USING NEW.tgid;
    IF _unknown IS NOT NULL THEN
      RAISE EXCEPTION 'this flow has a final condition already (tgid %)', _unknown
        USING ERRCODE = 'WF013', HINT = 'A flow has at most one: combine the predicates with OR.';
    END IF;
  END IF;
  IF TG_OP = 'INSERT' THEN
    -- All flows share these numbers: none is taken for what is refused.
    NEW.tgid := nextval('wed.tgid_seq');
  END IF;
  RETURN NEW;
END $$;

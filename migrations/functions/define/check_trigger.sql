-- Refuses a trigger that makes no sense, whatever its flow: what no column constraint can say well.
CREATE OR REPLACE FUNCTION wed.check_trigger(
  _tgname text, _trname text, _cfinal boolean, _timeout interval, _attempts integer, _backoff interval,
  _delay interval) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _wrong text;
BEGIN
  IF NOT _cfinal AND coalesce(_trname, '') = '' THEN
    RAISE EXCEPTION 'a trigger needs the name of the transition it fires (trname)' USING ERRCODE = 'WF013',
      HINT = 'Set trname, or set cfinal for the final condition.';
  END IF;
  IF _cfinal AND _trname IS NOT NULL AND _trname <> '_FINAL' THEN
    RAISE EXCEPTION 'the final condition fires no transition' USING ERRCODE = 'WF013',
      HINT = 'Leave trname out.';
  END IF;
  IF NOT _cfinal AND (_trname ~ '^_' OR octet_length(_trname) > 63 OR _trname ~ '[[:cntrl:]]') THEN
    RAISE EXCEPTION 'the transition name % is not allowed', quote_literal(left(_trname, 80))
      USING ERRCODE = 'WF013', HINT = 'At most 63 bytes, no control characters, no underscore in front.';
  END IF;
  -- A name is part of addresses: .../jobs/NAME.
  IF octet_length(_tgname) > 63 OR _tgname ~ '[[:cntrl:]/]' OR _tgname IN ('.', '..') THEN
    RAISE EXCEPTION 'the trigger name % is not allowed', quote_literal(left(_tgname, 80))
      USING ERRCODE = 'WF013', HINT = 'At most 63 bytes, no control characters, no slash.';
  END IF;
  PERFORM wed.check_span('WF013', 'timeout', _timeout);
  PERFORM wed.check_span('WF013', 'backoff', _backoff);
  PERFORM wed.check_span('WF013', 'delay', _delay);
  IF greatest(_timeout, _backoff, _delay) > interval '100 years' THEN
    RAISE EXCEPTION 'timeout, backoff and delay are at most 100 years' USING ERRCODE = 'WF013',
      HINT = 'For example: timeout ''30 s'', backoff ''1 s'', delay ''2 days''.';
  END IF;
  _wrong := CASE WHEN _timeout <= '0' THEN format('timeout is %s, and must be positive', _timeout)
    WHEN _backoff < '0' THEN format('backoff is %s, and must not be negative', _backoff)
    WHEN _delay < '0' THEN format('delay is %s, and must not be negative', _delay)
    WHEN _attempts NOT BETWEEN 1 AND 1000 THEN format('attempts is %s, and must be from 1 to 1000', _attempts) END;
  IF _wrong IS NOT NULL THEN
    RAISE EXCEPTION '%', _wrong
      USING ERRCODE = 'WF013', HINT = 'For example: timeout ''30 s'', backoff ''1 s'', attempts 3.';
  END IF;
END $$;

-- Does what time brings to worklists as of _now, at most _limit of each: people who gave no sign of life become
-- inactive, the next rounds of offers, warnings, transfers, escalations. Items that are held just now are left to
-- the next call.
CREATE OR REPLACE FUNCTION wed.sweep_work(_now timestamptz DEFAULT clock_timestamp(), _limit integer DEFAULT 1000)
RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
  -- Three contacts of a minute each.
  _silence CONSTANT interval := '3 minutes';
  _item wed.work_item;
  _done bigint := 0;
BEGIN
  UPDATE wed.person p SET active = false FROM (
    SELECT person_id FROM wed.person WHERE active AND contact_at < _now - _silence
    ORDER BY contact_at LIMIT _limit FOR UPDATE SKIP LOCKED) s
  WHERE p.person_id = s.person_id;
  FOR _item IN
    SELECT * FROM wed.work_item WHERE state = 'READY' AND (policy <> 1 OR candidates) AND offered_at + renotify <= _now
    ORDER BY offered_at LIMIT _limit FOR UPDATE SKIP LOCKED
  LOOP
    PERFORM wed.offer_item(_item.item_id, _now);
    _done := _done + 1;
  END LOOP;
  FOR _item IN
    SELECT * FROM wed.work_item WHERE ended_at IS NULL AND alarm_at <= _now ORDER BY alarm_at LIMIT _limit FOR
      UPDATE SKIP LOCKED
  LOOP
    PERFORM wed.ring_alarm(_item, _now);
    _done := _done + 1;
  END LOOP;
  RETURN _done;
END $$;

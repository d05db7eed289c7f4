-- Chore `work`: what time brings to worklists: the next rounds of offers, warnings, transfers, escalations.

-- Work items that are due as of _now. (Seconds are compared: an interval added to a time could be out of range.)
CREATE OR REPLACE FUNCTION wed.due_work(_now timestamptz DEFAULT clock_timestamp())
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT i.tenant_id, i.flow_id, i.item_id, 0, i.offered_at FROM wed.work_item i
  WHERE i.state = 'READY' AND (i.policy <> 1 OR i.candidates)
    AND extract(epoch FROM _now - i.offered_at) >= extract(epoch FROM i.renotify)
  UNION
  SELECT i.tenant_id, i.flow_id, i.item_id, 1, i.alarm_at FROM wed.work_item i
  WHERE i.ended_at IS NULL AND i.alarm_at <= _now
$$;

-- Offers an item anew (_alarm 0), or rings its alarm (1), as of _now.
CREATE OR REPLACE FUNCTION wed.do_work(
  _tenant_id integer, _flow_id integer, _item_id bigint, _alarm integer, _now timestamptz DEFAULT clock_timestamp())
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _item wed.work_item;
BEGIN
  SELECT * INTO _item FROM wed.work_item WHERE item_id = _item_id FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN NULL;
  ELSIF _alarm = 0 AND _item.state = 'READY' THEN
    PERFORM wed.offer_item(_item_id, _now);
  ELSIF _alarm = 1 AND _item.ended_at IS NULL AND _item.alarm_at <= _now THEN
    PERFORM wed.ring_alarm(_item, _now);
  END IF;
  RETURN 'true';
END $$;

-- Makes people inactive who have given no sign of life for three contacts of a minute each.
CREATE OR REPLACE FUNCTION wed.miss_people(_now timestamptz DEFAULT clock_timestamp()) RETURNS bigint
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  WITH missed AS (
    UPDATE wed.person p SET active = false FROM (
      SELECT person_id FROM wed.person WHERE active AND contact_at < _now - interval '3 minutes'
      ORDER BY contact_at LIMIT 1000 FOR UPDATE SKIP LOCKED) s
    WHERE p.person_id = s.person_id RETURNING 1)
  SELECT count(*) FROM missed
$$;

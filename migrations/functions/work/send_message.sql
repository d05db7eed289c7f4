-- Sends people a message: delivered at once to who is active, else stored for the next connection. Of a person at most
-- 1000 are kept, the newest.
CREATE OR REPLACE FUNCTION wed.send_message(
  _people integer[], _kind text, _sender text, _text text, _item_id bigint, _now timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO wed.work_message (person_id, kind, sender, text, item_id, at, delivered_at)
  SELECT p.person_id, _kind, _sender, left(_text, 2000), _item_id, _now, CASE WHEN p.active THEN _now END
  FROM wed.person p WHERE p.person_id = ANY (_people);
  DELETE FROM wed.work_message m USING (
    SELECT p.person_id, (SELECT o.message_id FROM wed.work_message o WHERE o.person_id = p.person_id
                         ORDER BY o.message_id DESC OFFSET 1000 LIMIT 1) AS old
    FROM unnest(_people) p(person_id)) k
  WHERE m.person_id = k.person_id AND m.message_id <= k.old;
END $$;

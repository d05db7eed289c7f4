-- Removes a person's delivered messages: those of the numbers, or all. Returns how many.
CREATE OR REPLACE FUNCTION wed.remove_messages(_tenant text, _name text, _messages bigint[] DEFAULT NULL) RETURNS bigint
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  WITH gone AS (
    DELETE FROM wed.work_message m USING wed.person_of(_tenant, _name) p
    WHERE m.person_id = p.person_id AND m.delivered_at IS NOT NULL AND (_messages IS NULL
      OR m.message_id = ANY (_messages))
    RETURNING 1)
  SELECT count(*) FROM gone
$$;

-- Announces instances that became exceptions: answers at most _limit that nobody was told of, and notifies the channel
-- wed_exception with numbers only. Two hosts announce each once.
CREATE OR REPLACE FUNCTION wed.announce_exceptions(_limit integer)
RETURNS TABLE (tenant text, flow text, flow_id integer, wid integer, message text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    WITH new AS MATERIALIZED (
      SELECT i.flow_id, i.wid FROM wed.instance i
      WHERE i.status = 'E' AND (i.announced_at IS NULL OR i.announced_at < i.changed)
      ORDER BY i.flow_id, i.wid LIMIT _limit FOR UPDATE SKIP LOCKED
    ), told AS (
      UPDATE wed.instance i SET announced_at = clock_timestamp() FROM new
      WHERE i.flow_id = new.flow_id AND i.wid = new.wid RETURNING i.flow_id, i.wid)
    SELECT t.name, f.name, told.flow_id, told.wid, (
      SELECT r.note FROM wed.trace r WHERE r.flow_id = told.flow_id AND r.wid = told.wid AND r.status = 'E'
      ORDER BY r.seq DESC LIMIT 1)
    FROM told JOIN wed.flow f USING (flow_id) JOIN wed.tenant t USING (tenant_id);
  IF FOUND THEN PERFORM pg_notify('wed_exception', ''); END IF;
END $$;

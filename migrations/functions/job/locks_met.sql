-- Returns which locks of others are in the way of a batch, as a JSON array: [flow, wid] for an instance, [flow, null]
-- for a flow whose table is locked. Takes every lock that it can have, and waits for none.
CREATE OR REPLACE FUNCTION wed.locks_met(_groups wed.result_group[]) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
  _met jsonb := '[]';
  _some jsonb;
  _of record;
BEGIN
  FOR _of IN
    SELECT f.flow_id, f.schema_name, array_agg(r.wid ORDER BY r.wid) AS wids
    FROM unnest(_groups) g JOIN wed.flow f ON f.shape_schema = g.shape_schema CROSS JOIN LATERAL unnest(g.results) r
    GROUP BY f.flow_id, f.schema_name ORDER BY f.flow_id
  LOOP
    BEGIN
      EXECUTE format('LOCK TABLE %I.wed_flow IN ROW EXCLUSIVE MODE NOWAIT', _of.schema_name);
    EXCEPTION WHEN lock_not_available THEN
      _met := _met || jsonb_build_array(jsonb_build_array(_of.flow_id, NULL));
      CONTINUE;
    END;
    EXECUTE format(
      'WITH free AS MATERIALIZED (SELECT wid FROM %1$I.wed_flow WHERE wid = ANY ($1) FOR NO KEY UPDATE SKIP LOCKED)
       SELECT jsonb_agg(jsonb_build_array($2, wid)) FROM %1$I.wed_flow
       WHERE wid = ANY ($1) AND wid NOT IN (SELECT wid FROM free)', _of.schema_name)
      INTO _some USING _of.wids, _of.flow_id;
    _met := _met || coalesce(_some, '[]');
  END LOOP;
  RETURN _met;
END $$;

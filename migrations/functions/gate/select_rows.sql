-- Returns the changed states that events wrote, or those that jobs' transitions wrote; rows and writings name the same
-- instances, in the same order.
CREATE OR REPLACE FUNCTION wed.select_rows(_rows wed.evaluated[], _writings wed.writing[], _events boolean)
  RETURNS wed.evaluated[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(
    SELECT ROW(r.flow_id, r.version, r.wid, r.state, r.payload, r.fired, r.kept, r.final, r.fault)::wed.evaluated
    FROM ROWS FROM (unnest(_rows), unnest(_writings)) AS r(
      flow_id, version, wid, state, payload, fired, kept, final, fault, of_wid, tgid, transition, may_set, refusal)
    WHERE (r.tgid IS NULL) = _events);
END $$;

-- What new states mean for constraints, in the transaction that writes them, after jobs are out and in: frees what is held no
-- longer, and asks for what fired jobs need. _tgids are the triggers of the jobs that ended; _committed tells a transition that
-- was performed from one that was given up.
CREATE OR REPLACE FUNCTION wed.constrain(_rows wed.evaluated[], _tgids integer[], _committed boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _one record;
BEGIN
  FOR _one IN
    SELECT f AS flow, u.wids, u.tgids
    FROM (SELECT r.flow_id, array_agg(r.wid ORDER BY r.at) AS wids, array_agg(_tgids[r.at] ORDER BY r.at) AS tgids
          FROM unnest(_rows) WITH ORDINALITY r(flow_id, version, wid, state, payload, fired, kept, final, fault, at)
          GROUP BY r.flow_id) u
    JOIN wed.flow f ON f.flow_id = u.flow_id AND f.constrained ORDER BY u.flow_id
  LOOP
    PERFORM wed.free(_one.flow, _one.wids, _one.tgids, _committed);
    PERFORM wed.ask(_one.flow, _one.wids, NULL);
  END LOOP;
END $$;

-- Writes the states of a batch of finished transitions, and returns them evaluated. A host hands what this
-- returns straight to wed.settle, in one statement: SELECT * FROM wed.settle(wed.write_states(...), ...).
--
-- Groups and items are parallel arrays: a group is one flow (named by its shape's schema) and one shape of
-- result, its items follow each other, ordered by wid. A group assigns the attributes _assigned, of which it
-- has _widths; as literals, of which _lit holds, group after group, first all the first, then all the second;
-- or, where _sets is not null, by that SET clause, which comes from the guard and in which _b._1, _b._2, ...
-- are the item's literals. With _careful, an instance whose condition fails becomes an exception instead of
-- failing the batch. Where a claim was lost, nothing is committed (40001), and the host tries again with
-- those it still has.
CREATE OR REPLACE FUNCTION wed.write_states(
  _host_id integer, _shapes text[], _sets text[], _counts integer[], _widths integer[], _assigned text[],
  _literals integer[], _lit text[], _wids integer[], _tgids integer[], _careful boolean)
RETURNS wed.evaluated[]
LANGUAGE plpgsql AS $$
DECLARE
  _some wed.evaluated[];
  _parts wed.part[];
  _all wed.batch := ROW(_wids, _tgids, _assigned, _lit);
  _several boolean := cardinality(_shapes) > 1;
  _item integer := 0;
  _attribute integer := 0;
  _literal integer := 0;
  _n integer;
  _held boolean;
BEGIN
  -- Holding this row keeps others from freeing this host's jobs meanwhile (free_abandoned).
  SELECT beside_old INTO _held FROM wed.host WHERE host_id = _host_id FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'host % has lost its leases', _host_id USING ERRCODE = 'WF016', HINT = 'Enter anew.';
  END IF;
  PERFORM set_config('wed.commit', 'batch', true);
  FOR _g IN 1 .. cardinality(_shapes) LOOP
    _n := _counts[_g];
    -- Of a flow with several groups all instances are held first, in order: each group's UPDATE takes its own in
    -- order, and two batches would each wait for the other. (A shape's schema is its flow's and _shape.)
    IF _shapes[_g] = _shapes[_g + 1] AND _shapes[_g] IS DISTINCT FROM _shapes[_g - 1] THEN
      EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = ANY ($1) ORDER BY wid FOR NO KEY UPDATE', left(_shapes[_g], -6))
        USING _wids[_item + 1 : _item + (SELECT sum(c) FROM unnest(_shapes, _counts) u(s, c) WHERE s = _shapes[_g])::integer];
    END IF;
    EXECUTE format('SELECT %1$I.apply_%1$s($1, $2, $3, $4, $5, $6, $7, $8)', _shapes[_g]) INTO _some
      USING _all.wids[_item + 1 : _item + _n], _all.tgids[_item + 1 : _item + _n],
            _all.assigned[_attribute + 1 : _attribute + _widths[_g]], _sets[_g], _literals[_g],
            _all.lit[_literal + 1 : _literal + _n * _literals[_g]], _careful, _held;
    IF cardinality(_some) IS DISTINCT FROM _n THEN
      PERFORM wed.refuse_update('lost', _wids[_item + 1]);
    END IF;
    IF _several THEN _parts[_g] := ROW(_some)::wed.part; END IF;
    _item := _item + _n;
    _attribute := _attribute + _widths[_g];
    _literal := _literal + _n * _literals[_g];
  END LOOP;
  PERFORM set_config('wed.commit', '', true);
  -- Put together once, not flow by flow: each time would be a copy of all that are there.
  IF _several THEN
    RETURN ARRAY(SELECT r FROM unnest(_parts) p CROSS JOIN unnest(p.rows) r);
  END IF;
  RETURN _some;
END $$;

-- A flow's UPDATE finds its instances in their order, for every two batches the same, and hands them on so (0003).
ALTER FUNCTION wed.write_states SET enable_bitmapscan = off;

ALTER FUNCTION wed.write_states SET enable_seqscan = off;

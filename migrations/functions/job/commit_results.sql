-- Commits a host's finished transitions, all or none, at most one of an instance: states, trace and next jobs in one
-- transaction. Returns the jobs that were fired, leased to the host; without _lease they are left to whoever claims
-- them. With _careful, an instance whose condition fails becomes an exception instead of failing the batch. Groups are
-- in the order of their flows. Where a claim was lost nothing is committed (40001), and the host tries again with those
-- it still has.
CREATE OR REPLACE FUNCTION wed.commit_results(
  _host_id integer, _groups wed.result_group[], _careful boolean, _lease boolean, _records jsonb)
    RETURNS SETOF wed.claimed
LANGUAGE plpgsql AS $$
DECLARE
  _held boolean := wed.hold_host(_host_id);
  _rows wed.evaluated[];
BEGIN
  IF _records IS NOT NULL THEN
    -- Before their jobs leave the pool.
    PERFORM wed.keep_records(_host_id, _records);
  END IF;
  _rows := wed.write_unlocked(_groups, _careful, _held);
  RETURN QUERY SELECT * FROM wed.pass_gate(
    _rows, ARRAY(SELECT r FROM unnest(_groups) g CROSS JOIN LATERAL unnest(g.results) r), _host_id, _lease => _lease);
END $$;

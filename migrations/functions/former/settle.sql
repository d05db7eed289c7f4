-- What a program of wed 0.1.0 calls to commit a batch, wed.settle(wed.write_states(...)), and to record failures: its
-- leases are lost, whatever they were. It drops the results, and the jobs are done by others.
CREATE OR REPLACE FUNCTION wed.write_states(
  _host_id integer, _shapes text[], _sets text[], _counts integer[], _widths integer[], _assigned text[],
  _literals integer[], _lit text[], _wids integer[], _tgids integer[], _careful boolean) RETURNS wed.evaluated[]
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'host % has lost its leases', _host_id USING ERRCODE = 'WF016',
    HINT = 'The database has been migrated; use the newer wed.';
END $$;

CREATE OR REPLACE FUNCTION wed.settle(
  _rows wed.evaluated[], _tgids integer[], _tokens bigint[], _host_id integer DEFAULT NULL,
  _trw text DEFAULT NULL, _forced text DEFAULT NULL, _note text DEFAULT NULL,
  _fuel bigint[] DEFAULT NULL, _us bigint[] DEFAULT NULL, _memory bigint[] DEFAULT NULL, _lease boolean DEFAULT true)
RETURNS SETOF wed.claimed
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'host % has lost its leases', _host_id USING ERRCODE = 'WF016',
    HINT = 'The database has been migrated; use the newer wed.';
END $$;

CREATE OR REPLACE FUNCTION wed.fail_batch(_host_id integer, _items jsonb) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'host % has lost its leases', _host_id USING ERRCODE = 'WF016',
    HINT = 'The database has been migrated; use the newer wed.';
END $$;

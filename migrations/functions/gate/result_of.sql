-- The result of one job, for wed.pass_gate.
CREATE OR REPLACE FUNCTION wed.result_of(
  _wid integer, _tgid integer, _token bigint, _fuel bigint DEFAULT NULL, _us bigint DEFAULT NULL,
    _memory bigint DEFAULT NULL)
RETURNS wed.result[]
LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY[ROW(_wid, _tgid, _token, _fuel, _us, _memory, NULL)::wed.result]
$$;

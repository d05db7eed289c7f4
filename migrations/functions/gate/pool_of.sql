-- What the pool says of an instance's jobs, taken together; the job of _tgid and _token is the one that ends.
CREATE OR REPLACE FUNCTION wed.pool_of(_flow_id integer, _wid integer, _tgid integer, _token bigint) RETURNS wed.pool
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _pool wed.pool;
BEGIN
  SELECT max(j.ctid) FILTER (WHERE j.mine), max(j.trname) FILTER (WHERE j.mine), max(j.attempt) FILTER (WHERE j.mine),
         max(j.seq) FILTER (WHERE j.mine), max(j.component_id) FILTER (WHERE j.mine), max(j.last_seq), max(j.version),
         max(j.satisfied), count(*) FILTER (WHERE NOT j.mine),
         coalesce(bool_or(j.trname = '_EXCPT' AND NOT j.mine), false),
         coalesce(bool_or(j.awaits_siblings AND NOT j.mine), false),
         coalesce(array_agg(j.tgid) FILTER (WHERE NOT j.mine), '{}'), bool_or(j.trname = '_EXCPT')
  INTO _pool
  FROM (SELECT *, ctid, (tgid = _tgid AND token = _token) IS TRUE AS mine FROM wed.job
        WHERE flow_id = _flow_id AND wid = _wid OFFSET 0) j;
  RETURN _pool;
END $$;

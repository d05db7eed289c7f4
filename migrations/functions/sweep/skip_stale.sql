-- Skips jobs left to external workers whose condition no longer holds, where nobody is at them or at their instance.
-- Looks at one flow of each tenant, by chance, in an order by chance and for two seconds at most, so that no tenant
-- makes others wait, however many jobs it has. At most _limit jobs of a flow; returns how many it skipped.
CREATE OR REPLACE FUNCTION wed.skip_stale(_limit integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _until timestamptz := clock_timestamp() + interval '2 s';
  _flow_id integer;
  _skipped bigint := 0;
BEGIN
  FOR _flow_id IN
    SELECT o.flow_id FROM (
      SELECT DISTINCT ON (f.tenant_id) f.flow_id FROM wed.flow f
      WHERE EXISTS (SELECT FROM wed.job j WHERE j.flow_id = f.flow_id) ORDER BY f.tenant_id, random()) o
    ORDER BY random()
  LOOP
    EXIT WHEN clock_timestamp() > _until;
    _skipped := _skipped + wed.skip_stale_of(_flow_id, _limit);
  END LOOP;
  RETURN _skipped;
END $$;

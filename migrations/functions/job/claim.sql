-- Leases to a host up to _limit jobs that its components can do, and the rest of small flows (wed.claim_rest): to each
-- tenant that has any the same number, at most _per_tenant_max, and what some leave to the others; of a tenant's, those
-- of the highest priority and longest due. Tenants in _excluded get none: they have their share of the host. Where all
-- cannot have some, those come first that are not in _busy, of whom the host has jobs already, and then chance decides;
-- a tenant that gets any gets several together, so that a host's batch has few flows. A job whose condition no longer
-- holds is skipped; one that an external worker has locked is left to it.
CREATE OR REPLACE FUNCTION wed.claim(
  _host_id integer, _limit integer, _per_tenant_max integer DEFAULT NULL, _excluded integer[] DEFAULT '{}',
  _busy integer[] DEFAULT '{}') RETURNS SETOF wed.claimed
LANGUAGE plpgsql AS $$
DECLARE
  _together CONSTANT integer := 8;
  _now timestamptz := clock_timestamp();
  _rooms wed.room[];
  _left integer := _limit;
  _share integer;
  _some tid[];
  _claimed tid[] := '{}';
  _look_until timestamptz;
BEGIN
  -- A claim need not be on disk: a server that forgets one has the job unclaimed again, and what is committed of a job
  -- takes its claim with it.
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM wed.hold_host(_host_id);
  _rooms := wed.find_tenant_claims(_now, _limit, _per_tenant_max, _excluded, _busy);
  _look_until := clock_timestamp() + interval '100 ms';
  WHILE _left > 0 AND _rooms <> '{}' LOOP
    _share := greatest(_left / cardinality(_rooms), least(_left, _together));
    -- Until none is removed of those that come first; in vain at last where others hold too many of them.
    FOR _round IN 1 .. 8 LOOP
      EXIT WHEN NOT wed.remove_stale(_rooms, _share, _left, _now, _look_until);
    END LOOP;
    _some := wed.lease_jobs(_host_id, _rooms, _share, _left, _now);
    EXIT WHEN _some = '{}';
    _claimed := _claimed || _some;
    _left := _left - cardinality(_some);
    _rooms := wed.rooms_left(_rooms, _some, _share);
  END LOOP;
  _claimed := _claimed || wed.claim_rest(_host_id, _now, _claimed, _limit, _per_tenant_max);
  RETURN QUERY SELECT * FROM wed.held(_host_id, _claimed);
END $$;

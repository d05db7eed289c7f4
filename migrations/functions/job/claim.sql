-- Gives a host up to _limit jobs that its components can do, and some beside (claim_beside): to each tenant that has any the same number, at
-- most _most, and what some leave to the others; of a tenant's, those of the highest priority and longest
-- due. Tenants named in _without get none: they have their share of the host. Where all cannot have some, those
-- come first that are not named in _busy, of whom the host has jobs already, and then chance decides; who gets any
-- gets some together, so that a host's batch is of few flows. A job whose condition no longer holds is skipped
-- instead; one that an external worker is at is left to it.
CREATE OR REPLACE FUNCTION wed.claim(_host_id integer, _limit integer, _most integer DEFAULT NULL, _without integer[] DEFAULT '{}',
                          _busy integer[] DEFAULT '{}')
RETURNS SETOF wed.claimed
LANGUAGE plpgsql AS $$
DECLARE
  _now timestamptz := clock_timestamp();
  _tenants integer[];
  _rooms integer[];
  _left integer := _limit;
  _share integer;
  _some tid[];
  _taken tid[] := '{}';
  _stale record;
  _together CONSTANT integer := 8;
BEGIN
  -- A claim need not be on disk: a server that forgets one has the job unclaimed again, and what is committed
  -- of a job takes its claim with it.
  PERFORM set_config('synchronous_commit', 'off', true);
  -- Held until the claim is committed: who frees the jobs of a host that is gone sees all that it claimed.
  PERFORM FROM wed.host WHERE host_id = _host_id FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'host % has lost its leases', _host_id USING ERRCODE = 'WF016', HINT = 'Enter anew.';
  END IF;
  SELECT array_agg(r.tenant_id), array_agg(r.room) INTO _tenants, _rooms
  FROM (SELECT t.tenant_id, least(wed.concurrency_left(t.tenant_id), coalesce(_most, _limit)) AS room
        FROM unnest(wed.tenants_with_work(_now, _without)) t(tenant_id)
        ORDER BY t.tenant_id = ANY (_busy), random() LIMIT _limit) r
  WHERE r.room > 0;
  WHILE _left > 0 AND cardinality(_tenants) > 0 LOOP
    _share := greatest(_left / cardinality(_tenants), least(_left, _together));
    FOR _stale IN
      SELECT j.* FROM ROWS FROM (unnest(_tenants), unnest(_rooms)) AS n(tenant_id, room)
      CROSS JOIN LATERAL (
        SELECT q.flow_id, q.wid, q.tgid, q.last_seq, q.seq FROM wed.job q
        WHERE q.host_id IS NULL AND q.component_id IS NOT NULL AND q.tenant_id = n.tenant_id AND q.due <= _now
        ORDER BY q.priority DESC, q.due, q.flow_id LIMIT least(_share, n.room)) j
      LIMIT _left
    LOOP
      CONTINUE WHEN _stale.last_seq <= _stale.seq;
      IF pg_try_advisory_xact_lock(_stale.wid, _stale.tgid) THEN
        PERFORM wed.skip_if_stale(_stale.flow_id, _stale.wid, _stale.tgid, true);
      END IF;
    END LOOP;
    WITH c AS MATERIALIZED (
      SELECT n.tenant_id, n.room, j.* FROM ROWS FROM (unnest(_tenants), unnest(_rooms)) AS n(tenant_id, room)
      CROSS JOIN LATERAL (
        SELECT q.ctid AS at, q.wid, q.tgid FROM wed.job q
        WHERE q.host_id IS NULL AND q.component_id IS NOT NULL AND q.tenant_id = n.tenant_id AND q.due <= _now
        ORDER BY q.priority DESC, q.due, q.flow_id LIMIT least(_share, n.room) FOR UPDATE SKIP LOCKED) j
      LIMIT _left
    ), l AS MATERIALIZED (
      SELECT c.at, pg_try_advisory_xact_lock(c.wid, c.tgid) AS ours FROM c
    ), u AS (
      UPDATE wed.job j SET host_id = _host_id, token = nextval('wed.fence'), attempt = j.attempt + 1, waits_for = NULL
      FROM l WHERE l.ours AND j.ctid = l.at RETURNING j.ctid
    ), more AS (
      -- Who had as many as its share may have more.
      SELECT c.tenant_id, c.room - _share AS room FROM c
      GROUP BY c.tenant_id, c.room HAVING count(*) = _share AND c.room > _share)
    SELECT (SELECT array_agg(u.ctid) FROM u), _left - (SELECT count(*) FROM c),
           (SELECT array_agg(tenant_id ORDER BY tenant_id) FROM more), (SELECT array_agg(room ORDER BY tenant_id) FROM more)
    INTO _some, _left, _tenants, _rooms;
    _taken := _taken || _some;
  END LOOP;
  _taken := _taken || wed.claim_beside(_host_id, _now, _taken, _limit, _most);
  RETURN QUERY SELECT * FROM wed.held(_host_id, _taken);
END $$;

-- At the end of a transaction that asked for or freed something. If a lock is not granted in time, the hosts'
-- sweep does it, but for what is consumed: that is taken in the same commit or not at all.
CREATE OR REPLACE FUNCTION wed.on_request() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET lock_timeout = '1s' AS $$
DECLARE
  _takes boolean := EXISTS (SELECT FROM wed.request WHERE xid = pg_current_xact_id() AND state = 'c');
BEGIN
  -- A host's batch has tried it already.
  IF current_setting('wed.hand_over', true) = 'later' AND NOT _takes THEN RETURN NULL; END IF;
  BEGIN
    IF wed.hand_over_requests(wed.open_requests(), '{}', '{}') > 0 THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  EXCEPTION WHEN lock_not_available THEN
    IF _takes THEN RAISE; END IF;
  END;
  RETURN NULL;
END $$;

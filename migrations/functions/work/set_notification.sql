-- Changes how an instance notifies people while it runs: policy (1 to 4), how many people, the pause between
-- rounds, the warnings and the transfer value; null leaves as it is. Open items are offered anew by it.
CREATE OR REPLACE FUNCTION wed.set_notification(
  _flow_id integer, _wid integer, _policy integer, _count integer, _renotify interval, _warnings integer[],
    _transfer integer,
  _now timestamptz DEFAULT clock_timestamp()) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _of wed.work_instance;
  _item_id bigint;
BEGIN
  IF (_transfer IS NOT NULL AND _transfer <> ALL (coalesce(_warnings, '{}'))) OR _policy NOT BETWEEN 1 AND 4
    OR _count NOT BETWEEN 1 AND 1000
     OR 1 > ANY (_warnings) OR 876600 < ANY (_warnings) OR cardinality(_warnings) > 100 THEN
    RAISE EXCEPTION
      'the policy is 1 to 4, for 1 to 1000 people; at most 100 warnings are hours from 1 to 876600, one of them the '
      'transfer value'
      USING ERRCODE = 'WF085', HINT = 'For example policy 2 for 3 people, warnings {6,12,24}, transfer 6.';
  ELSIF _renotify < interval '1 second' THEN
    RAISE EXCEPTION 'the pause between rounds is %, and is at least 1 s', _renotify USING ERRCODE = 'WF085',
      HINT = 'For example 5 minutes.';
  END IF;
  PERFORM wed.check_span('WF085', 'the pause between rounds', _renotify);
  UPDATE wed.work_instance SET policy = coalesce(_policy, policy), policy_count = coalesce(_count, policy_count),
    renotify = coalesce(_renotify, renotify), warnings = coalesce(_warnings, warnings),
    transfer = CASE WHEN _warnings IS NULL THEN transfer ELSE _transfer END
  WHERE flow_id = _flow_id AND wid = _wid RETURNING * INTO _of;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no people work at instance %', _wid USING ERRCODE = 'WF080', HINT = 'Plan its work first.';
  END IF;
  FOR _item_id IN
    UPDATE wed.work_item i SET policy = _of.policy, renotify = _of.renotify
    WHERE flow_id = _flow_id AND wid = _wid AND ended_at IS NULL RETURNING item_id
  LOOP
    DELETE FROM wed.work_offer WHERE item_id = _item_id;
    PERFORM wed.offer_item(_item_id, _now);
    PERFORM wed.set_alarm(_item_id, _now);
  END LOOP;
END $$;

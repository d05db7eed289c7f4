-- Reports an item's result: _values are set and the job ends through the gate, with its trace and the jobs that it
-- fires, in one transaction. With one key it is applied exactly once, however often it is sent. A result of
-- somebody who does not hold the item is not applied but kept: the answer says so ("applied": false) and shows both
-- versions. So is one that was made from the state _base when what it sets was changed by somebody else since.
-- _done_at is the time at which the person did it, by that person's clock.
CREATE OR REPLACE FUNCTION wed.report_work(
  _tenant text, _name text, _item_id bigint, _success boolean, _values jsonb, _key text, _reason text DEFAULT NULL,
  _claim integer DEFAULT NULL, _now timestamptz DEFAULT clock_timestamp(), _base integer DEFAULT NULL,
  _done_at timestamptz DEFAULT NULL) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _item wed.work_item;
  _print bytea := sha256(convert_to(concat_ws('|', _item_id, _success, _values::text, _reason), 'UTF8'));
  _prior wed.work_report;
  _changed jsonb;
  _answer jsonb;
BEGIN
  SELECT i.* INTO _item FROM wed.work_item i WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id;
  IF NOT FOUND THEN PERFORM wed.refuse_claim(_person, _item_id, 'SELECTED'); END IF;
  -- The instance first, as everywhere; two senders of one key wait for each other here.
  EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE',
                 (SELECT schema_name FROM wed.flow WHERE flow_id = _item.flow_id)) USING _item.wid;
  SELECT * INTO _prior FROM wed.work_report WHERE person_id = _person.person_id AND key = _key;
  IF FOUND THEN
    IF _prior.fingerprint <> _print THEN
      RAISE EXCEPTION 'this key was used for another report' USING ERRCODE = 'WF086',
        HINT = 'Use a new random key for each result.';
    END IF;
    RETURN _prior.answer || '{"replayed": true}';
  END IF;
  SELECT * INTO _item FROM wed.work_item WHERE item_id = _item_id FOR UPDATE;
  IF _item.holder IS DISTINCT FROM _person.person_id OR _item.ended_at IS NOT NULL
    OR _item.claim <> coalesce(_claim, _item.claim) THEN
    _answer := wed.refused_report(_item, _person, _values, NULL);
  ELSE
    _changed := CASE WHEN _success THEN wed.changed_meanwhile(_item, _base, _values) END;
    IF _changed IS NOT NULL THEN
      _answer := wed.refused_report(_item, _person, _values, _changed);
    ELSE
      _answer := wed.apply_report(_item, _person, _success, coalesce(_values, '{}'), _reason, _done_at, _now);
    END IF;
  END IF;
  INSERT INTO wed.work_report (person_id, key, item_id, flow_id, wid, fingerprint, applied, code, reason, result,
    answer, at)
  VALUES (_person.person_id, _key, _item_id, _item.flow_id, _item.wid, _print, (_answer ->> 'applied')::boolean,
    _answer ->> 'code',
          _answer ->> 'reason', jsonb_build_object('success', _success, 'values', _values, 'reason', _reason),
            _answer, _now);
  RETURN _answer;
END $$;

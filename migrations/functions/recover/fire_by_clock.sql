-- Fires what has become true by the clock in one flow that is due for a look: of its running instances the next 20 000
-- are looked at, and those with a condition that has become true pass the gate, traced as _CLOCK. A look takes a
-- tenth of the time at most. Answers how many instances fired something; null when no flow is due.
CREATE OR REPLACE FUNCTION wed.fire_by_clock() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' SET lock_timeout = '500ms' AS $$
DECLARE
  _begun timestamptz := clock_timestamp();
  _most CONSTANT integer := 20000;
  _clock wed.clock;
  _flow wed.flow;
  _wids integer[];
  _due integer[];
  _fired bigint := 0;
BEGIN
  SELECT c.* INTO _clock FROM wed.clock c WHERE c.next_look <= _begun ORDER BY c.next_look LIMIT 1 FOR UPDATE SKIP
    LOCKED;
  IF NOT FOUND THEN RETURN NULL; END IF;
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _clock.flow_id;
  IF NOT EXISTS (SELECT FROM wed.trigger WHERE flow_id = _flow.flow_id AND enabled AND NOT cfinal AND timely
                 AND wed.reads_clock(predicate)) THEN
    DELETE FROM wed.clock WHERE flow_id = _flow.flow_id;
    RETURN 0;
  END IF;
  _wids := ARRAY(SELECT DISTINCT j.wid FROM wed.job j
                 WHERE j.flow_id = _flow.flow_id AND j.wid > _clock.from_wid
                   AND j.trname <> '_EXCPT' ORDER BY 1 LIMIT _most);
  _due := ARRAY(SELECT n.wid FROM wed.newly_true(_flow, _wids) n ORDER BY n.wid);
  IF _due <> '{}' THEN _fired := wed.fire_due(_flow, _due); END IF;
  UPDATE wed.clock SET from_wid = CASE WHEN cardinality(_wids) = _most THEN _wids[_most] ELSE 0 END,
    next_look = CASE WHEN cardinality(_wids) = _most THEN _begun
                     ELSE clock_timestamp() + greatest(interval '400 ms', 9 * (clock_timestamp() - _begun)) END
  WHERE flow_id = _flow.flow_id;
  RETURN _fired;
END $$;

-- Refuses names that no trigger has, and an order in which some task could never begin, with the cycle named. Of one
-- instance, or (null) of what all instances have.
CREATE OR REPLACE FUNCTION wed.check_order(_flow_id integer, _wid integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _names text[] := ARRAY(SELECT n FROM wed.trigger t CROSS JOIN LATERAL unnest(ARRAY[t.tgname, t.trname]) n
                         WHERE t.flow_id = _flow_id AND NOT t.cfinal AND n !~ '^_');
  _unknown text;
  _cycle text[];
BEGIN
  SELECT n INTO _unknown FROM wed.order_of(_flow_id, _wid) o CROSS JOIN LATERAL jsonb_array_elements(o.terms) c
  CROSS JOIN LATERAL jsonb_array_elements_text(c) n WHERE n <> ALL (_names) ORDER BY 1 LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'after names "%", which is no trigger of this flow', left(_unknown, 80) USING ERRCODE = 'WF062',
      HINT = 'Its triggers and transitions: ' || left(array_to_string(ARRAY(SELECT DISTINCT unnest(_names)
          ORDER BY 1), ', '), 500);
  END IF;
  SELECT c.holds INTO _unknown FROM wed.trigger_constraint c
  WHERE c.flow_id = _flow_id AND c.keys IS NOT NULL AND c.holds NOT IN ('transition', 'instance')
      AND c.holds <> ALL (_names) LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'holds names "%", which is no trigger of this flow', left(_unknown, 80) USING ERRCODE = 'WF013',
      HINT = 'transition, instance, or a trigger or transition of the flow whose commit ends it.';
  END IF;
  _cycle := wed.order_cycle(_flow_id, _wid);
  IF _cycle IS NOT NULL THEN
    RAISE EXCEPTION 'the order of tasks has a cycle: %', array_to_string(_cycle, ' after ') USING ERRCODE = 'WF063',
      HINT = 'Leave out one of these.';
  END IF;
END $$;

-- Refuses to rename, retype or remove an attribute that a reservation, a series of numbers or the order of tasks is by.
CREATE OR REPLACE FUNCTION wed.refuse_constrained(_flow wed.flow, _attribute text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _user text;
BEGIN
  SELECT 'what is reserved by ' || coalesce(t.tgname, t.trname) INTO _user FROM wed.trigger_constraint c
      JOIN wed.trigger t USING (tgid)
  WHERE c.flow_id = _flow.flow_id AND _attribute = ANY (c.reads) ORDER BY t.tgid LIMIT 1;
  IF _flow.order_attribute = _attribute THEN _user := 'the order of tasks'; END IF;
  IF EXISTS (SELECT FROM wed.numbering WHERE flow_id = _flow.flow_id AND attribute = _attribute)
      THEN _user := 'a series of numbers'; END IF;
  IF _user IS NOT NULL THEN
    RAISE EXCEPTION 'attribute "%" is used by %', _attribute, _user USING ERRCODE = 'WF013',
        HINT = 'Change or remove that first.';
  END IF;
END $$;

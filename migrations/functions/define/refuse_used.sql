-- Refuses a change of an attribute that conditions read.
CREATE OR REPLACE FUNCTION wed.refuse_used(_flow wed.flow, _name text, _hint text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _users text;
BEGIN
  SELECT string_agg(coalesce(tgname, trname, 'the final condition'), ', ') INTO _users
  FROM wed.trigger WHERE flow_id = _flow.flow_id AND _name = ANY (reads);
  IF _users IS NOT NULL THEN
    RAISE EXCEPTION 'attribute "%" is used by the condition of: %', _name, _users USING ERRCODE = 'WF013', HINT = _hint;
  END IF;
END $$;

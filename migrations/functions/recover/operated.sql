-- Holds an instance for an operator: its row is locked, so that no commit comes between. Answers its status; refuses
-- one that there is not, and one that is final.
CREATE OR REPLACE FUNCTION wed.operated(_flow_id integer, _wid integer) RETURNS "char"
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _status "char";
BEGIN
  EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE',
                 (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id)) USING _wid;
  SELECT status INTO _status FROM wed.instance WHERE flow_id = _flow_id AND wid = _wid;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no instance %', _wid USING ERRCODE = 'WF040',
      HINT = '`wed instance list FLOW` shows the instances there are.';
  ELSIF _status = 'F' THEN
    RAISE EXCEPTION 'instance % is final and cannot be changed', _wid USING ERRCODE = 'WF002',
      HINT = 'Start a new instance.';
  END IF;
  RETURN _status;
END $$;

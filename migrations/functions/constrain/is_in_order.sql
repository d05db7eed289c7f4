-- Whether the tasks before a job are done: what its trigger declares, and what was added while running.
CREATE OR REPLACE FUNCTION wed.is_in_order(_flow_id integer, _wid integer, _tgid integer) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN NOT EXISTS (
    SELECT FROM (
      SELECT terms FROM wed.trigger_constraint WHERE tgid = _tgid AND terms IS NOT NULL
      UNION ALL
      SELECT terms FROM wed.precedence WHERE tgid = _tgid AND (wid IS NULL OR wid = _wid)) o
    WHERE NOT wed.is_met(o.terms, wed.names_done(_flow_id, _wid)));
END $$;

-- What new states mean for constraints, in the transaction that writes them, after jobs are out and in: frees what is
-- held no longer, and asks for what fired jobs need. _tgids are the triggers of the jobs that ended; _committed tells
-- a transition that was performed from one that was given up.
CREATE OR REPLACE FUNCTION wed.constrain(_rows wed.evaluated[], _tgids integer[], _committed boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _one record;
BEGIN
  FOR _one IN SELECT * FROM wed.constrained_flows(_rows, _tgids) LOOP
    PERFORM wed.free(_one.flow, _one.wids, _one.tgids, _committed);
    PERFORM wed.ask(_one.flow, _one.wids, NULL);
    PERFORM wed.ask_back(_one.flow, _one.wids);
  END LOOP;
END $$;

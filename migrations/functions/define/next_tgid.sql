-- A number for a trigger. All flows share the numbers; when they are used up those of removed triggers are given again.
CREATE OR REPLACE FUNCTION wed.next_tgid() RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  _tgid integer;
BEGIN
  LOOP
    _tgid := nextval('wed.tgid_seq');
    EXIT WHEN NOT EXISTS (SELECT FROM wed.trigger WHERE tgid = _tgid);
  END LOOP;
  RETURN _tgid;
END $$;

-- Lets a flow's sequence follow the largest number of new instances, where that was given by hand. What a sequence has
-- counted no rollback takes back, so it moves at once by a little only; else when the transaction commits
-- (wed.follow_given_wid).
CREATE OR REPLACE FUNCTION wed.note_given_wid(_flow_id integer, _wid integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _lost_max CONSTANT integer := 1000;
  _sequence regclass := wed.wid_sequence(_flow_id);
  _last bigint := coalesce(pg_sequence_last_value(_sequence), 0);
BEGIN
  IF _wid > _last + _lost_max THEN
    INSERT INTO wed.given_wid (flow_id, wid) VALUES (_flow_id, _wid);
  ELSIF _wid > _last THEN
    PERFORM setval(_sequence, _wid);
  END IF;
END $$;

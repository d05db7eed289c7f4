-- Writes the states of a batch (wed.write_results), unless another session holds a lock that is in the way for longer
-- than the session's lock_timeout. Then nothing is written, and the error's detail says which locks were met.
CREATE OR REPLACE FUNCTION wed.write_unlocked(_groups wed.result_group[], _careful boolean, _held boolean)
RETURNS wed.evaluated[] LANGUAGE plpgsql AS $$
BEGIN
  RETURN wed.write_results(_groups, _careful, _held);
EXCEPTION WHEN lock_not_available THEN
  PERFORM wed.refuse_locked(_groups);
END $$;

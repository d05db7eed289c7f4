-- Writes the states of a batch (wed.write_results), unless another session holds a lock that is in the way for longer
-- than the session's lock_timeout. Then nothing is written, and the error's detail says which locks were met
-- (wed.locks_met); where they are gone by then, the host tries again (40001).
CREATE OR REPLACE FUNCTION wed.write_unlocked(_groups wed.result_group[], _careful boolean, _held boolean)
RETURNS wed.evaluated[] LANGUAGE plpgsql AS $$
DECLARE
  _locks jsonb;
BEGIN
  RETURN wed.write_results(_groups, _careful, _held);
EXCEPTION WHEN lock_not_available THEN
  _locks := wed.locks_met(_groups);
  IF _locks = '[]' THEN
    RAISE EXCEPTION 'a lock was in the way' USING ERRCODE = 'serialization_failure';
  END IF;
  RAISE EXCEPTION 'another session holds a lock that is in the way'
    USING ERRCODE = 'lock_not_available', DETAIL = _locks::text;
END $$;

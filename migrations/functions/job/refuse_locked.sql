-- Refuses what met a lock of another session. The error's detail says which locks of flows they were (wed.locks_met);
-- where it names none, because they belong to something else or are gone, the host tries smaller parts.
CREATE OR REPLACE FUNCTION wed.refuse_locked(_groups wed.result_group[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'another session holds a lock that is in the way'
    USING ERRCODE = 'lock_not_available', DETAIL = wed.locks_met(_groups)::text;
END $$;

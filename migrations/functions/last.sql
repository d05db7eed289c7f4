-- Runs after the functions were applied: drops those that no file defines any more, then sets their privileges.
DO $$
DECLARE
  _gone regprocedure;
BEGIN
  FOR _gone IN
    SELECT p.oid FROM pg_proc p
    WHERE p.pronamespace IN ('wed'::regnamespace, 'wed_bounded'::regnamespace)
      AND p.xmin::text::bigint <> (pg_current_xact_id()::text::bigint & 4294967295)
  LOOP
    EXECUTE format('DROP FUNCTION %s', _gone);
  END LOOP;
END $$;
REVOKE CREATE ON SCHEMA wed FROM wed_predicate;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA wed FROM PUBLIC;
-- The condition of a trigger on wed_flow calls it in every writer's session.
GRANT EXECUTE ON FUNCTION wed.is_by_hand() TO PUBLIC;
-- Called by the view job_pool of every flow.
GRANT EXECUTE ON FUNCTION wed.waiting_reason(integer, integer, integer) TO PUBLIC;
-- The trace needs the partitions of today and the next days before its first row.
SELECT wed.roll_trace();

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
GRANT EXECUTE ON FUNCTION wed.waits_on(integer, integer, integer) TO PUBLIC;
-- Flows that were made before there were constraints.
SELECT wed.install_constraints(f.flow_id) FROM wed.flow f WHERE to_regclass(format('%I.wed_reservation', f.schema_name)) IS NULL;
-- Constrained flows that were compiled before there was read_keys.
SELECT wed.compile_keys(f) FROM wed.flow f WHERE f.constrained AND to_regproc(format('%1$I.read_keys_%1$s', f.shape_schema)) IS NULL;
-- Flows that were made before operators had functions of their own in them, or conditions were looked at by the clock.
SELECT wed.install_operations(f.flow_id) FROM wed.flow f WHERE to_regprocedure(format('%I.wed_event(integer, jsonb, text)', f.schema_name)) IS NULL;
SELECT wed.compile_clock(f) FROM wed.flow f WHERE NOT EXISTS (SELECT FROM wed.clock c WHERE c.flow_id = f.flow_id)
  AND EXISTS (SELECT FROM wed.trigger t WHERE t.flow_id = f.flow_id AND t.enabled AND NOT t.cfinal AND t.timely AND wed.reads_clock(t.predicate));
-- Once a statement, at the end of its transaction: locks of keys are the last that it takes.
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'wed.request'::regclass AND tgname = 'hand_over') THEN
    CREATE CONSTRAINT TRIGGER hand_over AFTER INSERT OR UPDATE ON wed.request DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.leads AND NEW.state IN ('n', 'f', 'c')) EXECUTE FUNCTION wed.on_request();
  END IF;
END $$;
-- The trace needs the partitions of today and the next days before its first row.
SELECT wed.roll_trace();
-- Documents whose numbers are not yet held to their digits.
SELECT wed.bound_attribute(f.schema_name, a.attname, format_type(a.atttypid, NULL)) FROM wed.flow f
JOIN pg_attribute a ON a.attrelid = to_regclass(format('%I.wed_flow', f.schema_name))
  AND a.atttypid = 'jsonb'::regtype AND NOT a.attisdropped
WHERE NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conrelid = a.attrelid AND c.conname = ('digits_' || a.attname)::name);
-- Flows whose conditions are not yet written as they are run.
SELECT wed.compile(f.flow_id) FROM wed.flow f
WHERE EXISTS (SELECT FROM wed.trigger t WHERE t.flow_id = f.flow_id AND t.predicate IS NOT NULL AND t.guarded IS NULL);

-- Runs after the functions and the templates were applied: drops functions that no file defines any more, pins
-- settings, sets privileges, and makes each flow's own functions anew.
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
-- The deparser writes constants as the session's settings are, and a default is read as they are.
SELECT wed.pin_settings(oid::regprocedure, false) FROM pg_proc
WHERE pronamespace = 'wed'::regnamespace
  AND proname IN ('check_predicate', 'put_on_shape', 'on_attribute', 'before_trigger',
  'on_trigger', 'after_definition', 'apply_report', 'set_state', 'clause_values', 'why', 'what_if',
  'what_if_condition', 'complete_job');
REVOKE CREATE ON SCHEMA wed FROM wed_predicate;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA wed FROM PUBLIC;
-- The condition of a trigger on wed_flow calls it in every writer's session.
GRANT EXECUTE ON FUNCTION wed.is_by_hand() TO PUBLIC;
-- Called by the view job_pool of every flow.
GRANT EXECUTE ON FUNCTION wed.waiting_reason(integer, integer, integer) TO PUBLIC;
GRANT EXECUTE ON FUNCTION wed.waiting_text(text, integer) TO PUBLIC;
GRANT EXECUTE ON FUNCTION wed.waits_on(integer, integer, integer) TO PUBLIC;
GRANT EXECUTE ON FUNCTION wed.resume_commands(integer, integer, integer) TO PUBLIC;
-- What flows' views show of shared tables (templates/views.sql).
GRANT SELECT ON wed.job, wed.trace, wed.attempt, wed.instance, wed.flow_version, wed.precedence, wed.trigger,
  wed.request, wed.reservation, wed.resource, wed.trigger_constraint TO wed_reader;
-- Once a statement, at the end of its transaction: locks of keys are the last that it takes.
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'wed.request'::regclass AND tgname = 'hand_over') THEN
    CREATE CONSTRAINT TRIGGER hand_over AFTER INSERT OR UPDATE ON wed.request DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.leads AND NEW.state IN ('n', 'f', 'c')) EXECUTE FUNCTION wed.on_request();
  END IF;
  IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'wed.given_wid'::regclass AND tgname = 'follow') THEN
    CREATE CONSTRAINT TRIGGER follow AFTER INSERT ON wed.given_wid DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION wed.follow_given_wid();
  END IF;
END $$;
-- Hosts of a program that knows another interface: their jobs go to others, and what they commit is refused.
SELECT wed.leave_host(host_id) FROM wed.host WHERE interface <> wed.interface_version();
-- Attributes of flows that were made before some bound.
SELECT wed.bind_attribute(f.schema_name, a.attname, format_type(a.atttypid, NULL)) FROM wed.flow f
JOIN pg_attribute a ON a.attrelid = to_regclass(format('%I.wed_flow', f.schema_name)) AND a.attnum > 1
  AND NOT a.attisdropped
WHERE EXISTS (SELECT FROM wed.bounds_of(a.attname, format_type(a.atttypid, NULL), '') b
  WHERE NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conrelid = a.attrelid AND c.conname = b.constraint_name));
SELECT wed.install_flows();
SELECT wed.bound_files();
-- The trace needs the partitions of today and the next days before its first row.
SELECT wed.roll_trace();

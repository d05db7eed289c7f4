-- Runs before the functions are applied.
--
-- How the functions are laid out: define makes flows; gate decides what a new state means and writes it; job claims,
-- commits and fails; explain says why; chore is what any host does for all tenants, thing by thing; sweep looks after
-- tables of ours. A flow has functions of its own, made from define/templates.
--
-- The way of a host's result: wed.commit_results > wed.write_unlocked > wed.write_results > the flow's apply (UPDATE,
-- conditions) > wed.pass_gate > wed.decide, wed.refuse_passing, then one function for each table that is written,
-- wed.append_trace last.
-- The way of an UPDATE in SQL: the flow's gate_update (templates) > wed.identify_writers > wed.refuse_writers >
-- wed.pass_gate, and so on.
--
-- Order of locks. Whoever takes several takes them in this order, and those of one kind by flow_id and wid:
--   1. the host's row (FOR KEY SHARE), 2. a flow's row (definitions), 3. a flow's tables, 4. the instance's row of
--      wed_flow,
--   5. its jobs, 6. its row of wed.instance, 7. keys of reservations (deferred, at the end of the transaction).
-- A caller that begins with the job takes it with SKIP LOCKED or by the advisory lock that is only tried.
--
-- Time limits. A host's session has a lock_timeout of 1 s and a statement_timeout (Store::for_host), one that commits a
-- lock_timeout of 50 ms (Store::for_commits); a definition waits 5 s for its flow's tables; a chore waits 50 ms, and
-- what is locked is put off (wed.postpone), each thing in a block of its own.
--
-- Settings. Whatever could change the meaning of a condition, a comparison or an output is pinned in one place
-- (wed.pinned_settings): for functions that clients call by wed.pin_settings, for hosts by their connections' options.

-- A function may name one that comes later in the alphabet.
SET LOCAL check_function_bodies = off;
-- wed_predicate owns some functions; their owner needs CREATE at the moment it becomes that.
GRANT USAGE, CREATE ON SCHEMA wed TO wed_predicate;
-- Drops functions that nothing depends on: each comes anew, and may have other names of arguments or return something
-- else.
DO $$
DECLARE
  _function regprocedure;
BEGIN
  FOR _function IN SELECT oid FROM pg_proc WHERE pronamespace = 'wed'::regnamespace AND prokind = 'f' LOOP
    BEGIN
      EXECUTE format('DROP FUNCTION %s', _function);
    EXCEPTION WHEN dependent_objects_still_exist THEN
      NULL; -- a trigger, a view or a default calls it
    END;
  END LOOP;
END $$;

-- Runs before the functions are applied.
--
-- The model. A flow is a definition: attributes, triggers, a final condition. An instance is one row of its wed_flow:
-- its state. Whoever writes a state passes the gate in the same transaction: conditions are evaluated, the finished job
-- leaves wed.job, those that are fired enter it, wed.trace gets a row. A job is claimed by a host (a lease with a
-- token), locked by an external worker, or held by a person, and ends with the commit of its result, another attempt,
-- or an exception. docs/explanation/states.md names all states.
--
-- The files, in the order in which one meets them:
--   gate, decide, writers           a new state: what it means, who may write it
--   claim, commit, attempts, hosts    jobs of hosts, and the leases of these
--   http_workers, sql_workers    jobs of workers outside: leased one by one over HTTP, locked by a session in SQL
--   reservations, grants, stock, orders, numbering    constraints
--   flows, attributes, triggers, compile, apply, versions, settings, components    definitions
--   condition, condition_calls, bounded    what tenants' SQL may hold, and how it is bounded; the lists, and most
--     bounded functions, are made from the guard's table (host/guard/src/rules.rs)
--   operate, back, pauses, keys, business_keys, receipts, clock, webhooks, hooks, feed, schedules, waiting, explain,
--     lint    operators
--   work_plan, work_items, work_reports, worklists, people, notification    people's work
--   tenants, quotas, usage, audit, capacity    tenants
--   leaving, arriving, moving    a tenant that moves: its fence, its file taken in, what of it goes along
--   children    instances that other instances started
--   chores, chores_of_jobs, retention, status, metrics, figures    any host, for all
-- A flow has functions of its own, made from templates.
--
-- The way of a host's result: wed.commit_results > wed.write_unlocked > wed.write_results > the flow's apply (UPDATE,
-- conditions) > wed.pass_gate > wed.decide, wed.refuse_decision, then one function for each step: what waits is ended,
-- jobs are reused or removed, others fired, the status and the trace written, keys of reservations asked for, and new
-- jobs paused where their flow is.
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

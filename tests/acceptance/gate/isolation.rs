//! Isolation of flows: a role sees no row and locks no table of another flow, and stores no value that stops what
//! serves all.

use crate::support::{Database, Flow, Session, on};

/// A flow with everything that its views show: states, notes, reservations, orders, attempts, a stock.
const BUSY: &str = "
INSERT INTO wed_attr (aname, adv, open) VALUES ('a1', NULL, true);
INSERT INTO wed_trig (tgname, trname, cpred, reserves, quantity) VALUES ('t', 'step', 'a1 IS NOT NULL', 'a1', '1');
INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('u', 'other', 'a1 IS NOT NULL');
INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a1 = 'end'$$, true);
SELECT wed_after('u', 't');";

/// Planner settings under which a query's own conditions cost as little as the barrier's.
const TURNED: &str = "
SET cpu_operator_cost = 0; SET cpu_tuple_cost = 0; SET seq_page_cost = 0; SET random_page_cost = 0;
SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off; SET enable_nestloop = off;";

fn busy(flow: &Flow, value: &str) -> Session {
    let mut s = flow.session();
    s.run(BUSY);
    s.run(&format!(
        "UPDATE wed_trig SET cpred = $$a1 <> '{value}-in-condition'$$ WHERE tgname = 'u';
         INSERT INTO wed_resource (key, capacity) VALUES ('{value}', 5);
         INSERT INTO wed_flow (a1) SELECT '{value}' FROM generate_series(1, 20)"
    ));
    s
}

/// Relations of any schema but the catalogs' that a flow's role may read.
fn relations(s: &mut Session) -> Vec<String> {
    s.lines(
        "SELECT c.oid::regclass FROM pg_class c WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f', 'S')
           AND c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
           AND has_schema_privilege(c.relnamespace, 'USAGE')
           AND (has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
             OR has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE, REFERENCES')) ORDER BY 1",
    )
}

#[harness::test]
fn no_query_of_a_flows_role_sees_a_row_of_another_flow() {
    let database = Database::new();
    let (one, two) = (database.flow("one"), database.flow("two"));
    let mut s = busy(&one, "mine");
    let mut t = busy(&two, "canary");
    t.run("SELECT wed_cancel(1, 'canary')");
    let relations = relations(&mut s);
    assert!(relations.len() > 10, "{relations:?}");
    s.run(TURNED);
    for relation in &relations {
        s.run("SET a.seen = ''");
        s.run(&format!(
            "SELECT count(*) FROM {relation} x WHERE set_config('a.seen', current_setting('a.seen') || to_jsonb(x)::text,
               false) IS NULL"
        ));
        assert_eq!(s.line("SELECT current_setting('a.seen') ~ 'canary'"), "f", "{relation}");
        // What an error says of a value, of each column.
        let columns = s.lines(&format!(
            "SELECT quote_ident(attname) FROM pg_attribute WHERE attrelid = '{relation}'::regclass AND attnum > 0
               AND NOT attisdropped"
        ));
        for column in columns {
            let said = s.tried(&format!(
                "SELECT count(*) FROM {relation} x WHERE ((x.{column})::text || ' of x')::integer > 0"
            ));
            assert!(said.is_none_or(|said| !said.message.contains("canary")), "{relation}.{column}");
        }
    }
    assert!(s.number("SELECT count(*) FROM wed_trace") >= 20);
}

/// Locks stronger than a reader's that a session holds on tables of the schema that all flows share.
fn shared_locks(owner: &mut Session, pid: i64) -> Vec<String> {
    owner.lines(&format!(
        "SELECT l.relation::regclass, l.mode FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
         WHERE l.pid = {pid} AND c.relnamespace = 'wed'::regnamespace AND c.relkind IN ('r', 'p')
           AND l.mode NOT IN ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')"
    ))
}

#[harness::test]
fn no_lock_of_a_flows_role_reaches_a_shared_table() {
    let database = Database::new();
    let (one, two) = (database.flow("one"), database.flow("two"));
    let mut s = busy(&one, "mine");
    let mut t = busy(&two, "theirs");
    t.run("SET lock_timeout = '5s'");
    let mut owner = database.owner();
    let pid = s.number("SELECT pg_backend_pid()");
    let modes = [
        "ACCESS SHARE",
        "ROW SHARE",
        "ROW EXCLUSIVE",
        "SHARE UPDATE EXCLUSIVE",
        "SHARE",
        "SHARE ROW EXCLUSIVE",
        "EXCLUSIVE",
        "ACCESS EXCLUSIVE",
    ];
    for relation in relations(&mut s) {
        let locks = modes.iter().map(|mode| format!("LOCK TABLE {relation} IN {mode} MODE")).chain(
            ["UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE"]
                .iter()
                .map(|kind| format!("SELECT * FROM {relation} FOR {kind}")),
        );
        for lock in locks {
            s.run("BEGIN");
            if let Some(refusal) = s.tried(&lock) {
                // Privileges, or a view that Postgres cannot lock rows of.
                assert!(["42501", "0A000"].contains(&refusal.code.as_str()), "{lock}: {refusal:?}");
                continue;
            }
            assert_eq!(shared_locks(&mut owner, pid), [""; 0], "{lock}");
            s.run("ROLLBACK");
        }
        // Others work under the strongest lock that it gets.
        s.run("BEGIN");
        if s.tried(&format!("LOCK TABLE {relation} IN ACCESS EXCLUSIVE MODE")).is_none() {
            t.run("INSERT INTO wed_flow (a1) VALUES ('theirs')");
            t.run("UPDATE wed_resource SET capacity = capacity + 1");
        }
        s.run("ROLLBACK");
    }
    on(database.store.create_flow("default", "three", "")).expect("a flow");
}

#[harness::test]
fn no_function_of_a_flows_role_keeps_a_lock_on_a_shared_table() {
    let database = Database::new();
    let one = database.flow("one");
    let mut s = busy(&one, "mine");
    let mut owner = database.owner();
    let pid = s.number("SELECT pg_backend_pid()");
    let calls = s.lines(
        "SELECT format('SELECT %s(%s)', p.oid::regproc,
             (SELECT string_agg('NULL::' || format_type(a, NULL), ', ') FROM unnest(p.proargtypes) a))
         FROM pg_proc p
         WHERE p.pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
           AND p.prokind = 'f' AND p.prorettype <> 'trigger'::regtype
           AND has_schema_privilege(p.pronamespace, 'USAGE') AND has_function_privilege(p.oid, 'EXECUTE')",
    );
    assert!(calls.len() > 15, "{calls:?}");
    let schema = s.line("SELECT current_schema");
    for call in calls {
        s.run(&format!("BEGIN; SET LOCAL search_path = {schema}"));
        if s.tried(&call).is_none() {
            assert_eq!(shared_locks(&mut owner, pid), [""; 0], "{call}");
            s.run("ROLLBACK");
        }
    }
}

#[harness::test]
fn views_that_flows_read_are_barriers_owned_by_a_reader() {
    let database = Database::new();
    database.flow("one").session().run(BUSY);
    let mut owner = database.owner();
    assert_eq!(
        owner.line(
            "SELECT string_agg(DISTINCT relowner::regrole::text, ' ') FROM pg_class WHERE relkind = 'v'
                      AND relnamespace::regnamespace::text ~ '^wf_'"
        ),
        "wed_reader"
    );
    // A view that reads a shared table is a barrier; others read such a view.
    assert_eq!(
        owner.lines(
            "SELECT DISTINCT c.oid::regclass FROM pg_class c JOIN pg_rewrite r ON r.ev_class = c.oid
                       JOIN pg_depend d ON d.objid = r.oid AND d.classid = 'pg_rewrite'::regclass
                         AND d.refclassid = 'pg_class'::regclass
                       JOIN pg_class t ON t.oid = d.refobjid
                     WHERE c.relkind = 'v' AND c.relnamespace::regnamespace::text ~ '^wf_'
                       AND t.relnamespace = 'wed'::regnamespace
                       AND NOT coalesce('security_barrier=true' = ANY (c.reloptions), false)"
        ),
        [""; 0]
    );
    assert_eq!(
        owner.lines(
            "SELECT privilege_type, table_name FROM information_schema.role_table_grants
                     WHERE grantee = 'wed_reader' AND table_schema = 'wed' AND privilege_type <> 'SELECT'"
        ),
        [""; 0]
    );
}

#[harness::test]
fn stock_that_two_sessions_add_to_at_once_is_added_up() {
    let flow = Flow::of(BUSY);
    let (mut s, mut t) = (flow.session(), flow.session());
    s.run("INSERT INTO wed_resource (key, capacity) VALUES ('A', 100)");
    s.run("BEGIN; UPDATE wed_resource SET capacity = capacity + 1 WHERE key = 'A'");
    let waiting = std::thread::spawn(move || {
        t.run("UPDATE wed_resource SET capacity = capacity + 10, minimum = minimum + 2 WHERE key = 'A'");
    });
    let mut owner = flow.database.owner();
    crate::support::wait::eventually("the other session waits for the key", || {
        (owner.number(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database \
           WHERE datname = current_database()) OR NOT granted AND locktype = 'transactionid'",
        ) > 0)
            .then_some(())
    });
    s.run("COMMIT");
    waiting.join().expect("added");
    assert_eq!(s.line("SELECT capacity, minimum FROM wed_resource"), "111|2");
}

#[harness::test]
fn spans_are_bounded_by_what_they_add() {
    let flow = Flow::of(BUSY);
    let mut s = flow.session();
    for column in ["timeout", "backoff", "delay"] {
        for span in [
            "71000000 months -2129999999 days",
            "1200 months 2000000 days -1000000 hours",
            "-71000000 months 2130000001 days",
        ] {
            s.refused(&format!("UPDATE wed_trig SET {column} = '{span}' WHERE tgname = 't'")).expect("WF013");
        }
        s.run(&format!("UPDATE wed_trig SET {column} = '99 years' WHERE tgname = 't'"));
    }
    let mut owner = flow.database.owner();
    for statement in [
        "SELECT wed.set_policy(flow_id, tgid, NULL, '300000 years') FROM wed.trigger WHERE tgname = 't'",
        "SELECT wed.plan_work(flow_id, '{\"tasks\": [{\"task\": \"x\", \"trigger\": \"t\", \"role\": \"r\",
           \"deadline\": \"300000 years\"}]}') FROM wed.flow",
        "SELECT wed.plan_work(flow_id, '{\"tasks\": [{\"task\": \"x\", \"trigger\": \"t\", \"role\": \"r\",
           \"deadline\": {\"amount\": 2000000000, \"unit\": \"days\"}}]}') FROM wed.flow",
        "SELECT wed.set_notification(flow_id, 1, 1, 1, make_interval(secs => 9223300000000), '{}', NULL) FROM wed.flow",
        "UPDATE wed.trigger SET backoff = '71000000 months -2130000000 days'",
    ] {
        let code = owner.refused(statement).code;
        assert!(["22023", "WF085", "23514"].contains(&code.as_str()), "{statement}: {code}");
    }
    // What hosts and sweeps compute of the longest that is allowed.
    assert_eq!(
        owner.line("SELECT wed.backoff_of('100 years', 1000), wed.backoff_of('71000000 months -2130000000 days', 2)"),
        "24:00:00|24:00:00"
    );
}

#[harness::test]
fn defaults_are_held_to_what_instances_are() {
    let mut s = Flow::of(BUSY).session();
    for (atype, default) in [
        ("jsonb", "'[' || repeat('1e131000,', 3000) || '1]'"),
        ("jsonb", "'[' || repeat('0e-16383,', 3000) || '1]'"),
        ("numeric", "'1e131000'"),
        ("numeric[]", "'{1e131000}'"),
        ("jsonb[]", "'{1e131000}'"),
    ] {
        s.refused(&format!("INSERT INTO wed_attr (aname, atype, adv) SELECT 'big', '{atype}', {default}"))
            .expect("WF031");
    }
    s.refused("INSERT INTO wed_attr (aname, atype, adv) SELECT 'big', 'integer[]', '{' || repeat('1,', 5000) || '1}'")
        .expect("WF033");
    s.refused("INSERT INTO wed_attr (aname, atype, adv) SELECT 'big', 'jsonb', repeat('[', 120) || repeat(']', 120)")
        .expect("WF035");
}

#[harness::test]
fn documents_are_nested_at_most_100_levels() {
    let flow = Flow::of(BUSY);
    let mut s = flow.session();
    s.run("INSERT INTO wed_attr (aname, atype, open) VALUES ('j', 'jsonb', true), ('js', 'jsonb[]', true)");
    let nested = |levels: usize| format!("'{}1{}'::jsonb", "[".repeat(levels), "]".repeat(levels));
    s.refused(&format!("INSERT INTO wed_flow (a1, j) VALUES ('x', {})", nested(101))).expect("WF035");
    s.refused(&format!("INSERT INTO wed_flow (a1, js) VALUES ('x', ARRAY[{}])", nested(101))).expect("WF035");
    s.refused(&format!("INSERT INTO wed_flow (a1, j) VALUES ('x', {})", nested(6000))).expect("WF035");
    s.run(&format!("INSERT INTO wed_flow (a1, j) VALUES ('x', {})", nested(100)));
    s.refused("UPDATE wed_flow SET j = jsonb_build_array(j)").expect("WF035");
}

#[harness::test]
fn zeros_of_many_digits_are_refused() {
    let mut s = Flow::of(BUSY).session();
    s.run("INSERT INTO wed_attr (aname, atype) VALUES ('j', 'jsonb')");
    s.refused("INSERT INTO wed_flow (a1, j) SELECT 'x', ('[' || repeat('0e-16383,', 12000) || '0]')::jsonb")
        .expect("WF031");
    s.run("INSERT INTO wed_flow (a1, j) SELECT 'x', ('[' || repeat('0.00,', 12000) || '0]')::jsonb");
}

#[harness::test]
fn long_attribute_names_keep_their_bounds() {
    let mut s = Flow::of(BUSY).session();
    let name = |last: &str| format!("{}{last}", "A".repeat(60));
    s.run(&format!("INSERT INTO wed_attr (aname, atype) VALUES ('{}', 'jsonb'), ('{}', 'text')", name("x"), name("y")));
    s.run(&format!("UPDATE wed_attr SET open = true WHERE aname = '{}'", name("y")));
    s.refused(&format!("INSERT INTO wed_flow (a1, \"{}\") VALUES ('x', '[1e131000]')", name("x"))).expect("WF031");
}

#[harness::test]
fn constants_that_a_condition_makes_are_not_kept_in_a_plan() {
    let mut s = Flow::of(BUSY).session();
    let parts: Vec<String> = (0..20)
        .map(|n| format!("a1 = replace(repeat(repeat('x', 256), 256), 'x', '{}') || '{n}'", "y".repeat(63)))
        .collect();
    s.run(&format!(
        "INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('large', 'never', $$a1 IS NOT NULL OR {}$$)",
        parts.join(" OR ")
    ));
    s.run("INSERT INTO wed_flow (a1) VALUES ('x')");
    let mut owner = s.owner();
    let call = owner.line(
        "SELECT format('SELECT %1$I.current_%1$s(ARRAY(SELECT wid FROM %2$I.wed_flow))', shape_schema, schema_name)
           FROM wed.flow",
    );
    // Often enough for a plan that is kept.
    for _ in 0..8 {
        owner.run(&call);
    }
    let bytes = owner.number(
        "SELECT coalesce(sum(total_bytes), 0)::bigint FROM pg_backend_memory_contexts WHERE name ~ '^CachedPlan'",
    );
    assert!(bytes < 20_000_000, "{bytes} bytes of plans");
}

#[harness::test]
fn sessions_of_a_tenant_hold_a_bounded_number_of_job_locks() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname) VALUES ('a1');
         INSERT INTO wed_trig (trname, cpred) VALUES ('step', 'a1 IS NULL');
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('a1 IS NOT NULL', true);",
    );
    let mut s = flow.session();
    s.run("INSERT INTO wed_flow SELECT FROM generate_series(1, 4500)");
    let room = s.number(
        "SELECT current_setting('max_locks_per_transaction')::integer * current_setting('max_connections')::integer",
    );
    assert!(room <= 12_800, "the test takes enough locks for {room} on the server");
    let mut sessions: Vec<Session> = (0..5).map(|_| flow.session()).collect();
    let refused: Vec<_> = (sessions.iter_mut().zip(0..))
        .filter_map(|(session, n)| {
            session.run("BEGIN");
            session.tried(&format!(
                "SELECT pg_try_advisory_xact_lock(wid, tgid) FROM job_pool WHERE wid BETWEEN {} AND {}",
                n * 900 + 1,
                n * 900 + 900
            ))
        })
        .collect();
    assert!(!refused.is_empty(), "none was refused");
    for refusal in refused {
        let refusal = refusal.expect("WF017");
        assert!(refusal.message.contains("the sessions of the tenant"), "{refusal:?}");
    }
}

#[harness::test]
fn trigger_written_while_it_is_paused_stays_paused() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname) VALUES ('a1');
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('t', 'step', 'a1 IS NULL');
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('a1 IS NOT NULL', true);",
    );
    let mut s = flow.session();
    s.run("SELECT wed_pause_flow('for the test')");
    s.run("UPDATE wed_trig SET timeout = '2 minutes' WHERE tgname = 't'");
    let wid = s.start();
    s.run("BEGIN");
    assert!(!s.take(wid, "step"), "a paused job is nobody's");
    s.run("ROLLBACK; SELECT wed_resume_flow()");
    s.finish(wid, "step", "a1 = 'x'");
}

#[harness::test]
fn dropping_a_flow_does_not_wait_for_a_reader() {
    let flow = Flow::of(BUSY);
    let mut s = flow.session();
    s.run("BEGIN; SELECT count(*) FROM wed_flow");
    on(flow.database.store.drop_flow("default", &flow.name)).expect("dropped");
    assert!(s.batch_execute("SELECT 1").is_err());
}

#[harness::test]
fn session_of_a_flow_cannot_lift_the_bound_of_its_temporary_files() {
    let mut s = Flow::of(BUSY).session();
    assert_eq!(s.line("SHOW temp_file_limit"), "1GB");
    s.refused("SET temp_file_limit = -1").expect("42501");
}

#[harness::test]
fn session_that_may_hold_the_queue_of_notifications_is_ended() {
    let flow = Flow::of(crate::support::flows::STEPS);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    s.run("LISTEN x; BEGIN; SELECT 1");
    assert_eq!(owner.line("SELECT wed.empty_notifications()"), "0", "the queue has room");
    assert_eq!(owner.line("SELECT wed.empty_notifications(0, 0)"), "1");
    let sessions = "SELECT count(*) FROM pg_stat_activity a JOIN wed.flow f ON f.role_name = a.usename";
    crate::support::eventually("its end", || (owner.line(sessions) == "0").then_some(()));
    assert_eq!(owner.line("SELECT detail ? 'notifications' FROM wed.audit WHERE action = 'session.end'"), "t");
}

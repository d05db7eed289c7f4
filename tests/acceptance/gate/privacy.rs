//! Flows do not see each other, and a flow's role can do what a flow needs and nothing else.

use crate::support::flows::PAPER;
use crate::support::{Database, Flow};

#[harness::test]
fn two_flows_with_equal_names_do_not_see_each_other() {
    let database = Database::new();
    let (one, two) = (database.flow("one"), database.flow("two"));
    let (mut s, mut t) = (one.session(), two.session());
    s.run(PAPER);
    t.run(PAPER);
    t.run("UPDATE wed_attr SET aname = 'other' WHERE aname = 'a2'; INSERT INTO wed_attr (aname) VALUES ('extra')");
    let (a, b) = (s.start(), t.start());
    assert_eq!((a, b), (1, 1), "each flow counts its own instances");
    s.finish(a, "tr_a2", "a2 = 'done'");
    assert_eq!(t.pending(b), ["tr_a2", "tr_a3"]);
    assert_eq!(t.trace(b).len(), 1);
    assert_eq!(s.trace(a).len(), 2);
    assert_eq!(s.number("SELECT count(*) FROM wed_attr"), 3);
    assert_eq!(s.number("SELECT count(*) FROM wed_instance"), 1);
    assert_eq!(s.number("SELECT count(DISTINCT tgid) FROM job_pool"), 1);
}

#[harness::test]
fn locks_of_two_flows_do_not_collide() {
    let database = Database::new();
    let (mut s, mut t) = (database.flow("one").session(), database.flow("two").session());
    s.run(PAPER);
    t.run(PAPER);
    let (a, b) = (s.start(), t.start());
    s.run("BEGIN");
    t.run("BEGIN");
    assert!(s.take(a, "tr_a2") && s.take(a, "tr_a3"));
    assert!(t.take(b, "tr_a2"));
    t.run(&format!("UPDATE wed_flow SET a2 = 'done' WHERE wid = {b}; COMMIT"));
    s.run("ROLLBACK");
    assert_eq!(s.pending(a), ["tr_a2", "tr_a3"]);
    // A lock on the other flow's job gives no right to write either.
    s.run("BEGIN");
    let tgid = t.number("SELECT tgid FROM job_pool WHERE trname = 'tr_a3'");
    assert_eq!(s.line(&format!("SELECT pg_try_advisory_xact_lock({a}, {tgid})")), "f");
    s.refused(&format!("SELECT pg_catalog.pg_try_advisory_xact_lock({a}, {tgid})")).expect("42501");
    s.refused(&format!("UPDATE wed_flow SET a3 = 'x' WHERE wid = {a}")).expect("WF003");
}

fn schema_of(flow: &Flow) -> String {
    flow.session().line("SELECT current_schema")
}

#[harness::test]
fn a_flows_role_takes_nothing_that_all_share() {
    let mut s = Database::new().flow("taker").session();
    for statement in [
        "SELECT pg_advisory_lock(1)",
        "SELECT pg_advisory_xact_lock(1, 2)",
        "SELECT pg_try_advisory_lock_shared(1)",
        "SELECT pg_catalog.pg_try_advisory_xact_lock(1, 2)",
        "SELECT lo_create(0)",
        "SELECT lo_from_bytea(0, 'x')",
        "SELECT pg_logical_emit_message(true, 'x', 'y')",
        "CREATE TEMP TABLE mine ()",
        "CREATE TABLE public.mine ()",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = \
         current_database()",
    ] {
        s.refused(statement).expect("42501");
    }
    // What clients ask for as a matter of course is answered.
    for statement in [
        "SELECT proname, pronargs, prorettype::regtype FROM pg_proc LIMIT 1",
        "SELECT a.attname, format_type(a.atttypid, a.atttypmod), pg_get_expr(d.adbin, d.adrelid) FROM pg_attribute a
           LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum WHERE a.attrelid = \
           'wed_flow'::regclass",
        "SELECT conname, pg_get_constraintdef(oid, true) FROM pg_constraint WHERE conrelid = 'wed_flow'::regclass",
        "SELECT count(*) FROM information_schema.columns",
        "SELECT count(*) FROM information_schema.routines",
        "SELECT t.typname, r.rngsubtype FROM pg_type t LEFT JOIN pg_range r ON r.rngtypid = t.oid LIMIT 1",
    ] {
        assert!(!s.lines(statement).is_empty(), "{statement}");
    }
}

#[harness::test]
fn conditions_are_not_to_be_read_by_others() {
    let database = Database::new();
    let (one, two) = (database.flow("one"), database.flow("two"));
    two.session().run(
        "INSERT INTO wed_attr (aname) VALUES ('a1');
         INSERT INTO wed_trig (trname, cpred) VALUES ('t', $$a1 = 'canary'$$)",
    );
    let mut s = one.session();
    s.refused("SELECT prosrc FROM pg_proc").expect("42501");
    s.refused("SELECT pg_get_functiondef(p.oid) FROM pg_proc p WHERE proname LIKE 'match\\_%'").expect("42501");
    assert_eq!(
        s.lines("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE pg_get_constraintdef(oid) ~ 'canary'"),
        Vec::<String>::new()
    );
}

#[harness::test]
fn a_flows_role_reads_nothing_of_another_flow() {
    let database = Database::new();
    let (one, two) = (database.flow("one"), database.flow("two"));
    two.session().run(PAPER);
    two.session().start();
    let other = schema_of(&two);
    let mut s = one.session();
    for table in ["wed_attr", "wed_trig", "wed_flow", "job_pool", "wed_trace", "wed_instance", "wed_attempt"] {
        s.refused(&format!("SELECT * FROM {other}.{table}")).expect("42501");
    }
    for statement in [
        format!("INSERT INTO {other}.wed_flow DEFAULT VALUES"),
        format!("UPDATE {other}.wed_attr SET open = true"),
        format!("SELECT * FROM {other}.wed_rematch()"),
        format!("SELECT {other}.pg_try_advisory_xact_lock(1, 1)"),
        format!("SELECT * FROM {other}_shape.wed_flow"),
        format!("SELECT {other}_shape.match_{other}_shape(NULL)"),
        format!("SET ROLE {other}"),
    ] {
        s.refused(&statement).expect("42501");
    }
}

#[harness::test]
fn a_flows_role_reads_nothing_of_the_system_schema() {
    let flow = Flow::of(PAPER);
    let mut owner = flow.database.owner();
    let mut s = flow.session();
    let tables = owner.lines(
        "SELECT relname FROM pg_class WHERE relnamespace = 'wed'::regnamespace AND relkind IN \
     ('r', 'v')",
    );
    assert!(tables.len() > 10, "{tables:?}");
    for table in tables {
        s.refused(&format!("SELECT * FROM wed.\"{table}\"")).expect("42501");
    }
    for call in [
        "wed.drop_flow(1)",
        "wed.create_flow('default', 'mine')",
        "wed.compile(1)",
        "wed.claim(1, 10)",
        "wed.register_host('mine', '1 day')",
        "wed.rematch(1, false)",
        "nextval('wed.fence')",
        "nextval('wed.tgid_seq')",
    ] {
        s.refused(&format!("SELECT {call}")).expect("42501");
    }
    let shape = format!("{}_shape", schema_of(&flow));
    s.refused(&format!("SELECT * FROM {shape}.wed_flow")).expect("42501");
    s.refused(&format!("SELECT {shape}.match_{shape}(NULL)")).expect("42501");
    s.refused("SELECT * FROM pg_authid").expect("42501");
    s.refused("SELECT * FROM _sqlx_migrations");
    s.refused("SELECT * FROM public._sqlx_migrations").expect("42501");
}

#[harness::test]
fn a_flows_role_creates_nothing() {
    let mut s = Flow::of(PAPER).session();
    for statement in [
        "CREATE TABLE mine (a int)",
        "CREATE TEMP TABLE mine (a int)",
        "CREATE TABLE public.mine (a int)",
        "CREATE UNLOGGED TABLE wed.mine (a int)",
        "SELECT 1 AS a INTO mine",
        "CREATE SCHEMA mine",
        "CREATE VIEW mine AS SELECT 1",
        "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE FUNCTION pg_temp.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE TYPE mine AS (a int)",
        "CREATE SEQUENCE mine",
        "CREATE ROLE mine",
        "CREATE DATABASE mine",
        "CREATE EXTENSION plpgsql",
        "COPY wed_flow TO '/tmp/mine'",
        "COPY wed_flow TO PROGRAM 'true'",
        "COPY wed_flow FROM '/etc/passwd'",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT lo_import('/etc/passwd')",
        "ALTER SYSTEM SET fsync = off",
        "CREATE INDEX mine ON wed_flow (a1)",
        "COMMENT ON TABLE wed_flow IS 'mine'",
        "GRANT SELECT ON wed_flow TO PUBLIC",
    ] {
        match s.batch_execute(statement) {
            // Postgres warns of a grant that grants nothing.
            Ok(()) => assert!(statement.starts_with("GRANT"), "{statement}"),
            Err(error) => {
                let refusal = crate::support::session::Refusal::of(&error);
                assert!(["42501", "3F000", "42710"].contains(&refusal.code.as_str()), "{statement}: {refusal:?}");
            }
        }
    }
    assert_eq!(
        s.line("SELECT count(*) FROM pg_class c, aclexplode(c.relacl) a WHERE relname = 'wed_flow' AND a.grantee = 0"),
        "0"
    );
}

#[harness::test]
fn a_flows_role_becomes_nobody_else() {
    let flow = Flow::of(PAPER);
    let owner = flow.database.owner().line("SELECT current_user");
    let mut s = flow.session();
    for statement in [
        format!("SET ROLE \"{owner}\""),
        "SET ROLE wed_predicate".to_owned(),
        format!("SET SESSION AUTHORIZATION \"{owner}\""),
        "ALTER ROLE CURRENT_USER SUPERUSER".to_owned(),
        "ALTER ROLE CURRENT_USER CREATEROLE".to_owned(),
        format!("GRANT \"{owner}\" TO CURRENT_USER"),
    ] {
        s.refused(&statement).expect("42501");
    }
    assert_eq!(
        s.line(
            "SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls FROM pg_roles WHERE \
         rolname = current_user"
        ),
        "f|f|f|f|f"
    );
}

#[harness::test]
fn a_flows_role_reads_its_own_history_and_status() {
    let mut s = Flow::of(PAPER).session();
    let wid = s.start();
    for table in ["wed_attr", "wed_trig", "wed_flow", "job_pool", "wed_trace", "wed_instance", "wed_attempt"] {
        s.lines(&format!("SELECT * FROM {table}"));
    }
    assert_eq!(s.line("SELECT status FROM wed_instance"), "R");
    assert_eq!(
        s.lines("SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema ORDER BY 1"),
        [
            "job_pool",
            "wed_attempt",
            "wed_attr",
            "wed_flow",
            "wed_instance",
            "wed_order",
            "wed_reservation",
            "wed_resource",
            "wed_trace",
            "wed_trig",
            "wed_version",
            "wed_waiting"
        ]
    );
    assert_eq!(wid, 1);
}

#[harness::test]
fn a_dropped_flow_leaves_nothing() {
    let database = Database::new();
    let flow = database.flow("gone");
    let mut s = flow.session();
    s.run(PAPER);
    s.start();
    let (schema, role) = (schema_of(&flow), s.line("SELECT current_user"));
    drop(s);
    crate::support::on(database.store.drop_flow("default", "gone")).expect("dropped");
    let mut owner = database.owner();
    assert_eq!(owner.number(&format!("SELECT count(*) FROM pg_namespace WHERE nspname LIKE '{schema}%'")), 0);
    assert_eq!(owner.number(&format!("SELECT count(*) FROM pg_roles WHERE rolname = '{role}'")), 0);
    for table in ["flow", "trigger", "instance", "job", "trace", "attempt", "binding"] {
        assert_eq!(owner.number(&format!("SELECT count(*) FROM wed.{table}")), 0, "{table}");
    }
    // Its name is free again.
    database.flow("gone").session().run(PAPER);
}

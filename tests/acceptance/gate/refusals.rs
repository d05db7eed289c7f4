//! Refusals of the gate, none of which leaves a mark.

use std::time::Duration;

use crate::support::database::TENANT;
use crate::support::flows::{PAPER, STEPS};
use crate::support::{Flow, on};

#[harness::test]
fn an_update_without_a_lock() {
    let mut s = Flow::of(PAPER).session();
    let wid = s.start();
    let refusal = s.refused(&format!("UPDATE wed_flow SET a2 = 'x' WHERE wid = {wid}")).expect("WF003");
    assert!(refusal.hint.contains("pg_try_advisory_xact_lock"), "{refusal:?}");
    assert!(refusal.hint.contains("declare the attribute open"), "{refusal:?}");
    assert_eq!(s.trace(wid).len(), 1);
}

#[harness::test]
fn an_update_with_the_lock_of_another_instance() {
    let mut s = Flow::of(PAPER).session();
    let (mine, other) = (s.start(), s.start());
    s.run("BEGIN");
    assert!(s.take(mine, "tr_a2"));
    s.refused(&format!("UPDATE wed_flow SET a2 = 'x' WHERE wid = {other}")).expect("WF003");
}

/// Gives back what is taken from everybody in a database of our own; in others it is not.
fn let_everybody_lock(flow: &Flow) {
    flow.database.owner().run(
        "GRANT EXECUTE ON FUNCTION pg_catalog.pg_advisory_xact_lock(integer, integer),
           pg_catalog.pg_advisory_xact_lock_shared(integer, integer) TO PUBLIC",
    );
}

#[harness::test]
fn an_update_with_a_shared_lock() {
    let flow = Flow::of(PAPER);
    let_everybody_lock(&flow);
    let mut s = flow.session();
    let wid = s.start();
    s.run("BEGIN");
    s.lines("SELECT pg_advisory_xact_lock_shared(wid, tgid) FROM job_pool WHERE trname = 'tr_a2'");
    s.refused(&format!("UPDATE wed_flow SET a2 = 'x' WHERE wid = {wid}")).expect("WF003");
}

#[harness::test]
fn an_update_with_a_lock_of_a_job_that_is_done() {
    let flow = Flow::of(PAPER);
    let_everybody_lock(&flow);
    let (mut one, mut two) = (flow.session(), flow.session());
    let wid = one.start();
    let tgid = one.number("SELECT tgid FROM job_pool WHERE trname = 'tr_a2'");
    one.finish(wid, "tr_a2", "a2 = 'done'");
    two.run("BEGIN");
    assert_eq!(
        two.line(&format!("SELECT pg_try_advisory_xact_lock({wid}, {tgid})")),
        "f",
        "the job is not there any more"
    );
    two.lines(&format!("SELECT pg_catalog.pg_advisory_xact_lock({wid}, {tgid})"));
    two.refused(&format!("UPDATE wed_flow SET a2 = 'again' WHERE wid = {wid}")).expect("WF003");
    assert_eq!(two.line("SELECT a2 FROM wed_flow"), "done");
}

#[harness::test]
fn an_update_of_many_of_which_one_is_not_locked() {
    let mut s = Flow::of(STEPS).session();
    s.run("INSERT INTO wed_flow (n) VALUES (0), (0), (0)");
    s.run("BEGIN");
    assert!(s.take(1, "step") && s.take(3, "step"));
    let refusal = s.refused("UPDATE wed_flow SET n = 1").expect("WF003");
    assert!(refusal.message.contains("instance 2"), "{refusal:?}");
    assert_eq!(s.number("SELECT count(*) FROM wed_trace"), 3);
}

#[harness::test]
fn a_second_update_in_one_transaction() {
    let mut s = Flow::of(PAPER).session();
    let wid = s.start();
    s.run("BEGIN");
    assert!(s.take(wid, "tr_a2"));
    s.run(&format!("UPDATE wed_flow SET a2 = 'x' WHERE wid = {wid}"));
    s.refused(&format!("UPDATE wed_flow SET a2 = 'y' WHERE wid = {wid}")).expect("WF006");

    // Not with another job of the instance either.
    s.run("BEGIN");
    assert!(s.take(wid, "tr_a2"));
    s.run(&format!("UPDATE wed_flow SET a2 = 'x' WHERE wid = {wid}"));
    assert!(s.take(wid, "tr_a3"));
    s.refused(&format!("UPDATE wed_flow SET a3 = 'y' WHERE wid = {wid}")).expect("WF006");

    // Nor behind a savepoint that was kept.
    s.run("BEGIN");
    assert!(s.take(wid, "tr_a2"));
    s.run(&format!("SAVEPOINT one; UPDATE wed_flow SET a2 = 'x' WHERE wid = {wid}; RELEASE one"));
    s.refused(&format!("UPDATE wed_flow SET a2 = 'y' WHERE wid = {wid}")).expect("WF006");
    assert_eq!(s.trace(wid).len(), 1);
}

#[harness::test]
fn a_change_of_wid() {
    let mut s = Flow::of(STEPS).session();
    let (a, _) = (s.start(), s.start());
    s.run("BEGIN");
    assert!(s.take(a, "step"));
    s.refused(&format!("UPDATE wed_flow SET wid = 77 WHERE wid = {a}")).expect("WF008");
    s.run("BEGIN");
    assert!(s.take(a, "step"));
    s.refused(&format!("UPDATE wed_flow SET wid = 77, n = 1 WHERE wid = {a}")).expect("WF008");
    assert_eq!(s.lines("SELECT wid, n FROM wed_flow ORDER BY 1"), ["1|0", "2|0"]);
}

#[harness::test]
fn a_wid_that_is_no_positive_number() {
    let mut s = Flow::of(STEPS).session();
    for wid in [0, -1] {
        let refusal = s.refused(&format!("INSERT INTO wed_flow (wid) VALUES (5), ({wid})")).expect("23514");
        assert!(refusal.message.contains("positive"), "{refusal:?}");
    }
    assert_eq!(s.number("SELECT count(*) FROM wed_flow"), 0);
    s.run("INSERT INTO wed_flow (wid) VALUES (5)");
}

/// An update or a delete that waited for a row and finds it elsewhere leaves it out (in most versions of Postgres): the
/// job must not stay pending while the trace tells that it is done.
#[harness::test]
fn a_job_whose_row_somebody_changes_in_the_same_moment() {
    let flow = Flow::of(STEPS);
    let mut s = flow.session();
    let wid = s.start();
    let mut other = flow.database.owner();
    other.run("BEGIN");
    other.run(&format!("UPDATE wed.job SET payload = '{{}}' WHERE wid = {wid}"));
    s.run("BEGIN");
    assert!(s.take(wid, "step"));
    let writer = std::thread::spawn(move || {
        let done = s.tried(&format!("UPDATE wed_flow SET n = 1 WHERE wid = {wid}; COMMIT"));
        (s, done)
    });
    let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'";
    while flow.database.owner().number(waits) == 0 {
        assert!(!writer.is_finished(), "it waits for the job's row");
        std::thread::sleep(Duration::from_millis(10));
    }
    other.run("COMMIT");
    let (mut s, done) = writer.join().expect("a writer");
    let rows = match done {
        None => 2,
        Some(refusal) => {
            refusal.expect("40001");
            1
        }
    };
    assert_eq!(s.trace(wid).len(), rows);
    let pending = format!("SELECT count(*), min(last_seq) FROM wed.job WHERE wid = {wid}");
    assert_eq!(other.line(&pending), format!("1|{rows}"));
}

#[harness::test]
fn delete_and_truncate() {
    let mut s = Flow::of(STEPS).session();
    let wid = s.start();
    let done = s.number("INSERT INTO wed_flow (n) VALUES (3) RETURNING wid");
    for wid in [wid, done] {
        s.refused(&format!("DELETE FROM wed_flow WHERE wid = {wid}")).expect("WF009");
    }
    s.refused("TRUNCATE wed_flow").expect("WF009");
    s.refused("TRUNCATE wed_flow RESTART IDENTITY CASCADE").expect("42501");
    assert_eq!(s.number("SELECT count(*) FROM wed_flow"), 2);
}

#[harness::test]
fn writing_what_only_the_gate_writes() {
    let mut s = Flow::of(PAPER).session();
    let wid = s.start();
    for statement in [
        "INSERT INTO job_pool (wid, tgid, trname) VALUES (1, 1, 'x')",
        "UPDATE job_pool SET timeout = '1 year'",
        "DELETE FROM job_pool",
        "INSERT INTO wed_trace (wid, seq, status) VALUES (1, 9, 'F')",
        "UPDATE wed_trace SET status = 'F'",
        "DELETE FROM wed_trace",
        "UPDATE wed_instance SET status = 'F'",
        "DELETE FROM wed_instance",
        "DELETE FROM wed_attempt",
    ] {
        s.refused(statement).expect("42501");
    }
    // The payload is looked up in the trace, and the state made of what is stored.
    for statement in ["UPDATE job_pool SET payload = '{}'", "UPDATE wed_trace SET state = '{}'"] {
        s.refused(statement).expect("0A000");
    }
    assert_eq!(s.trace(wid), ["-> {tr_a2,tr_a3} R"]);
}

#[harness::test]
fn an_update_outside_of_the_declared_writes() {
    let mut s = Flow::of(PAPER).session();
    s.run("UPDATE wed_trig SET writes = '{a2}' WHERE tgname = 't1'");
    let wid = s.start();
    let refusal = s.finish_refused(wid, "tr_a2", "a2 = 'done', a3 = 'done'").expect("WF010");
    assert!(refusal.message.contains("tr_a2") && refusal.message.contains("a3"), "{refusal:?}");
    assert!(refusal.detail.contains("a2"), "{refusal:?}");
    // To set what stays as it is is to set nothing.
    s.finish(wid, "tr_a2", "a2 = 'done', a1 = 'ready'");
    s.finish(wid, "tr_a3", "a3 = 'done'");
    s.refused("UPDATE wed_trig SET writes = '{nowhere}' WHERE tgname = 't1'").expect("WF013");
}

#[harness::test]
fn a_job_in_the_hands_of_a_host_is_not_granted_and_cannot_be_forced() {
    let flow = Flow::of(PAPER);
    let_everybody_lock(&flow);
    flow.database.upload("paper", crate::support::database::sample_component("paper"));
    flow.bind("tr_a2", "paper");
    let mut s = flow.session();
    let wid = s.start();
    let store = &flow.database.store;
    let host = on(store.register_host("a host", Duration::from_secs(600))).expect("entered");
    let claimed = on(store.claim(host, 10)).expect("claimed");
    assert_eq!(claimed.len(), 1, "tr_a3 is left to others");
    assert_eq!(s.line("SELECT lckid FROM job_pool WHERE trname = 'tr_a2'"), format!("host:{host}"));
    s.run("BEGIN");
    assert!(!s.take(wid, "tr_a2"));
    s.lines("SELECT pg_catalog.pg_advisory_xact_lock(wid, tgid) FROM job_pool WHERE trname = 'tr_a2'");
    s.refused(&format!("UPDATE wed_flow SET a2 = 'stolen' WHERE wid = {wid}")).expect("WF004");
    s.finish(wid, "tr_a3", "a3 = 'done'");
    assert_eq!(on(store.counted_flow(TENANT, "trial")).expect("the flow").jobs, 1);
}

#[harness::test]
fn a_client_cannot_pass_for_a_host() {
    let flow = Flow::of(PAPER);
    flow.database.upload("paper", crate::support::database::sample_component("paper"));
    flow.bind("tr_a2", "paper");
    let mut s = flow.session();
    let wid = s.start();
    let store = &flow.database.store;
    let host = on(store.register_host("a host", Duration::from_secs(600))).expect("entered");
    let token = on(store.claim(host, 10)).expect("claimed")[0].job.token;
    s.run(&format!(
        "BEGIN; SELECT set_config('wed.commit', '{{\"host\": {host}, \"token\": [{token}],
            \"fuel\": [1], \"us\": [1], \"mem\": [1]}}', true)"
    ));
    s.refused(&format!("UPDATE wed_flow SET a2 = 'forged' WHERE wid = {wid}")).expect("WF003");
    assert_eq!(s.trace(wid).len(), 1);
}

#[harness::test]
fn a_client_cannot_turn_the_gate_off() {
    let mut s = Flow::of(PAPER).session();
    s.start();
    for statement in [
        "SET session_replication_role = replica",
        "ALTER TABLE wed_flow DISABLE TRIGGER ALL",
        "DROP TRIGGER gate_update ON wed_flow",
        "ALTER TABLE wed_flow ADD COLUMN x text",
        "ALTER TABLE wed_attr DISABLE TRIGGER ALL",
        "DROP TABLE wed_flow",
        "CREATE TRIGGER mine AFTER UPDATE ON wed_flow EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        "CREATE RULE mine AS ON UPDATE TO wed_flow DO INSTEAD NOTHING",
        "TRUNCATE wed_attr",
        "TRUNCATE wed_trig",
    ] {
        let refusal = s.refused(statement);
        assert_eq!(refusal.code, "42501", "{statement}: {refusal:?}");
    }
}

#[harness::test]
fn a_lock_is_granted_to_one_session_only() {
    let flow = Flow::of(PAPER);
    let (mut one, mut two) = (flow.session(), flow.session());
    let wid = one.start();
    one.run("BEGIN");
    two.run("BEGIN");
    assert!(one.take(wid, "tr_a2"));
    assert!(!two.take(wid, "tr_a2"));
    assert!(two.take(wid, "tr_a3"), "another job of the instance is free");
    one.run("ROLLBACK");
    assert!(two.take(wid, "tr_a2"));
    two.run("ROLLBACK");
}

#[harness::test]
fn a_trigger_with_pending_jobs_is_not_removed() {
    let mut s = Flow::of(PAPER).session();
    let wid = s.start();
    s.refused("DELETE FROM wed_trig WHERE tgname = 't1'").expect("WF013");
    s.run("DELETE FROM wed_trig WHERE tgname = 'tf'");
    s.finish(wid, "tr_a2", "a2 = 'done'");
    s.run("DELETE FROM wed_trig WHERE tgname = 't1'");
    assert_eq!(s.trace(wid).len(), 2);
}

#[harness::test]
fn tgid_is_given_by_the_server() {
    let mut s = Flow::of(PAPER).session();
    s.refused("INSERT INTO wed_trig (tgid, trname, cpred) VALUES (1, 'x', 'a1 is null')").expect("WF013");
    s.refused("UPDATE wed_trig SET tgid = 12345 WHERE tgname = 't1'").expect("WF013");
}

#[harness::test]
fn a_trigger_that_makes_no_sense() {
    let mut s = Flow::of(PAPER).session();
    for (columns, values) in [
        ("cpred", "'a1 is null'"),
        ("trname, cpred", "'', 'a1 is null'"),
        ("trname, cpred", "'_mine', 'a1 is null'"),
        ("trname, cpred", "repeat('x', 64), 'a1 is null'"),
        ("trname, cpred", "E'a\\nb', 'a1 is null'"),
        ("trname, cpred, cfinal", "'x', 'a1 is null', true"),
        ("cpred, cfinal", "'a1 is null', true"),
        ("trname, cpred, timeout", "'x', 'a1 is null', '0'"),
        ("trname, cpred, timeout", "'x', 'a1 is null', '-1 s'"),
        ("trname, cpred, delay", "'x', 'a1 is null', '-1 s'"),
        ("trname, cpred, backoff", "'x', 'a1 is null', '-1 s'"),
        ("trname, cpred, attempts", "'x', 'a1 is null', 0"),
        ("trname, cpred, attempts", "'x', 'a1 is null', 1001"),
        ("trname, cpred, writes", "'x', 'a1 is null', '{a1,missing}'"),
    ] {
        let refusal = s.refused(&format!("INSERT INTO wed_trig ({columns}) VALUES ({values})"));
        assert_eq!(refusal.code, "WF013", "{columns}: {refusal:?}");
        assert!(!refusal.hint.is_empty(), "{columns}: {refusal:?}");
    }
    assert_eq!(s.number("SELECT count(*) FROM wed_trig"), 4);
}

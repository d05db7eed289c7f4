//! Algorithm 1: what a new state does.

use crate::support::Flow;
use crate::support::flows::{PAPER, STEPS};

#[harness::test]
fn an_initial_state_that_satisfies_nothing_is_refused_and_leaves_nothing() {
    let mut s = Flow::of(PAPER).session();
    let refusal = s.refused("INSERT INTO wed_flow (a1) VALUES (NULL)").expect("WF001");
    assert!(refusal.message.contains("satisfies no condition"), "{refusal:?}");
    assert!(refusal.hint.contains("wed_trig"), "{refusal:?}");
    for table in ["wed_flow", "wed_trace", "wed_instance", "job_pool"] {
        assert_eq!(s.number(&format!("SELECT count(*) FROM {table}")), 0, "{table}");
    }
}

#[harness::test]
fn one_bad_initial_state_refuses_the_whole_statement() {
    let mut s = Flow::of(PAPER).session();
    s.refused("INSERT INTO wed_flow (a1) VALUES ('ready'), (NULL), ('ready')").expect("WF001");
    assert_eq!(s.number("SELECT count(*) FROM wed_flow"), 0);
}

#[harness::test]
fn an_instance_may_be_final_from_the_start() {
    let mut s = Flow::of(PAPER).session();
    let wid = s.number("INSERT INTO wed_flow (a1) VALUES ('done') RETURNING wid");
    assert_eq!(s.trace(wid), ["-> {} F"]);
    assert_eq!(s.status(wid), "F");
    assert!(s.pending(wid).is_empty());
}

#[harness::test]
fn the_papers_flow_reaches_its_final_state_in_either_order() {
    let mut s = Flow::of(PAPER).session();
    let (first, second) = (s.start(), s.start());
    assert_eq!(s.pending(first), ["tr_a2", "tr_a3"]);
    s.finish(first, "tr_a2", "a2 = 'done'");
    s.finish(first, "tr_a3", "a3 = 'done'");
    s.finish(first, "tr_final", "a1 = 'done'");
    s.finish(second, "tr_a3", "a3 = 'done'");
    s.finish(second, "tr_a2", "a2 = 'done'");
    s.finish(second, "tr_final", "a1 = 'done'");
    assert_eq!(s.trace(first), ["-> {tr_a2,tr_a3} R", "tr_a2 -> {} R", "tr_a3 -> {tr_final} R", "tr_final -> {} F"]);
    assert_eq!(s.trace(second), ["-> {tr_a2,tr_a3} R", "tr_a3 -> {} R", "tr_a2 -> {tr_final} R", "tr_final -> {} F"]);
    assert_eq!(s.number("SELECT count(*) FROM job_pool"), 0);
}

#[harness::test]
fn a_state_that_satisfies_nothing_is_an_exception_when_nothing_is_pending() {
    let mut s = Flow::of(STEPS).session();
    let wid = s.start();
    s.finish(wid, "step", "n = NULL");
    assert_eq!(s.trace(wid), ["-> {step} R", "step -> {_EXCPT} E"]);
    assert_eq!(s.status(wid), "E");
    assert_eq!(s.pending(wid), ["_EXCPT"]);
}

#[harness::test]
fn a_state_that_satisfies_nothing_is_regular_while_something_is_pending() {
    let flow = Flow::of(PAPER);
    let mut s = flow.session();
    s.run("UPDATE wed_trig SET recheck = false WHERE tgname = 't2'");
    let wid = s.start();
    s.finish(wid, "tr_a2", "a1 = NULL");
    assert_eq!(s.trace(wid), ["-> {tr_a2,tr_a3} R", "tr_a2 -> {} R"]);
    assert_eq!(s.pending(wid), ["tr_a3"]);
    s.finish(wid, "tr_a3", "a3 = 'done'");
    assert_eq!(s.trace(wid)[2], "tr_a3 -> {_EXCPT} E");
}

#[harness::test]
fn an_exception_is_served_like_a_transition() {
    let mut s = Flow::of(STEPS).session();
    let wid = s.start();
    s.finish(wid, "step", "n = NULL");
    s.finish(wid, "_EXCPT", "n = 2");
    s.finish(wid, "step", "n = n + 1");
    assert_eq!(s.trace(wid), ["-> {step} R", "step -> {_EXCPT} E", "_EXCPT -> {step} R", "step -> {} F"]);
}

#[harness::test]
fn an_exception_that_leads_to_another_is_fired_again() {
    let mut s = Flow::of(STEPS).session();
    let wid = s.start();
    s.finish(wid, "step", "n = NULL");
    s.finish(wid, "_EXCPT", "n = NULL");
    assert_eq!(s.trace(wid)[2], "_EXCPT -> {_EXCPT} E");
    assert_eq!(s.pending(wid), ["_EXCPT"]);
    s.finish(wid, "_EXCPT", "n = 9");
    assert_eq!(s.status(wid), "F");
}

#[harness::test]
fn a_final_state_is_refused_while_others_are_pending() {
    let mut s = Flow::of(PAPER).session();
    let wid = s.start();
    let refusal = s.finish_refused(wid, "tr_a2", "a1 = 'done'").expect("WF007");
    assert!(refusal.hint.contains("job_pool"), "{refusal:?}");
    assert_eq!(s.trace(wid).len(), 1, "nothing of it was committed");
    assert_eq!(s.pending(wid), ["tr_a2", "tr_a3"]);
    s.finish(wid, "tr_a3", "a3 = 'done'");
    s.finish(wid, "tr_a2", "a1 = 'done'");
    assert_eq!(s.status(wid), "F");
}

#[harness::test]
fn a_final_instance_is_immutable() {
    let mut s = Flow::of(PAPER).session();
    s.run("UPDATE wed_attr SET open = true WHERE aname = 'a3'");
    let wid = s.number("INSERT INTO wed_flow (a1) VALUES ('done') RETURNING wid");
    for clause in ["a1 = 'ready'", "a3 = 'x'", "a1 = a1"] {
        s.refused(&format!("UPDATE wed_flow SET {clause} WHERE wid = {wid}")).expect("WF002");
    }
    assert_eq!(s.trace(wid), ["-> {} F"]);
}

#[harness::test]
fn a_pending_trigger_is_not_fired_again() {
    let mut s = Flow::of(PAPER).session();
    let wid = s.start();
    // The condition of tr_a3 still holds.
    s.finish(wid, "tr_a2", "a2 = 'done'");
    assert_eq!(s.trace(wid)[1], "tr_a2 -> {} R");
    assert_eq!(s.pending(wid), ["tr_a3"]);
}

#[harness::test]
fn a_trigger_can_fire_itself_again() {
    let mut s = Flow::of(STEPS).session();
    let wid = s.start();
    for _ in 0..3 {
        s.finish(wid, "step", "n = n + 1");
    }
    assert_eq!(s.trace(wid), ["-> {step} R", "step -> {step} R", "step -> {step} R", "step -> {} F"]);
}

#[harness::test]
fn a_transition_that_changes_nothing_passes_like_any_other() {
    let mut s = Flow::of(STEPS).session();
    let wid = s.start();
    s.finish(wid, "step", "n = n");
    assert_eq!(s.trace(wid), ["-> {step} R", "step -> {step} R"]);
}

#[harness::test]
fn the_final_condition_suppresses_other_firings() {
    let mut s = Flow::of(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('n', 'integer', '0');
         INSERT INTO wed_trig (trname, cpred) VALUES ('step', 'n >= 0');
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('n >= 3', true);",
    )
    .session();
    let wid = s.start();
    s.finish(wid, "step", "n = 3");
    assert_eq!(s.trace(wid), ["-> {step} R", "step -> {} F"]);
    assert!(s.pending(wid).is_empty());
}

#[harness::test]
fn two_triggers_may_fire_the_same_transition() {
    let mut s = Flow::of(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('n', 'integer', '0');
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('low', 'step', 'n < 3'), ('even', 'step', 'n % 2 = 0');
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('n >= 10', true);",
    )
    .session();
    let wid = s.start();
    assert_eq!(s.trace(wid), ["-> {step,step} R"]);
    assert_eq!(s.number("SELECT count(DISTINCT tgid) FROM job_pool"), 2);
}

#[harness::test]
fn the_payload_is_the_state_that_fired() {
    let mut s = Flow::of(PAPER).session();
    let wid = s.start();
    s.finish(wid, "tr_a2", "a2 = 'done'");
    assert_eq!(
        s.line(&format!("SELECT payload ->> 'a1', payload ->> 'a2' FROM job_pool WHERE wid = {wid}")),
        "ready|·"
    );
}

#[harness::test]
fn a_disabled_trigger_is_not_evaluated() {
    let mut s = Flow::of(PAPER).session();
    s.run("UPDATE wed_trig SET enabled = false WHERE tgname = 't1'");
    let wid = s.start();
    assert_eq!(s.trace(wid), ["-> {tr_a3} R"]);
    s.run("UPDATE wed_trig SET enabled = true WHERE tgname = 't1'");
    s.finish(wid, "tr_a3", "a3 = 'done'");
    assert_eq!(s.trace(wid)[1], "tr_a3 -> {tr_a2} R");
}

#[harness::test]
fn a_flow_without_a_final_condition_ends_in_an_exception() {
    let mut s = Flow::of(
        "INSERT INTO wed_attr (aname, adv) VALUES ('a', 'x');
         INSERT INTO wed_trig (trname, cpred) VALUES ('only', $$a = 'x'$$);",
    )
    .session();
    let wid = s.start();
    s.finish(wid, "only", "a = 'y'");
    assert_eq!(s.trace(wid), ["-> {only} R", "only -> {_EXCPT} E"]);
}

#[harness::test]
fn a_rollback_leaves_the_job_and_no_trace() {
    let mut s = Flow::of(PAPER).session();
    let wid = s.start();
    s.run("BEGIN");
    assert!(s.take(wid, "tr_a2"));
    s.run(&format!("UPDATE wed_flow SET a2 = 'done' WHERE wid = {wid}; ROLLBACK"));
    assert_eq!(s.trace(wid).len(), 1);
    s.finish(wid, "tr_a2", "a2 = 'done'");
    assert_eq!(s.number(&format!("SELECT max(seq) FROM wed_trace WHERE wid = {wid}")), 2);
}

#[harness::test]
fn one_update_of_many_instances_is_one_evaluation() {
    const MANY: i64 = 300;
    let flow = Flow::of(STEPS);
    let mut owner = flow.database.owner();
    let database = owner.line("SELECT current_database()");
    owner.run(&format!("ALTER DATABASE \"{database}\" SET track_functions = 'all'"));
    let calls = "SELECT coalesce(sum(calls), 0) FROM pg_stat_user_functions WHERE funcname LIKE 'match\\_%'";
    let flush = "SELECT pg_stat_force_next_flush()";

    let mut s = flow.session();
    s.run(&format!("INSERT INTO wed_flow (n) SELECT 0 FROM generate_series(1, {MANY})"));
    s.lines(flush);
    assert_eq!(owner.number(calls), 1);
    s.run("BEGIN");
    assert_eq!(s.number("SELECT count(*) FROM job_pool WHERE pg_try_advisory_xact_lock(wid, tgid)"), MANY);
    s.run("UPDATE wed_flow SET n = n + 1; COMMIT");
    s.lines(flush);
    assert_eq!(owner.number(calls), 2);
    assert_eq!(s.number("SELECT count(*) FROM wed_trace WHERE seq = 2 AND trw = 'step'"), MANY);
    assert_eq!(s.number("SELECT count(*) FROM job_pool WHERE payload ->> 'n' = '1'"), MANY);
}

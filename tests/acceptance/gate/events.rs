//! Open attributes: what any session of the flow may set without a job's lock.

use crate::support::Flow;

const ORDER: &str = "
INSERT INTO wed_attr (aname, atype, adv, open) VALUES
  ('state', 'text', 'open', false), ('paid', 'boolean', 'false', true), ('remark', 'text', NULL, true);
INSERT INTO wed_trig (tgname, trname, cpred) VALUES
  ('wait', 'remind', $$state = 'open' AND NOT paid$$), ('ship', 'ship', $$state = 'open' AND paid$$);
INSERT INTO wed_trig (cpred, cfinal) VALUES ($$state = 'shipped' OR remark = 'stop'$$, true);";

#[harness::test]
fn an_event_passes_the_gate_and_is_traced_with_its_writer() {
    let mut s = Flow::of(ORDER).session();
    let wid = s.start();
    s.run("UPDATE wed_flow SET remark = 'hello'");
    let role = s.line("SELECT current_user");
    assert_eq!(
        s.line(&format!(
            "SELECT seq, trw, trf, status, writer, state ->> 'remark', tgid FROM wed_trace WHERE wid = {wid} AND \
             seq = 2"
        )),
        format!("2|_EVENT|{{}}|R|{role}|hello|·")
    );
}

#[harness::test]
fn an_event_fires_what_it_satisfies() {
    let mut s = Flow::of(ORDER).session();
    let wid = s.start();
    s.run("UPDATE wed_flow SET paid = true");
    assert_eq!(s.trace(wid), ["-> {remind} R", "_EVENT -> {ship} R"]);
    assert_eq!(s.pending(wid), ["remind", "ship"]);
}

#[harness::test]
fn an_event_may_not_touch_what_is_not_open() {
    let mut s = Flow::of(ORDER).session();
    let wid = s.start();
    for clause in ["state = 'shipped'", "paid = true, state = 'shipped'"] {
        let refusal = s.refused(&format!("UPDATE wed_flow SET {clause} WHERE wid = {wid}"));
        assert!(["WF003", "WF007"].contains(&refusal.code.as_str()), "{refusal:?}");
    }
    let refusal = s.refused("UPDATE wed_flow SET paid = true, state = 'odd'").expect("WF003");
    assert!(refusal.message.contains("\"state\" is not open"), "{refusal:?}");
    assert_eq!(s.trace(wid).len(), 1);
}

#[harness::test]
fn an_event_may_name_what_it_leaves_as_it_is() {
    let mut s = Flow::of(ORDER).session();
    let wid = s.start();
    s.run("UPDATE wed_flow SET paid = true, state = state, remark = NULL");
    assert_eq!(s.trace(wid).len(), 2);
}

#[harness::test]
fn an_event_that_would_end_the_instance_waits_for_the_pending() {
    let mut s = Flow::of(ORDER).session();
    let wid = s.start();
    s.refused("UPDATE wed_flow SET remark = 'stop'").expect("WF007");
    assert_eq!(s.trace(wid).len(), 1);
}

#[harness::test]
fn an_event_after_which_nothing_is_left_to_do_shows_when_a_worker_looks() {
    let mut s = Flow::of(
        "INSERT INTO wed_attr (aname, atype, adv, open) VALUES ('n', 'integer', '0', true);
         INSERT INTO wed_trig (trname, cpred) VALUES ('step', 'n = 0');
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('n = 1', true);",
    )
    .session();
    let wid = s.start();
    // The pending step no longer makes sense after this, and is skipped when somebody looks.
    s.run("UPDATE wed_flow SET n = 5");
    s.run("BEGIN");
    assert!(!s.take(wid, "step"));
    s.run("COMMIT");
    assert_eq!(s.trace(wid), ["-> {step} R", "_EVENT -> {} R", "_SKIP -> {_EXCPT} E"]);
}

#[harness::test]
fn one_event_of_an_instance_in_a_transaction() {
    let mut s = Flow::of(ORDER).session();
    let (a, b) = (s.start(), s.start());
    s.run(&format!("BEGIN; UPDATE wed_flow SET remark = 'x' WHERE wid = {a}"));
    s.run(&format!("UPDATE wed_flow SET remark = 'x' WHERE wid = {b}"));
    s.refused(&format!("UPDATE wed_flow SET remark = 'y' WHERE wid = {a}")).expect("WF006");
    s.run("BEGIN");
    s.run(&format!("UPDATE wed_flow SET remark = 'x' WHERE wid = {a}"));
    assert!(s.take(a, "remind"));
    s.refused(&format!("UPDATE wed_flow SET state = 'x' WHERE wid = {a}")).expect("WF006");
    assert_eq!(s.number("SELECT count(*) FROM wed_trace"), 2);
}

#[harness::test]
fn closing_an_attribute_ends_its_events() {
    let mut s = Flow::of(ORDER).session();
    s.start();
    s.run("UPDATE wed_flow SET remark = 'x'");
    s.run("UPDATE wed_attr SET open = false WHERE aname = 'remark'");
    s.refused("UPDATE wed_flow SET remark = 'y'").expect("WF003");
    s.run("UPDATE wed_attr SET open = true WHERE aname = 'state'");
    s.run("UPDATE wed_flow SET state = 'odd'");
}

#[harness::test]
fn an_event_is_not_counted_as_the_transition_that_is_pending() {
    let mut s = Flow::of(ORDER).session();
    let wid = s.start();
    s.run("UPDATE wed_flow SET remark = 'x'");
    assert_eq!(s.pending(wid), ["remind"]);
    // With the lock it is the transition.
    s.finish(wid, "remind", "remark = 'y'");
    assert_eq!(s.trace(wid), ["-> {remind} R", "_EVENT -> {} R", "remind -> {remind} R"]);
}

//! The order of tasks: declared with the flow, and added and dropped while it runs.

use super::fine;
use crate::support::{Flow, Session, on};

/// T1 before T2 and T3; T3 before T4 and T5; T6 after T2, T4 and T5. All conditions hold from the start.
const SIX: &str = "
INSERT INTO wed_attr (aname, atype, adv) VALUES
  ('t1', 'boolean', 'false'), ('t2', 'boolean', 'false'), ('t3', 'boolean', 'false'), ('t4', 'boolean', 'false'),
  ('t5', 'boolean', 'false'), ('t6', 'boolean', 'false'), ('rules', 'jsonb', NULL);
INSERT INTO wed_trig (tgname, trname, cpred, after) VALUES
  ('T1', 'do1', 'NOT t1', NULL), ('T2', 'do2', 'NOT t2', 'T1'), ('T3', 'do3', 'NOT t3', 'T1'),
  ('T4', 'do4', 'NOT t4', 'T3'), ('T5', 'do5', 'NOT t5', 'T3'), ('T6', 'do6', 'NOT t6', 'T2 AND T4 AND T5');
INSERT INTO wed_trig (cpred, cfinal) VALUES ('t6', true);";

const BEFORE: [(usize, usize); 7] = [(1, 2), (1, 3), (3, 4), (3, 5), (2, 6), (4, 6), (5, 6)];

fn due(s: &mut Session, wid: i64) -> Vec<String> {
    s.lines(&format!("SELECT trname FROM job_pool WHERE wid = {wid} AND due <= now() ORDER BY trname"))
}

#[harness::test]
fn only_linear_extensions_of_the_order_occur() {
    let flow = Flow::of(SIX);
    let mut s = flow.session();
    let mut seen = std::collections::BTreeSet::new();
    for round in 0..24_usize {
        let wid = s.start();
        let mut done = Vec::new();
        while done.len() < 6 {
            let due = due(&mut s, wid);
            let chosen = &due[(round / (done.len() + 1)) % due.len()];
            let n = chosen[2..].to_owned();
            s.finish(wid, chosen, &format!("t{n} = true"));
            done.push(n.parse::<usize>().expect("a number"));
        }
        for (a, b) in BEFORE {
            let at = |n| done.iter().position(|d| *d == n);
            assert!(at(a) < at(b), "{done:?}");
        }
        seen.insert(done);
    }
    assert!(seen.len() > 1, "tasks without an order take turns: {seen:?}");
    let wid = s.start();
    s.finish(wid, "do1", "t1 = true");
    assert_eq!(due(&mut s, wid), ["do2", "do3"], "these may overlap");
    assert_eq!(
        s.line(&format!("SELECT waits_for FROM job_pool WHERE wid = {wid} AND trname = 'do6'")),
        "the tasks before it: T2 AND T4 AND T5"
    );
    fine(&flow);
}

/// Three parallel tasks, without an order.
const THREE_PARALLEL_TASKS: &str = "
INSERT INTO wed_attr (aname, atype, adv) VALUES ('a', 'boolean', 'false'), ('b', 'boolean', 'false'), ('c', \
'boolean', 'false'), ('rules', 'jsonb', NULL);
INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('A', 'do_a', 'NOT a'), ('B', 'do_b', 'NOT b'), ('C', 'do_c', \
'NOT c');
INSERT INTO wed_trig (cpred, cfinal) VALUES ('a AND b AND c', true);";

#[harness::test]
fn order_added_while_running_delays_a_task_and_dropping_it_releases_it() {
    let flow = Flow::of(THREE_PARALLEL_TASKS);
    let mut s = flow.session();
    let old = s.start();
    s.line("SELECT wed_after('B', 'A')");
    let new = s.start();
    for wid in [old, new] {
        assert_eq!(due(&mut s, wid), ["do_a", "do_c"]);
    }
    s.finish(old, "do_a", "a = true");
    assert_eq!(due(&mut s, old), ["do_b", "do_c"]);
    assert_eq!(s.line("SELECT wed_drop_after('B', 'A')"), "t");
    assert_eq!(due(&mut s, new), ["do_a", "do_b", "do_c"]);
    assert_eq!(s.line("SELECT wed_drop_after('B', 'A')"), "f");
    fine(&flow);
}

#[harness::test]
fn order_of_one_instance_is_its_own() {
    let flow = Flow::of(THREE_PARALLEL_TASKS);
    let mut s = flow.session();
    let (one, two) = (s.start(), s.start());
    // What was done before there was any order counts.
    s.finish(one, "do_a", "a = true");
    s.line(&format!("SELECT wed_after('B', 'A', {one})"));
    s.line(&format!("SELECT wed_after('C', 'B', {one})"));
    assert_eq!(due(&mut s, one), ["do_b"]);
    assert_eq!(due(&mut s, two).len(), 3);
    assert_eq!(s.line("SELECT wed_drop_after('C', 'B')"), "f", "that of all instances is another");
    assert_eq!(s.line(&format!("SELECT wed_drop_after('C', 'B', {one})")), "t");
    assert_eq!(due(&mut s, one), ["do_b", "do_c"]);
}

#[harness::test]
fn transitions_result_sets_the_order() {
    let flow = Flow::of(THREE_PARALLEL_TASKS);
    let mut s = flow.session();
    s.run("SELECT wed_order_by('rules')");
    let wid = s.start();
    assert_eq!(due(&mut s, wid).len(), 3);
    s.finish(wid, "do_a", r#"a = true, rules = '{"B": "C"}'"#);
    assert_eq!(due(&mut s, wid), ["do_c"]);
    s.finish(wid, "do_c", "c = true");
    assert_eq!(due(&mut s, wid), ["do_b"]);
    let wid = s.start();
    s.finish(wid, "do_a", r#"a = true, rules = '{"B": "C"}'"#);
    let refusal = s.finish_refused(wid, "do_c", r#"rules = '{"B": "C", "C": "B"}'"#).expect("WF063");
    assert!(refusal.message.contains("B after C after B"), "{refusal:?}");
    // Dropped by a result as well.
    s.finish(wid, "do_c", "rules = '{}'");
    assert_eq!(due(&mut s, wid), ["do_b", "do_c"]);
}

#[harness::test]
fn cycles_are_refused_and_named() {
    let flow = Flow::of(SIX);
    let mut s = flow.session();
    let refusal = s.refused("UPDATE wed_trig SET after = 'T6' WHERE tgname = 'T3'").expect("WF063");
    assert_eq!(refusal.message, "the order of tasks has a cycle: T3 after T6 after T4 after T3");
    let wid = s.start();
    s.refused("SELECT wed_after('T1', 'T6')").expect("WF063");
    s.refused(&format!("SELECT wed_after('T1', 'do2', {wid})")).expect("WF063");
    s.refused("SELECT wed_after('T1', 'nobody')").expect("WF062");
    for bad in ["", "T1 AND", "(T1", "T1)", "T1 T2", "OR T1", "AND"] {
        s.refused(&format!("SELECT wed_after('T6', '{bad}')")).expect("WF062");
    }
    // Each of them alone, one after the other, side by side: the second is refused.
    s.line(&format!("SELECT wed_after('T2', 'T4', {wid})"));
    s.refused(&format!("SELECT wed_after('T4', 'T2', {wid})")).expect("WF063");
    assert_eq!(on(flow.database.store.counted_flow("default", "trial")).expect("the flow").jobs, 6);
}

#[harness::test]
fn one_of_several_is_enough() {
    let flow = Flow::of(THREE_PARALLEL_TASKS);
    let mut s = flow.session();
    s.run("UPDATE wed_trig SET after = 'A OR (B AND \"do_b\")' WHERE tgname = 'C'");
    let (one, two) = (s.start(), s.start());
    assert_eq!(due(&mut s, one), ["do_a", "do_b"]);
    s.finish(one, "do_a", "a = true");
    s.finish(two, "do_b", "b = true");
    assert_eq!(due(&mut s, one), ["do_b", "do_c"]);
    assert_eq!(due(&mut s, two), ["do_a", "do_c"]);
    // A circle that one of several leads out of is none.
    s.run("UPDATE wed_trig SET after = 'C OR A' WHERE tgname = 'B'");
}

#[harness::test]
fn cycle_of_a_flows_and_an_instances_order_is_refused() {
    let flow = Flow::of(THREE_PARALLEL_TASKS);
    let mut s = flow.session();
    s.start();
    s.line("SELECT wed_after('B', 'A', 1)");
    s.line("SELECT wed_after('A', 'C', 1)");
    s.refused("SELECT wed_after('C', 'B')").expect("WF063");
    s.refused("UPDATE wed_trig SET after = 'B' WHERE tgname = 'C'").expect("WF063");
    assert_eq!(due(&mut s, 1), ["do_c"]);
}

#[harness::test]
fn skipped_task_delays_nobody() {
    let flow = Flow::of(THREE_PARALLEL_TASKS);
    let mut s = flow.session();
    s.run("UPDATE wed_trig SET after = 'A' WHERE tgname = 'B'");
    s.start();
    s.line("SELECT wed_skip(1, 'do_a', 'done by hand')");
    assert_eq!(due(&mut s, 1), ["do_b", "do_c"]);
    fine(&flow);
}

#[harness::test]
fn order_that_can_never_be_met_is_a_problem_of_the_installation() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('special', 'boolean', 'false'), ('done', 'boolean', 'false');
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('approve', 'approve', 'special');
         INSERT INTO wed_trig (tgname, trname, cpred, after) VALUES ('ship', 'ship', 'NOT done', 'approve');
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('done', true);",
    );
    let mut owner = flow.database.owner();
    let unmet = "SELECT text FROM wed.problems() WHERE code = 'order_unmet'";
    let mut s = flow.session();
    s.run("INSERT INTO wed_flow (special) VALUES (true)");
    assert_eq!(owner.lines(unmet), [""; 0]);
    s.start();
    let text = owner.line(unmet);
    assert!(text.contains("1 instances") && text.contains("instance 2"), "{text}");
}

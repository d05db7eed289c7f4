//! Dependence rules, states, sub-workflows, retries and priorities.

use super::{applied, flow, flow_command, workflow};
use crate::support::{Database, Flow, Session};

fn run(rules: &[(&str, &str)]) -> (Flow, Session, i64) {
    let flow = applied(&workflow(rules), "p");
    let mut s = flow.session();
    let wid = s.start();
    (flow, s, wid)
}

fn end(s: &mut Session, wid: i64, task: &str, state: &str) {
    s.finish(wid, task, &format!("{task}_state = '{state}'"));
}

#[harness::test]
fn empty_rule_is_true_at_once() {
    let (_flow, mut s, wid) = run(&[("A", ""), ("B", "")]);
    assert_eq!(s.pending(wid), ["a", "b"]);
    end(&mut s, wid, "b", "SUCCEEDED");
    assert_eq!(s.status(wid), "R");
    end(&mut s, wid, "a", "FAILED");
    assert_eq!(s.status(wid), "F");
}

#[harness::test]
fn process_without_tasks_is_complete_at_once() {
    let flow = applied("WORKFLOW P { STRING s { VALUE \"x\"; } }", "p");
    let mut s = flow.session();
    let wid = s.start();
    assert_eq!(s.status(wid), "F");
}

#[harness::test]
fn and_waits_for_all_terms() {
    let (_flow, mut s, wid) = run(&[("A", ""), ("B", ""), ("C", "AND (A -> SUCCEEDED, B -> SUCCEEDED)")]);
    end(&mut s, wid, "a", "SUCCEEDED");
    assert_eq!(s.pending(wid), ["b"]);
    end(&mut s, wid, "b", "SUCCEEDED");
    assert_eq!(s.pending(wid), ["c"]);
}

#[harness::test]
fn or_waits_for_one_term() {
    let (_flow, mut s, wid) = run(&[("A", ""), ("B", ""), ("C", "OR (A -> SUCCEEDED, B -> SUCCEEDED)")]);
    end(&mut s, wid, "b", "SUCCEEDED");
    assert_eq!(s.pending(wid), ["a", "c"]);
    end(&mut s, wid, "c", "SUCCEEDED");
    // It has run: the other term does not make it run again.
    end(&mut s, wid, "a", "SUCCEEDED");
    assert_eq!(s.status(wid), "F");
}

#[harness::test]
fn trees_are_evaluated_as_written() {
    let (_flow, mut s, wid) = run(&[
        ("A", ""),
        ("B", ""),
        ("C", ""),
        ("D", "OR (AND (A -> SUCCEEDED, B -> FAIL), AND (B -> SUCCEEDED, C -> SUCCEEDED))"),
    ]);
    end(&mut s, wid, "a", "SUCCEEDED");
    end(&mut s, wid, "b", "SUCCEEDED");
    assert_eq!(s.pending(wid), ["c"]);
    end(&mut s, wid, "c", "SUCCEEDED");
    assert_eq!(s.pending(wid), ["d"]);
}

#[harness::test]
fn ready_holds_with_the_others_rule() {
    let (_flow, mut s, wid) = run(&[("A", ""), ("B", "A -> SUCCEEDED"), ("C", "B -> READY")]);
    assert_eq!(s.pending(wid), ["a"]);
    end(&mut s, wid, "a", "SUCCEEDED");
    assert_eq!(s.pending(wid), ["b", "c"]);
}

#[harness::test]
fn running_is_latched() {
    let (_flow, mut s, wid) = run(&[("A", ""), ("B", ""), ("C", "AND (A -> RUNNING, B -> SUCCEEDED)")]);
    // Who begins says so; the job is there again.
    end(&mut s, wid, "a", "RUNNING");
    assert_eq!(s.pending(wid), ["a", "b"]);
    assert_eq!(s.status(wid), "R");
    end(&mut s, wid, "a", "FAILED");
    assert_eq!(s.pending(wid), ["b"]);
    // A is not RUNNING any more, and its term is true.
    end(&mut s, wid, "b", "SUCCEEDED");
    assert_eq!(s.pending(wid), ["c"]);
}

#[harness::test]
fn failure_is_a_state_that_rules_may_name() {
    let (_flow, mut s, wid) = run(&[("A", ""), ("B", "A -> FAILED"), ("C", "A -> SUCCEEDED")]);
    end(&mut s, wid, "a", "FAILED");
    assert_eq!(s.pending(wid), ["b"]);
    end(&mut s, wid, "b", "SUCCEEDED");
    assert_eq!(s.status(wid), "F");
}

#[harness::test]
fn mutual_dependence_is_reported_and_the_process_completes() {
    let source = workflow(&[("A", ""), ("B", "C -> SUCCEEDED"), ("C", "B -> SUCCEEDED")]);
    let database = Database::new();
    let answer = flow_command(&database, "apply", &source, &[]).done().json();
    let told = answer["warnings"].to_string();
    assert!(told.contains("wait for each other and never run: B -> C -> B"), "{told}");
    let mut s = flow(&database, "p").session();
    let wid = s.start();
    assert_eq!(s.pending(wid), ["a"]);
    end(&mut s, wid, "a", "SUCCEEDED");
    assert_eq!(s.status(wid), "F");
}

const SUB: &str = "
WORKFLOW P {
  STRING shared { VALUE \"a\"; }
  TASK A: M { ROLE r; }
  SUB-WORKFLOW S: Q { DEPENDS A -> SUCCEEDED; }
  TASK Z: M { DEPENDS S -> SUCCEEDED; ROLE r; }
  TASK Y: M { DEPENDS S -> FAILED; ROLE r; }
}
WORKFLOW Q {
  STRING shared { VALUE \"b\"; }
  TASK X: M { OUT_CONTEXT shared; ROLE r; }
  TASK V: M { DEPENDS X -> SUCCEEDED; ROLE r; }
}
TASK M { TYPE MANUAL; PRIORITY 1; DISCONNECTED_OPERATION FALSE; }";

#[harness::test]
fn sub_workflow_runs_within_its_process() {
    let flow = applied(SUB, "p");
    let mut s = flow.session();
    let wid = s.start();
    assert_eq!(s.pending(wid), ["a"]);
    end(&mut s, wid, "a", "SUCCEEDED");
    assert_eq!(s.pending(wid), ["s_x"]);
    s.finish(wid, "s_x", "s_x_state = 'SUCCEEDED', shared = 'c'");
    assert_eq!(s.pending(wid), ["s_v"]);
    end(&mut s, wid, "s_v", "SUCCEEDED");
    assert_eq!(s.pending(wid), ["z"]);
    end(&mut s, wid, "z", "SUCCEEDED");
    assert_eq!(s.status(wid), "F");
    // The sub-workflow is a process of its own too.
    let mut own = super::flow(&flow.database, "q").session();
    let wid = own.start();
    assert_eq!(own.pending(wid), ["x"]);
}

#[harness::test]
fn sub_workflow_fails_with_a_task_that_no_rule_expects() {
    let flow = applied(SUB, "p");
    let mut s = flow.session();
    let wid = s.start();
    end(&mut s, wid, "a", "SUCCEEDED");
    end(&mut s, wid, "s_x", "FAILED");
    assert_eq!(s.pending(wid), ["y"]);
}

/// An automatic task with one retry, and what comes behind it.
fn automatic(behind: &str) -> String {
    format!(
        "WORKFLOW P {{
  TASK A: N {{ }}
  TASK B: N {{ DEPENDS {behind}; }}
}}
TASK N {{ TYPE AUTOMATIC; PRIORITY 3; DISCONNECTED_OPERATION FALSE; RETRIES 1; }}"
    )
}

/// Makes a host's attempt at the pending job fail.
fn fail_attempt(owner: &mut Session, flow: &Flow) {
    owner.run(&format!(
        "INSERT INTO wed.host (name, expires_at) SELECT 'h', now() + interval '1 hour'
           WHERE NOT EXISTS (SELECT FROM wed.host);
         UPDATE wed.job SET host_id = (SELECT min(host_id) FROM wed.host), token = 77, attempt = attempt + 1
         WHERE flow_id = {} AND trname = 'a';
         SELECT wed.fail_attempts((SELECT min(host_id) FROM wed.host), jsonb_build_array(jsonb_build_object(
           'flow', {0}, 'wid', 1, 'token', 77, 'outcome', 'trapped', 'message', 'no', 'retry', true)))",
        flow.id
    ));
}

#[harness::test]
fn retries_are_used_up_before_a_task_is_failed() {
    let flow = applied(&automatic("A -> FAILED"), "p");
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    let wid = s.start();
    fail_attempt(&mut owner, &flow);
    assert_eq!(s.pending(wid), ["a"]);
    assert_eq!(s.line("SELECT a_state FROM wed_flow"), "NOT_READY");
    fail_attempt(&mut owner, &flow);
    assert_eq!(s.pending(wid), ["b"]);
    assert_eq!(s.line("SELECT a_state FROM wed_flow"), "FAILED");
    assert_eq!(s.number("SELECT count(*) FROM wed_attempt"), 2);
    assert_eq!(s.trace(wid)[1], "a -> {b} R");
    end(&mut s, wid, "b", "SUCCEEDED");
    assert_eq!(s.status(wid), "F");
}

#[harness::test]
fn failure_that_no_rule_names_is_an_exception() {
    let flow = applied(&automatic("A -> SUCCEEDED"), "p");
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    let wid = s.start();
    fail_attempt(&mut owner, &flow);
    fail_attempt(&mut owner, &flow);
    assert_eq!(s.pending(wid), ["_EXCPT"]);
    // The person in charge decides: the task has failed, nothing else can run.
    s.finish(wid, "_EXCPT", "a_state = 'FAILED'");
    assert_eq!(s.status(wid), "F");
}

#[harness::test]
fn higher_priority_is_claimed_first() {
    let source = "WORKFLOW P {
  TASK Low: L { } TASK High: H { } TASK Middle: N { }
}
TASK L { TYPE AUTOMATIC; PRIORITY -1; DISCONNECTED_OPERATION FALSE; }
TASK N { TYPE AUTOMATIC; PRIORITY 5 DISCONNECTED_OPERATION FALSE; }
TASK H { TYPE AUTOMATIC; PRIORITY 9; DISCONNECTED_OPERATION FALSE; }";
    let flow = applied(source, "p");
    let mut s = flow.session();
    s.start();
    assert_eq!(s.lines("SELECT trname FROM job_pool ORDER BY priority DESC"), ["high", "middle", "low"]);
}

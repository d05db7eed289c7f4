//! Going back: compensations of committed steps are run, newest first; and deadlines of jobs.

use wedflow_model::FlowDefinition;

use super::checker::violations;
use crate::support::{Database, Flow, Session, recover};

/// Three steps, each with a compensation; behind the third an exception.
const STEPS: &str = "
name = \"trip\"
final = \"a = '9'\"
[[attribute]]
name = \"a\"
default = \"0\"
[[trigger]]
name = \"t1\"
when = \"a = '0'\"
transition = \"s1\"
compensation = \"u1\"
[[trigger]]
name = \"t2\"
when = \"a = '1'\"
transition = \"s2\"
compensation = \"u2\"
deadline = \"1 hour\"
[[trigger]]
name = \"t3\"
when = \"a = '2'\"
transition = \"s3\"
compensation = \"u3\"
[[attribute]]
name = \"told\"
open = true
[[trigger]]
name = \"t4\"
when = \"told = 'more'\"
transition = \"s4\"
";

/// An instance that has done its three steps and is an exception.
fn stopped() -> (Flow, Session, Session) {
    let database = Database::new();
    let definition: FlowDefinition = toml::from_str(STEPS).expect("a definition");
    let flow = database.define(&definition);
    let (mut s, owner) = (flow.session(), database.owner());
    s.start();
    for n in 1..=3 {
        s.finish(1, &format!("s{n}"), &format!("a = '{n}'"));
    }
    assert_eq!(s.status(1), "E");
    (flow, s, owner)
}

fn back(owner: &mut Session, flow: &Flow, to: i32) -> i64 {
    owner.number(&format!("SELECT wed.go_back({}, 1, {to}, 'ann', 'rained off')", flow.id))
}

#[harness::test]
fn compensations_run_newest_first_down_to_the_chosen_step() {
    let (flow, mut s, mut owner) = stopped();
    assert_eq!(back(&mut owner, &flow, 2), 2);
    assert_eq!(s.pending(1), ["u3"]);
    // It gets the state that the step left.
    assert_eq!(s.line("SELECT payload ->> 'a' FROM job_pool"), "3");
    s.finish(1, "u3", "a = '2'");
    owner.chores("back");
    assert_eq!(s.pending(1), ["u2"]);
    s.finish(1, "u2", "a = '1'");
    owner.chores("back");
    assert_eq!(
        s.trace(1)[4..],
        ["_BACK -> {u3} R", "u3 -> {_EXCPT} E", "_BACK -> {u2} R", "u2 -> {_EXCPT} E", "_BACK -> {} E"]
    );
    assert!(violations(&mut owner).is_empty(), "{:#?}", violations(&mut owner));
    // From there it goes forward again.
    owner.line(&format!("SELECT wed.retry_instance({}, 1, 'ann', 'sun')", flow.id));
    assert_eq!(s.pending(1), ["s2"]);
    assert_eq!(owner.number("SELECT count(*) FROM wed.going_back"), 0);
}

#[harness::test]
fn way_back_ends_with_the_recorded_state() {
    let (flow, mut s, mut owner) = stopped();
    // The compensations leave the attribute as it is: it comes from the trace. What an event told stays.
    back(&mut owner, &flow, 2);
    for undone in ["u3", "u2"] {
        s.finish(1, undone, "told = 'undone'");
        owner.chores("back");
    }
    assert_eq!(s.line("SELECT a || told FROM wed_flow"), "1undone");
    assert_eq!(s.status(1), "E");
    assert_eq!(owner.line("SELECT state::jsonb ->> 'a' FROM wed.trace ORDER BY seq DESC LIMIT 1"), "1");
    assert!(violations(&mut owner).is_empty(), "{:#?}", violations(&mut owner));
}

#[harness::test]
fn state_that_does_not_fit_the_flow_of_today_stays_and_the_trace_says_why() {
    let (flow, mut s, mut owner) = stopped();
    owner.run("UPDATE wed.trace SET state = jsonb_set(state::jsonb, '{a}', '\"x\"')::text WHERE seq = 4");
    let schema = owner.line("SELECT schema_name FROM wed.flow");
    owner.run(&format!("ALTER TABLE {schema}.wed_flow ADD CONSTRAINT never CHECK (a IS DISTINCT FROM 'x')"));
    back(&mut owner, &flow, 4);
    assert_eq!(s.line("SELECT a FROM wed_flow"), "3");
    let note = owner.line("SELECT note FROM wed.trace ORDER BY seq DESC LIMIT 1");
    assert!(note.contains("could not be restored"), "{note}");
    assert_eq!(owner.number("SELECT count(*) FROM wed.going_back"), 0);
}

#[harness::test]
fn failed_compensation_stops_the_way_and_resumes() {
    let (flow, mut s, mut owner) = stopped();
    back(&mut owner, &flow, 1);
    owner.line(&format!(
        "SELECT wed.pass_as_it_stands({}, 1, (SELECT tgid FROM wed.job), '_ABORT', 'u3: failed', NULL, NULL)",
        flow.id
    ));
    for _ in 0..2 {
        owner.chores("back");
    }
    assert_eq!(s.pending(1), ["_EXCPT"]);
    assert_eq!(owner.line("SELECT stopped FROM wed.going_back"), "t");
    assert_eq!(owner.chores("exceptions"), 1);
    back(&mut owner, &flow, 1);
    assert_eq!(s.pending(1), ["u3"]);
}

#[harness::test]
fn a_pause_holds_compensations() {
    let (flow, mut s, mut owner) = stopped();
    let pause = |pause: bool| {
        format!(
            "SELECT wed.set_pause((SELECT tenant_id FROM wed.flow WHERE flow_id = {0}), {0}, NULL, 1, {pause}, 'ann', \
             'rain')",
            flow.id
        )
    };
    owner.line(&pause(true));
    back(&mut owner, &flow, 2);
    let paused = "SELECT bool_and(wed.is_paused(due)) FROM wed.job";
    assert_eq!(owner.line(paused), "t");
    owner.line(&pause(false));
    assert_eq!(owner.line(paused), "f");
    assert_eq!(s.pending(1), ["u3"]);
}

#[harness::test]
fn a_compensation_that_is_skipped_leaves_its_step_as_it_is() {
    let (flow, mut s, mut owner) = stopped();
    back(&mut owner, &flow, 1);
    let skip = "SELECT wed_skip(1, 'u3', 'it cannot be undone')";
    assert_eq!(s.line(skip), "E");
    let note = s.line("SELECT note FROM wed_trace WHERE trw = '_SKIP'");
    assert!(note.starts_with("u3 was skipped by ") && note.ends_with(": it cannot be undone"), "{note}");
    owner.chores("back");
    assert_eq!(s.pending(1), ["u2"], "the way goes on");
    assert!(violations(&mut owner).is_empty());
}

#[harness::test]
fn nothing_else_is_fired_on_the_way_back() {
    let (flow, mut s, mut owner) = stopped();
    back(&mut owner, &flow, 3);
    s.run("UPDATE wed_flow SET told = 'more' WHERE wid = 1");
    assert_eq!(s.pending(1), ["u3"], "an event");
    s.lines("SELECT * FROM wed_rematch(false)");
    assert_eq!(s.pending(1), ["u3"], "a re-match");
    owner.run("UPDATE wed.job SET due = now() + interval '1 hour', attempt = 1");
    s.line("SELECT wed_retry(1, 'now')");
    s.finish(1, "u3", "a = '2'");
    assert_eq!(s.pending(1), ["_EXCPT"]);
    let undone = s.line("SELECT note FROM wed_trace WHERE trw = 'u3'");
    assert_eq!(undone, "undone by u3");
    owner.chores("back");
    assert_eq!(s.trace(1).last().map(String::as_str), Some("_BACK -> {} E"));
    // What the event asked for is fired when the instance goes forward again.
    s.line("SELECT wed_retry(1, 'sun')");
    assert_eq!(s.pending(1), ["s3", "s4"]);
    assert!(violations(&mut owner).is_empty());
}

#[harness::test]
fn steps_are_undone_once() {
    let (flow, mut s, mut owner) = stopped();
    back(&mut owner, &flow, 3);
    s.finish(1, "u3", "a = '2'");
    owner.chores("back");
    assert_eq!(back(&mut owner, &flow, 1), 2);
    assert_eq!(s.pending(1), ["u2"]);
}

#[harness::test]
fn only_an_exception_goes_back() {
    let (flow, mut s, mut owner) = stopped();
    let two = s.start();
    let call = |wid: i64, to: i32| format!("SELECT wed.go_back({}, {wid}, {to}, 'ann', 'why')", flow.id);
    owner.refused(&call(two, 1)).expect("WF043");
    owner.refused(&call(1, 99)).expect("WF040");
}

#[harness::test]
fn job_that_is_not_done_in_time_makes_an_exception() {
    let database = Database::new();
    let definition: FlowDefinition = toml::from_str(STEPS).expect("a definition");
    let flow = database.define(&definition);
    let (mut s, mut owner) = (flow.session(), database.owner());
    let wid = s.start();
    s.finish(wid, "s1", "a = '1'");
    assert_eq!(owner.chores("late"), 0);
    owner.run("UPDATE wed.trigger_policy SET deadline = '1 ms' WHERE deadline IS NOT NULL");
    recover(&database.store);
    assert_eq!(s.status(wid), "E");
    assert_eq!(
        s.line("SELECT trw, note FROM wed_trace ORDER BY seq DESC LIMIT 1"),
        "_DEADLINE|s2: not done within 00:00:00.001"
    );
    assert!(violations(&mut owner).is_empty());
}

#[harness::test]
fn advice_for_an_instance_on_its_way_back_keeps_the_way() {
    let (flow, mut s, mut owner) = stopped();
    back(&mut owner, &flow, 2);
    s.finish(1, "u3", "a = '2'");
    let way = format!("SELECT wed.way_back({}, 1)", flow.id);
    let why = format!("SELECT wed.why({}, 1) ->> 'exception'", flow.id);
    let between = owner.line(&way);
    assert!(between.contains("a host fires the next compensation: 1 of its steps"), "{between}");
    let explained = owner.line(&why);
    assert!(explained.starts_with("the instance is an exception on its way back"), "{explained}");
    owner.run("UPDATE wed.going_back SET stopped = true");
    let stopped = owner.line(&way);
    let command = format!("`wed instance back {} 1 --to 2` continues", flow.name);
    assert!(stopped.contains(&command), "{stopped}");
}

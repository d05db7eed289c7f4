//! Pauses: what is fired meanwhile waits too, and deadlines do not run.

use super::checker::violations;
use crate::support::database::one_lane;
use crate::support::{Flow, Session, eventually, on};

/// A step for a worker, and one that an event fires.
const EVENT: &str = "
INSERT INTO wed_attr (aname, atype, adv, open) VALUES ('done', 'boolean', 'false', false), ('go', 'boolean', 'false', true);
INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('hold', 'hold', 'NOT done'), ('go', 'went', 'go AND NOT done'),
  ('next', 'next', 'done AND NOT go');
INSERT INTO wed_trig (cpred, cfinal) VALUES ('done AND go', true)";

fn set_pause(owner: &mut Session, flow: &Flow, pause: bool) {
    owner.line(&format!(
        "SELECT wed.set_pause((SELECT tenant_id FROM wed.flow WHERE flow_id = {0}), {0}, NULL, 1, {pause}, 'ann', 'x')",
        flow.id
    ));
}

fn paused(owner: &mut Session, transition: &str) -> String {
    owner.line(&format!("SELECT wed.is_paused(due) FROM wed.job WHERE trname = '{transition}'"))
}

#[harness::test]
fn event_of_a_paused_instance_fires_a_paused_job() {
    let flow = Flow::of(EVENT);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    s.start();
    set_pause(&mut owner, &flow, true);
    s.run("UPDATE wed_flow SET go = true WHERE wid = 1");
    assert_eq!(paused(&mut owner, "went"), "t");
    set_pause(&mut owner, &flow, false);
    assert_eq!(paused(&mut owner, "went"), "f");
    assert!(violations(&mut owner).is_empty(), "{:#?}", violations(&mut owner));
}

#[harness::test]
fn worker_that_began_before_the_pause_fires_a_paused_job() {
    let flow = Flow::of(EVENT);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    s.start();
    s.run("BEGIN");
    assert!(s.take(1, "hold"));
    set_pause(&mut owner, &flow, true);
    s.run("UPDATE wed_flow SET done = true WHERE wid = 1; COMMIT");
    assert_eq!(paused(&mut owner, "next"), "t");
    set_pause(&mut owner, &flow, false);
    s.finish(1, "next", "go = true");
    assert_eq!(s.status(1), "F");
}

#[harness::test]
fn job_fired_or_held_while_its_flow_is_resumed_is_resumed_by_a_host() {
    let flow = Flow::of(EVENT);
    let (mut s, mut owner, mut other) = (flow.session(), flow.database.owner(), flow.database.owner());
    s.start();
    s.start();
    let all = |pause: bool| {
        format!(
            "SELECT wed.set_pause((SELECT tenant_id FROM wed.flow WHERE flow_id = {0}), {0}, NULL, NULL, {pause}, 'ann', 'x')",
            flow.id
        )
    };
    owner.line(&all(true));
    s.run("BEGIN; UPDATE wed_flow SET go = true WHERE wid = 1");
    other.run("BEGIN; SELECT FROM wed.job WHERE wid = 2 FOR UPDATE");
    owner.line(&all(false));
    s.run("COMMIT");
    other.run("COMMIT");
    assert_eq!(paused(&mut owner, "went"), "t", "fired paused");
    let host = flow.database.host(one_lane("one"));
    eventually("no job is paused", || {
        (owner.line("SELECT count(*) FROM wed.job WHERE wed.is_paused(due)") == "0").then_some(())
    });
    on(host.stop());
    assert_eq!(owner.line("SELECT count(*) FROM wed.job WHERE due < now()"), "3");
}

#[harness::test]
fn deadline_does_not_run_during_a_pause() {
    let flow = Flow::of(EVENT);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    owner.line(&format!(
        "SELECT wed.set_policy({}, tgid, NULL, '1 hour') FROM wed.trigger WHERE trname = 'hold'",
        flow.id
    ));
    s.start();
    set_pause(&mut owner, &flow, true);
    // The pause has begun 75 minutes ago, a minute after the job was fired.
    owner.run(
        "UPDATE wed.job SET fired_at = fired_at - interval '76 minutes', paused_at = paused_at - interval '75 minutes'",
    );
    set_pause(&mut owner, &flow, false);
    owner.chores("late");
    assert_eq!(s.status(1), "R");
    owner.run("UPDATE wed.job SET fired_at = fired_at - interval '1 hour'");
    owner.chores("late");
    assert_eq!(s.status(1), "E");
}

#[harness::test]
fn deadline_of_a_wait_does_not_run_during_a_pause() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, atype, open) VALUES ('paid', 'boolean', true);
         INSERT INTO wed_trig (tgname, cpred, waits_for) VALUES ('wait', 'paid IS NULL', 'paid');
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('paid', true)",
    );
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    owner.line(&format!(
        "SELECT wed.set_policy({}, tgid, NULL, '1 hour') FROM wed.trigger WHERE tgname = 'wait'",
        flow.id
    ));
    s.start();
    set_pause(&mut owner, &flow, true);
    let earlier =
        "UPDATE wed.job SET fired_at = fired_at - interval '2 hours', paused_at = paused_at - interval '2 hours'";
    owner.run(earlier);
    owner.chores("late");
    assert_eq!(s.status(1), "R", "the pause lasts");
    set_pause(&mut owner, &flow, false);
    owner.chores("late");
    assert_eq!(s.status(1), "R", "the pause is over, and does not count");
    assert_eq!(s.line("SELECT waits_code FROM wed_waiting"), "event");
    owner.run(earlier);
    owner.chores("late");
    assert_eq!(s.status(1), "E");
}

#[harness::test]
fn retry_hurries_no_job_whose_delay_has_not_passed() {
    let flow = Flow::of(EVENT);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    s.run("UPDATE wed_trig SET delay = '1 day' WHERE trname = 'went'");
    s.run("INSERT INTO wed_flow (go) VALUES (true)");
    owner.line(&format!("SELECT wed.retry_instance({}, 1, 'ann', 'x')", flow.id));
    assert_eq!(owner.line("SELECT due > now() FROM wed.job WHERE trname = 'went'"), "t");
}

#[harness::test]
fn flows_role_resumes_what_it_paused_and_nothing_else() {
    let flow = Flow::of(EVENT);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    s.start();
    set_pause(&mut owner, &flow, true);
    let refusal = s.refused("SELECT wed_resume(1)").expect("42501");
    assert!(refusal.message.contains("ann"), "{refusal:?}");
    set_pause(&mut owner, &flow, false);
    s.run("SELECT wed_pause(1, 'for a while')");
    assert_eq!(s.line("SELECT wed_resume(1)"), "t");
}

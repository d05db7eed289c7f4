//! Records and finished instances are kept for as long as the policy says, and counted in quotas.

use crate::support::flows::STEPS;
use crate::support::program::{run, wed};
use crate::support::{Flow, on};

/// A flow with two final instances and a running one.
fn used() -> Flow {
    let flow = Flow::of(STEPS);
    let mut s = flow.session();
    s.run("INSERT INTO wed_flow (n) VALUES (3), (3), (0)");
    flow.database.owner().run(
        "INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer, tstmp)
         SELECT flow_id, wid, 1, 'step', 1, 'failed', repeat('x', 500), 'host:1', now() - wid * interval '2 hours' \
         FROM wed.instance;
         INSERT INTO wed.log (flow_id, wid, tgid, attempt, severity, message, tstmp)
         SELECT flow_id, wid, 1, 1, 'info', repeat('x', 500), now() - wid * interval '2 hours' FROM wed.instance;
         INSERT INTO wed.recording (flow_id, wid, tgid, attempt, component_id, from_seq, deadline, tstmp)
         SELECT flow_id, wid, 1, 1, 1, 1, 1, now() - wid * interval '2 hours' FROM wed.instance",
    );
    flow
}

fn keep(flow: &Flow, arguments: &[&str]) {
    run(wed(&flow.database.url()).args(["db", "retention"]).args(arguments)).done();
}

#[harness::test]
fn finished_instances_go_when_they_are_old() {
    let flow = used();
    let mut owner = flow.database.owner();
    keep(&flow, &["--instances", "1 day"]);
    owner.run("UPDATE wed.instance SET changed = now() - interval '2 days' WHERE wid IN (1, 3)");
    owner.run(
        "INSERT INTO wed.pause (tenant_id, flow_id, wid, actor, reason) SELECT tenant_id, flow_id, 1, 'ann', 'why' \
         FROM wed.flow",
    );
    assert_eq!(owner.chores("expired"), 1);
    let mut s = flow.session();
    assert_eq!(s.lines("SELECT wid FROM wed_flow ORDER BY 1"), ["2", "3"], "the running one stays");
    assert_eq!(owner.number("SELECT count(*) FROM wed.pause"), 0);
    for table in ["trace", "attempt", "log", "recording", "instance"] {
        assert_eq!(owner.number(&format!("SELECT count(*) FROM wed.{table} WHERE wid = 1")), 0, "{table}");
        assert_eq!(owner.number(&format!("SELECT count(*) FROM wed.{table} WHERE wid = 2")), 1, "{table}");
    }
    s.refused("DELETE FROM wed_flow WHERE wid = 2").expect("WF009");
    s.refused("SET wed.commit = 'expire'; DELETE FROM wed_flow WHERE wid = 2").expect("WF009");
    assert!(super::checker::violations(&mut owner).is_empty());
}

#[harness::test]
fn records_go_when_they_are_old() {
    let flow = used();
    keep(&flow, &["--attempts", "3 hours", "--logs", "5 hours", "--recordings", "1 hour"]);
    on(flow.database.store.expire_records(9)).expect("expired");
    let mut owner = flow.database.owner();
    let left = ["attempt", "log", "recording"].map(|table| owner.number(&format!("SELECT count(*) FROM wed.{table}")));
    assert_eq!(left, [1, 2, 0]);
    let mut short = wed(&flow.database.url());
    run(short.args(["db", "retention", "--logs", "5 minutes"])).exits(2);
    let shown = run(wed(&flow.database.url()).args(["--json", "db", "retention", "--logs", "forever"])).done().json();
    assert_eq!(shown["logs"], serde_json::Value::Null);
    assert_eq!(shown["attempts"], "PT3H");
}

#[harness::test]
fn nothing_goes_without_a_policy() {
    let flow = used();
    let mut owner = flow.database.owner();
    owner.run("UPDATE wed.instance SET changed = '2001-01-01'");
    assert_eq!(owner.chores("expired"), 0);
    assert_eq!(on(flow.database.store.expire_records(9)).expect("expired"), 0);
    assert_eq!(owner.number("SELECT count(*) FROM wed.attempt"), 3);
}

#[harness::test]
fn what_is_kept_is_counted_and_limited() {
    let flow = used();
    let mut owner = flow.database.owner();
    owner.line("SELECT wed.weigh_usage('0')");
    let used = |owner: &mut crate::support::Session, name: &str| {
        owner.number(&format!("SELECT used FROM wed.quotas(1) WHERE name = '{name}'"))
    };
    assert_eq!(used(&mut owner, "finished"), 2);
    for (name, option) in [
        ("finished", "--finished"),
        ("attempt_bytes", "--attempt-bytes"),
        ("log_bytes", "--log-bytes"),
        ("recording_bytes", "--recording-bytes"),
    ] {
        let now = used(&mut owner, name);
        assert!(now > 0, "{name}");
        let set = |most: &str| {
            run(wed(&flow.database.url()).args(["tenant", "quota", "default", option, most])).done();
        };
        set(&(now - 1).to_string());
        let refused = flow.session().refused("INSERT INTO wed_flow DEFAULT VALUES").expect("WF020");
        assert!(refused.message.contains(name), "{refused:?}");
        set("none");
    }
    flow.session().start();
}

#[harness::test]
fn history_of_a_running_instance_stays_until_it_has_ended() {
    let flow = Flow::of(STEPS);
    let mut owner = flow.database.owner();
    let mut s = flow.session();
    s.run("INSERT INTO wed_flow (n) VALUES (3), (0)");
    // Both began forty days ago.
    owner.run(
        "SELECT wed.make_day(current_date - 40);
         UPDATE wed.trace SET tstmp = tstmp - interval '40 days';
         UPDATE wed.job SET fired_at = fired_at - interval '40 days';
         INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer, tstmp)
         SELECT flow_id, wid, 1, 'step', 1, 'failed', 'x', 'host:1', now() - interval '40 days' FROM wed.instance",
    );
    keep(&flow, &["30 days"]);
    owner.line("SELECT wed.roll_trace()");
    for table in ["trace", "attempt"] {
        assert_eq!(owner.lines(&format!("SELECT wid FROM wed.{table}")), ["2"], "{table}");
    }
    assert_eq!(s.line("SELECT payload ->> 'n' FROM job_pool"), "0");
    let problems = "SELECT count(*) FROM wed.problems() WHERE code = 'history_misplaced'";
    assert_eq!(owner.number(problems), 0);
    owner.run("UPDATE wed.instance SET status = 'F'");
    owner.line("SELECT wed.roll_trace()");
    assert_eq!(owner.number("SELECT count(*) FROM wed.trace"), 0);
}

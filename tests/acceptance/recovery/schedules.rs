//! Schedules start instances by the database's clock, each occurrence once.

use crate::support::database::one_lane;
use crate::support::flows::PAPER;
use crate::support::program::{run, wed};
use crate::support::{Flow, eventually, on};

fn scheduled(flow: &Flow, arguments: &[&str]) {
    let mut set = wed(&flow.database.url());
    set.args(["flow", "schedule", "set", &flow.name, "s"])
        .args(arguments);
    run(&mut set).done();
}

/// Makes the schedule due since some time and starts what is due.
fn after(flow: &Flow, missed_for: &str) -> i64 {
    let mut owner = flow.database.owner();
    owner.run(&format!(
        "UPDATE wed.schedule SET next_at = date_trunc('minute', now()) - interval '{missed_for}'"
    ));
    let before = owner.number("SELECT count(*) FROM wed.instance");
    on(wedflow_worker::schedule::start_due(&flow.database.store)).expect("started");
    owner.number("SELECT count(*) FROM wed.instance") - before
}

#[harness::test]
fn schedule_starts_instances_every_second() {
    let flow = Flow::of(PAPER);
    scheduled(&flow, &["--cron", "* * * * * *", "a2=planned"]);
    let host = flow.database.host(one_lane("one"));
    let mut s = flow.session();
    eventually("three instances", || {
        (s.number("SELECT count(*) FROM wed_flow WHERE a2 = 'planned'") >= 3).then_some(())
    });
    on(host.stop());
    let seconds =
        s.number("SELECT count(DISTINCT date_trunc('second', started)) FROM wed_instance");
    assert_eq!(
        seconds,
        s.number("SELECT count(*) FROM wed_instance"),
        "one for each second"
    );
}

#[harness::test]
fn missed_occurrences_follow_the_policy() {
    for (policy, started) in [("skip", 0), ("one", 1), ("all", 6)] {
        let flow = Flow::of(PAPER);
        scheduled(&flow, &["--cron", "* * * * *", "--missed", policy]);
        assert_eq!(after(&flow, "5 minutes"), started, "{policy}");
        let next = flow
            .database
            .owner()
            .line("SELECT next_at > now() FROM wed.schedule");
        assert_eq!(next, "t", "{policy}");
    }
}

#[harness::test]
fn running_instance_keeps_a_schedule_from_overlapping() {
    let flow = Flow::of(PAPER);
    scheduled(&flow, &["--cron", "* * * * *", "--overlap", "skip"]);
    assert_eq!(after(&flow, "0"), 1);
    assert_eq!(after(&flow, "0"), 0);
    let cancel = format!("SELECT wed.cancel_instance({}, 1, 'ann', 'done')", flow.id);
    flow.database.owner().line(&cancel);
    assert_eq!(after(&flow, "0"), 1);
}

#[harness::test]
fn failing_start_is_kept_and_the_schedule_goes_on() {
    let flow = Flow::of(PAPER);
    scheduled(&flow, &["--cron", "* * * * *"]);
    flow.session().run("UPDATE wed_trig SET enabled = false");
    assert_eq!(after(&flow, "0"), 0);
    let mut owner = flow.database.owner();
    let error = owner.line("SELECT last_error FROM wed.schedule");
    assert!(error.contains("satisfies no condition"), "{error}");
    flow.session().run("UPDATE wed_trig SET enabled = true");
    assert_eq!(after(&flow, "0"), 1);
    assert_eq!(
        owner.line("SELECT last_error IS NULL, last_wid IS NOT NULL FROM wed.schedule"),
        "t|t"
    );
}

#[harness::test]
fn backfill_starts_one_instance_for_each_time() {
    let flow = Flow::of(PAPER);
    scheduled(&flow, &["--cron", "0 9 * * *", "--zone", "Europe/Berlin"]);
    let mut backfill = wed(&flow.database.url());
    backfill.args(["--json", "flow", "schedule", "backfill", &flow.name, "s"]);
    backfill.args([
        "--from",
        "2026-03-27T00:00:00Z",
        "--until",
        "2026-04-01T00:00:00Z",
    ]);
    let answer = run(&mut backfill).done().json();
    assert_eq!(answer["started"].as_array().map(Vec::len), Some(5));
    let notes = "SELECT note FROM wed_trace WHERE seq = 1 ORDER BY wid";
    let notes = flow.session().lines(notes);
    assert_eq!(notes[0], "schedule s, 2026-03-27T08:00:00.000000Z");
    assert_eq!(notes[4], "schedule s, 2026-03-31T07:00:00.000000Z");
}

#[harness::test]
fn bad_schedules_are_refused() {
    let flow = Flow::of(PAPER);
    for wrong in [
        ["--cron", "61 * * * *", "--zone", "UTC"],
        ["--cron", "* * * * *", "--zone", "Mars/Olympus"],
    ] {
        let mut set = wed(&flow.database.url());
        set.args(["--json", "flow", "schedule", "set", &flow.name, "s"])
            .args(wrong);
        assert_eq!(run(&mut set).exits(4).error()["code"], "WF044");
    }
}

//! Schedules start instances by the database's clock, each occurrence once.

use crate::support::database::one_lane;
use crate::support::flows::PAPER;
use crate::support::program::{run, wed};
use crate::support::{Database, Flow, eventually, on};

fn scheduled(flow: &Flow, arguments: &[&str]) {
    let mut set = wed(&flow.database.url());
    set.args(["flow", "schedule", "set", &flow.name, "s"]).args(arguments);
    run(&mut set).done();
}

/// Makes the schedule due since some time and starts what is due.
fn after(flow: &Flow, missed_for: &str) -> i64 {
    let mut owner = flow.database.owner();
    owner.run(&format!("UPDATE wed.schedule SET next_at = date_trunc('minute', now()) - interval '{missed_for}'"));
    let before = owner.number("SELECT count(*) FROM wed.instance");
    // A round is limited in time: what it leaves is for the next one.
    eventually("nothing is due", || {
        on((flow.database.store).fire_schedules(wedflow_worker::schedule::next)).expect("started");
        let due = owner.number("SELECT count(*) FROM wed.schedule WHERE next_at <= now()");
        (due == 0).then_some(())
    });
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
    let seconds = s.number("SELECT count(DISTINCT date_trunc('second', started)) FROM wed_instance");
    assert_eq!(seconds, s.number("SELECT count(*) FROM wed_instance"), "one for each second");
}

#[harness::test]
fn missed_occurrences_follow_the_policy() {
    for (policy, started) in [("skip", 0), ("one", 1), ("all", 6)] {
        let flow = Flow::of(PAPER);
        scheduled(&flow, &["--cron", "* * * * *", "--missed", policy]);
        assert_eq!(after(&flow, "5 minutes"), started, "{policy}");
        let next = flow.database.owner().line("SELECT next_at > now() FROM wed.schedule");
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
    assert_eq!(owner.line("SELECT last_error IS NULL, last_wid IS NOT NULL FROM wed.schedule"), "t|t");
}

#[harness::test]
fn backfill_starts_one_instance_for_each_time() {
    let flow = Flow::of(PAPER);
    scheduled(&flow, &["--cron", "0 9 * * *", "--zone", "Europe/Berlin"]);
    let mut backfill = wed(&flow.database.url());
    backfill.args(["--json", "flow", "schedule", "backfill", &flow.name, "s"]);
    backfill.args(["--from", "2026-03-27T00:00:00Z", "--until", "2026-04-01T00:00:00Z"]);
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
    for wrong in [["--cron", "61 * * * *", "--zone", "UTC"], ["--cron", "* * * * *", "--zone", "Mars/Olympus"]] {
        let mut set = wed(&flow.database.url());
        set.args(["--json", "flow", "schedule", "set", &flow.name, "s"]).args(wrong);
        assert_eq!(run(&mut set).exits(4).error()["code"], "WF044");
    }
}

#[harness::test]
fn setting_a_schedule_again_keeps_a_time_that_was_missed() {
    let flow = Flow::of(PAPER);
    let nightly = ["--cron", "0 2 * * *", "--missed", "one"];
    scheduled(&flow, &nightly);
    let mut owner = flow.database.owner();
    owner.run("UPDATE wed.schedule SET next_at = '2026-01-01T02:00:00Z'");
    let next = "SELECT next_at = '2026-01-01T02:00:00Z' FROM wed.schedule";
    scheduled(&flow, &[&nightly[..], &["a2=planned"]].concat());
    assert_eq!(owner.line(next), "t");
    scheduled(&flow, &["--cron", "0 3 * * *", "--missed", "one"]);
    assert_eq!(owner.line(next), "f", "another pattern has another time");
}

#[harness::test]
fn flow_and_tenant_have_a_bounded_number_of_schedules() {
    let flow = Flow::of(PAPER);
    let mut owner = flow.database.owner();
    let fill = |count: i64| {
        format!(
            "DELETE FROM wed.schedule; INSERT INTO wed.schedule (flow_id, name, cron, actor)
             SELECT {}, 't' || i, '@daily', 'ann' FROM generate_series(1, {count}) i",
            flow.id
        )
    };
    let set = |name: &str| {
        let mut set = wed(&flow.database.url());
        set.args(["--json", "flow", "schedule", "set", &flow.name, name]).args(["--cron", "@daily"]);
        run(&mut set)
    };
    owner.run(&fill(50));
    let refused = set("s").exits(4).error();
    assert_eq!(refused["code"], "WF020", "{refused}");
    set("t1").done();
    owner.run(&fill(2));
    owner.run("UPDATE wed.quota SET schedules = 2");
    let refused = set("s").exits(4).error();
    assert_eq!(refused["code"], "WF020", "{refused}");
}

#[harness::test]
fn host_without_a_time_zone_loses_no_time_of_a_schedule() {
    let flow = Flow::of(PAPER);
    scheduled(&flow, &["--cron", "* * * * *"]);
    let mut owner = flow.database.owner();
    owner.run("UPDATE wed.schedule SET next_at = now()");
    let unknown = |_: &str, _: &str, _: i64| Err("there is no time zone \"Mars\"".to_owned());
    let started = on(flow.database.store.fire_schedules(unknown)).expect("looked");
    assert_eq!(started, 0);
    assert_eq!(owner.line("SELECT next_at <= now(), last_error FROM wed.schedule"), "t|·");
    assert_eq!(owner.line("SELECT reason FROM wed.postponed"), "there is no time zone \"Mars\"");
    owner.run("UPDATE wed.postponed SET until = now()");
    let started = on((flow.database.store).fire_schedules(wedflow_worker::schedule::next));
    assert_eq!(started.expect("started"), 1);
}

#[harness::test]
fn schedule_makes_up_for_a_week_at_most() {
    let flow = Flow::of(PAPER);
    scheduled(&flow, &["--cron", "0 0 * * *", "--missed", "all"]);
    let started = after(&flow, "30 days");
    assert!((6..=8).contains(&started), "{started}");
}

#[harness::test]
fn schedules_stand_in_a_definition_and_come_back_with_its_versions() {
    let database = Database::new();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("nightly.toml");
    let wed = |arguments: &[&str]| run(wed(&database.url()).current_dir(folder.path()).args(arguments));
    let flow = "name = 'nightly'\nfinal = \"a = 'done'\"\n[[attribute]]\nname = 'a'\n\
                [[trigger]]\nname = 't'\nwhen = \"a = 'new'\"\ntransition = 't'\n";
    let with = |schedule: &str| std::fs::write(&file, format!("{flow}{schedule}")).expect("a file");
    let every = |cron: &str| format!("[[schedule]]\nname = 's'\ncron = '{cron}'\nstate = {{ a = 'new' }}\n");
    let apply = ["flow", "apply", "nightly.toml"];
    let mut owner = database.owner();
    let fire = || on((database.store).fire_schedules(wedflow_worker::schedule::next)).expect("fired");

    with(&every("* * * * *"));
    wed(&apply).done();
    assert_eq!(fire(), 0, "its first time is found, and nothing is started before");
    let begun = "SELECT cron, next_at > now(), begins FROM wed.schedule";
    assert_eq!(owner.line(begun), "* * * * *|t|f");
    owner.run("UPDATE wed.schedule SET next_at = now() - interval '1 hour'");
    assert!(wed(&apply).done().out.contains("up to date"));
    assert_eq!(fire(), 1, "a time that was missed is not lost");
    with("");
    wed(&apply).done();
    assert_eq!(owner.number("SELECT count(*) FROM wed.schedule"), 1, "a file without schedules leaves them");
    with(&every("0 2 * * *"));
    assert!(wed(&apply).done().out.contains("schedule s"), "what changed is named");
    assert_eq!((fire(), owner.line("SELECT cron FROM wed.schedule")), (0, "0 2 * * *".to_owned()));
    assert!(wed(&["flow", "show", "nightly", "--toml"]).done().out.contains("[[schedule]]"));
    wed(&["flow", "rollback", "nightly", "--yes"]).done();
    assert_eq!(owner.line(begun), "* * * * *|f|t", "the earlier one begins anew");
    with(&every("99 * * * *"));
    wed(&apply).exits(4);
    std::fs::write(&file, format!("schedule = []\n{flow}")).expect("a file");
    wed(&apply).done();
    assert_eq!(owner.number("SELECT count(*) FROM wed.schedule"), 0);
}

#[harness::test]
fn schedule_whose_values_start_nothing_is_refused_and_warned_of() {
    let flow = Flow::of(PAPER);
    let url = flow.database.url();
    let set = |value: &str| {
        let mut set = wed(&url);
        set.args(["--json", "flow", "schedule", "set", &flow.name, "s", "--cron", "@daily"]);
        run(set.arg(value))
    };
    set("a2=done").done();
    let nothing = ["--json", "flow", "schedule", "set", &flow.name, "n", "--cron", "@daily"];
    let mut both = wed(&url);
    both.args(nothing).args(["a2=done", "a3=done"]);
    run(&mut both).done();
    flow.session().run("UPDATE wed_trig SET enabled = false WHERE tgname = 'tf'");
    let refused = run(wed(&url).args(nothing).args(["a2=done", "a3=done"])).exits(4).error();
    assert_eq!(refused["code"], "WF001", "{refused}");
    // The one that was made before is a finding now.
    let findings = run(wed(&url).args(["--json", "flow", "lint", &flow.name]));
    let told: serde_json::Value = serde_json::from_str(&findings.out).expect("findings");
    let found = told.to_string();
    assert!(found.contains("schedule_starts_nothing") && found.contains("schedule n"), "{found}");
}

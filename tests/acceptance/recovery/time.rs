//! Time: conditions that look at the clock, keys that make a start or an event happen once, many jobs due at once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::database::{one_lane, sample_component};
use crate::support::http::Api;
use crate::support::program::{run, wed};
use crate::support::{Database, Flow, Session, eventually, on, repository};

/// Work that a person does, and a reminder when it takes too long.
const REMINDER: &str = "
INSERT INTO wed_attr (aname, atype, adv, open) VALUES
  ('done', 'boolean', 'false', false), ('remind_at', 'timestamptz', NULL, true), ('reminded', 'boolean', 'false', \
  false);
INSERT INTO wed_trig (tgname, trname, cpred) VALUES
  ('work', 'do_work', 'NOT done'), ('late', 'remind', 'remind_at <= now() AND NOT reminded AND NOT done');
INSERT INTO wed_trig (cpred, cfinal) VALUES ('done', true);";

/// Looks at the clock. Returns how many instances fired something.
fn fired(owner: &mut Session) -> i64 {
    owner.number(
        "SELECT coalesce(sum(n::bigint), 0) FROM wed.find_chores('clock') c, unnest(wed.do_chores('clock', c)) n \
         WHERE n <> 'false'",
    )
}

#[harness::test]
fn condition_fires_when_the_clock_makes_it_true() {
    let flow = Flow::of(REMINDER);
    let mut s = flow.session();
    s.run("INSERT INTO wed_flow (remind_at) VALUES (now() + interval '2 s'), (now() + interval '1 day')");
    let host = flow.database.host(one_lane("one"));
    eventually("the reminder", || (s.pending(1) == ["do_work", "remind"]).then_some(()));
    assert_eq!(s.pending(2), ["do_work"]);
    assert_eq!(s.trace(1), ["-> {do_work} R", "_CLOCK -> {remind} R"], "only what has become true is fired");
    let early = s.number(
        "SELECT count(*) FROM wed_trace t JOIN wed_flow USING (wid) WHERE trw = '_CLOCK' AND tstmp < remind_at",
    );
    assert_eq!(early, 0, "not before its time");
    // The papers' rule for what writes next: all conditions are evaluated.
    s.finish(1, "remind", "reminded = true");
    s.finish(1, "do_work", "done = true");
    assert_eq!(s.status(1), "F");
    on(host.stop());
}

#[harness::test]
fn condition_whose_moments_are_not_known_fires_for_instances_that_start_later() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('done', 'boolean', 'false'), ('since', 'timestamptz', NULL);
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('work', 'do_work', 'NOT done'),
           ('late', 'remind', $$age(now(), since) > interval '1 hour' AND NOT done$$);
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('done', true);",
    );
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    eventually("a look at no instance", || {
        fired(&mut owner);
        (owner.line("SELECT count(*) FROM wed.clock") == "1").then_some(())
    });
    s.run("INSERT INTO wed_flow (since) VALUES (now() - interval '3599 s')");
    assert_eq!(s.pending(1), ["do_work"]);
    eventually("the reminder", || {
        fired(&mut owner);
        (s.pending(1) == ["do_work", "remind"]).then_some(())
    });
}

#[harness::test]
fn skipped_reminder_is_not_fired_again_by_the_clock() {
    let flow = Flow::of(REMINDER);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    s.run("INSERT INTO wed_flow (remind_at) VALUES (now() + interval '10 ms')");
    std::thread::sleep(Duration::from_millis(20));
    let mut look = || {
        owner.run("UPDATE wed.clock SET next_look = '-infinity', not_before = '-infinity'");
        fired(&mut owner)
    };
    assert_eq!(look(), 1);
    assert_eq!(look(), 0, "it is pending");
    s.line("SELECT wed_skip(1, 'remind', 'called by phone')");
    assert_eq!(look(), 0, "it was skipped");
    s.run("UPDATE wed_flow SET remind_at = now() + interval '10 ms' WHERE wid = 1");
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(look(), 1, "another state, another time");
}

#[harness::test]
fn condition_without_a_clock_is_not_looked_at() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname) VALUES ('a'); INSERT INTO wed_trig (trname, cpred) VALUES ('t', 'a::integer \
         IS NULL AND a IS DISTINCT FROM ''now()''');",
    );
    assert_eq!(flow.database.owner().number("SELECT count(*) FROM wed.due_clock()"), 0);
    flow.session().run("UPDATE wed_trig SET cpred = 'a::timestamptz < current_timestamp OR a IS NULL'");
    assert_eq!(flow.database.owner().number("SELECT count(*) FROM wed.due_clock()"), 1);
}

#[harness::test]
fn failing_condition_keeps_no_other_instance_from_its_time() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, atype, adv, open) VALUES ('at', 'timestamptz', NULL, false), ('n', 'integer', \
         '1', false);
         INSERT INTO wed_trig (trname, cpred) VALUES ('work', 'n >= 0'), ('late', 'at <= now() AND 1 / (n - 2 + (at \
         <= now())::integer) <> 5');",
    );
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    // The first one's condition divides by zero when its time has come.
    s.run("INSERT INTO wed_flow (at, n) VALUES (now() + interval '500 ms', 1), (now() + interval '500 ms', 7)");
    std::thread::sleep(Duration::from_millis(700));
    // A look has little time, and on a busy machine needs another.
    eventually("the other one is fired", || {
        owner.run("UPDATE wed.clock SET next_look = '-infinity', not_before = '-infinity'");
        (fired(&mut owner) == 1).then_some(())
    });
    assert_eq!(s.pending(2), ["late", "work"]);
}

#[harness::test]
fn jobs_that_failed_together_come_back_apart() {
    let database = Database::new();
    let mut owner = database.owner();
    let pauses = "FROM (SELECT wed.backoff_of('10 s', 2) AS p FROM generate_series(1, 40)) b";
    assert!(owner.number(&format!("SELECT count(DISTINCT p) {pauses}")) > 30);
    assert_eq!(
        owner.line(&format!("SELECT min(p) >= '20 s', max(p) <= '25 s' {pauses}")),
        "t|t",
        "never sooner than the backoff"
    );
    assert_eq!(
        owner.line("SELECT wed.backoff_of('71000000 months -2130000000 days', 1)"),
        "24:00:00",
        "an interval that compares as nothing and adds as millions of years"
    );
}

#[harness::test]
fn key_starts_and_sends_once_over_every_door() {
    let flow = Flow::of(REMINDER);
    let database = &flow.database;
    let mut s = flow.session();
    let start = "SELECT wed_start('{}', 'order-7')";
    assert_eq!(s.number(start), s.number(start));
    assert_eq!(s.number("SELECT count(*) FROM wed_flow"), 1);
    s.refused("SELECT wed_start('{\"done\": true}', 'order-7')").expect("WF046");
    let url = database.url();
    let event = |key: &str| {
        let mut command = wed(&url);
        command.args(["--json", "instance", "event", "trial", "1"]);
        command.args(["remind_at=2030-01-01T00:00:00Z", "--key", key]);
        run(&mut command).done().json()["sent"].clone()
    };
    assert_eq!((event("k"), event("k")), (json!(true), json!(false)));
    let api = Api::of(database);
    let client = api.user("default", "ann", "participant");
    let sent = |key: &str| {
        let body = json!({ "state": { "remind_at": "2031-01-01T00:00:00Z" } }).to_string();
        let headers = [("content-type", "application/json"), ("idempotency-key", key)];
        client.send("POST", "/v1/flows/trial/instances/1/event", &headers, body.as_bytes()).is(200).json()["sent"]
            .clone()
    };
    assert_eq!((sent("h"), sent("h")), (json!(true), json!(false)));
    let notes = s.lines("SELECT trw, note FROM wed_trace WHERE wid = 1 AND seq > 1 ORDER BY seq");
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[1].starts_with("_EVENT|") && notes[1].contains("ann"), "{notes:?}");
}

#[harness::test]
fn refused_event_leaves_its_key_unused() {
    let flow = Flow::of(REMINDER);
    let mut s = flow.session();
    s.start();
    s.refused("SELECT wed_event(1, '{\"done\": true}', 'k')").expect("WF003");
    s.refused("SELECT wed_event(9, '{\"remind_at\": null}', 'k')").expect("WF040");
    assert_eq!(s.line("SELECT wed_event(1, '{\"remind_at\": \"2030-01-01\"}', 'k')"), "t");
}

/// A session of the same flow of another tenant.
fn counters_of_another_tenant(database: &Arc<Database>) -> Session {
    let store = &database.store;
    on(store.create_tenant("other", "")).expect("a tenant");
    let component = sample_component("counters");
    on(wedflow_worker::upload(store, "other", "counters", component)).expect("uploaded");
    let file = repository("sample-transitions/counters/flow.toml");
    let text = std::fs::read_to_string(file).expect("a definition");
    let definition: wedflow_model::FlowDefinition = toml::from_str(&text).expect("readable");
    on(store.apply("other", &definition)).expect("applied");
    let url = on(store.flow_url("other", &definition.name)).expect("its URL");
    Session::on(database, &url)
}

#[harness::test]
fn delayed_jobs_run_in_time_when_ten_thousand_are_due_at_once() {
    let database = Database::new();
    database.upload("counters", sample_component("counters"));
    let flow = database.apply(&repository("sample-transitions/counters/flow.toml"));
    let mut other = counters_of_another_tenant(&database);
    let mut s = flow.session();
    s.run("UPDATE wed_trig SET delay = '1 hour' WHERE NOT cfinal");
    s.run("INSERT INTO wed_flow (a1, a2, a3) SELECT '2', '4', '5' FROM generate_series(1, 10000)");
    let mut owner = database.owner();
    let host = database.host(one_lane("one"));
    owner.run("UPDATE wed.job SET due = now() + interval '2 s'");
    owner.run("SELECT pg_notify('wed_jobs', '')");
    let begun = Instant::now();
    let runs = "SELECT count(*) FROM wed_trace WHERE trw IS NOT NULL";
    eventually("the first of them", || (s.number(runs) > 0).then_some(()));
    let wid = other.start();
    eventually("the other tenant's instance", || (other.status(wid) == "F").then_some(()));
    println!("another tenant's instance ended after {} of them", s.number(runs));
    eventually("all of them", || {
        (owner.number("SELECT count(*) FROM wed.instance WHERE status <> 'F'") == 0).then_some(())
    });
    let early = s.number(
        "SELECT count(*) FROM wed_trace WHERE trw IS NOT NULL AND tstmp < (SELECT min(tstmp) + interval '1 s' FROM \
         wed_trace)",
    );
    assert_eq!(early, 0);
    println!("10 000 jobs due at once: done {:?} after they were set", begun.elapsed());
    let once = "SELECT count(DISTINCT wid), count(*), max(attempt) FROM wed_trace WHERE trw IS NOT NULL";
    assert_eq!(s.line(once), "10000|10000|1");
    let ended = other.line("SELECT max(tstmp) FROM wed_trace");
    let meanwhile = s.number(&format!("{runs} AND tstmp > '{ended}'"));
    assert!(meanwhile > 0, "the other tenant waited for the whole herd");
    let gap = s.line(
        "SELECT coalesce(max(g), '0') FROM (SELECT tstmp - lag(tstmp) OVER (ORDER BY tstmp) AS g FROM wed_trace \
         WHERE trw IS NOT NULL) x",
    );
    println!("longest time without a commit meanwhile: {gap}");
    assert_eq!(s.number("SELECT count(*) FROM wed_trace"), 20_000);
    on(host.stop());
}

//! Commits of a host beyond the papers' algorithm: conditions left out, turns, history.

use std::time::Duration;

use wedflow_model::HostId;
use wedflow_store::Claimed;
use wedflow_worker::HostSettings;

use super::leases::group;
use crate::race::assert_sound;
use crate::support::database::{one_lane, sample_component};
use crate::support::{Database, Flow, eventually, on};

const HOUR: Duration = Duration::from_secs(3600);

/// Twenty triggers over two attributes, ten each: enough for conditions to be evaluated by group.
fn grid() -> Flow {
    let database = Database::new();
    database.upload("paper", sample_component("paper"));
    let flow = database.flow("grid");
    flow.session().run(
        "BEGIN;
         INSERT INTO wed_attr (aname, atype, adv) VALUES ('a', 'integer', '0'), ('b', 'integer', '0');
         INSERT INTO wed_trig (tgname, trname, cpred)
         SELECT x || n, 'at_' || x || n, x || ' = ' || n FROM unnest('{a,b}'::text[]) x, generate_series(0, 9) n;
         INSERT INTO wed_trig (cfinal, cpred) VALUES (true, 'a = 99');
         COMMIT",
    );
    for x in ["a", "b"] {
        for n in 0..10 {
            flow.bind(&format!("at_{x}{n}"), "paper");
        }
    }
    flow
}

/// Commits the held job of one transition, assigning one attribute; returns what it fired.
fn step(
    flow: &Flow,
    host: HostId,
    held: &mut Vec<Claimed>,
    transition: &str,
    assigned: &str,
    value: &str,
) -> Vec<String> {
    let store = &flow.database.store;
    let at = held
        .iter()
        .position(|claimed| claimed.job.transition == transition)
        .unwrap_or_else(|| panic!("{transition} is not held: {held:?}"));
    let claimed = held.swap_remove(at);
    let commit = group(store, &claimed, &[assigned], None, &[value]);
    let fired = on(store.commit_batch(host, &[commit], false, true)).expect("committed");
    let mut names: Vec<String> = fired.iter().map(|fired| fired.job.transition.clone()).collect();
    names.sort();
    held.extend(fired);
    names
}

#[harness::test]
fn a_condition_over_what_did_not_change_keeps_its_answer() {
    let flow = grid();
    let mut session = flow.session();
    let wid = session.start();
    let store = &flow.database.store;
    let host = on(store.register_host("by hand", HOUR)).expect("entered");
    let mut held = on(store.claim(host, 10)).expect("claimed");
    assert_eq!(session.pending(wid), ["at_a0", "at_b0"]);
    // b = 0 still holds and is pending: not fired again.
    assert_eq!(step(&flow, host, &mut held, "at_a0", "a", "1"), ["at_a1"]);
    // Its job is done now, b has not changed: it fires again, though only a was looked at.
    assert_eq!(step(&flow, host, &mut held, "at_b0", "a", "2"), ["at_a2", "at_b0"]);
    assert_eq!(session.pending(wid), ["at_a1", "at_a2", "at_b0"]);
    // What no longer holds is not remembered.
    assert_eq!(step(&flow, host, &mut held, "at_b0", "b", "7"), ["at_b7"]);
    assert_eq!(step(&flow, host, &mut held, "at_b7", "a", "3"), ["at_a3", "at_b7"]);
    // A write from outside evaluates everything, and what it finds is kept for the next commit.
    session.run("UPDATE wed_attr SET open = true WHERE aname = 'b'");
    session.run("UPDATE wed_flow SET b = 4");
    held.extend(on(store.claim(host, 10)).expect("claimed"));
    let none: [&str; 0] = [];
    assert_eq!(step(&flow, host, &mut held, "at_b7", "a", "3"), none);
    assert_eq!(step(&flow, host, &mut held, "at_b4", "a", "5"), ["at_a5", "at_b4"]);
    on(store.leave_host(host)).expect("left");
    assert_sound(&flow);
}

#[harness::test]
fn a_change_of_the_model_evaluates_all_conditions_again() {
    let flow = grid();
    let mut session = flow.session();
    session.start();
    let store = &flow.database.store;
    let host = on(store.register_host("by hand", HOUR)).expect("entered");
    let mut held = on(store.claim(host, 10)).expect("claimed");
    // Conditions over b alone, which the next commit does not touch.
    session.run(
        "INSERT INTO wed_trig (tgname, trname, cpred)
         SELECT 'c' || n, 'at_b0', 'b >= ' || n FROM generate_series(0, 4) n",
    );
    assert_eq!(
        step(&flow, host, &mut held, "at_a0", "a", "1"),
        ["at_a1", "at_b0"],
        "the new trigger fires beside the pending one"
    );
    on(store.leave_host(host)).expect("left");
    assert_sound(&flow);
}

/// Two batches, each with groups of one job of half the instances and of another of the other half.
#[harness::test]
fn batches_over_the_same_instances_do_not_wait_for_each_other_in_a_circle() {
    let flow = grid();
    let mut session = flow.session();
    session.run("INSERT INTO wed_flow SELECT FROM generate_series(1, 200)");
    let store = &flow.database.store;
    let host = on(store.register_host("by hand", HOUR)).expect("entered");
    let mut held = on(store.claim(host, 1000)).expect("claimed");
    assert_eq!(held.len(), 400);
    for round in 1..=4 {
        let value = round.to_string();
        let groups_of = |odd: i32| {
            ["a", "b"].map(|attribute| {
                let mut of = (held.iter()).filter(|claimed| {
                    let parity = if attribute == "a" { odd } else { 1 - odd };
                    claimed.trigger.starts_with(attribute) && claimed.job.key.wid.get() % 2 == parity
                });
                let first = of.next().expect("a job");
                let mut all = group(store, first, &[attribute], None, &[&value]);
                for claimed in of {
                    let one = group(store, claimed, &[attribute], None, &[&value]);
                    all.items.extend(one.items);
                }
                all
            })
        };
        let batches = [groups_of(0), groups_of(1)];
        let fired = std::thread::scope(|scope| {
            batches
                .each_ref()
                .map(|groups| scope.spawn(|| on(store.commit_batch(host, groups, false, true))))
                .map(|thread| thread.join().expect("no panic"))
        });
        held = fired.into_iter().flat_map(|fired| fired.expect("committed")).collect();
        assert_eq!(held.len(), 400);
    }
    on(store.leave_host(host)).expect("left");
    assert_sound(&flow);
}

#[harness::test]
fn endless_flows_leave_others_their_turn() {
    let database = Database::new();
    database.upload("bench", sample_component("bench"));
    let flow = database.flow("ring");
    let mut session = flow.session();
    session.run(
        "BEGIN;
         INSERT INTO wed_attr (aname, atype, adv) VALUES
           ('step', 'integer', '0'), ('note', 'text', NULL), ('customer', 'text', 'ann'), ('product', 'text', 'tea'),
           ('quantity', 'integer', '3'), ('price', 'text', '1'), ('paid', 'boolean', 'false'), ('city', 'text', 'x'),
           ('street', 'text', 'y'), ('remark', 'text', NULL);
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('on', 'advance', 'step >= 0');
         INSERT INTO wed_trig (cfinal, cpred) VALUES (true, 'step < 0');
         COMMIT",
    );
    flow.bind("advance", "bench");
    session.run("INSERT INTO wed_flow (step) SELECT 0 FROM generate_series(1, 60)");
    let host = database.host(HostSettings { in_flight: 8, ..one_lane("small") });
    eventually("every instance has moved", || {
        (session.number("SELECT count(DISTINCT wid) FROM wed_trace WHERE seq >= 3") == 60).then_some(())
    });
    on(host.stop());
}

#[harness::test]
fn fired_jobs_can_be_left_to_others() {
    let flow = grid();
    let mut session = flow.session();
    session.start();
    let store = &flow.database.store;
    let host = on(store.register_host("by hand", HOUR)).expect("entered");
    let held = on(store.claim(host, 10)).expect("claimed");
    let first = held.iter().find(|claimed| claimed.job.transition == "at_a0").expect("claimed");
    let commit = group(store, first, &["a"], None, &["1"]);
    let kept = on(store.commit_batch(host, &[commit], false, false)).expect("committed");
    assert!(kept.is_empty(), "{kept:?}");
    assert_eq!(session.lines("SELECT trname, lckid IS NULL FROM job_pool ORDER BY trname"), ["at_a1|t", "at_b0|f"]);
    let found = on(store.claim(host, 10)).expect("claimed");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].job.transition, "at_a1");
    assert!(found[0].job.payload.contains("\"a\":1"), "{found:?}");
    on(store.leave_host(host)).expect("left");
    assert_sound(&flow);
}

#[harness::test]
fn old_history_goes_and_pending_work_stays() {
    let flow = grid();
    let mut session = flow.session();
    let (wid, ended) = (session.start(), session.start());
    let store = &flow.database.store;
    let host = on(store.register_host("by hand", HOUR)).expect("entered");
    let mut owner = flow.database.owner();
    let id = flow.id;
    owner.line(&format!("SELECT wed.cancel_instance({id}, {ended}, 'ann', 'lost')"));
    // As if all of it had been long ago.
    owner.run(
        "CREATE TABLE wed.trace_20200101 PARTITION OF wed.trace FOR VALUES FROM ('2020-01-01') TO ('2020-01-02');
         UPDATE wed.trace SET tstmp = '2020-01-01 12:00';
         UPDATE wed.job SET fired_at = '2020-01-01 12:00';
         INSERT INTO wed.log (flow_id, wid, tgid, attempt, severity, message, tstmp)
         SELECT flow_id, wid, (SELECT min(tgid) FROM wed.job), 1, 'info', to_char(day, 'YYYY'), day
         FROM wed.instance, (VALUES ('2020-01-01 12:00'::timestamptz), (now())) d(day);
         INSERT INTO wed.recording (flow_id, wid, xid, tgid, attempt, component_id, from_seq, deadline, tstmp)
         SELECT flow_id, wid, at::text::xid8, (SELECT min(tgid) FROM wed.job), 1, 1, 1, 0, day
         FROM wed.instance,
              (VALUES (1, '2020-01-01 12:00'::timestamptz), (2, now())) d(at, day)",
    );
    assert_eq!(on(store.roll_trace()).expect("rolled"), 0, "kept for ever");
    on(store.set_retention(&[("trace", Some("90 days"))])).expect("set");
    assert!(on(store.set_retention(&[("trace", Some("an hour"))])).is_err());
    assert!(on(store.set_retention(&[("trace", Some("1 hour"))])).is_err());
    let both = [("logs", Some("7 days")), ("attempts", Some("1 minute"))];
    let before = on(store.retention()).expect("kept");
    assert!(on(store.set_retention(&both)).is_err());
    assert_eq!(on(store.retention()).expect("kept"), before, "all or none");
    assert_eq!(on(store.roll_trace()).expect("rolled"), 1);
    // What has not ended keeps its history: it goes back by it.
    let running = [wid.to_string()];
    assert_eq!(session.lines("SELECT wid FROM wed_trace"), running);
    for old in ["wed.log WHERE tstmp < now() - interval '1 day'", "wed.recording WHERE xid = '1'"] {
        let kept = owner.lines(&format!("SELECT wid FROM {old}"));
        assert_eq!(kept, running, "{old}");
    }
    let new = "SELECT count(*) FROM wed.log WHERE tstmp > now() - interval '1 day'";
    assert_eq!(owner.number(new), 2);
    let new = "SELECT count(*) FROM wed.recording WHERE xid = '2'";
    assert_eq!(owner.number(new), 2);
    assert_eq!(session.line("SELECT payload ->> 'a', payload ->> 'b' FROM job_pool LIMIT 1"), "0|0");
    // Work continues, and the trace with it.
    let mut held = on(store.claim(host, 10)).expect("claimed");
    assert!(held.iter().all(|claimed| claimed.job.payload.contains("\"a\":0")), "{held:?}");
    assert_eq!(step(&flow, host, &mut held, "at_a0", "a", "1"), ["at_a1"]);
    assert_eq!(session.line("SELECT seq, trw FROM wed_trace WHERE seq > 1"), "2|at_a0");
    assert_eq!(session.pending(wid), ["at_a1", "at_b0"]);
    on(store.leave_host(host)).expect("left");
}

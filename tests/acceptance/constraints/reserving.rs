//! Reservations: exclusive keys and quantities, all or nothing, handed over in order when they are released.

use super::fine;
use crate::support::{Database, Flow, Session, on, recover};

/// Requisitions of materials, exclusive.
const EXCLUSIVE: &str = "
INSERT INTO wed_attr (aname, atype, adv) VALUES ('materials', 'text[]', NULL), ('done', 'boolean', 'false');
INSERT INTO wed_trig (tgname, trname, cpred, reserves) VALUES ('t', 'issue', 'NOT done', 'materials');
INSERT INTO wed_trig (cpred, cfinal) VALUES ('done', true);";

/// Requisitions of quantities, which are taken from the stock.
const COUNTED: &str = "
INSERT INTO wed_attr (aname, atype, adv) VALUES ('material', 'text', 'M1'), ('qty', 'integer', '7'), ('done', \
'boolean', 'false');
INSERT INTO wed_trig (tgname, trname, cpred, reserves, quantity, consumes) VALUES
  ('t', 'issue', 'NOT done', 'material', 'qty', true);
INSERT INTO wed_trig (cpred, cfinal) VALUES ('done', true);";

fn of(materials: &str) -> String {
    format!("INSERT INTO wed_flow (materials) VALUES ('{{{materials}}}')")
}

/// The instances whose job is due.
fn due(s: &mut Session) -> Vec<String> {
    s.lines("SELECT wid FROM job_pool WHERE due <= now() ORDER BY wid")
}

fn held(s: &mut Session) -> Vec<String> {
    s.lines("SELECT wid || ' ' || key FROM wed_reservation WHERE held ORDER BY wid, key")
}

#[harness::test]
fn second_on_one_material_is_served_after_the_first() {
    let flow = Flow::of(EXCLUSIVE);
    let mut s = flow.session();
    s.run(&of("M1"));
    s.run(&of("M1"));
    assert_eq!(due(&mut s), ["1"]);
    // Handed over in the transaction that releases it: nobody looks for it by hand.
    s.finish(1, "issue", "done = true");
    assert_eq!(due(&mut s), ["2"]);
    s.finish(2, "issue", "done = true");
    assert_eq!(held(&mut s), [""; 0]);
    assert_eq!(s.status(2), "F");
    fine(&flow);
}

#[harness::test]
fn loser_of_two_sets_holds_nothing() {
    let flow = Flow::of(EXCLUSIVE);
    let mut s = flow.session();
    s.run(&of("M1,M2"));
    s.run(&of("M2,M3"));
    assert_eq!(held(&mut s), ["1 M1", "1 M2"]);
    fine(&flow);
    s.finish(1, "issue", "done = true");
    assert_eq!(held(&mut s), ["2 M2", "2 M3"]);
}

#[harness::test]
fn concurrent_sets_have_one_winner() {
    let flow = Flow::of(EXCLUSIVE);
    let sessions: Vec<_> = (0..4).map(|_| flow.session()).collect();
    std::thread::scope(|scope| {
        for mut s in sessions {
            scope.spawn(move || (0..5).for_each(|_| s.run(&of("M1"))));
        }
    });
    let mut s = flow.session();
    assert_eq!(held(&mut s).len(), 1);
    for _ in 0..20 {
        let wid: i64 = due(&mut s).concat().parse().expect("one is due");
        s.finish(wid, "issue", "done = true");
    }
    fine(&flow);
    // The key itself is unique, whoever writes.
    let mut owner = flow.database.owner();
    s.run(&of("M1"));
    s.run(&of("M1"));
    owner.refused("UPDATE wed.reservation SET held = true").expect("23505");
}

#[harness::test]
fn setting_again_by_the_same_owner_changes_nothing() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('m', 'text', 'M1'), ('n', 'integer', '0');
         INSERT INTO wed_trig (tgname, trname, cpred, reserves, holds) VALUES
           ('a', 'set', 'n < 2', 'm', 'instance'), ('b', 'also', 'n = 2', 'ARRAY[m, m]', 'transition');
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('n = 3', true);",
    );
    let mut s = flow.session();
    s.start();
    s.start();
    s.finish(1, "set", "n = 1");
    assert_eq!(due(&mut s), ["1"]);
    assert_eq!(held(&mut s), ["1 M1"]);
    s.finish(1, "set", "n = 2");
    assert_eq!(due(&mut s), ["1"], "by another trigger of the same instance");
    fine(&flow);
    s.finish(1, "also", "n = 3");
    assert_eq!(held(&mut s), ["2 M1"]);
}

#[harness::test]
fn end_of_the_owner_frees_what_it_holds() {
    let flow = Flow::of(EXCLUSIVE);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    for _ in 1..=4 {
        s.run(&of("M1"));
    }
    let id = flow.id;
    owner.line(&format!("SELECT wed.cancel_instance({id}, 1, 'ann', 'lost')"));
    assert_eq!(due(&mut s), ["2"]);
    // One that waits leaves the queue.
    owner.line(&format!("SELECT wed.cancel_instance({id}, 3, 'ann', 'lost')"));
    let end = |wid, how| {
        format!(
            "SELECT wed.pass_as_it_stands({id}, {wid}, (SELECT tgid FROM wed.job WHERE wid = {wid}), '{how}', \
             'failed', NULL, NULL)"
        )
    };
    owner.line(&end(2, "_DEADLINE"));
    assert_eq!(s.status(2), "E");
    assert_eq!(held(&mut s), ["4 M1"]);
    // A worker that is gone before it commits changes nothing: the job is there for another.
    s.run("BEGIN");
    assert!(s.take(4, "issue"));
    s.run("ROLLBACK");
    owner.line(&end(4, "_ABORT"));
    assert_eq!(held(&mut s), [""; 0]);
    fine(&flow);
}

#[harness::test]
fn disjoint_sets_do_not_wait_for_each_other() {
    let flow = Flow::of(EXCLUSIVE);
    let (mut s, mut t) = (flow.session(), flow.session());
    s.run(&of("M1,M2"));
    s.run(&of("M3,M4"));
    assert_eq!(due(&mut s), ["1", "2"]);
    // Neither does the one's open transaction delay the other's.
    s.run("BEGIN");
    assert!(s.take(1, "issue"));
    s.run("UPDATE wed_flow SET done = true WHERE wid = 1");
    s.run("SET CONSTRAINTS ALL IMMEDIATE");
    t.run("SET lock_timeout = '100ms'");
    t.finish(2, "issue", "done = true");
    s.run("COMMIT");
    fine(&flow);
}

#[harness::test]
fn stock_is_issued_once_and_never_below_its_minimum() {
    let flow = Flow::of(COUNTED);
    let mut s = flow.session();
    s.run("INSERT INTO wed_resource (key, capacity, minimum) VALUES ('M1', 10, 0)");
    s.start();
    s.start();
    assert_eq!(due(&mut s), ["1"]);
    s.finish(1, "issue", "done = true");
    assert_eq!(s.line("SELECT capacity, held FROM wed_resource"), "3|0");
    assert_eq!(due(&mut s), [""; 0], "the second waits for stock");
    s.refused("UPDATE wed_resource SET capacity = 3, minimum = 4").expect("WF061");
    // The minimum is held to in the commit that takes from it.
    s.run("INSERT INTO wed_flow (material, qty) VALUES ('M2', 5)");
    s.run("INSERT INTO wed_resource (key, capacity, minimum) VALUES ('M2', 8, 3)");
    assert_eq!(due(&mut s), ["3"]);
    s.run("UPDATE wed_resource SET capacity = 7 WHERE key = 'M2'");
    s.run("BEGIN");
    assert!(s.take(3, "issue"));
    s.run("UPDATE wed_flow SET done = true WHERE wid = 3");
    let refusal = s.refused("COMMIT").expect("WF061");
    assert!(refusal.message.contains("2 of \"M2\""), "{refusal:?}");
    assert_eq!(s.status(3), "R");
    s.run("UPDATE wed_resource SET capacity = 8 WHERE key = 'M2'");
    s.finish(3, "issue", "done = true");
    assert_eq!(s.line("SELECT capacity FROM wed_resource WHERE key = 'M2'"), "3");
    fine(&flow);
}

#[harness::test]
fn small_request_does_not_overtake_a_large_one() {
    let flow = Flow::of(COUNTED);
    let mut s = flow.session();
    s.run("INSERT INTO wed_resource (key, capacity) VALUES ('M1', 10)");
    for qty in [6, 8, 1, 1] {
        s.run(&format!("INSERT INTO wed_flow (qty) VALUES ({qty})"));
    }
    assert_eq!(due(&mut s), ["1"]);
    s.finish(1, "issue", "done = true");
    assert_eq!(due(&mut s), [""; 0], "4 are left, and 8 are wanted first");
    s.run("UPDATE wed_resource SET capacity = 9");
    assert_eq!(due(&mut s), ["2", "3"]);
    fine(&flow);
}

#[harness::test]
fn higher_priority_is_served_first() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('urgent', 'boolean', 'false'), ('done', 'boolean', 'false');
         INSERT INTO wed_trig (tgname, trname, cpred, reserves, priority) VALUES
           ('t', 'issue', 'NOT done AND NOT urgent', '''M1''', 0), ('u', 'hurry', 'NOT done AND urgent', '''M1''', 5);
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('done', true);",
    );
    let mut s = flow.session();
    for urgent in [false, false, true, true] {
        s.run(&format!("INSERT INTO wed_flow (urgent) VALUES ({urgent})"));
    }
    let mut order = Vec::new();
    for _ in 0..4 {
        let line = s.line("SELECT wid || '|' || trname FROM job_pool WHERE due <= now()");
        let (wid, transition) = line.split_once('|').expect("two columns");
        s.finish(wid.parse().expect("a wid"), transition, "done = true");
        order.push(wid.to_owned());
    }
    assert_eq!(order, ["1", "3", "4", "2"]);
}

#[harness::test]
fn held_until_a_named_trigger_commits() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('n', 'integer', '0');
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('b', 'check', 'n = 1'), ('c', 'unset', 'n = 2'), \
         ('d', 'rest', 'n = 3');
         INSERT INTO wed_trig (tgname, trname, cpred, reserves, holds) VALUES ('a', 'set', 'n = 0', '''M1''', 'unset');
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('n = 4', true);",
    );
    let mut s = flow.session();
    s.start();
    s.start();
    s.finish(1, "set", "n = 1");
    s.finish(1, "check", "n = 2");
    assert_eq!(due(&mut s), ["1"]);
    s.finish(1, "unset", "n = 3");
    assert_eq!(due(&mut s), ["1", "2"]);
    s.refused("UPDATE wed_trig SET holds = 'nobody' WHERE tgname = 'a'").expect("WF013");
    fine(&flow);
}

#[harness::test]
fn held_until_the_instance_ends() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('n', 'integer', '0');
         INSERT INTO wed_trig (tgname, trname, cpred, reserves, holds) VALUES ('a', 'set', 'n = 0', '''M1''', \
         'instance');
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('b', 'check', 'n = 1');
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('n = 2', true);",
    );
    let mut s = flow.session();
    for _ in 0..3 {
        s.start();
    }
    s.finish(1, "set", "n = 1");
    assert_eq!(due(&mut s), ["1"]);
    s.finish(1, "check", "n = 2");
    assert_eq!(due(&mut s), ["2"]);
    s.finish(2, "set", "n = 1");
    // As an exception it holds nothing.
    s.finish(2, "check", "n = 9");
    assert_eq!(s.status(2), "E");
    assert_eq!(due(&mut s)[1..], ["3"]);
    fine(&flow);
}

#[harness::test]
fn flows_share_a_resource_that_both_declare() {
    let database = Database::new();
    let script =
        EXCLUSIVE.replace("reserves)", "reserves, resource)").replace("'materials');", "'materials', 'store');");
    let (one, two, other) = (database.flow("one"), database.flow("two"), database.flow("other"));
    let (mut s, mut t, mut u) = (one.session(), two.session(), other.session());
    s.run(&script);
    t.run(&script);
    u.run(EXCLUSIVE);
    for session in [&mut s, &mut t, &mut u] {
        session.run(&of("M1"));
    }
    assert_eq!(due(&mut s), ["1"]);
    assert_eq!(due(&mut t), [""; 0]);
    assert_eq!(due(&mut u), ["1"], "its own M1 is another");
    assert_eq!(t.line("SELECT waits_for FROM job_pool"), "its reservation: M1 (held by instance 1 of one)");
    // Another tenant's resource of that name is another one.
    on(database.store.create_tenant("guest", "")).expect("a tenant");
    on(database.store.create_flow("guest", "one", "")).expect("a flow");
    let mut v = Session::on(&database, &on(database.store.flow_url("guest", "one")).expect("its URL"));
    v.run(&script);
    v.run(&of("M1"));
    assert_eq!(due(&mut v), ["1"]);
    s.finish(1, "issue", "done = true");
    assert_eq!(due(&mut t), ["1"]);
    fine(&one);
}

#[harness::test]
fn waiting_job_cannot_be_finished() {
    let flow = Flow::of(EXCLUSIVE);
    let mut s = flow.session();
    s.run(&of("M1"));
    s.run(&of("M1"));
    s.run("BEGIN");
    assert!(!s.take(2, "issue"));
    s.run("ROLLBACK");
    // Nor by Postgres's own lock, which asks nobody.
    flow.database
        .owner()
        .run("GRANT EXECUTE ON FUNCTION pg_catalog.pg_try_advisory_xact_lock(integer, integer) TO PUBLIC");
    s.run("BEGIN; SELECT pg_catalog.pg_try_advisory_xact_lock(wid, tgid) FROM job_pool WHERE wid = 2");
    s.refused("UPDATE wed_flow SET done = true WHERE wid = 2").expect("WF045");
}

#[harness::test]
fn waiting_job_says_what_it_waits_for() {
    let flow = Flow::of(EXCLUSIVE);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    s.run(&of("M1,M2"));
    s.run(&of("M2,M3"));
    assert_eq!(
        s.line("SELECT waits_for FROM job_pool WHERE wid = 2"),
        "its reservation: M2 (held by instance 1 of trial)"
    );
    assert_eq!(owner.line("SELECT wed.waiting_reason(flow_id, wid, tgid) FROM wed.job WHERE wid = 2"), "reservation");
    assert_eq!(s.lines("SELECT key FROM wed_reservation WHERE wid = 2 AND NOT held ORDER BY 1"), ["M2", "M3"]);
}

#[harness::test]
fn failed_attempts_and_dead_hosts_free_what_they_hold() {
    let flow = Flow::of(EXCLUSIVE);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    s.run(&of("M1"));
    s.run(&of("M1"));
    let claim = |owner: &mut Session, wid: i32| {
        let host = owner.number("SELECT wed.register_host('h', '1 hour')");
        owner.run(&format!(
            "UPDATE wed.job SET host_id = {host}, token = nextval('wed.fence'), attempt = 1 WHERE wid = {wid}"
        ));
        host
    };
    let host = claim(&mut owner, 1);
    owner.line(&format!(
        "SELECT wed.fail_attempts({host}, jsonb_build_array(
            jsonb_build_object('flow', flow_id, 'wid', wid, 'token', token, \
         'outcome', 'failed', 'message', 'no', 'retry', true, 'after_us', 3600000000))) FROM wed.job WHERE wid = 1"
    ));
    assert_eq!(held(&mut s), ["2 M1"], "who waits for its next attempt holds nothing");
    owner.run("UPDATE wed.request SET ready_at = now() WHERE wid = 1");
    recover(&flow.database.store);
    let host = claim(&mut owner, 2);
    owner.run(&format!("UPDATE wed.host SET expires_at = '2000-01-01' WHERE host_id = {host}"));
    assert_eq!(owner.chores("abandoned"), 1);
    assert_eq!(held(&mut s), ["1 M1"]);
    s.finish(1, "issue", "done = true");
    assert_eq!(due(&mut s), ["2"]);
    fine(&flow);
}

#[harness::test]
fn overdue_worker_frees_what_it_holds_until_its_next_attempt() {
    let flow = Flow::of(EXCLUSIVE);
    let (mut s, mut worker, mut owner) = (flow.session(), flow.session(), flow.database.owner());
    s.run("UPDATE wed_trig SET timeout = '10 ms', backoff = '1 hour', attempts = 3 WHERE tgname = 't'");
    s.run(&of("M1"));
    s.run(&of("M1"));
    worker.run("BEGIN");
    assert!(worker.take(1, "issue"));
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(owner.chores("overdue"), 1);
    assert_eq!(held(&mut s), ["2 M1"]);
    assert_eq!(due(&mut s), ["2"]);
    assert_eq!(owner.number("SELECT wed.end_overdue()"), 1);
    s.finish(2, "issue", "done = true");
    assert_eq!(held(&mut s), [""; 0], "its delay has not passed");
    owner.run("UPDATE wed.request SET ready_at = now() WHERE wid = 1");
    recover(&flow.database.store);
    assert_eq!(held(&mut s), ["1 M1"]);
    s.finish(1, "issue", "done = true");
    fine(&flow);
}

#[harness::test]
fn keys_that_cannot_be_evaluated_make_an_exception() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('n', 'integer', '1'), ('m', 'jsonb', '{}'), ('done', \
         'boolean', 'false');
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('a', 'set', 'n = 1');
         INSERT INTO wed_trig (tgname, trname, cpred, reserves) VALUES ('t', 'issue', 'n <> 1', '(10 / n)::text'), \
         ('d', 'doc', 'n = 7', 'm');
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('done', true);",
    );
    let mut s = flow.session();
    s.start();
    s.finish(1, "set", "n = 0");
    assert_eq!(s.status(1), "E");
    let note = s.line("SELECT note FROM wed_trace WHERE status = 'E'");
    assert!(note.contains("division by zero"), "{note}");
    s.start();
    s.finish(2, "set", "n = 7, m = '{\"M1\": -1}'");
    assert_eq!(s.status(2), "E");
    // An expression is looked at as a condition is.
    for bad in ["(SELECT 1)", "pg_sleep(1)", "wid", "m) IS NOT NULL OR (true", "nothing"] {
        assert!(s.tried(&format!("UPDATE wed_trig SET reserves = '{bad}' WHERE tgname = 't'")).is_some(), "{bad}");
    }
    s.refused("DELETE FROM wed_attr WHERE aname = 'm'").expect("WF013");
    fine(&flow);
}

#[harness::test]
fn more_stock_serves_who_waits() {
    let flow = Flow::of(COUNTED);
    let mut s = flow.session();
    s.start();
    assert_eq!(s.line("SELECT waits_for FROM job_pool"), "its reservation: M1 (there is none of it in wed_resource)");
    s.run("INSERT INTO wed_resource (key, capacity) VALUES ('M1', 6)");
    assert_eq!(s.line("SELECT waits_for FROM job_pool"), "its reservation: M1 (7 wanted, 6 available)");
    s.run("UPDATE wed_resource SET capacity = 9");
    assert_eq!(due(&mut s), ["1"]);
    s.run("INSERT INTO wed_resource (key, capacity) VALUES ('M9', 1)");
    s.refused("INSERT INTO wed_resource (resource, key, capacity) VALUES ('theirs', 'M9', 1)").expect("WF013");
    fine(&flow);
}

#[harness::test]
fn circle_of_holders_is_broken() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('a', 'text', NULL), ('b', 'text', NULL), ('n', 'integer', \
         '0');
         INSERT INTO wed_trig (tgname, trname, cpred, reserves, holds) VALUES ('t', 'one', 'n = 0', 'a', \
         'instance'), ('u', 'two', 'n = 1', 'b', 'instance');
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('n = 2', true);",
    );
    let mut s = flow.session();
    s.run("INSERT INTO wed_flow (a, b) VALUES ('M1', 'M2')");
    s.run("INSERT INTO wed_flow (a, b) VALUES ('M2', 'M1')");
    s.finish(1, "one", "n = 1");
    s.finish(2, "one", "n = 1");
    assert_eq!(due(&mut s), [""; 0]);
    recover(&flow.database.store);
    assert_eq!(s.status(2), "E");
    let note = s.line("SELECT note FROM wed_trace WHERE wid = 2 AND status = 'E'");
    assert!(note.contains("circle"), "{note}");
    s.finish(1, "two", "n = 2");
    fine(&flow);
}

#[harness::test]
fn key_that_is_locked_for_long_does_not_stop_the_sweep() {
    let flow = Flow::of(EXCLUSIVE);
    let (mut s, mut t) = (flow.session(), flow.session());
    for materials in ["M1", "M2", "M2"] {
        t.run(&of(materials));
    }
    s.run("BEGIN");
    assert!(s.take(1, "issue"));
    s.run("UPDATE wed_flow SET done = true WHERE wid = 1");
    s.run("SET CONSTRAINTS ALL IMMEDIATE");
    // What asks for it now is left to the sweep, and so is what a commit could not hand over.
    t.run(&of("M1"));
    flow.database.owner().run("UPDATE wed.request SET state = 'f' WHERE wid = 2");
    recover(&flow.database.store);
    assert_eq!(held(&mut t), ["1 M1", "3 M2"]);
    s.run("COMMIT");
    recover(&flow.database.store);
    assert_eq!(held(&mut t), ["3 M2", "4 M1"]);
}

/// Instances that hold keys of their own from the first step on, and want others for the second.
const TWO_STEPS: &str = "
INSERT INTO wed_attr (aname, atype, adv) VALUES ('own', 'text[]', '{}'), ('wanted', 'text[]', '{H}'), ('n', 'integer', '0');
INSERT INTO wed_trig (tgname, trname, cpred, reserves, holds, priority) VALUES
  ('t', 'first', 'n = 0', 'own', 'instance', 0), ('u', 'second', 'n = 1', 'wanted', 'transition', 0),
  ('v', 'urgent', 'n = 5', 'wanted', 'transition', 10);
INSERT INTO wed_trig (cpred, cfinal) VALUES ('n = 2', true);";

fn of_two_steps(s: &mut Session, own: &str, wanted: &str) -> i64 {
    s.number(&format!("INSERT INTO wed_flow (own, wanted) VALUES ('{{{own}}}', '{{{wanted}}}') RETURNING wid"))
}

#[harness::test]
fn holder_of_what_nobody_wants_overtakes_nobody() {
    let flow = Flow::of(TWO_STEPS);
    let mut s = flow.session();
    for own in ["", "", "X"] {
        let wid = of_two_steps(&mut s, own, "H");
        s.finish(wid, "first", "n = 1");
    }
    s.finish(1, "second", "n = 2");
    assert_eq!(due(&mut s), ["2"]);
    fine(&flow);
}

#[harness::test]
fn holder_of_what_another_waits_for_comes_before_it() {
    let flow = Flow::of(TWO_STEPS);
    let mut s = flow.session();
    let (last, holder) = (of_two_steps(&mut s, "K2", ""), of_two_steps(&mut s, "K1", "K2"));
    let both = of_two_steps(&mut s, "K1,K2", "");
    s.finish(holder, "first", "n = 1");
    s.finish(last, "first", "n = 2");
    assert_eq!(due(&mut s), [holder.to_string()]);
    s.finish(holder, "second", "n = 2");
    assert_eq!(due(&mut s), [both.to_string()]);
    fine(&flow);
}

#[harness::test]
fn holder_is_served_before_an_urgent_one_that_waits_for_it() {
    let flow = Flow::of(TWO_STEPS);
    let mut s = flow.session();
    let (last, holder) = (of_two_steps(&mut s, "K2", ""), of_two_steps(&mut s, "K1", "K2"));
    s.finish(holder, "first", "n = 1");
    s.run("INSERT INTO wed_flow (wanted, n) VALUES ('{K1,K2}', 5)");
    s.finish(last, "first", "n = 2");
    // The urgent one is first for K2 and waits for K1; the hosts' sweep sees who holds up whom.
    crate::support::eventually("the holder has K2", || {
        recover(&flow.database.store);
        (due(&mut s) == [holder.to_string()]).then_some(())
    });
    s.finish(holder, "second", "n = 2");
    assert_eq!(due(&mut s), ["3"]);
    fine(&flow);
}

#[harness::test]
fn what_an_exception_lost_is_reserved_again_before_anything_runs() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('n', 'integer', '0');
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('b', 'check', 'n = 1'), ('c', 'issue', 'n = 2');
         INSERT INTO wed_trig (tgname, trname, cpred, reserves, holds) VALUES ('a', 'set', 'n = 0', '''M1''', 'issue');
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('n = 3', true);",
    );
    let mut s = flow.session();
    s.start();
    s.start();
    s.finish(1, "set", "n = 1");
    s.finish(1, "check", "n = 9");
    assert_eq!(s.status(1), "E");
    assert_eq!(held(&mut s), ["2 M1"]);
    s.line("SELECT wed_set(1, '{\"n\": 2}', 'mended')");
    assert_eq!(
        s.line("SELECT waits_for FROM job_pool WHERE wid = 1"),
        "its reservation: M1 (held by instance 2 of trial)"
    );
    for (transition, n) in [("set", 1), ("check", 2), ("issue", 3)] {
        s.finish(2, transition, &format!("n = {n}"));
    }
    assert_eq!(held(&mut s), ["1 M1"]);
    s.finish(1, "issue", "n = 3");
    assert_eq!(held(&mut s), [""; 0]);
    assert_eq!(flow.database.owner().number("SELECT count(*) FROM wed.lost_reservation"), 0);
    fine(&flow);
}

#[harness::test]
fn stock_is_not_deleted_while_some_of_it_is_held() {
    let flow = Flow::of(COUNTED);
    let mut s = flow.session();
    s.run("INSERT INTO wed_resource (key, capacity, minimum) VALUES ('M1', 10, 2)");
    s.start();
    s.refused("DELETE FROM wed_resource").expect("WF061");
    s.finish(1, "issue", "done = true");
    assert_eq!(s.line("SELECT capacity FROM wed_resource"), "3");
    s.run("DELETE FROM wed_resource");
    fine(&flow);
}

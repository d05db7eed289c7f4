//! Locks that sessions of a flow hold: whom they delay, and what they make a host run.

use std::sync::Arc;
use std::time::Duration;
use wedflow_model::{FlowId, Wid};

use crate::fairness::{ring, start, tenant};
use crate::support::database::one_lane;
use crate::support::{Database, Session, eventually, on};

/// Time for which locks are held.
const HELD: Duration = Duration::from_secs(6);
/// The longest that anybody else may wait: the promised second, and two for a busy machine.
const DELAY_MAX_MS: i64 = 3_000;
const OTHERS: [&str; 4] = ["other0", "other1", "other2", "other3"];

/// Notes what fuel hosts tell, whatever minute it is.
fn note_fuel(database: &Arc<Database>) {
    database.owner().run(
        "CREATE TABLE wed.told (tenant_id integer, fuel bigint);
         CREATE FUNCTION wed.note_told() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
           INSERT INTO wed.told
           VALUES (new.tenant_id, new.fuel - CASE WHEN new.minute = old.minute THEN old.fuel ELSE 0 END);
           RETURN NULL; END $$;
         CREATE TRIGGER note_told AFTER UPDATE OF fuel ON wed.usage FOR EACH ROW EXECUTE FUNCTION wed.note_told()",
    );
}

/// Tenants whose hosts told other fuel than that of their commits.
const RUN_TWICE: &str = "SELECT f.tenant_id FROM (
    SELECT f.tenant_id, sum(t.fuel) AS fuel FROM wed.trace t JOIN wed.flow f USING (flow_id) GROUP BY f.tenant_id) f
  LEFT JOIN (SELECT tenant_id, sum(fuel) AS fuel FROM wed.told GROUP BY tenant_id) t USING (tenant_id)
  WHERE f.fuel IS DISTINCT FROM t.fuel";

/// Suspends all tenants and waits until every attempt that was made is committed, once.
fn assert_nothing_ran_twice(database: &Arc<Database>, tenants: &[&str]) {
    for name in tenants {
        on(database.store.suspend_tenant(name, true)).expect("suspended");
    }
    let mut owner = database.owner();
    eventually("every attempt's commit", || owner.lines(RUN_TWICE).is_empty().then_some(()));
}

/// The longest time without a commit of a tenant since a moment, in milliseconds; of one instance's, where it is named.
fn longest_gap(owner: &mut Session, tenant: &str, since: &str, but: i64) -> i64 {
    owner.number(&format!(
        "SELECT coalesce(max(extract(epoch FROM gap) * 1000), 1e9)::bigint FROM (
           SELECT tstmp - lag(tstmp, 1, '{since}') OVER (ORDER BY tstmp) AS gap FROM (
             SELECT t.tstmp FROM wed.trace t JOIN wed.flow f USING (flow_id) JOIN wed.tenant n USING (tenant_id)
             WHERE n.name = '{tenant}' AND t.tstmp >= '{since}' AND t.wid <> {but}
             UNION ALL SELECT clock_timestamp()) t) g"
    ))
}

/// Starts endless instances of the other tenants, and waits until each of them is at work.
fn start_others(database: &Arc<Database>) -> Vec<Session> {
    let definition = ring("advance", 100, "10 s");
    let mut others: Vec<Session> = OTHERS.iter().map(|name| tenant(database, name, &definition)).collect();
    others.iter_mut().for_each(|other| start(other, 3));
    others
}

fn wait_for_work(sessions: &mut [Session]) {
    for session in sessions {
        eventually("all at work", || (session.number("SELECT count(*) FROM wed_trace") > 30).then_some(()));
    }
}

#[harness::test]
fn ten_locked_tables_delay_nobody_else() {
    let database = Database::new();
    note_fuel(&database);
    let definition = ring("advance", 100, "10 s");
    let mut locking = vec![tenant(&database, "locking", &definition)];
    for number in 1..10 {
        let flow = wedflow_model::FlowDefinition { name: format!("ring{number}"), ..definition.clone() };
        on(database.store.apply("locking", &flow)).expect("the definition is applied");
        let url = on(database.store.flow_url("locking", &flow.name)).expect("its URL");
        locking.push(Session::on(&database, &url));
    }
    locking.iter_mut().for_each(|flow| start(flow, 3));
    let mut others = start_others(&database);
    let host = database.host(one_lane("locks"));
    wait_for_work(&mut locking);
    wait_for_work(&mut others);
    let mut owner = database.owner();
    let since = owner.line("SELECT clock_timestamp()");
    for flow in &mut locking {
        flow.run("BEGIN; LOCK TABLE wed_flow");
    }
    std::thread::sleep(HELD);
    let gaps = OTHERS.map(|name| longest_gap(&mut owner, name, &since, 0));
    let before: Vec<i64> = (locking.iter_mut())
        .map(|flow| {
            flow.run("COMMIT");
            flow.number("SELECT count(*) FROM wed_trace")
        })
        .collect();
    assert!(gaps.iter().all(|gap| *gap < DELAY_MAX_MS), "{gaps:?} ms");
    for (flow, before) in locking.iter_mut().zip(before) {
        eventually("the locked flows go on", || (flow.number("SELECT count(*) FROM wed_trace") > before).then_some(()));
    }
    let all = [&OTHERS[..], &["locking"]].concat();
    assert_nothing_ran_twice(&database, &all);
    on(host.stop());
}

#[harness::test]
fn a_locked_instance_delays_no_other_instance() {
    let database = Database::new();
    note_fuel(&database);
    let mut locking = tenant(&database, "locking", &ring("advance", 100, "10 s"));
    start(&mut locking, 40);
    let mut others = start_others(&database);
    let host = database.host(one_lane("locks"));
    wait_for_work(std::slice::from_mut(&mut locking));
    wait_for_work(&mut others);
    let mut owner = database.owner();
    let since = owner.line("SELECT clock_timestamp()");
    locking.run("BEGIN; SELECT FROM wed_flow WHERE wid = 2 FOR UPDATE");
    std::thread::sleep(HELD);
    let gap = longest_gap(&mut owner, "locking", &since, 2);
    assert!(gap < DELAY_MAX_MS, "its own other instances: {gap} ms");
    let gaps = OTHERS.map(|name| longest_gap(&mut owner, name, &since, 0));
    assert!(gaps.iter().all(|gap| *gap < DELAY_MAX_MS), "{gaps:?} ms");
    // Its result waits in the host; the job says for what.
    let waits = "SELECT wid, lckid IS NOT NULL, waits_for LIKE 'a lock%' FROM job_pool WHERE waits_for IS NOT NULL";
    assert_eq!(locking.lines(waits), ["2|t|t"]);
    let reason = "SELECT DISTINCT wed.waiting_reason(flow_id, wid, tgid) FROM wed.job WHERE put_off IS NOT NULL";
    assert_eq!(owner.lines(reason), ["locked"]);
    locking.run("ROLLBACK");
    let steps = "SELECT count(*) FROM wed_trace WHERE wid = 2";
    let before = locking.number(steps);
    eventually("the locked instance goes on", || (locking.number(steps) > before).then_some(()));
    assert!(locking.lines(waits).is_empty());
    let all = [&OTHERS[..], &["locking"]].concat();
    assert_nothing_ran_twice(&database, &all);
    on(host.stop());
}

/// A commit that meets locks says which, in the same round trip, and has written nothing.
#[harness::test]
fn a_commit_names_the_locks_that_it_meets() {
    let database = Database::new();
    let definition = ring("advance", 100, "10 s");
    let mut row = tenant(&database, "row", &definition);
    let mut table = tenant(&database, "table", &definition);
    let mut free = tenant(&database, "free", &definition);
    for session in [&mut row, &mut table, &mut free] {
        start(session, 3);
    }
    let host = on(database.store.register_host("by hand", Duration::from_secs(600))).expect("entered");
    let store = on(async { database.store.for_commits(1, Duration::from_millis(50)) });
    let claimed = on(store.claim(host, 100)).expect("claimed");
    assert_eq!(claimed.len(), 9);
    row.run("BEGIN; SELECT FROM wed_flow WHERE wid = 2 FOR UPDATE");
    table.run("BEGIN; LOCK TABLE wed_flow");
    let groups: Vec<_> = claimed.iter().map(|one| super::leases::group(&store, one, &["step"], None, &["1"])).collect();
    let refused = on(store.commit_batch(host, &groups, false, true)).expect_err("locks");
    let wedflow_store::StoreError::Locked { mut locks, .. } = refused else {
        panic!("{refused}");
    };
    locks.sort_unstable();
    let mut owner = database.owner();
    let mut flow = |name: &str| {
        let sql = format!("SELECT flow_id FROM wed.flow f JOIN wed.tenant t USING (tenant_id) WHERE t.name = '{name}'");
        FlowId::new(i32::try_from(owner.number(&sql)).expect("a number"))
    };
    let mut expected = [(flow("row"), Some(Wid::new(2))), (flow("table"), None)];
    expected.sort_unstable();
    assert_eq!(locks, expected);
    let held = |name: FlowId, wid: Wid| locks.contains(&(name, None)) || locks.contains(&(name, Some(wid)));
    let rest: Vec<_> = (groups.into_iter().zip(&claimed))
        .filter(|(_, one)| !held(one.job.key.flow, one.job.key.wid))
        .map(|(group, _)| group)
        .collect();
    assert_eq!(rest.len(), 5);
    let fired = on(store.commit_batch(host, &rest, false, true)).expect("the rest is committed");
    assert_eq!(fired.len(), 5);
}

/// A failed attempt that meets a lock says which, and the others of its batch can be recorded.
#[harness::test]
fn a_failure_names_the_locks_that_it_meets() {
    let database = Database::new();
    let definition = ring("advance", 100, "10 s");
    let mut row = tenant(&database, "row", &definition);
    let mut table = tenant(&database, "table", &definition);
    for session in [&mut row, &mut table] {
        start(session, 3);
    }
    let host = on(database.store.register_host("by hand", Duration::from_secs(600))).expect("entered");
    let store = on(async { database.store.for_commits(1, Duration::from_millis(50)) });
    let claimed = on(store.claim(host, 100)).expect("claimed");
    row.run("BEGIN; SELECT FROM wed_flow WHERE wid = 2 FOR UPDATE");
    table.run("BEGIN; LOCK TABLE wed_flow");
    let failed = |one: &wedflow_store::Claimed| wedflow_store::FailedAttempt {
        flow: one.job.key.flow,
        wid: one.job.key.wid,
        token: one.job.token,
        outcome: "failed".to_owned(),
        message: "on purpose".to_owned(),
        retry: false,
        after: None,
        fuel: 0,
        elapsed_us: 0,
        memory_bytes: 0,
    };
    let failures: Vec<_> = claimed.iter().map(failed).collect();
    let refused = on(store.fail_recorded(host, &failures, &[])).expect_err("locks");
    let wedflow_store::StoreError::Locked { locks, .. } = refused else {
        panic!("{refused}");
    };
    assert_eq!(locks.len(), 2, "{locks:?}");
    let is_free = |one: &wedflow_store::FailedAttempt| {
        !locks.contains(&(one.flow, None)) && !locks.contains(&(one.flow, Some(one.wid)))
    };
    let rest: Vec<_> = failures.into_iter().filter(is_free).collect();
    assert_eq!(rest.len(), 2);
    on(store.fail_recorded(host, &rest, &[])).expect("the rest is recorded");
    assert_eq!(database.owner().number("SELECT count(*) FROM wed.attempt"), 2);
}

/// Results of branches of one instance that were made while it was locked are committed, one after the other.
#[harness::test]
fn branches_of_a_locked_instance_go_on_together() {
    let database = Database::new();
    note_fuel(&database);
    let mut definition = ring("advance", 1_000_000, "10 s");
    let beside = wedflow_model::TriggerDefinition { name: "beside".to_owned(), ..definition.triggers[0].clone() };
    definition.triggers.push(beside);
    let mut locking = tenant(&database, "locking", &definition);
    start(&mut locking, 5);
    let mut holder = tenant_session(&database);
    holder.run("BEGIN; LOCK TABLE wed_flow IN EXCLUSIVE MODE");
    let host = database.host(one_lane("locks"));
    // The first result of each instance says so; the other stands behind it.
    eventually("both branches wait", || {
        let waiting = "SELECT count(*), count(*) FILTER (WHERE waits_for LIKE 'a lock%') FROM job_pool \
                       WHERE lckid IS NOT NULL";
        (locking.line(waiting) == "10|5").then_some(())
    });
    holder.run("COMMIT");
    let steps = "SELECT count(*) FROM wed_trace";
    eventually("all go on", || (locking.number(steps) > 100).then_some(()));
    assert_nothing_ran_twice(&database, &["locking"]);
    on(host.stop());
}

fn tenant_session(database: &Arc<Database>) -> Session {
    let url = on(database.store.flow_url("locking", "ring")).expect("its URL");
    Session::on(database, &url)
}

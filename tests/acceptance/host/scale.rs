//! Costs of many flows, tenants and watchers for each other.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use crate::support::database::TENANT;
use crate::support::http::Api;
use crate::support::{Database, Session, on};

const WRITERS: usize = 2;
const FLOWS_OF_EACH: usize = 50;

/// Creates and drops flows from several threads at once; all must succeed.
fn create_side_by_side(database: &std::sync::Arc<Database>) {
    let begin = Barrier::new(WRITERS);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let begin = &begin;
            scope.spawn(move || {
                begin.wait();
                for number in 0..FLOWS_OF_EACH {
                    let flow = database.flow(&format!("flow-{writer}-{number}"));
                    // Its role may connect.
                    assert_eq!(flow.session().number("SELECT count(*) FROM wed_flow"), 0);
                    if number % 2 == 0 {
                        on(database.store.drop_flow(TENANT, &flow.name)).expect("dropped");
                    }
                }
            });
        }
    });
}

#[harness::test]
fn flows_created_in_parallel_all_succeed() {
    create_side_by_side(&Database::new());
}

#[harness::test]
fn flows_created_in_parallel_all_succeed_where_connect_is_granted() {
    let database = Database::new();
    database
        .owner()
        .run("DO $$ BEGIN EXECUTE format('REVOKE CONNECT ON DATABASE %I FROM PUBLIC', current_database()); END $$");
    create_side_by_side(&database);
}

/// Unclaimed jobs of tenants that do not exist, due in `due`.
fn jobs_of_many(owner: &mut Session, tenants: i32, due: &str) {
    owner.run(&format!(
        "INSERT INTO wed.job (flow_id, tenant_id, wid, tgid, seq, last_seq, priority, beside, due, fired_at, timeout, \
                              component_id, trname) \
         SELECT 1000000, 1000000 + n, n, 1, 1, 1, 0, 0, now() + interval '{due}', now(), '1 minute', 1, 't' \
         FROM generate_series(1, {tenants}) n"
    ));
}

/// Index scans of `wed.job` that looking for work takes.
fn scans(owner: &mut Session) -> i64 {
    owner.run("BEGIN");
    let scans = "SELECT sum(pg_stat_get_xact_numscans(indexrelid)) FROM pg_index WHERE indrelid = 'wed.job'::regclass";
    let before = owner.number(scans);
    owner.run("SELECT wed.tenants_with_work(clock_timestamp(), '{}'), wed.next_due()");
    let after = owner.number(scans);
    owner.run("COMMIT");
    after - before
}

#[harness::test]
fn a_claim_probes_no_tenant_whose_work_is_not_due() {
    let database = Database::new();
    let mut owner = database.owner();
    let empty = scans(&mut owner);
    jobs_of_many(&mut owner, 2_000, "1 hour");
    owner.run("ANALYZE wed.job");
    let waiting = scans(&mut owner);
    assert!(
        waiting <= empty + 2,
        "{waiting} index scans with 2 000 tenants whose jobs are due in an hour, {empty} without"
    );
    // In a moment of which nobody tells: the one that is due is found all the same.
    jobs_of_many(&mut owner, 1, "-1 second");
    assert_eq!(
        owner.line("SELECT wed.tenants_with_work(clock_timestamp(), '{}'), (wed.next_due()).waits"),
        "{1000001}|t"
    );
}

#[harness::test]
fn a_claim_finds_jobs_that_waited_for_their_time() {
    let database = Database::new();
    let mut owner = database.owner();
    // More than are read at once, and one tenant's hide another's.
    jobs_of_many(&mut owner, 2_000, "1 hour");
    owner.run("UPDATE wed.job SET tenant_id = 1000001 WHERE wid < 2000");
    owner.run("UPDATE wed.job SET due = fired_at + interval '1 ms' + wid * interval '1 us'");
    let tenants = "SELECT ARRAY(SELECT unnest(wed.tenants_with_work(clock_timestamp() + interval '1 s', '{}')) \
     ORDER BY 1)";
    assert_eq!(owner.line(tenants), "{1000001,1002000}");
    // And few.
    owner.run("DELETE FROM wed.job WHERE wid BETWEEN 10 AND 1990");
    assert_eq!(owner.line(tenants), "{1000001,1002000}");
    owner.run("UPDATE wed.job SET due = 'infinity'");
    assert_eq!(owner.line(tenants), "{}");
    assert_eq!(owner.line("SELECT next_ms IS NULL FROM wed.next_due()"), "t");
}

#[harness::test]
fn idle_watchers_share_one_look() {
    // As many as a host has room for: 31 each of 8 tenants, and one address has at most 256 connections.
    const TENANTS: usize = 8;
    const EACH: usize = 31;
    const WATCHERS: usize = TENANTS * EACH;
    let api = Api::of(&Database::new());
    let flow = serde_json::json!({
        "name": "idle", "final": "n > 0", "attribute": [{ "name": "n", "type": "integer", "default": "0" }],
        "trigger": [{ "name": "t", "when": "n = 0", "transition": "step" }],
    });
    let tenants: Vec<String> = (0..TENANTS).map(|number| format!("watching{number}")).collect();
    let clients: Vec<_> = tenants
        .iter()
        .map(|tenant| {
            on(api.database.store.create_tenant(tenant, "")).expect("a tenant");
            let client = api.user(tenant, "ann", "developer");
            client.json("PUT", "/v1/flows/idle", &flow).is(201);
            let start = serde_json::json!({});
            client.json("POST", "/v1/flows/idle/instances", &start).is(201);
            client
        })
        .collect();
    let mut owner = api.database.owner();
    let mut transactions =
        || owner.number("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()");
    let heard = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for client in clients.iter().flat_map(|client| std::iter::repeat_n(client, EACH)) {
            let heard = &heard;
            scope.spawn(move || {
                let head = client.head("GET /v1/flows/idle/instances/1/events");
                let first = std::sync::Once::new();
                client.raw(&format!("{head}\r\n"), |answer| {
                    let all = answer.contains("\"status\":\"final\"");
                    if answer.contains("id: 1\n") {
                        first.call_once(|| {
                            heard.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        });
                    }
                    all
                })
            });
        }
        crate::support::eventually("all watch", || {
            (heard.load(std::sync::atomic::Ordering::Relaxed) >= WATCHERS).then_some(())
        });
        // What a session did is counted up to ten seconds later, so that what they asked at first is in some window.
        crate::support::eventually("a window in which watchers of nothing ask little", || {
            let (before, begun) = (transactions(), Instant::now());
            std::thread::sleep(Duration::from_secs(3));
            let made = transactions() - before;
            let seconds = i64::try_from(begun.elapsed().as_secs()).expect("few");
            (made <= seconds * 10).then_some(())
        });
        for tenant in &tenants {
            let url = on(api.database.store.flow_url(tenant, "idle")).expect("its URL");
            Session::on(&api.database, &url).finish(1, "step", "n = 1");
        }
    });
}

#[harness::test]
fn indexes_of_the_pool_are_rebuilt_when_they_are_mostly_empty() {
    let database = Database::new();
    let mut owner = database.owner();
    jobs_of_many(&mut owner, 60_000, "1 hour");
    owner.run("DELETE FROM wed.job WHERE wid % 1000 <> 0");
    owner.run("VACUUM wed.job");
    let size = "SELECT pg_indexes_size('wed.job')";
    let before = owner.number(size);
    let rebuilt = on(database.store.rebuild_indexes()).expect("looked");
    assert!(rebuilt > 0);
    let after = owner.number(size);
    assert!(after * 5 < before, "{before} bytes, then {after}");
    assert_eq!(on(database.store.rebuild_indexes()).expect("looked"), 0);
    assert_eq!(owner.number("SELECT count(*) FROM wed.job"), 60);
}

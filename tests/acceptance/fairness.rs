//! Tenants next to each other: shares of the hosts, and limits that make work wait or refuse it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value as Json, json};
use wedflow_model::{FlowDefinition, FlowId, HostId, LeaseToken, TenantId, Wid};

use crate::support::database::{one_lane, sample_component};
use crate::support::http::{Api, Client};
use crate::support::program::{run, wed};
use crate::support::{Database, Session, eventually, on};

/// A flow over the ring of the bench component.
pub(crate) fn ring(transition: &str, last: i32, timeout: &str) -> FlowDefinition {
    let text = format!(
        r#"
        name = "ring"
        final = "step = {last}"
        [[attribute]]
        name = "step"
        type = "integer"
        default = "0"
        [[attribute]]
        name = "note"
        [[attribute]]
        name = "customer"
        default = "ann"
        [[attribute]]
        name = "product"
        default = "tea"
        [[attribute]]
        name = "quantity"
        type = "integer"
        default = "3"
        [[attribute]]
        name = "price"
        [[attribute]]
        name = "paid"
        type = "boolean"
        default = "false"
        [[attribute]]
        name = "city"
        default = "Paris"
        [[attribute]]
        name = "street"
        default = "Rue Monge"
        [[attribute]]
        name = "remark"
        [[trigger]]
        name = "go"
        when = "step >= 0"
        transition = "{transition}"
        timeout = "{timeout}"
        attempts = 1
        [transition.{transition}]
        component = "bench"
        "#
    );
    toml::from_str(&text).expect("a definition")
}

/// A tenant with the ring; a session of its flow's role.
pub(crate) fn tenant(database: &Arc<Database>, name: &str, definition: &FlowDefinition) -> Session {
    let store = &database.store;
    on(store.create_tenant(name, "")).expect("a tenant");
    on(wedflow_worker::upload(store, name, "bench", sample_component("bench"))).expect("uploaded");
    on(store.apply(name, definition)).expect("the definition is applied");
    let url = on(store.flow_url(name, "ring")).expect("its URL");
    Session::on(database, &url)
}

pub(crate) fn start(session: &mut Session, count: usize) {
    session.run(&format!("INSERT INTO wed_flow (note) SELECT NULL FROM generate_series(1, {count})"));
}

/// Counts its final instances.
fn ended(session: &mut Session) -> i64 {
    session.number("SELECT count(*) FROM wed_instance WHERE status = 'F'")
}

/// Claims, and answers how many jobs each tenant was given.
fn claimed(
    database: &Database,
    host: HostId,
    limit: i32,
    most: Option<i32>,
    without: &[TenantId],
) -> Vec<(TenantId, usize)> {
    let store = &database.store;
    let jobs = on(store.claim_share(host, limit, most, without, &[])).expect("claimed");
    let flows: Vec<FlowId> = jobs.iter().map(|job| job.job.key.flow).collect();
    let mut counts: Vec<(TenantId, usize)> = on(store.tenants_of(&flows))
        .expect("tenants")
        .into_iter()
        .map(|(flow, tenant)| (tenant, flows.iter().filter(|one| **one == flow).count()))
        .collect();
    counts.sort_unstable();
    let tokens: Vec<LeaseToken> = jobs.iter().map(|job| job.job.token).collect();
    on(store.release(host, &tokens)).expect("given back");
    counts
}

fn number(database: &Arc<Database>, name: &str) -> TenantId {
    let sql = format!("SELECT tenant_id FROM wed.tenant WHERE name = '{name}'");
    TenantId::new(i32::try_from(database.owner().number(&sql)).expect("a number"))
}

#[harness::test]
fn a_claim_gives_every_tenant_its_share() {
    let database = Database::new();
    let definition = ring("advance", 1, "10 s");
    for (name, count) in [("many", 500), ("few", 3), ("some", 40)] {
        start(&mut tenant(&database, name, &definition), count);
    }
    let [many, few, some] = ["many", "few", "some"].map(|name| number(&database, name));
    let host = on(database.store.register_host("by hand", Duration::from_secs(600))).expect("entered");
    // What some leave is the others'.
    assert_eq!(claimed(&database, host, 100, None, &[]), [(many, 57), (few, 3), (some, 40)]);
    assert_eq!(claimed(&database, host, 100, Some(20), &[]), [(many, 20), (few, 3), (some, 20)]);
    assert_eq!(claimed(&database, host, 100, None, &[many]), [(few, 3), (some, 40)]);
    assert_eq!(claimed(&database, host, 600, None, &[]).len(), 3);
    // With less room than tenants, all of them have their turn.
    let mut seen: Vec<TenantId> = Vec::new();
    eventually("every tenant's turn", || {
        seen.extend(claimed(&database, host, 1, None, &[]).iter().map(|one| one.0));
        [many, few, some].iter().all(|one| seen.contains(one)).then_some(())
    });
    // First those of whom the host has nothing.
    for _ in 0..5 {
        let jobs = on(database.store.claim_share(host, 3, None, &[], &[many, some])).expect("claimed");
        let tokens: Vec<LeaseToken> = jobs.iter().map(|job| job.job.token).collect();
        let flows: Vec<FlowId> = jobs.iter().map(|job| job.job.key.flow).collect();
        let whose = on(database.store.tenants_of(&flows)).expect("tenants");
        assert!(whose.iter().all(|(_, tenant)| *tenant == few), "{whose:?}");
        on(database.store.release(host, &tokens)).expect("given back");
    }
    // A tenant's own order: what is urgent first, then what has waited longest.
    let mut owner = database.owner();
    owner.run(&format!("UPDATE wed.job SET priority = 1 WHERE tenant_id = {some} AND wid = 17"));
    let jobs = on(database.store.claim_share(host, 1, None, &[many, few], &[])).expect("claimed");
    assert_eq!(jobs[0].job.key.wid, Wid::new(17));
}

#[harness::test]
fn a_claim_reads_no_more_than_it_gives() {
    let database = Database::new();
    let definition = ring("advance", 1, "10 s");
    start(&mut tenant(&database, "many", &definition), 20_000);
    start(&mut tenant(&database, "few", &definition), 3);
    let host = on(database.store.register_host("by hand", Duration::from_secs(600))).expect("entered");
    let mut owner = database.owner();
    owner.run("ANALYZE wed.job; ANALYZE wed.trace; ANALYZE wed.trigger; ANALYZE wed.flow");
    owner.run("BEGIN");
    owner.run(&format!("SELECT count(*) FROM wed.claim({host}, 100)"));
    owner.run("SELECT * FROM wed.next_due()");
    let read = owner.lines(
        "SELECT seq_scan, (idx_tup_fetch < 5000)::text FROM pg_stat_xact_user_tables \
         WHERE schemaname = 'wed' AND relname = 'job'",
    );
    owner.run("ROLLBACK");
    assert_eq!(read, ["0|true"]);
}

/// A batch has work with each of its flows, so the jobs of small flows go through a host as one.
#[harness::test]
fn a_flows_few_jobs_are_claimed_together() {
    let database = Database::new();
    let store = &database.store;
    let definition = ring("advance", 1, "10 s");
    let mut large = tenant(&database, "owner", &definition);
    for name in ["small", "smaller"] {
        let flow = FlowDefinition { name: name.into(), ..definition.clone() };
        on(store.apply("owner", &flow)).expect("the definition is applied");
        let url = on(store.flow_url("owner", name)).expect("its URL");
        start(&mut Session::on(&database, &url), if name == "small" { 8 } else { 5 });
    }
    start(&mut large, 9);
    let host = on(store.register_host("by hand", Duration::from_secs(600))).expect("entered");
    let claim = |limit: i32, most: Option<i32>| -> Vec<(FlowId, usize)> {
        let jobs = on(store.claim_share(host, limit, most, &[], &[])).expect("claimed");
        let mut flows: Vec<FlowId> = jobs.iter().map(|job| job.job.key.flow).collect();
        flows.sort_unstable();
        let counts = flows.chunk_by(|one, other| one == other);
        counts.map(|jobs| (jobs[0], jobs.len())).collect()
    };
    let number = |name: &str| {
        let sql = format!("SELECT flow_id FROM wed.flow WHERE name = '{name}'");
        FlowId::new(i32::try_from(database.owner().number(&sql)).expect("a number"))
    };
    let [small, smaller, ring] = ["small", "smaller", "ring"].map(number);
    // They are due in this order.
    assert_eq!(claim(4, None), [(small, 8)]);
    // No more than as many again as are asked for.
    assert_eq!(claim(1, None), [(smaller, 1)]);
    assert_eq!(claim(3, Some(3)), [(smaller, 4)]);
    // Of a flow with many as many as are asked for.
    assert_eq!(claim(2, None), [(ring, 2)]);
    on(store.leave_host(host)).expect("left");
    let host = on(store.register_host("by hand", Duration::from_secs(600))).expect("entered");
    run(wed(&database.url()).args(["tenant", "quota", "owner", "--concurrency", "3"])).done();
    let jobs = on(store.claim(host, 100)).expect("claimed");
    assert_eq!(jobs.len(), 3);
}

/// Many tenants share batches, and one of them locks a row that a batch needs.
#[harness::test]
fn who_locks_an_instance_holds_up_no_other_tenant() {
    let database = Database::new();
    let definition = ring("advance", 5, "10 s");
    let mut tenants: Vec<Session> = (0..9).map(|n| tenant(&database, &format!("tenant{n}"), &definition)).collect();
    let (locking, others) = tenants.split_first_mut().expect("nine");
    start(locking, 3);
    locking.run("BEGIN");
    locking.run("SELECT FROM wed_flow WHERE wid = 2 FOR UPDATE");
    let host = database.host(one_lane("shared"));
    for count in 1..=3 {
        for other in &mut *others {
            start(other, 1);
        }
        for other in &mut *others {
            eventually("the others' instances", || (ended(other) == count).then_some(()));
        }
    }
    eventually("its own, but for the one", || (ended(locking) == 2).then_some(()));
    locking.run("ROLLBACK");
    eventually("that one", || (ended(locking) == 3).then_some(()));
    on(host.stop());
}

/// Many flows each go over their home among a host's sessions, and one of them locks a row that a batch needs.
#[harness::test]
fn of_many_flows_one_that_locks_an_instance_holds_up_no_other() {
    const FLOWS: usize = 40;
    let database = Database::new();
    let store = &database.store;
    let definition = ring("advance", 5, "10 s");
    let mut locking = tenant(&database, "owner", &definition);
    let mut others: Vec<Session> = (1..FLOWS)
        .map(|n| {
            let flow = FlowDefinition { name: format!("ring{n}"), ..definition.clone() };
            on(store.apply("owner", &flow)).expect("the definition is applied");
            let url = on(store.flow_url("owner", &flow.name)).expect("its URL");
            Session::on(&database, &url)
        })
        .collect();
    start(&mut locking, 3);
    locking.run("BEGIN");
    locking.run("SELECT FROM wed_flow WHERE wid = 2 FOR UPDATE");
    let host = database.host(one_lane("shared"));
    for count in [2, 4] {
        for other in &mut others {
            start(other, 2);
        }
        for other in &mut others {
            eventually("the others' instances", || (ended(other) == count).then_some(()));
        }
    }
    eventually("its own, but for the one", || (ended(&mut locking) == 2).then_some(()));
    locking.run("ROLLBACK");
    eventually("that one", || (ended(&mut locking) == 3).then_some(()));
    on(host.stop());
}

#[harness::test]
fn jobs_that_never_end_keep_no_other_tenant_waiting() {
    let database = Database::new();
    let mut busy = tenant(&database, "busy", &ring("advance_never", 1, "5 min"));
    let mut quiet = tenant(&database, "quiet", &ring("advance", 1, "10 s"));
    start(&mut busy, 300);
    let settings = wedflow_worker::HostSettings { in_flight: 64, grace: Duration::ZERO, ..one_lane("shared") };
    let host = database.host(settings);
    eventually("the busy tenant at work", || {
        let held = "SELECT count(*) FROM job_pool WHERE lckid IS NOT NULL";
        (busy.number(held) >= 64).then_some(())
    });
    for count in 1..=5 {
        start(&mut quiet, 1);
        eventually("the quiet tenant's job", || (ended(&mut quiet) == count).then_some(()));
    }
    on(host.stop());
}

#[harness::test]
fn very_many_jobs_keep_no_other_tenant_waiting() {
    let database = Database::new();
    // Its chains never end.
    let mut busy = tenant(&database, "busy", &ring("advance", 100, "10 s"));
    let mut quiet = tenant(&database, "quiet", &ring("advance", 1, "10 s"));
    start(&mut busy, 2_000);
    let settings = wedflow_worker::HostSettings { in_flight: 64, ..one_lane("shared") };
    let host = database.host(settings);
    for count in 1..=20 {
        start(&mut quiet, 1);
        eventually("the quiet tenant's job", || (ended(&mut quiet) == count).then_some(()));
    }
    // The busy one continues, and all of its instances have their turn.
    eventually("a turn for each", || {
        let untouched = "SELECT count(*) FROM wed_instance i WHERE wid % 50 = 0 \
                         AND NOT EXISTS (SELECT FROM wed_trace t WHERE t.wid = i.wid AND t.seq = 2)";
        (busy.number(untouched) == 0).then_some(())
    });
    on(host.stop());
}

fn usage(database: &Database, tenant: &str, name: &str) -> (Option<i64>, Option<i64>) {
    let quotas = on(database.store.quotas(tenant)).expect("limits");
    let quota = quotas.iter().find(|quota| quota.name == name);
    let quota = quota.expect("the limit");
    (quota.used, quota.allowed)
}

#[harness::test]
fn fuel_that_is_used_up_makes_work_wait() {
    let database = Database::new();
    let mut busy = tenant(&database, "busy", &ring("advance", 100, "10 s"));
    let mut quiet = tenant(&database, "quiet", &ring("advance", 1, "10 s"));
    let set = |most: &str| {
        run(wed(&database.url()).args(["tenant", "quota", "busy", "--fuel-per-minute", most])).done();
    };
    set("100000");
    start(&mut busy, 10);
    let host = database.host(one_lane("metered"));
    // Its chains continue until the fuel is used up, and no farther.
    let waits = "SELECT count(*) FROM job_pool WHERE waits_for = 'the tenant''s quota is used up: fuel_per_minute'";
    eventually("all of it to wait", || (busy.number(waits) == 10).then_some(()));
    let (used, allowed) = usage(&database, "busy", "fuel_per_minute");
    assert_eq!(allowed, Some(100_000));
    assert!(used.expect("a number") >= 100_000, "{used:?}");
    let shown = run(wed(&database.url()).args(["--json", "tenant", "show", "busy"])).done().json();
    let shown = shown["quotas"].as_array().expect("limits").iter();
    assert_eq!(shown.filter(|one| one["name"] == "fuel_per_minute").count(), 1);
    let done = busy.number("SELECT count(*) FROM wed_trace");
    for count in 1..=3 {
        start(&mut quiet, 1);
        eventually("the quiet tenant's job", || (ended(&mut quiet) == count).then_some(()));
    }
    assert_eq!(busy.number("SELECT count(*) FROM wed_trace"), done);
    set("none");
    eventually("it to go on", || (busy.number("SELECT count(*) FROM wed_trace") > done).then_some(()));
    on(host.stop());
}

#[harness::test]
fn no_more_jobs_than_the_limit_are_in_flight() {
    let database = Database::new();
    let mut busy = tenant(&database, "busy", &ring("advance", 1, "10 s"));
    start(&mut busy, 50);
    let set = |most: &str| {
        run(wed(&database.url()).args(["tenant", "quota", "busy", "--concurrency", most])).done();
    };
    set("4");
    let store = &database.store;
    let host = on(store.register_host("by hand", Duration::from_secs(600))).expect("entered");
    let first = on(store.claim(host, 3)).expect("claimed").len();
    let second = on(store.claim(host, 100)).expect("claimed").len();
    let third = on(store.claim(host, 100)).expect("claimed").len();
    assert_eq!((first, second, third), (3, 1, 0));
    assert_eq!(usage(&database, "busy", "concurrency"), (Some(4), Some(4)));
    on(store.leave_host(host)).expect("left");
    // A host keeps to it, and gets all of it done.
    let at_work = database.host(one_lane("limited"));
    eventually("all of it", || {
        let held = busy.number("SELECT count(*) FROM job_pool WHERE lckid IS NOT NULL");
        assert!(held <= 4, "{held}");
        (ended(&mut busy) == 50).then_some(())
    });
    on(at_work.stop());
}

#[harness::test]
fn what_is_kept_is_weighed_and_limited() {
    let database = Database::new();
    let mut busy = tenant(&database, "busy", &ring("advance", 1, "10 s"));
    let mut quiet = tenant(&database, "quiet", &ring("advance", 1, "10 s"));
    start(&mut busy, 2_000);
    start(&mut quiet, 1);
    let mut owner = database.owner();
    assert_eq!(owner.line("SELECT wed.weigh_usage('0')"), "t");
    let (trace, rows) = (
        usage(&database, "busy", "trace_bytes").0.expect("a number"),
        usage(&database, "busy", "row_bytes").0.expect("a number"),
    );
    assert!(trace > 200_000 && rows > 100_000, "{trace} {rows}");
    assert!(usage(&database, "quiet", "trace_bytes").0 < Some(trace / 10));
    for (name, flag, used) in [("trace_bytes", "--trace-bytes", trace), ("row_bytes", "--row-bytes", rows)] {
        let limit = (used - 1).to_string();
        run(wed(&database.url()).args(["tenant", "quota", "busy", flag, &limit])).done();
        let refused = busy.refused("INSERT INTO wed_flow DEFAULT VALUES").expect("WF020");
        let said = format!("quota of {name} is used up: {used} of {limit}");
        assert!(refused.message.contains(&said), "{refused:?}");
        let api = Api::of(&database);
        let client = api.user("busy", &format!("u-{}", name.replace('_', "-")), "admin");
        let refused = client.json("POST", "/v1/flows/ring/instances", &json!({})).problem(403, "quota");
        assert_eq!(refused["limit"], json!({ "name": name, "used": used, "allowed": used - 1 }));
        run(wed(&database.url()).args(["tenant", "quota", "busy", flag, "none"])).done();
        start(&mut busy, 1);
    }
    start(&mut quiet, 1);
}

#[harness::test]
fn a_flows_role_has_so_many_sessions() {
    let database = Database::new();
    let session = tenant(&database, "busy", &ring("advance", 1, "10 s"));
    let url = on(database.store.flow_url("busy", "ring")).expect("its URL");
    let open = || postgres::Client::connect(&url, postgres::NoTls);
    let mut other = open().expect("two sessions");
    let shown = other
        .query_one(
            "SELECT current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout')",
            &[],
        )
        .expect("settings");
    assert_eq!((shown.get::<_, &str>(0), shown.get::<_, &str>(1)), ("5min", "1h"));
    run(wed(&database.url()).args(["tenant", "quota", "busy", "--connections", "2"])).done();
    let refused = open().err().expect("a third session is refused");
    assert_eq!(refused.code().map(|code| code.code()), Some("53300"), "{refused}");
    run(wed(&database.url()).args(["tenant", "quota", "busy", "--connections", "none"])).done();
    let third = open().expect("a third session");
    drop((session, other, third));
}

/// Asserts that the command line activates, rolls back and removes too, and that all of it is on record.
fn assert_command_line_does_the_same(database: &Database, admin: &Client, active: &dyn Fn() -> Vec<Json>) {
    let by_hand = |arguments: &[&str]| {
        run(wed(&database.url()).args(["--json", "--tenant", "alpha", "component"]).args(arguments)).done()
    };
    by_hand(&["activate", "bench", "3"]);
    assert_eq!(active()[0]["version"], 3);
    by_hand(&["rollback", "bench"]);
    assert_eq!(active()[0]["version"], 1);
    let removed = by_hand(&["gc", "--keep", "0"]).json();
    assert_eq!(removed["removed"], json!([{ "component": "bench", "version": 3 }]));
    let audit = admin.get("/v1/audit?limit=100").is(200).json();
    let entries = audit["items"].as_array().expect("entries");
    let count = |action: &str| entries.iter().filter(|entry| entry["action"] == action).count();
    assert_eq!((count("component.activate"), count("component.rollback"), count("component.remove")), (2, 2, 2));
}

#[harness::test]
fn versions_are_activated_rolled_back_and_removed_over_http() {
    let database = Database::new();
    let api = Api::of(&database);
    let mut session = tenant(&database, "alpha", &ring("advance", 1, "10 s"));
    on(database.store.create_tenant("beta", "")).expect("a tenant");
    let admin = api.user("alpha", "admin", "admin");
    let viewer = api.user("alpha", "viewer", "viewer");
    let stranger = api.user("beta", "admin", "admin");
    admin.upload("bench?activate=true", sample_component("paper"), &[]).is(201);
    admin.upload("bench?activate=true", sample_component("counters"), &[]).is(201);
    let active = || -> Vec<Json> {
        let versions = admin.get("/v1/components/bench").is(200).json();
        let versions = versions["items"].as_array().expect("versions");
        let active: Vec<Json> = versions.iter().filter(|one| one["active"] == true).cloned().collect();
        for one in versions.iter().filter(|one| one["active"] == false) {
            assert_eq!(one["used_by"], json!([]));
        }
        active
    };
    assert_eq!(active()[0]["version"], 3);
    assert_eq!(active()[0]["used_by"], json!(["ring/advance"]));
    let back = admin.json("POST", "/v1/components/bench/rollback", &json!({})).is(200).json();
    assert_eq!((&back["version"], &back["active"]), (&json!(2), &json!(true)));
    let activate = "/v1/components/bench/activate";
    let done = admin.json("POST", activate, &json!({ "version": 1 })).is(200).json();
    assert_eq!(done["version"], 1);
    assert_eq!(active().len(), 1);
    admin.json("POST", "/v1/components/bench/rollback", &json!({})).problem(404, "not_found");
    admin.json("POST", activate, &json!({ "version": 9 })).problem(404, "not_found");
    admin.json("POST", activate, &json!({})).is(422);
    let second = json!({ "version": 2 });
    viewer.json("POST", activate, &second).is(403);
    stranger.json("POST", activate, &second).problem(404, "not_found");
    assert_eq!(stranger.delete("/v1/components?keep=0").is(200).json()["items"], json!([]));
    viewer.delete("/v1/components?keep=0").is(403);
    // The one in use stays, whatever is removed; what waits is done by it.
    start(&mut session, 1);
    let removed = admin.delete("/v1/components?keep=1").is(200).json();
    assert_eq!(removed["items"], json!([{ "name": "bench", "version": 2 }]));
    let host = database.host(one_lane("versions"));
    eventually("its end", || (ended(&mut session) == 1).then_some(()));
    on(host.stop());
    assert_command_line_does_the_same(&database, &admin, &active);
}

#[harness::test]
fn what_a_removed_flow_leaves_is_removed_in_steps() {
    let database = Database::new();
    let mut busy = tenant(&database, "busy", &ring("advance", 1, "10 s"));
    let mut quiet = tenant(&database, "quiet", &ring("advance", 1, "10 s"));
    start(&mut busy, 2_500);
    start(&mut quiet, 5);
    drop(busy);
    let mut owner = database.owner();
    owner.run(
        "SELECT wed.drop_flow((SELECT flow_id FROM wed.flow f JOIN wed.tenant t USING (tenant_id) WHERE \
     t.name = 'busy'))",
    );
    let left = "SELECT (SELECT count(*) FROM wed.instance), (SELECT count(*) FROM wed.trace), (SELECT count(*) FROM \
     wed.job)";
    assert_eq!(owner.lines(left), ["2505|2505|5"]);
    assert!(on(database.store.flow("busy", "ring")).is_err());
    for expected in ["1505|1505|5", "505|505|5", "5|5|5"] {
        assert_eq!(owner.line("SELECT wed.remove_residue(1000)"), "t");
        assert_eq!(owner.lines(left), [expected]);
    }
    assert_eq!(owner.line("SELECT wed.remove_residue(1000)"), "f");
    assert_eq!(quiet.number("SELECT count(*) FROM wed_trace"), 5);
}

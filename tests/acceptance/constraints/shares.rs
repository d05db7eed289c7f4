//! Quotas of stock and orders; the sweep over one tenant's reservations keeps no other waiting.

use std::sync::Arc;

use crate::support::{Database, Flow, Session, on, recover};

const FLOW: &str = "
INSERT INTO wed_attr (aname, atype, adv) VALUES ('a', 'text', NULL), ('b', 'text', NULL), ('n', 'integer', '0');
INSERT INTO wed_trig (tgname, trname, cpred, reserves, holds) VALUES
  ('t', 'one', 'n = 0', 'a', 'instance'), ('u', 'two', 'n = 1', 'b', 'instance');
INSERT INTO wed_trig (cpred, cfinal) VALUES ('n = 2', true);";

/// A flow of a tenant of its own.
fn tenant(database: &Arc<Database>, name: &str) -> Session {
    let store = &database.store;
    on(store.create_tenant(name, "")).expect("a tenant");
    on(store.create_flow(name, "trial", "")).expect("a flow");
    let url = on(store.flow_url(name, "trial")).expect("its URL");
    let mut session = Session::on(database, &url);
    session.run(FLOW);
    session
}

fn limit(database: &Database, name: &str, most: Option<i64>) {
    let change = [(name.to_owned(), most)].into();
    on(database.store.set_quotas("busy", &change)).expect("a limit");
}

#[harness::test]
fn stock_is_held_to_a_quota() {
    let database = Database::new();
    let (mut busy, mut quiet) = (tenant(&database, "busy"), tenant(&database, "quiet"));
    limit(&database, "resources", Some(3));
    let insert = "INSERT INTO wed_resource (key, capacity) SELECT 'M' || i, 1 FROM generate_series(1, 3) i";
    busy.run(insert);
    let refused = busy.refused("INSERT INTO wed_resource (key, capacity) VALUES ('M4', 1)").expect("WF020");
    assert!(refused.message.contains("quota of resources is used up: 3 of 3"), "{refused:?}");
    let used = on(database.store.quotas("busy")).expect("quotas");
    let resources = used.iter().find(|quota| quota.name == "resources");
    assert_eq!(resources.and_then(|quota| quota.used), Some(3));
    quiet.run(insert);
    // What is deleted makes room; what was touched lately is bounded too, until the sweep has been there.
    let mut refused = None;
    for i in 1..=20 {
        busy.run("DELETE FROM wed_resource");
        refused = busy.tried(&format!("INSERT INTO wed_resource (key, capacity) VALUES ('N{i}', 1)"));
        if refused.is_some() {
            break;
        }
    }
    assert_eq!(refused.map(|refusal| refusal.code).as_deref(), Some("WF020"));
    let mut owner = database.owner();
    owner.run("UPDATE wed.resource_lock SET used_at = now() - interval '1 hour'");
    recover(&database.store);
    busy.run("INSERT INTO wed_resource (key, capacity) VALUES ('M1', 1)");
}

#[harness::test]
fn orders_are_held_to_a_quota() {
    let database = Database::new();
    let mut busy = tenant(&database, "busy");
    limit(&database, "orders", Some(3));
    busy.run("INSERT INTO wed_flow (a) SELECT 'M' || i FROM generate_series(1, 4) i");
    busy.run("SELECT wed_after('u', 't', wid) FROM wed_flow WHERE wid <= 3");
    let refused = busy.refused("SELECT wed_after('u', 't', 4)").expect("WF020");
    assert!(refused.message.contains("quota of orders is used up: 3 of 3"), "{refused:?}");
    busy.run("SELECT wed_drop_after('u', 't', 3)");
    busy.run("SELECT wed_after('u', 't', 4)");
    // A commit reads all orders of a trigger, so they are few.
    limit(&database, "orders", None);
    let padded = "SELECT wed_after('u', 't' || repeat(' ', i)) FROM generate_series(1, 101) i";
    busy.refused(padded).expect("WF062");
}

#[harness::test]
fn orders_that_results_set_are_held_to_a_quota() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('n', 'integer', '0'), ('plan', 'jsonb', NULL);
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('t', 'one', 'n = 0'), ('u', 'two', 'n = 1'),
           ('v', 'three', 'n = 1');
         SELECT wed_order_by('plan');",
    );
    let mut s = flow.session();
    s.run("INSERT INTO wed_flow SELECT FROM generate_series(1, 2)");
    let order = r#"n = 1, plan = '{"u": "v"}'"#;
    s.finish(1, "one", order);
    let mut owner = flow.database.owner();
    owner.run("UPDATE wed.quota SET orders = 0");
    assert_eq!(owner.line("SELECT wed.weigh_usage('0')"), "t");
    s.finish_refused(2, "one", order).expect("WF020");
}

/// Instances in a row, each of which holds a key and waits for that of the next.
fn chain(session: &mut Session, length: usize) {
    session.run(&format!(
        "INSERT INTO wed_flow (a, b) SELECT 'M' || i, 'M' || i + 1 FROM generate_series(1, {length} + 1) i"
    ));
    for from in (1..=length).step_by(500) {
        let wids = format!("wid BETWEEN {from} AND {}", (from + 499).min(length));
        session.run(&format!(
            "BEGIN; SELECT pg_try_advisory_xact_lock(wid, tgid) FROM job_pool WHERE {wids};
             UPDATE wed_flow SET n = 1 WHERE {wids}; COMMIT"
        ));
    }
}

#[harness::test]
fn chain_of_a_tenant_keeps_no_other_tenant_in_a_circle() {
    let database = Database::new();
    let (mut busy, mut quiet) = (tenant(&database, "busy"), tenant(&database, "quiet"));
    chain(&mut busy, 1000);
    quiet.run("INSERT INTO wed_flow (a, b) VALUES ('M1', 'M2')");
    quiet.run("INSERT INTO wed_flow (a, b) VALUES ('M2', 'M1')");
    quiet.finish(1, "one", "n = 1");
    quiet.finish(2, "one", "n = 1");
    let mut owner = database.owner();
    // A host's statement ends after 20 s; so that others are served, one tenant takes far less.
    owner.run("SET statement_timeout = '5s'");
    assert_eq!(owner.chores("circles"), 1);
    assert_eq!(quiet.status(2), "E");
    assert_eq!(busy.number("SELECT count(*) FROM wed_instance WHERE status <> 'R'"), 0);
}

#[harness::test]
fn queue_of_a_tenant_keeps_no_other_tenant_waiting() {
    let database = Database::new();
    let (mut busy, mut quiet) = (tenant(&database, "busy"), tenant(&database, "quiet"));
    busy.run("INSERT INTO wed_flow (a) SELECT 'M1' FROM generate_series(1, 3000)");
    quiet.run("INSERT INTO wed_flow (a) VALUES ('M1'), ('M2')");
    let mut owner = database.owner();
    // What commits could not hand over, of both.
    owner.run(
        "UPDATE wed.request SET ready_at = now() - interval '1 hour';
         UPDATE wed.reservation v SET held = false FROM wed.request r JOIN wed.tenant t USING (tenant_id)
         WHERE r.request_id = v.request_id AND t.name = 'quiet';
         UPDATE wed.request r SET state = 'n', granted_at = NULL FROM wed.tenant t
         WHERE t.tenant_id = r.tenant_id AND t.name = 'quiet';
         UPDATE wed.job j SET blocked = 'r', due = 'infinity' FROM wed.tenant t
         WHERE t.tenant_id = j.tenant_id AND t.name = 'quiet'",
    );
    owner.chores("reservations");
    assert_eq!(quiet.lines("SELECT wid, held FROM wed_reservation ORDER BY 1"), ["1|t", "2|t"]);
    assert_eq!(quiet.number("SELECT count(*) FROM job_pool WHERE due <= now()"), 2);
}

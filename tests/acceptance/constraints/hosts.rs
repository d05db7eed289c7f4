//! Constraints where hosts do the jobs.

use super::broken;
use crate::support::database::{one_lane, sample_component};
use crate::support::{Database, on, recover, repository, sweep};

fn definition(change: impl Fn(&mut wedflow_model::TriggerDefinition)) -> wedflow_model::FlowDefinition {
    let file = repository("sample-transitions/counters/flow.toml");
    let text = std::fs::read_to_string(file).expect("the sample");
    let mut definition: wedflow_model::FlowDefinition = toml::from_str(&text).expect("a flow");
    definition.triggers.iter_mut().for_each(change);
    definition
}

#[harness::test]
fn hosts_hand_one_key_from_instance_to_instance() {
    let database = Database::new();
    database.upload("counters", sample_component("counters"));
    let flow = database.define(&definition(|trigger| {
        trigger.reserves = Some("ARRAY['machine', 'tool']".to_owned());
        if trigger.name == "t3" {
            trigger.after = Some("t1 AND t2".to_owned());
        }
    }));
    let mut s = flow.session();
    let wids: Vec<i64> = (0..8).map(|_| s.start()).collect();
    let hosts = [database.host(one_lane("one")), database.host(one_lane("two"))];
    for wid in wids {
        assert_eq!(flow.end_of(wid), "F");
        let wrote = s.lines(&format!("SELECT trw FROM wed_trace WHERE wid = {wid} AND trw IS NOT NULL ORDER BY seq"));
        let at = |name: &str| wrote.iter().position(|trw| trw == name);
        assert_eq!(wrote.len(), 12);
        assert!(at("tr_a3") > at("tr_a1") && at("tr_a3") > at("tr_a2"), "{wrote:?}");
    }
    for host in hosts {
        on(host.stop());
    }
    assert_eq!(s.lines("SELECT wid FROM wed_reservation"), [""; 0]);
    let found = broken(&mut database.owner());
    assert!(found.is_empty(), "{found:#?}");
}

#[harness::test]
fn commit_below_the_minimum_parks_the_instance_with_the_reason() {
    let database = Database::new();
    database.upload("counters", sample_component("counters"));
    let flow = database.define(&definition(|trigger| {
        if trigger.name == "t1" {
            trigger.reserves = Some("'M1'".to_owned());
            trigger.quantity = Some("4".to_owned());
            trigger.consumes = true;
        }
    }));
    let mut s = flow.session();
    s.run("INSERT INTO wed_resource (key, capacity, minimum) VALUES ('M1', 13, 1)");
    let wid = s.start();
    // Granted, and then somebody takes the stock away.
    s.run("UPDATE wed_resource SET capacity = 4");
    let host = database.host(one_lane("one"));
    assert_eq!(flow.end_of(wid), "E");
    on(host.stop());
    let note = s.line("SELECT note FROM wed_trace WHERE status = 'E' ORDER BY seq LIMIT 1");
    assert!(note.contains("0 of \"M1\" would be left, and 1 is the minimum"), "{note}");
    assert_eq!(s.line("SELECT capacity, held FROM wed_resource"), "4|0");
}

/// A ring of ten steps, gone round once; each of them reserves.
pub(super) fn ring(reserves: &str) -> wedflow_model::FlowDefinition {
    let attributes: Vec<serde_json::Value> = [
        ("step", "integer", Some("0")),
        ("note", "text", None),
        ("customer", "text", Some("ann")),
        ("product", "text", Some("tea")),
        ("quantity", "integer", Some("3")),
        ("price", "text", Some("12.50")),
        ("paid", "boolean", Some("false")),
        ("city", "text", Some("Paris")),
        ("street", "text", Some("Rue Monge 12")),
        ("remark", "text", None),
    ]
    .into_iter()
    .map(|(name, kind, default)| match default {
        Some(default) => serde_json::json!({ "name": name, "type": kind, "default": default }),
        None => serde_json::json!({ "name": name, "type": kind }),
    })
    .collect();
    let triggers: Vec<serde_json::Value> = (0..9)
        .map(|n| {
            serde_json::json!({
                "name": format!("t{n}"), "transition": "advance", "when": format!("step = {n}"), "reserves": reserves,
            })
        })
        .collect();
    serde_json::from_value(serde_json::json!({
        "name": "ring", "final": "step = 9", "attribute": attributes, "trigger": triggers,
        "transition": { "advance": { "component": "bench" } },
    }))
    .expect("a definition")
}

#[harness::test]
fn next_transition_holds_on_to_a_key_that_nobody_waits_for() {
    let database = Database::new();
    database.upload("bench", sample_component("bench"));
    let flow = database.define(&ring("street"));
    let wid = flow.session().start();
    let host = database.host(one_lane("one"));
    assert_eq!(flow.end_of(wid), "F");
    on(host.stop());
    let mut owner = database.owner();
    let requests = owner.number("SELECT last_value FROM wed.request_request_id_seq");
    assert!(requests <= 2, "{requests} requests for nine transitions");
    assert_eq!(owner.lines("SELECT key FROM wed.reservation"), [""; 0]);
    super::fine(&flow);
}

#[harness::test]
fn key_that_somebody_waits_for_is_handed_over_after_each_transition() {
    let database = Database::new();
    database.upload("bench", sample_component("bench"));
    let flow = database.define(&ring("'machine'"));
    let mut s = flow.session();
    let wids: Vec<i64> = (0..3).map(|_| s.start()).collect();
    let host = database.host(one_lane("one"));
    for wid in wids {
        assert_eq!(flow.end_of(wid), "F");
    }
    on(host.stop());
    let turns = s.lines("SELECT wid FROM wed_trace WHERE trw IS NOT NULL ORDER BY tstmp, seq");
    for (at, three) in turns.chunks(3).enumerate() {
        assert_eq!(three, ["1", "2", "3"], "turn {at} of {turns:?}");
    }
    super::fine(&flow);
}

#[harness::test]
fn random_keys_under_hosts_that_are_killed_have_one_holder_and_all_come_to_an_end() {
    const INSTANCES: i64 = 60;
    let database = Database::new();
    database.upload("bench", sample_component("bench"));
    let flow = database
        .define(&ring("string_to_array(CASE step % 3 WHEN 0 THEN street WHEN 1 THEN remark ELSE city END, ',')"));
    let (mut s, mut owner) = (flow.session(), database.owner());
    s.run(&format!(
        "INSERT INTO wed_flow (street, remark, city)
         SELECT k[1], k[2], k[3] FROM generate_series(1, {INSTANCES}) i CROSS JOIN LATERAL (
           SELECT array_agg((SELECT string_agg('K' || ((i * 7 + n * 13 + m * (i % 5 + 1)) % 12), ',') FROM \
           generate_series(1, 1 + (i + n) % 3) m)) AS k
           FROM generate_series(1, 3) n) r"
    ));
    let begun = std::time::Instant::now();
    let mut hosts = Vec::new();
    while s.number("SELECT count(*) FROM wed_instance WHERE status <> 'F'") > 0 {
        assert!(
            begun.elapsed() < crate::support::GENEROUS,
            "{:?}",
            s.lines("SELECT wid, trname, waits_for FROM job_pool")
        );
        if hosts.len() < 2 {
            hosts.push(database.host(one_lane("victim")));
        } else if begun.elapsed().as_millis().is_multiple_of(3) {
            // Its leases end as those of a host that is gone; what it commits afterwards is refused.
            let number = hosts.remove(0);
            owner.run(&format!("UPDATE wed.host SET expires_at = '2000-01-01' WHERE host_id = {}", number.id()));
            sweep(&database.store);
            on(number.stop());
        }
        recover(&database.store);
        let found = broken(&mut owner);
        assert!(found.is_empty(), "{found:#?}");
        std::thread::sleep(std::time::Duration::from_millis(40));
    }
    for host in hosts {
        on(host.stop());
    }
    assert_eq!(owner.lines("SELECT key FROM wed.reservation"), [""; 0]);
    assert_eq!(s.number("SELECT count(*) FROM wed_trace WHERE trw = 'advance'"), INSTANCES * 9);
    super::fine(&flow);
}

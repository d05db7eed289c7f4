//! Constraints where hosts do the jobs.

use super::broken;
use crate::support::database::{one_lane, sample_component};
use crate::support::{Database, on, repository};

fn definition(
    change: impl Fn(&mut wedflow_model::TriggerDefinition),
) -> wedflow_model::FlowDefinition {
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
    let hosts = [
        database.host(one_lane("one")),
        database.host(one_lane("two")),
    ];
    for wid in wids {
        assert_eq!(flow.end_of(wid), "F");
        let wrote = s.lines(&format!(
            "SELECT trw FROM wed_trace WHERE wid = {wid} AND trw IS NOT NULL ORDER BY seq"
        ));
        let at = |name: &str| wrote.iter().position(|trw| trw == name);
        assert_eq!(wrote.len(), 12);
        assert!(
            at("tr_a3") > at("tr_a1") && at("tr_a3") > at("tr_a2"),
            "{wrote:?}"
        );
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
    assert!(
        note.contains("0 of \"M1\" would be left, and 1 is the minimum"),
        "{note}"
    );
    assert_eq!(s.line("SELECT capacity, held FROM wed_resource"), "4|0");
}

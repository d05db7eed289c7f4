//! Quotas, kept at every door.

use serde_json::json;

use super::Two;
use crate::support::database::sample_component;
use crate::support::http::Client;
use crate::support::program::{run, wed};
use crate::support::{Session, eventually, on};

/// Asserts that a second component and a second flow of beta are refused; alpha has limits of its own.
fn assert_components_and_flows_are_limited(two: &Two) {
    two.beta.upload("more", sample_component("counters"), &[]).is(201);
    let refused = two.beta.upload("again", sample_component("counters"), &[]).problem(403, "quota");
    assert_eq!(refused["limit"], json!({ "name": "components", "used": 2, "allowed": 2 }));
    let flow = json!({ "name": "second", "final": "a = 'x'", "attribute": [{ "name": "a" }] });
    let refused = two.beta.json("PUT", "/v1/flows/second", &flow).problem(403, "quota");
    assert_eq!(refused["limit"], json!({ "name": "flows", "used": 1, "allowed": 1 }));
    // The other tenant has limits of its own.
    two.alpha.json("PUT", "/v1/flows/second", &flow).is(201);
}

/// Asserts that the usage of beta names what it has and what it may have.
fn assert_usage_is_shown(two: &Two) {
    let usage = two.beta.get("/v1/usage").is(200).json();
    let of = |name: &str| {
        let items = usage["items"].as_array().expect("limits");
        items.iter().find(|item| item["name"] == name).expect("the limit").clone()
    };
    assert_eq!((&of("instances")["used"], &of("instances")["allowed"]), (&json!(2), &json!(2)));
    assert_eq!((&of("jobs")["used"], &of("jobs")["allowed"]), (&json!(2), &json!(500_000)));
    assert_eq!(of("flows")["used"], 1);
}

#[harness::test]
fn a_quota_is_kept_at_every_door() {
    let two = Two::new();
    let url = two.database().url();
    let set = ["tenant", "quota", "beta", "--instances", "2", "--components", "2", "--flows", "1"];
    run(wed(&url).args(set)).done();
    let start = |client: &Client| client.json("POST", "/v1/flows/canary-flow/instances", &json!({}));
    start(&two.beta).is(201);
    let refused = start(&two.beta).problem(403, "quota");
    assert_eq!(refused["limit"], json!({ "name": "instances", "used": 2, "allowed": 2 }));
    let flow_url = on(two.database().store.flow_url("beta", "canary-flow")).expect("its URL");
    let mut session = Session::on(two.database(), &flow_url);
    let by_sql = session.refused("INSERT INTO wed_flow DEFAULT VALUES").expect("WF020");
    assert!(by_sql.message.contains("instances is used up: 2 of 2"), "{by_sql:?}");
    session.refused("INSERT INTO wed_flow (canary_attribute) SELECT 'v' FROM generate_series(1, 5)").expect("WF020");
    let by_hand = run(wed(&url).args(["--json", "--tenant", "beta", "instance", "start", "canary-flow"])).exits(4);
    assert_eq!(by_hand.error()["code"], "WF020");

    assert_components_and_flows_are_limited(&two);
    assert_usage_is_shown(&two);
    run(wed(&url).args(["tenant", "quota", "beta", "--instances", "none", "--jobs", "3"])).done();
    start(&two.beta).is(201);
    let refused = start(&two.beta).problem(403, "quota");
    assert_eq!(refused["limit"], json!({ "name": "jobs", "used": 3, "allowed": 3 }));
    run(wed(&url).args(["tenant", "quota", "beta", "--jobs", "none"])).done();
    start(&two.beta).is(201);
    run(wed(&url).args(["tenant", "quota", "beta"])).exits(2);
    run(wed(&url).args(["tenant", "quota", "beta", "--jobs=-1"])).exits(4);
    run(wed(&url).args(["tenant", "quota", "none", "--jobs", "1"])).exits(3);
}

#[harness::test]
fn what_ends_makes_room() {
    let two = Two::new();
    let url = two.database().url();
    run(wed(&url).args(["tenant", "quota", "beta", "--instances", "1"])).done();
    let flow_url = on(two.database().store.flow_url("beta", "canary-flow")).expect("its URL");
    let mut session = Session::on(two.database(), &flow_url);
    session.refused("INSERT INTO wed_flow DEFAULT VALUES").expect("WF020");
    session.finish(1, "canary_step", "canary_attribute = 'x'");
    let row = eventually("room", || session.query_one("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid", &[]).ok());
    let wid: i32 = row.get(0);
    assert_eq!(session.lines("SELECT wid FROM job_pool"), [wid.to_string()]);
    session.refused("INSERT INTO wed_flow DEFAULT VALUES").expect("WF020");
}

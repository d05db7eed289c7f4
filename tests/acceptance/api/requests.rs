//! Requests that are wrong, and the problem that answers each.

use serde_json::json;

use super::{steps, with_steps};

/// Route that starts instances of the flow `steps`.
const START: &str = "/v1/flows/steps/instances";

#[harness::test]
fn requests_need_a_token_a_route_and_a_method() {
    let (api, client) = with_steps();
    let nobody = api.nobody();
    let refused = nobody.get("/v1/flows");
    refused.problem(401, "no_token");
    assert!(refused.header("www-authenticate").is_some());
    nobody.with_token("wed_nonsense").get("/v1/flows").problem(401, "invalid_token");
    client.get("/v1/nothing").problem(404, "not_found");
    client.send("PATCH", "/v1/flows", &[], b"").problem(405, "method");
}

#[harness::test]
fn a_refused_state_is_answered_with_the_attribute() {
    let (_api, client) = with_steps();
    let wrong = client.json("POST", START, &json!({ "sate": {} })).problem(422, "invalid_document");
    assert!(wrong["detail"].as_str().is_some_and(|text| text.contains("sate")), "{wrong}");
    let wrong = client.json("POST", START, &json!({ "state": { "n": true } })).problem(422, "22P02");
    assert!(wrong["detail"].as_str().is_some_and(|text| text.contains("\"n\"")), "{wrong}");
    client.json("POST", START, &json!({ "state": { "n": "x" } })).problem(422, "22P02");
    let none = client.json("POST", START, &json!({ "state": { "n": null } })).problem(422, "WF001");
    assert!(none["hint"].as_str().is_some_and(|text| text.contains("fire")), "{none}");
}

#[harness::test]
fn a_body_is_json_of_a_bounded_size() {
    let (_api, client) = with_steps();
    let json = [("content-type", "application/json")];
    client.send("POST", START, &json, b"{\"state\": ").problem(400, "invalid_json");
    client.send("POST", START, &[], b"{}").problem(415, "content_type");
    let big = format!("{{\"state\":{{\"remark\":\"{}\"}}}}", "x".repeat(2 << 20));
    client.send("POST", START, &json, big.as_bytes()).problem(413, "too_large");
}

#[harness::test]
fn missing_things_are_answered_with_the_requests_number() {
    let (_api, client) = with_steps();
    for wid in ["0", "-1", "99", "x", "99999999999", "1%00", "%FF"] {
        client.get(&format!("{START}/{wid}")).problem(404, "not_found");
    }
    // The number is in the header as well.
    let missing = client.get("/v1/flows/none");
    let problem = missing.problem(404, "not_found");
    let id = missing.header("x-request-id").expect("a number");
    assert_eq!(problem["instance"], format!("urn:wedflow:request:{id}"));
}

#[harness::test]
fn a_definition_has_the_name_of_its_route() {
    let (_api, client) = with_steps();
    let other = client.json("PUT", "/v1/flows/other", &steps("steps")).problem(422, "invalid_document");
    assert_eq!(other["at"], "name");
}

#[harness::test]
fn documents_are_objects_without_doubt() {
    let (_api, client) = with_steps();
    let json = [("content-type", "application/json")];
    for body in ["[]", "[{\"n\":1}]", "{\"state\":{\"n\":1,\"n\":2}}", "{\"state\":{\"remark\":\"\\u0000\"}}"] {
        client.send("POST", "/v1/flows/steps/instances", &json, body.as_bytes()).problem(422, "invalid_document");
    }
}

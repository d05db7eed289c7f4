//! Requests that are wrong, and what is said of them.

use serde_json::json;

use super::{steps, with_steps};

#[harness::test]
fn what_is_wrong_with_a_request_is_said() {
    let (api, client) = with_steps();
    let nobody = api.nobody();
    let refused = nobody.get("/v1/flows");
    refused.problem(401, "no_token");
    assert!(refused.header("www-authenticate").is_some());
    nobody
        .with_token("wed_nonsense")
        .get("/v1/flows")
        .problem(401, "invalid_token");
    client.get("/v1/nothing").problem(404, "not_found");
    client
        .send("PATCH", "/v1/flows", &[], b"")
        .problem(405, "method");
    let start = "/v1/flows/steps/instances";
    let wrong = client
        .json("POST", start, &json!({ "sate": {} }))
        .problem(422, "invalid_document");
    assert!(
        wrong["detail"]
            .as_str()
            .is_some_and(|text| text.contains("sate")),
        "{wrong}"
    );
    let wrong = client
        .json("POST", start, &json!({ "state": { "n": true } }))
        .problem(422, "22P02");
    assert!(
        wrong["detail"]
            .as_str()
            .is_some_and(|text| text.contains("\"n\"")),
        "{wrong}"
    );
    client
        .json("POST", start, &json!({ "state": { "n": "x" } }))
        .problem(422, "22P02");
    let none = client
        .json("POST", start, &json!({ "state": { "n": null } }))
        .problem(422, "WF001");
    assert!(
        none["hint"]
            .as_str()
            .is_some_and(|text| text.contains("fire")),
        "{none}"
    );
    let json = [("content-type", "application/json")];
    client
        .send("POST", start, &json, b"{\"state\": ")
        .problem(400, "invalid_json");
    client
        .send("POST", start, &[], b"{}")
        .problem(415, "content_type");
    let big = format!("{{\"state\":{{\"remark\":\"{}\"}}}}", "x".repeat(2 << 20));
    client
        .send("POST", start, &json, big.as_bytes())
        .problem(413, "too_large");
    for wid in ["0", "-1", "99", "x", "99999999999", "1%00", "%FF"] {
        client
            .get(&format!("{start}/{wid}"))
            .problem(404, "not_found");
    }
    let other = client
        .json("PUT", "/v1/flows/other", &steps("steps"))
        .problem(422, "invalid_document");
    assert_eq!(other["at"], "name");
    // Its number is in the header as well.
    let missing = client.get("/v1/flows/none");
    let problem = missing.problem(404, "not_found");
    let id = missing.header("x-request-id").expect("a number");
    assert_eq!(problem["instance"], format!("urn:wedflow:request:{id}"));
}

#[harness::test]
fn documents_are_objects_without_doubt() {
    let (_api, client) = with_steps();
    let json = [("content-type", "application/json")];
    for body in [
        "[]",
        "[{\"n\":1}]",
        "{\"state\":{\"n\":1,\"n\":2}}",
        "{\"state\":{\"remark\":\"\\u0000\"}}",
    ] {
        client
            .send("POST", "/v1/flows/steps/instances", &json, body.as_bytes())
            .problem(422, "invalid_document");
    }
}

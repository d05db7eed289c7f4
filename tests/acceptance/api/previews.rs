//! Requests that concern many instances are previews until they say `apply`; fields that are all optional need no body.

use serde_json::{Value as Json, json};

use super::{served, steps};
use crate::support::http::{Api, Client};

/// A served flow `steps` of two versions with one exception, and one instance that waits.
fn with_an_exception() -> (Api, Client) {
    let (api, client) = served();
    client.json("PUT", "/v1/flows/steps", &steps("steps")).is(201);
    for state in [json!({}), json!({ "n": 1 })] {
        client.json("POST", "/v1/flows/steps/instances", &json!({ "state": state })).is(201);
    }
    let skip = json!({ "transition": "step", "reason": "not needed" });
    client.json("POST", "/v1/flows/steps/instances/1/skip", &skip).is(200);
    let mut wider = steps("steps");
    wider["trigger"][0]["when"] = "n < 2".into();
    wider["final"] = "n >= 2".into();
    client.json("PUT", "/v1/flows/steps", &wider).is(200);
    (api, client)
}

/// Versions of the flow, and the instance that is an exception.
fn state_of(client: &Client) -> (usize, Json) {
    let versions = client.get("/v1/flows/steps/versions").is(200).json();
    let exceptions = client.get("/v1/flows/steps/instances?status=exception").is(200).json();
    (versions["items"].as_array().map_or(0, Vec::len), exceptions["items"][0]["wid"].clone())
}

#[harness::test]
fn what_concerns_many_is_a_preview_until_it_says_apply() {
    let (_api, client) = with_an_exception();
    let before = state_of(&client);
    assert_eq!(before, (2, json!(1)));
    let json_type = [("content-type", "application/json")];
    for what in ["retry", "rollback", "rematch"] {
        let path = format!("/v1/flows/steps/{what}");
        for (headers, body) in
            [(&[][..], &b""[..]), (&json_type, b""), (&json_type, b"{}"), (&json_type, br#"{"apply": false}"#)]
        {
            let answer = client.send("POST", &path, headers, body).is(200).json();
            assert_eq!(answer["applied"], false, "{what}: {answer}");
            let counted = if what == "rollback" { 1 } else { answer["matching"].as_i64().unwrap_or(0) };
            assert!(counted >= 1, "{what}: {answer}");
            assert_eq!(state_of(&client), before, "{what} {body:?}");
        }
        // Unknown words are refused, and nothing is done.
        client.json("POST", &path, &json!({ "dry_run": false })).problem(422, "invalid_document");
    }
    let rolled = client.json("POST", "/v1/flows/steps/rollback", &json!({ "apply": true })).is(200).json();
    assert_eq!((&rolled["applied"], &rolled["version"]), (&json!(true), &json!(before_newest(&client))));
    let retried = client.json("POST", "/v1/flows/steps/retry", &json!({ "apply": true })).is(200).json();
    assert_eq!(
        (&retried["applied"], &retried["matching"], &retried["retried"]),
        (&json!(true), &json!(1), &json!([1])),
        "{retried}"
    );
    assert_eq!(retried["instances"][0]["wid"], 1, "{retried}");
    assert_eq!(state_of(&client).1, Json::Null);
}

/// The version whose definition the flow has again: the oldest that is listed.
fn before_newest(client: &Client) -> Json {
    let versions = client.get("/v1/flows/steps/versions").is(200).json();
    let all = versions["items"].as_array().expect("versions").clone();
    all.last().expect("a version")["version"].clone()
}

#[harness::test]
fn requests_whose_fields_are_all_optional_need_no_body() {
    let (api, client) = with_an_exception();
    let post = |path: &str| client.send("POST", path, &[], b"");
    post("/v1/flows/steps/instances").is(201);
    post("/v1/flows/steps/instances/1/retry").is(200);
    post("/v1/flows/steps/instances/1/resume").is(200);
    post("/v1/flows/steps/resume").is(200);
    post("/v1/resume").is(200);
    // These need a reason; a missing one is reported as such.
    for path in [
        "/v1/flows/steps/instances/1/cancel",
        "/v1/flows/steps/instances/1/pause",
        "/v1/flows/steps/pause",
        "/v1/pause",
    ] {
        post(path).problem(422, "WF041");
    }
    let token = client.get("/v1/tokens").is(200).json()["items"][0]["id"].clone();
    let token = token.as_str().expect("an id");
    post(&format!("/v1/tokens/{token}/rotate")).is(201);
    // A body that is there must say what it is.
    client.send("POST", "/v1/flows/steps/retry", &[], b"{}").problem(415, "content_type");
    // The description says so.
    let description = api.nobody().get("/openapi.json").is(200).json();
    let paths = description["paths"].as_object().expect("paths");
    for (path, item) in paths {
        let body = &item["post"]["requestBody"];
        let schema = &body["content"]["application/json"]["schema"];
        let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) else {
            continue;
        };
        let required = &description["components"]["schemas"][name]["required"];
        let needs = required.as_array().is_some_and(|names| !names.is_empty());
        assert_eq!(body["required"].as_bool(), Some(needs), "POST {path}");
    }
}

#[harness::test]
fn operators_preview_and_developers_apply() {
    let (api, client) = with_an_exception();
    client.json("PUT", "/v1/flows/steps/schedules/nightly", &json!({ "cron": "0 2 * * *" })).is(204);
    let operator = api.user(crate::support::database::TENANT, "olga", "operator");
    let viewer = api.user(crate::support::database::TENANT, "vera", "viewer");
    for what in ["rollback", "rematch"] {
        let path = format!("/v1/flows/steps/{what}");
        let seen = operator.json("POST", &path, &json!({})).is(200).json();
        assert_eq!(seen["applied"], false, "{seen}");
        operator.json("POST", &path, &json!({ "apply": true })).problem(403, "not_permitted");
        viewer.json("POST", &path, &json!({})).problem(403, "not_permitted");
    }
    operator.json("POST", "/v1/flows/steps/preview", &steps("steps")).is(200);
    viewer.json("POST", "/v1/flows/steps/preview", &steps("steps")).problem(403, "not_permitted");
    let listed = operator.get("/v1/flows/steps/schedules").is(200).json();
    assert_eq!(listed["items"][0]["name"], "nightly", "{listed}");
}

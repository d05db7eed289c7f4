//! Flows: defined, read back, changed by several.

use serde_json::{Value as Json, json};

use super::{served, steps, with_steps};
use crate::support::database::TENANT;
use crate::support::http::Client;
use crate::support::on;

#[harness::test]
fn a_flow_is_defined_read_back_and_deleted() {
    let (_api, client) = served();
    let made = client.json("PUT", "/v1/flows/steps", &steps("steps")).is(201).json();
    assert_eq!(made["attributes_added"], json!(["n", "remark"]));
    let again = client.json("PUT", "/v1/flows/steps", &steps("steps")).is(200);
    assert_eq!(again.json()["created"], false);
    let flow = client.get("/v1/flows/steps").is(200).json();
    assert_eq!(flow["attributes"][0], json!({ "name": "n", "type": "integer" }));
    assert_eq!(flow["triggers"][0]["when"], "n < 3");

    client.delete("/v1/flows/steps").is(204);
    client.get("/v1/flows/steps").problem(404, "not_found");
    assert_eq!(client.get("/v1/flows").is(200).json(), json!({ "items": [] }));
}

/// Starts the first instance of the flow `steps`, with `n` = 2.
fn start_with_two(client: &Client) -> i64 {
    let started = client.json("POST", "/v1/flows/steps/instances", &json!({ "state": { "n": 2 } })).is(201);
    assert_eq!(started.header("location"), Some("/v1/flows/steps/instances/1"));
    started.json()["wid"].as_i64().expect("a number")
}

#[harness::test]
fn a_started_instance_has_a_state_and_a_job() {
    let (_api, client) = with_steps();
    start_with_two(&client);
    let instance = client.get("/v1/flows/steps/instances/1").is(200).json();
    assert_eq!(instance["status"], "regular");
    assert_eq!(instance["state"], json!({ "n": 2, "remark": null }));
    assert_eq!(instance["pending"], json!(["step"]));
    let job = client.get("/v1/flows/steps/instances/1/jobs/t").is(200).json();
    assert_eq!((&job["transition"], &job["running"]), (&json!("step"), &json!(false)));
    assert_eq!(client.get("/v1/flows/steps/jobs").is(200).json()["items"], json!([job]));
}

#[harness::test]
fn a_result_in_plain_sql_shows_in_the_trace() {
    let (api, client) = with_steps();
    let wid = start_with_two(&client);
    let url = on(api.database.store.flow_url(TENANT, "steps")).expect("its URL");
    crate::support::Session::on(&api.database, &url).finish(wid, "step", "n = n + 1");
    let instance = client.get("/v1/flows/steps/instances/1").is(200).json();
    assert_eq!(instance["status"], "final");
    let trace = client.get("/v1/flows/steps/instances/1/trace").is(200).json();
    assert_eq!(trace["items"][1]["transition"], "step");
    let rest = client.get("/v1/flows/steps/instances/1/trace?after=1").is(200).json();
    assert_eq!(rest["items"], json!([trace["items"][1]]));
    client.get("/v1/flows/steps/instances/1/jobs/t").problem(404, "not_found");
}

#[harness::test]
fn a_definition_may_be_sent_as_toml() {
    let (_api, client) = served();
    let toml = [("content-type", "application/toml")];
    let text = "name = \"own\"\nfinal = \"a = 'x'\"\n[[attribute]]\nname = \"a\"\n";
    client.send("PUT", "/v1/flows/own", &toml, text.as_bytes()).is(201);
    let wrong = client.send("PUT", "/v1/flows/own", &toml, b"name = own");
    let problem = wrong.problem(422, "invalid_document");
    assert!(problem["detail"].as_str().is_some_and(|text| text.contains("line 1")), "{problem}");
}

#[harness::test]
fn what_is_wrong_with_a_condition_is_pointed_at() {
    let (_api, client) = served();
    let mut flow = steps("steps");
    flow["trigger"][0]["when"] = "n < three".into();
    let problem = client.json("PUT", "/v1/flows/steps", &flow).problem(422, "42703");
    assert_eq!(problem["place"], json!({ "fragment": "n < three", "position": 5 }));
    // What `wed guard check` refuses is no condition, whatever the database would say of it.
    flow["trigger"][0]["when"] = "n::numeric(500) > 1".into();
    let problem = client.json("PUT", "/v1/flows/steps", &flow).problem(422, "42804");
    assert_eq!(problem["place"]["position"], 4, "{problem}");
    // And nothing of it is there.
    client.get("/v1/flows/steps").problem(404, "not_found");
}

#[harness::test]
fn a_definition_is_read_back_as_it_was_put() {
    let (_api, client) = served();
    let put = json!({
        "name": "whole",
        "description": "all of it",
        "final": "n >= 3",
        "attribute": [
            { "name": "n", "type": "integer", "default": "0" },
            { "name": "paid", "type": "boolean", "default": "false", "open": true },
        ],
        "trigger": [{
            "name": "t", "transition": "step", "when": "n < 3", "condition": "small", "timeout": "PT10M", "attempts": 5,
            "backoff": "PT2S", "delay": "PT1S", "priority": 7, "recheck": false, "writes": ["n"],
            "compensation": "undo", "deadline": "P1D", "reserves": "'k'", "holds": "instance",
        }],
        "transition": { "step": { "component": "c", "http": ["example.com:443"] } },
    });
    client.json("PUT", "/v1/flows/whole", &put).is(201);
    let got = client.get("/v1/flows/whole").is(200);
    let definition = &got.json()["definition"];
    for (name, value) in put.as_object().expect("an object") {
        assert_eq!(&definition[name], value, "{name}");
    }
    // What is read back changes nothing when it is put.
    let again = client.json("PUT", "/v1/flows/whole", definition).is(200);
    assert_eq!(again.json()["triggers_changed"], json!([]));
    assert_eq!(again.header("etag"), got.header("etag"));
    assert_eq!(&client.get("/v1/flows/whole").is(200).json()["definition"], definition);
}

#[harness::test]
fn a_change_of_what_changed_meanwhile_is_refused() {
    let (_api, client) = with_steps();
    let put = |definition: &Json, header: (&str, &str)| {
        let headers = [("content-type", "application/json"), header];
        client.send("PUT", "/v1/flows/steps", &headers, definition.to_string().as_bytes())
    };
    let tag = client.get("/v1/flows/steps").is(200);
    let tag = tag.header("etag").expect("a tag").to_owned();
    let mut changed = steps("steps");
    changed["trigger"][0]["when"] = "n < 2".into();
    let first = put(&changed, ("if-match", &tag)).is(200);
    let new = first.header("etag").expect("a tag").to_owned();
    assert_ne!(new, tag);
    changed["trigger"][0]["when"] = "n < 1".into();
    put(&changed, ("if-match", &tag)).problem(412, "stale");
    put(&changed, ("if-none-match", "*")).problem(412, "stale");
    put(&changed, ("if-match", "nonsense")).problem(400, "invalid_header");
    put(&changed, ("if-match", &format!("\"other\", {new}"))).is(200);
    put(&changed, ("if-match", "*")).is(200);
    let json = ("content-type", "application/json");
    let more = steps("more").to_string();
    client.send("PUT", "/v1/flows/more", &[json, ("if-match", "*")], more.as_bytes()).problem(412, "stale");
    client.send("PUT", "/v1/flows/more", &[json, ("if-none-match", "*")], more.as_bytes()).is(201);
}

#[harness::test]
fn names_of_triggers_fit_addresses() {
    let (_api, client) = served();
    for name in ["../x", "a/b", "..", "tab\there", &"n".repeat(64)] {
        let mut flow = steps("named");
        flow["trigger"][0]["name"] = name.into();
        let refused = client.json("PUT", "/v1/flows/named", &flow);
        refused.problem(409, "WF013");
    }
    let mut flow = steps("named");
    flow["trigger"][0]["name"] = "größer als früher.1".into();
    client.json("PUT", "/v1/flows/named", &flow).is(201);
}

#[harness::test]
fn a_trigger_is_enabled_as_its_definition_says() {
    let (_api, client) = with_steps();
    let put = |enabled: Option<bool>| {
        let mut flow = steps("steps");
        if let Some(enabled) = enabled {
            flow["trigger"][0]["enabled"] = enabled.into();
        }
        client.json("PUT", "/v1/flows/steps", &flow).is(200).json()
    };
    let enabled = || client.get("/v1/flows/steps").is(200).json()["definition"]["trigger"][0]["enabled"].clone();
    assert_eq!(put(Some(false))["triggers_changed"], json!(["t"]));
    assert_eq!(enabled(), false);
    client.json("POST", "/v1/flows/steps/instances", &json!({})).problem(422, "WF001");
    // Without the key it stays as it is, and the answer says so.
    let left = put(None);
    assert_eq!(left["triggers_disabled"], json!(["t"]));
    assert_eq!(enabled(), false);
    assert_eq!(put(Some(true))["triggers_changed"], json!(["t"]));
    assert_eq!(enabled(), Json::Null);
    client.json("POST", "/v1/flows/steps/instances", &json!({})).is(201);
}

#[harness::test]
fn flow_is_deleted_only_as_it_is_expected() {
    let (_api, client) = with_steps();
    let delete = |tag: &str| client.send("DELETE", "/v1/flows/steps", &[("if-match", tag)], b"");
    delete("\"0123456789abcdef0123456789abcdef\"").problem(412, "stale");
    let tag = client.get("/v1/flows/steps").is(200);
    delete(tag.header("etag").expect("a tag")).is(204);
    client.get("/v1/flows/steps").problem(404, "not_found");
}

#[harness::test]
fn difference_of_large_definitions_is_bounded() {
    let (_api, client) = with_steps();
    let with_form = |prefix: &str| {
        let properties: serde_json::Map<_, _> =
            (0..4_000).map(|n| (format!("{prefix}_{n}"), json!({ "type": "string" }))).collect();
        let mut flow = steps("steps");
        let form = json!({ "type": "object", "properties": properties });
        flow["trigger"][0]["work"] = json!({ "form": form });
        flow
    };
    for prefix in ["p", "q"] {
        client.json("PUT", "/v1/flows/steps", &with_form(prefix)).is(200);
    }
    let difference = client.get("/v1/flows/steps/diff").is(200).json();
    let lines = difference["lines"].as_array().map_or(0, Vec::len);
    let left_out = difference["left_out"].as_u64().expect("a number");
    assert!((1..=2_000).contains(&lines), "{lines}");
    assert!(left_out > 1_000, "{left_out}");
}

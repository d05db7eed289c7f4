//! Instances: started once for a key, with who acted and what was attempted.

use serde_json::{Value as Json, json};

use super::{served, with_steps};
use crate::support::database::{TENANT, one_lane};
use crate::support::http::{Api, Client};
use crate::support::{eventually, on};

#[harness::test]
fn a_key_starts_one_instance() {
    let (api, client) = with_steps();
    let start = |client: &Client, n: i32| {
        let body = json!({ "state": { "n": n } }).to_string();
        let headers = [("content-type", "application/json"), ("idempotency-key", "k-1")];
        client.send("POST", "/v1/flows/steps/instances", &headers, body.as_bytes())
    };
    // Side by side, and once more.
    let answers: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| start(&client, 1).is(201))).collect();
        threads.into_iter().map(|thread| thread.join().expect("answered")).collect()
    });
    assert!(answers.iter().all(|answer| answer.json()["wid"] == 1), "{answers:?}");
    let new = answers.iter().filter(|answer| answer.header("idempotency-replayed").is_none());
    assert_eq!(new.count(), 1);
    start(&client, 2).problem(422, "WF046");
    // Another user's key is another key.
    let other = api.user(TENANT, "bob", "participant");
    assert_eq!(start(&other, 2).is(201).json()["wid"], 2);
    // A start that was refused leaves the key free.
    let headers = [("content-type", "application/json"), ("idempotency-key", "k-2")];
    let path = "/v1/flows/steps/instances";
    client.send("POST", path, &headers, br#"{"state":{"no":1}}"#).problem(422, "42703");
    client.send("POST", path, &headers, br#"{"state":{"n":1}}"#).is(201);
    let listed = client.get(path).is(200).json();
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(3));
}

#[harness::test]
fn a_key_is_of_visible_characters() {
    let (_api, client) = served();
    for key in ["two words", "", "tab\there", &"k".repeat(256)] {
        let headers = [("content-type", "application/json"), ("idempotency-key", key)];
        client.send("POST", "/v1/flows/steps/instances", &headers, b"{}").problem(400, "idempotency_key");
    }
}

/// An attribute that events may set, and what it fires.
fn waiting_for_payment() -> (Api, Client) {
    let (api, client) = served();
    let flow = json!({
        "name": "orders",
        "final": "shipped",
        "attribute": [
            { "name": "paid", "type": "boolean", "default": "false", "open": true },
            { "name": "shipped", "type": "boolean", "default": "false" },
        ],
        "trigger": [
            { "name": "wait", "when": "NOT paid", "transition": "remind" },
            { "name": "ship", "when": "paid", "transition": "ship" },
        ],
    });
    client.json("PUT", "/v1/flows/orders", &flow).is(201);
    client.json("POST", "/v1/flows/orders/instances", &json!({})).is(201);
    (api, client)
}

#[harness::test]
fn who_starts_or_sends_is_named_in_the_trace() {
    let (_api, client) = waiting_for_payment();
    let paid = json!({ "state": { "paid": true } });
    client.json("POST", "/v1/flows/orders/instances/1/event", &paid).is(200);
    let trace = client.get("/v1/flows/orders/instances/1/trace").is(200);
    for row in trace.json()["items"].as_array().expect("rows") {
        assert_eq!(row["writer"], "token:ann/all", "{row}");
    }
    // A session of the flow cannot take somebody else's name.
    let url = on(_api.database.store.flow_url(TENANT, "orders")).expect("its URL");
    let mut session = crate::support::Session::on(&_api.database, &url);
    session.run("SET wed.actor = 'token:ann/all'");
    session.run("UPDATE wed_flow SET paid = false");
    let writer = session.line("SELECT writer = session_user FROM wed_trace ORDER BY seq DESC LIMIT 1");
    assert_eq!(writer, "t");
}

#[harness::test]
fn attempts_are_told_with_what_they_logged() {
    let (api, client) = served();
    let hostile = crate::host::guests::hostile();
    client.upload("hostile", hostile, &[]).is(201);
    let flow = json!({
        "name": "orders",
        "final": "a1 = 'logged'",
        "attribute": [
            { "name": "a1", "default": "new" },
            { "name": "n", "type": "integer" },
            { "name": "tags", "type": "text[]" },
        ],
        "trigger": [
            { "name": "t", "when": "a1 = 'new'", "transition": "log-line", "attempts": 1 },
            { "name": "u", "when": "a1 = 'bad'", "transition": "fail", "attempts": 1 },
        ],
        "transition": { "log-line": { "component": "hostile" }, "fail": { "component": "hostile" } },
    });
    client.json("PUT", "/v1/flows/orders", &flow).is(201);
    let instances = "/v1/flows/orders/instances";
    client.json("POST", instances, &json!({})).is(201);
    client.json("POST", instances, &json!({ "state": { "a1": "bad" } })).is(201);
    let host = api.database.host(one_lane("api"));
    eventually("the ends", || {
        let ended = |wid| client.get(&format!("{instances}/{wid}")).is(200).json()["status"] != "regular";
        (ended(1) && ended(2)).then_some(())
    });
    on(host.stop());
    let first = client.get(&format!("{instances}/1/attempts")).is(200).json();
    let attempt = &first["items"][0];
    assert_eq!(attempt["outcome"], "returned");
    assert_eq!(attempt["logs"], json!([{ "severity": "warn", "message": "careful", "fields": { "wid": "1" } }]));
    let second = client.get(&format!("{instances}/2/attempts?limit=1")).is(200).json();
    let attempt = &second["items"][0];
    assert_eq!(
        (&attempt["outcome"], &attempt["seq"], &attempt["component"]),
        (&json!("failed"), &Json::Null, &json!("hostile"))
    );
    client.get(&format!("{instances}/9/attempts")).problem(404, "not_found");
}

#[harness::test]
fn key_means_the_same_request_however_it_is_written() {
    let (_api, client) = with_steps();
    let start = |key: &str, body: &str| {
        let headers = [("content-type", "application/json"), ("idempotency-key", key)];
        client.send("POST", "/v1/flows/steps/instances", &headers, body.as_bytes())
    };
    let first = start("a", r#"{"state":{"n":1,"remark":"x"}}"#).is(201).json();
    let again = start("a", r#"{ "state": {"remark":"x","n":1} }"#).is(201);
    assert_eq!(again.json(), first);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    start("a", r#"{"state":{"n":1,"remark":"y"}}"#).problem(422, "WF046");
    // One set of keys for starts and events, and one answer to their misuse.
    let event = |key: &str| {
        let headers = [("content-type", "application/json"), ("idempotency-key", key)];
        let path = "/v1/flows/steps/instances/1/event";
        client.send("POST", path, &headers, br#"{"state":{"remark":"z"}}"#)
    };
    event("a").problem(422, "WF046");
    let two = [("content-type", "application/json"), ("idempotency-key", "b"), ("idempotency-key", "c")];
    client.send("POST", "/v1/flows/steps/instances", &two, b"{}").problem(400, "idempotency_key");
}

#[harness::test]
fn batch_is_counted_first_and_done_when_asked_for() {
    let (api, client) = with_steps();
    for n in 0..4 {
        client.json("POST", "/v1/flows/steps/instances", &json!({ "state": { "n": n % 3 } })).is(201);
    }
    let path = "/v1/flows/steps/instances/batch";
    let operator = api.user(TENANT, "ops", "operator");
    let mut batch = json!({ "act": "cancel", "where": "n < 2", "reason": "a test" });
    let preview = operator.json("POST", path, &batch).is(200).json();
    assert_eq!((&preview["applied"], &preview["matching"]), (&false.into(), &3.into()));
    assert_eq!(preview["instances"], json!([1, 2, 4]));
    let count = || client.get("/v1/flows/steps/instances/count?status=final").is(200).json();
    assert_eq!(count()["count"], 0);
    batch["apply"] = true.into();
    let done = operator.json("POST", path, &batch).is(200).json();
    assert_eq!(done["done"], json!([1, 2, 4]));
    assert_eq!(count()["count"], 3);
    // A rule that holds for one of them keeps the others from nothing.
    let again = operator.json("POST", path, &json!({ "act": "cancel", "reason": "all", "apply": true }));
    let again = again.is(200).json();
    assert_eq!(again["done"], json!([3]));
    assert_eq!(again["refused"].as_array().map(Vec::len), Some(3), "{again}");
    for incomplete in [json!({ "act": "skip", "reason": "x" }), json!({ "act": "send", "values": {} })] {
        let answer = operator.json("POST", path, &incomplete);
        answer.problem(422, "invalid_document");
    }
    // Deleting is for who may change flows; what is not final stays.
    let delete = json!({ "act": "delete", "where": "n < 2", "reason": "old", "apply": true });
    operator.json("POST", path, &delete).problem(403, "not_permitted");
    client.json("POST", "/v1/flows/steps/instances", &json!({})).is(201);
    let deleted = client.json("POST", path, &delete).is(200).json();
    assert_eq!(deleted["done"], json!([1, 2, 4]), "{deleted}");
    assert_eq!(deleted["refused"][0]["wid"], 5, "{deleted}");
    api.user(TENANT, "vic", "viewer").json("POST", path, &json!({ "act": "cancel" })).problem(403, "not_permitted");
}

#[harness::test]
fn event_is_sent_to_all_that_match() {
    let (_api, client) = waiting_for_payment();
    client.json("POST", "/v1/flows/orders/instances", &json!({})).is(201);
    let path = "/v1/flows/orders/instances/batch";
    let mut batch = json!({ "act": "send", "where": "NOT paid", "values": { "shipped": true }, "apply": true });
    let refused = client.json("POST", path, &batch).is(200).json();
    assert_eq!(refused["refused"].as_array().map(Vec::len), Some(2), "{refused}");
    batch["values"] = json!({ "paid": true });
    let sent = client.json("POST", path, &batch).is(200).json();
    assert_eq!(sent["done"], json!([1, 2]), "{sent}");
    let trace = client.get("/v1/flows/orders/instances/2/trace").is(200);
    assert_eq!(trace.json()["items"][1]["state"]["paid"], true);
}

#[harness::test]
fn result_is_waited_for() {
    let (api, client) = with_steps();
    client.json("POST", "/v1/flows/steps/instances", &json!({})).is(201);
    let result = "/v1/flows/steps/instances/1/result";
    let running = client.get(&format!("{result}?wait=0"));
    assert_eq!((running.status, &running.json()["status"]), (202, &"regular".into()));
    let waiter = client.clone();
    let waiting = std::thread::spawn(move || waiter.get(&format!("{result}?wait=300")));
    let url = on(api.database.store.flow_url(TENANT, "steps")).expect("its URL");
    let mut session = crate::support::Session::on(&api.database, &url);
    for _ in 0..3 {
        session.finish(1, "step", "n = n + 1");
    }
    let answer = waiting.join().expect("answered").is(200).json();
    assert_eq!((&answer["status"], &answer["state"]["n"]), (&"final".into(), &3.into()));
    client.get("/v1/flows/steps/instances/9/result").problem(404, "not_found");
}

#[harness::test]
fn final_instance_is_deleted_with_its_history() {
    let (api, client) = with_steps();
    for n in [3, 0] {
        client.json("POST", "/v1/flows/steps/instances", &json!({ "state": { "n": n } })).is(201);
    }
    let why = json!({ "reason": "the customer asked for it" });
    let delete = |wid: i32| client.json("DELETE", &format!("/v1/flows/steps/instances/{wid}"), &why);
    delete(2).problem(409, "WF002");
    delete(1).is(204);
    delete(1).problem(404, "WF040");
    client.get("/v1/flows/steps/instances/1").problem(404, "not_found");
    let mut owner = api.database.owner();
    assert_eq!(owner.number("SELECT count(*) FROM wed.trace WHERE wid = 1"), 0);
    assert_eq!(owner.number("SELECT count(*) FROM wed.audit WHERE action = 'instance.delete'"), 1);
}

//! Business keys of instances, and the feed of events.

use serde_json::{Value as Json, json};

use super::{served, with_steps};
use crate::support::database::TENANT;
use crate::support::http::Client;
use crate::support::{Session, eventually, on};

const INSTANCES: &str = "/v1/flows/steps/instances";

fn start(client: &Client, document: &Json) -> crate::support::http::Answered {
    client.json("POST", INSTANCES, document)
}

#[harness::test]
fn key_names_one_running_instance() {
    let (api, client) = with_steps();
    let order = json!({ "key": "order/17 ä", "state": { "n": 1 } });
    assert_eq!(start(&client, &order).is(201).json(), json!({ "wid": 1 }));
    let conflict = start(&client, &order).problem(409, "WF027");
    assert!(conflict["detail"].as_str().is_some_and(|said| said.contains("instance 1 ")), "{conflict}");
    let mut same = order.clone();
    same["if_running"] = json!("use");
    assert_eq!(start(&client, &same).is(200).json(), json!({ "wid": 1, "existing": true }));
    // Whether the values would start an instance matters only where none runs.
    let mut unfit = same.clone();
    unfit["state"] = json!({ "n": null });
    assert_eq!(start(&client, &unfit).is(200).json(), json!({ "wid": 1, "existing": true }));
    unfit["key"] = json!("order-17");
    start(&client, &unfit).problem(422, "WF001");
    let second = start(&client, &json!({ "key": "order-18" })).is(201).json()["wid"].to_string();
    start(&client, &json!({})).is(201);

    // Every path takes it, a list filters by it, SQL shows it.
    let path = format!("{INSTANCES}/key:order%2F17%20%C3%A4");
    let instance = client.get(&path).is(200).json();
    assert_eq!((&instance["wid"], &instance["key"]), (&json!(1), &json!("order/17 ä")));
    client.get(&format!("{path}/trace")).is(200);
    client.json("POST", &format!("{path}/pause"), &json!({ "reason": "x" })).is(200);
    client.json("POST", &format!("{path}/resume"), &json!({ "reason": "x" })).is(200);
    let listed = client.get(&format!("{INSTANCES}?key=order-18")).is(200).json();
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(1), "{listed}");
    client.get(&format!("{INSTANCES}/key:none")).problem(404, "not_found");
    client.get(&format!("{INSTANCES}/key:")).problem(404, "not_found");
    let url = on(api.database.store.flow_url(TENANT, "steps")).expect("its URL");
    let mut session = Session::on(&api.database, &url);
    assert_eq!(session.line("SELECT wid FROM wed_instance WHERE key = 'order-18'"), second);

    // A final instance leaves its key to another one, and keeps it in the paths until then.
    client.json("POST", &format!("{path}/cancel"), &json!({ "reason": "x" })).is(200);
    assert_eq!(client.get(&path).is(200).json()["status"], "final");
    let next = start(&client, &order).is(201).json()["wid"].clone();
    assert_eq!(client.get(&path).is(200).json()["wid"], next);
    for wrong in ["", "a\u{7}b", &"k".repeat(256)] {
        start(&client, &json!({ "key": wrong })).problem(422, "22023");
    }
}

#[harness::test]
fn of_starts_side_by_side_one_has_the_key() {
    let (_api, client) = with_steps();
    let order = json!({ "key": "order-1", "if_running": "use" });
    let answers: Vec<Json> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(|| start(&client, &order).json())).collect();
        threads.into_iter().map(|thread| thread.join().expect("answered")).collect()
    });
    let wids: Vec<&Json> = answers.iter().map(|answer| &answer["wid"]).collect();
    assert!(wids.iter().all(|wid| *wid == wids[0] && wid.is_number()), "{answers:?}");
    let new = answers.iter().filter(|answer| answer["existing"].is_null());
    assert_eq!(new.count(), 1, "{answers:?}");
}

#[harness::test]
fn start_under_a_key_that_runs_may_send_its_values_as_an_event() {
    let (_api, client) = served();
    let mut flow = super::steps("steps");
    flow["attribute"][0]["open"] = json!(true);
    client.json("PUT", "/v1/flows/steps", &flow).is(201);
    let order = |n: i32| json!({ "key": "order-1", "if_running": "send", "state": { "n": n } });
    let started = start(&client, &order(1)).is(201).json();
    let sent = start(&client, &order(2)).is(200).json();
    assert_eq!(sent, json!({ "wid": started["wid"], "existing": true }));
    let instance = client.get(&format!("{INSTANCES}/key:order-1")).is(200).json();
    assert_eq!(instance["state"]["n"], 2, "{instance}");
    // Sent again under a client's key it is the same event; another one is refused.
    let once = |n: i32| {
        let headers = [("content-type", "application/json"), ("idempotency-key", "k-1")];
        client.send("POST", INSTANCES, &headers, order(n).to_string().as_bytes())
    };
    once(1).is(200);
    let again = once(1);
    assert_eq!(again.status, 200, "{again:?}");
    assert_eq!(again.header("idempotency-replayed"), Some("true"), "{again:?}");
    once(2).problem(422, "WF046");
}

/// Reads the feed of a flow behind a cursor: its events as instance and row, and the next cursor.
fn feed(client: &Client, cursor: &str) -> (Vec<String>, String) {
    let path = match cursor {
        "" => "/v1/flows/steps/events?limit=500".to_owned(),
        cursor => format!("/v1/flows/steps/events?limit=500&cursor={cursor}"),
    };
    let feed = client.get(&path).is(200).json();
    let name = |event: &Json| format!("{} {} {}", event["type"], event["wid"], event["seq"]).replace('"', "");
    let items = feed["items"].as_array().expect("events");
    let next = feed["next"].as_str().expect("a cursor").to_owned();
    (items.iter().map(name).collect(), next)
}

#[harness::test]
fn feed_skips_nothing_and_repeats_nothing_while_others_commit() {
    let (api, client) = with_steps();
    let mut heard: Vec<String> = Vec::new();
    let mut cursor = String::new();
    let url = on(api.database.store.flow_url(TENANT, "steps")).expect("its URL");
    let mut slow = Session::on(&api.database, &url);
    slow.run("BEGIN");
    slow.run("INSERT INTO wed_flow (remark) VALUES ('slow')");
    // What commits meanwhile waits behind the open transaction, which began before.
    start(&client, &json!({})).is(201);
    let (early, next) = feed(&client, &cursor);
    assert_eq!(early, Vec::<String>::new());
    cursor = next;
    slow.run("COMMIT");
    slow.finish(1, "step", "n = 3");
    eventually("all of it", || {
        let (more, next) = feed(&client, &cursor);
        heard.extend(more);
        cursor = next;
        (heard.len() >= 3).then_some(())
    });
    assert_eq!(heard, ["instance.started 1 1", "instance.started 2 1", "instance.final 1 2"]);
    assert_eq!(feed(&client, &cursor).0, Vec::<String>::new());
    // The tenant's feed has the same; a part begins where the last one ended.
    let first = client.get("/v1/events?limit=2").is(200).json();
    assert_eq!(first["items"].as_array().map(Vec::len), Some(2), "{first}");
    let rest = client.get(&format!("/v1/events?cursor={}", first["next"].as_str().expect("a cursor")));
    assert_eq!(rest.is(200).json()["items"][0]["type"], "instance.final");
    client.get("/v1/events?cursor=x").problem(400, "invalid_cursor");
    client.get("/v1/flows/none/events").problem(404, "not_found");
    client.get("/v1/events?limit=501").problem(400, "invalid_query");
    on(api.database.store.create_tenant("other", "")).expect("a tenant");
    let other = api.user("other", "eve", "developer");
    assert_eq!(other.get("/v1/events").is(200).json()["items"], json!([]));
    other.get("/v1/flows/steps/events").problem(404, "not_found");
}

#[harness::test]
fn feed_waits_for_the_next_event() {
    let (_api, client) = with_steps();
    let now = client.get("/v1/events?from=now").is(200).json();
    let path = format!("/v1/events?wait=20&cursor={}", now["next"].as_str().expect("a cursor"));
    let waiting = client.clone();
    let waits = std::thread::spawn(move || waiting.get(&path).is(200).json());
    start(&client, &json!({ "key": "order-1" })).is(201);
    let heard = waits.join().expect("an answer");
    assert_eq!(heard["items"][0]["key"], "order-1", "{heard}");
}

#[harness::test]
fn transaction_of_another_tenant_holds_no_feed_back_and_is_ended_in_time() {
    let (api, client) = with_steps();
    let database = &api.database;
    on(database.store.create_tenant("other", "")).expect("a tenant");
    let others = api.user("other", "bea", "developer");
    others.json("PUT", "/v1/flows/steps", &super::steps("steps")).is(201);
    let url = on(database.store.flow_url("other", "steps")).expect("its URL");
    let mut session = Session::on(database, &url);
    session.run("SET idle_in_transaction_session_timeout = 0; SET statement_timeout = 0; BEGIN");
    session.line("SELECT pg_current_xact_id()");
    start(&client, &json!({ "key": "order-1" })).is(201);
    others.json("POST", INSTANCES, &json!({})).is(201);
    eventually("the feed goes on", || {
        let told = client.get("/v1/events").is(200).json();
        (told["items"][0]["key"] == "order-1").then_some(())
    });
    let held = others.get("/v1/events").is(200).json();
    assert_eq!(held["items"], json!([]), "its own waits: {held}");

    let mut owner = database.owner();
    assert_eq!(owner.number("SELECT wed.end_old_transactions()"), 0, "it is young");
    assert_eq!(owner.number("SELECT wed.end_old_transactions(0)"), 1);
    eventually("the session has ended", || session.batch_execute("SELECT 1").is_err().then_some(()));
    let noted = "SELECT target FROM wed.audit WHERE action = 'session.end' AND tenant_name = 'other'";
    assert_eq!(owner.line(noted), "steps");
    eventually("its own feed goes on", || {
        let told = others.get("/v1/events").is(200).json();
        (told["items"][0]["wid"] == 1).then_some(())
    });
}

#[harness::test]
fn session_that_holds_feeds_back_is_named() {
    let (api, client) = with_steps();
    let mut owner = api.database.owner();
    let url = on(api.database.store.flow_url(TENANT, "steps")).expect("its URL");
    let mut session = Session::on(&api.database, &url);
    let named = "SELECT count(*) FROM wed.open_writers('0 s') w JOIN wed.flow USING (flow_id) WHERE name = 'steps'";
    session.run("SET idle_in_transaction_session_timeout = 0; BEGIN");
    assert_eq!(owner.number(named), 0, "it has written nothing");
    session.line("SELECT pg_current_xact_id()");
    start(&client, &json!({ "key": "order-1" })).is(201);
    let held = client.get("/v1/events").is(200).json();
    assert_eq!(held["items"], json!([]), "{held}");
    assert_eq!(owner.number(named), 1);
    session.run("COMMIT");
    assert_eq!(owner.number(named), 0);
    // Other tests on this server write too.
    eventually("the feed goes on", || {
        let told = client.get("/v1/events").is(200).json();
        (told["items"][0]["key"] == "order-1").then_some(())
    });
}

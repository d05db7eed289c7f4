//! Streams of an instance's states.

use serde_json::json;

use super::with_steps;
use crate::support::database::TENANT;
use crate::support::on;

#[harness::test]
fn a_watcher_hears_of_each_state() {
    let (api, client) = with_steps();
    client.json("POST", "/v1/flows/steps/instances", &json!({})).is(201);
    let url = on(api.database.store.flow_url(TENANT, "steps")).expect("its URL");
    let watcher = client.clone();
    let watching = std::thread::spawn(move || {
        let head = watcher.head("GET /v1/flows/steps/instances/1/events");
        watcher.raw(&format!("{head}\r\n"), |heard| heard.contains("\r\n0\r\n\r\n"))
    });
    let mut session = crate::support::Session::on(&api.database, &url);
    for _ in 0..3 {
        session.finish(1, "step", "n = n + 1");
    }
    let heard = watching.join().expect("heard");
    assert!(heard.contains("text/event-stream"), "{heard}");
    for seq in 1..=4 {
        assert!(heard.contains(&format!("id: {seq}\n")), "{seq} is missing in {heard}");
    }
    assert!(heard.contains("\"status\":\"final\""), "{heard}");
    // A client that reconnects continues after the last event it got.
    let head = client.head("GET /v1/flows/steps/instances/1/events");
    let rest = client.raw(&format!("{head}last-event-id: 3\r\n\r\n"), |heard| heard.contains("\r\n0\r\n\r\n"));
    assert!(rest.contains("id: 4\n") && !rest.contains("id: 3\n"), "{rest}");
    client.get("/v1/flows/steps/instances/9/events").problem(404, "not_found");
}

#[harness::test]
fn who_heard_all_of_a_final_instance_is_told_not_to_come_back() {
    let (_api, client) = with_steps();
    let events = "/v1/flows/steps/instances/1/events";
    let final_at_once = json!({ "state": { "n": 3 } });
    client.json("POST", "/v1/flows/steps/instances", &final_at_once).is(201);
    for _ in 0..40 {
        client.send("GET", events, &[("last-event-id", "1")], b"").is(204);
    }
}

//! Shares of what all tenants use: connections, look-ups of tokens, descriptions, bytes outside of instances.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use super::{served, steps, with_steps};
use crate::support::database::TENANT;
use crate::support::http::{Api, Client};
use crate::support::{Database, eventually};

/// Opens a stream of an instance's events and waits for its first event.
fn watch(api: &Api, client: &Client) -> TcpStream {
    let head = client.head("GET /v1/flows/steps/instances/1/events");
    let mut stream = TcpStream::connect(api.address).expect("connected");
    stream.write_all(format!("{head}\r\n").as_bytes()).expect("sent");
    let mut first = [0; 15];
    stream.read_exact(&mut first).expect("an answer");
    assert_eq!(&first, b"HTTP/1.1 200 OK");
    stream
}

#[harness::test]
fn health_is_answered_above_an_addresss_share() {
    let api = Api::with(&Database::new(), |settings| {
        settings.address_connections = 3;
        settings.proxies.clear();
    });
    let client = api.user(TENANT, "ann", "developer");
    client.json("PUT", "/v1/flows/steps", &steps("steps")).is(201);
    client.json("POST", "/v1/flows/steps/instances", &json!({})).is(201);
    let watching: Vec<TcpStream> = (0..3).map(|_| watch(&api, &client)).collect();
    client.get("/v1/me").problem(429, "connections");
    api.nobody().get("/health/live").is(200);
    api.nobody().get("/health/ready").is(200);
    drop(watching);
    eventually("the share given back", || (client.get("/v1/me").status == 200).then_some(()));
}

#[harness::test]
fn connections_of_a_proxy_are_in_nobodys_share() {
    // Loopback is a proxy's unless told otherwise.
    let api = Api::with(&Database::new(), |settings| settings.address_connections = 1);
    let client = api.user(TENANT, "ann", "developer");
    client.json("PUT", "/v1/flows/steps", &steps("steps")).is(201);
    client.json("POST", "/v1/flows/steps/instances", &json!({})).is(201);
    let _watching: Vec<TcpStream> = (0..3).map(|_| watch(&api, &client)).collect();
    client.get("/v1/me").is(200);
}

#[harness::test]
fn late_heads_make_room_for_others() {
    let api = Api::with(&Database::new(), |settings| settings.connections = 4);
    let client = api.user(TENANT, "ann", "viewer");
    let mut dripping: Vec<TcpStream> = (0..4).map(|_| TcpStream::connect(api.address).expect("connected")).collect();
    for stream in &mut dripping {
        stream.write_all(b"GET /v1/me HTTP/1.1\r\n").expect("sent");
    }
    // Their heads never end: without room made by them, this would wait for all of their time.
    let began = std::time::Instant::now();
    for _ in 0..8 {
        client.get("/v1/me").is(200);
    }
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}

#[harness::test]
fn connection_without_a_byte_is_closed() {
    let api = Api::with(&Database::new(), |settings| {
        settings.first_byte = Duration::from_millis(200);
        settings.head = Duration::from_secs(600);
    });
    let mut stream = TcpStream::connect(api.address).expect("connected");
    stream.set_read_timeout(Some(crate::support::GENEROUS)).expect("a timeout");
    let mut byte = [0];
    let ended = stream.read(&mut byte);
    let timed_out = |error: &std::io::Error| error.kind() == std::io::ErrorKind::WouldBlock;
    assert!(!ended.as_ref().is_err_and(timed_out), "{ended:?}");
}

#[harness::test]
fn description_is_tagged_and_its_rate_is_bounded() {
    let (api, _) = served();
    let first = api.nobody().get("/openapi.json").is(200);
    let tag = first.header("etag").expect("a tag").to_owned();
    for _ in 0..30 {
        let again = api.nobody().send("GET", "/openapi.json", &[("if-none-match", &tag)], b"");
        assert_eq!(again.status, 304);
    }
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..60).map(|_| scope.spawn(|| api.nobody().get("/openapi.json").status)).collect();
        asking.into_iter().map(|one| one.join().expect("answered")).collect()
    });
    assert!(statuses.contains(&429), "{statuses:?}");
}

#[harness::test]
fn token_has_few_scopes_and_each_once() {
    let (_api, client) = served();
    let new = |name: &str, scopes: Vec<&str>| json!({ "name": name, "scopes": scopes });
    client.json("POST", "/v1/tokens", &new("fat", vec!["read"; 31])).problem(422, "invalid_document");
    let doubled = client.json("POST", "/v1/tokens", &new("doubled", vec!["read", "jobs:read", "read"])).is(201).json();
    assert_eq!(doubled["scopes"].as_array().map(Vec::len), Some(2), "{doubled}");
}

#[harness::test]
fn token_ends_no_other_that_may_do_more() {
    let (_api, client) = served();
    let narrow =
        client.json("POST", "/v1/tokens", &json!({ "name": "narrow", "scopes": ["tokens:write"] })).is(201).json();
    let narrow = client.with_token(narrow["secret"].as_str().expect("a secret"));
    let all = client.get("/v1/tokens").is(200).json();
    let id = all["items"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|token| token["name"] == "all")
        .and_then(|token| token["id"].as_str())
        .expect("the wide token");
    narrow.delete(&format!("/v1/tokens/{id}")).problem(403, "not_permitted");
}

#[harness::test]
fn what_a_tenant_keeps_beside_instances_is_bounded() {
    let (api, client) = with_steps();
    let mut owner = api.database.owner();
    let setting = |n: i32| {
        let value = json!({ "value": "v".repeat(10_000) });
        client.json("PUT", &format!("/v1/flows/steps/config/k{n}"), &value)
    };
    for n in 0..5 {
        setting(n).is(204);
    }
    owner.run("UPDATE wed.quota SET other_bytes = 1000");
    owner.run("SELECT wed.weigh_usage('0 seconds')");
    assert_eq!(owner.line("SELECT other_bytes > 1000 FROM wed.usage"), "t");
    let refused = setting(6).problem(403, "quota");
    assert_eq!(refused["limit"]["name"], "other_bytes");
}

#[harness::test]
fn running_instances_far_above_a_limit_on_bytes_wait() {
    let (api, client) = with_steps();
    let mut owner = api.database.owner();
    client.json("POST", "/v1/flows/steps/instances", &json!({})).is(201);
    owner.run("UPDATE wed.quota SET trace_bytes = 1000");
    owner.run("UPDATE wed.usage SET trace_bytes = 1100");
    owner.run("SELECT wed.stop_running_over()");
    assert_eq!(owner.line("SELECT cardinality(wed.resting())"), "0");
    owner.run("UPDATE wed.usage SET trace_bytes = 1300");
    owner.run("SELECT wed.stop_running_over()");
    assert_eq!(owner.line("SELECT cardinality(wed.resting())"), "1");
    assert_eq!(
        owner.line("SELECT wed.waiting_text('quota', tenant_id) FROM wed.usage"),
        "the tenant's quota is used up: trace_bytes"
    );
    owner.run("UPDATE wed.usage SET trace_bytes = 900");
    owner.run("SELECT wed.stop_running_over()");
    assert_eq!(owner.line("SELECT cardinality(wed.resting())"), "0");
}

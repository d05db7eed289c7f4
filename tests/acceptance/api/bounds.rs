//! Bounds by which no client holds others up.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use super::{served, steps};
use crate::support::database::TENANT;
use crate::support::http::Api;
use crate::support::{Database, on};

#[harness::test]
fn a_body_that_does_not_come_is_given_up() {
    let api = Api::with(&Database::new(), |settings| {
        settings.idle = Duration::from_millis(300);
    });
    let client = api.user(TENANT, "ann", "developer");
    let head = client.head("POST /v1/components/x");
    let answer = client
        .raw(&format!("{head}content-type: application/wasm\r\ncontent-length: 1000\r\n\r\nabc"), |answer| {
            answer.contains("too_slow")
        });
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}

#[harness::test]
fn a_body_that_trickles_is_given_up() {
    let api = Api::with(&Database::new(), |settings| {
        settings.idle = Duration::from_millis(300);
    });
    let client = api.user(TENANT, "ann", "developer");
    let head = client.head("POST /v1/components/x");
    let mut stream = std::net::TcpStream::connect(api.address).expect("connected");
    let head = format!("{head}content-type: application/wasm\r\ncontent-length: 1000\r\n\r\n");
    std::io::Write::write_all(&mut stream, head.as_bytes()).expect("sent");
    // A byte comes every 50 ms: never late, and always too slow.
    for _ in 0..200 {
        std::thread::sleep(Duration::from_millis(50));
        if std::io::Write::write_all(&mut stream, b"x").is_err() {
            return;
        }
    }
    panic!("the body is read for as long as it comes");
}

#[harness::test]
fn a_head_that_does_not_come_is_given_up() {
    let api = Api::with(&Database::new(), |settings| {
        settings.head = Duration::from_millis(300);
    });
    // The server closes the connection; otherwise the client waits for a generous while and fails.
    let began = std::time::Instant::now();
    api.nobody().raw("GET /v1/flows HTTP/1.1\r\nhost:", |_| false);
    assert!(began.elapsed() < crate::support::GENEROUS / 2);
}

#[harness::test]
fn too_many_requests_are_told_when_to_come_back() {
    let database = Database::new();
    let api = Api::of(&database);
    on(database.store.create_tenant("busy", "")).expect("a tenant");
    database.owner().run(
        "UPDATE wed.quota SET requests_per_second = 4 WHERE tenant_id = (SELECT tenant_id FROM wed.tenant \
         WHERE name = 'busy')",
    );
    let client = api.user("busy", "ann", "viewer");
    let answers: Vec<_> = (0..20).map(|_| client.get("/v1/me")).collect();
    let refused = answers.iter().find(|answer| answer.status == 429).expect("one too many");
    let problem = refused.problem(429, "rate_limited");
    assert_eq!(problem["limit"]["name"], "requests_per_second");
    let wait: u64 = refused.header("retry-after").and_then(|text| text.parse().ok()).expect("a number of seconds");
    assert!((1..=2).contains(&wait));
    assert_eq!(refused.header("ratelimit"), Some("\"token\";r=0;t=1"));
    assert_eq!(answers[0].header("ratelimit-policy"), Some("\"token\";q=2;w=1"));
    // The others are not disturbed.
    let other = api.user(TENANT, "bob", "viewer");
    for _ in 0..20 {
        other.get("/v1/me").is(200);
    }
}

#[harness::test]
fn a_tenant_that_waits_for_locks_does_not_keep_others_waiting() {
    let api = Api::of(&Database::new());
    let client = api.user(TENANT, "ann", "developer");
    client.json("PUT", "/v1/flows/steps", &steps("steps")).is(201);
    on(api.database.store.create_tenant("other", "")).expect("a tenant");
    let other = api.user("other", "bob", "viewer");
    let url = on(api.database.store.flow_url(TENANT, "steps")).expect("its URL");
    let mut holder = crate::support::Session::on(&api.database, &url);
    holder.run("BEGIN");
    holder.run("LOCK TABLE wed_flow");
    std::thread::scope(|scope| {
        let waiting: Vec<_> =
            (0..8).map(|_| scope.spawn(|| client.json("POST", "/v1/flows/steps/instances", &json!({})))).collect();
        for _ in 0..5 {
            other.get("/v1/flows").is(200);
            other.get("/health/ready").is(200);
        }
        for answer in waiting {
            let answer = answer.join().expect("answered");
            answer.problem(409, "locked");
            assert_eq!(answer.header("retry-after"), Some("1"));
        }
    });
    holder.run("ROLLBACK");
}

#[harness::test]
fn descriptions_and_the_audit_log_are_bounded() {
    let api = Api::of(&Database::new());
    let admin = api.user(TENANT, "ann", "admin");
    let long = json!({ "description": "é".repeat(2_001) });
    admin.json("PATCH", "/v1/settings", &long).problem(422, "WF023");
    let most = json!({ "description": "é".repeat(2_000) });
    admin.json("PATCH", "/v1/settings", &most).is(200);
    let mut flow = steps("steps");
    flow["description"] = "x".repeat(2_001).into();
    admin.json("PUT", "/v1/flows/steps", &flow).problem(422, "WF023");
    let longest = api
        .database
        .owner()
        .line("SELECT octet_length(wed.short_detail(jsonb_build_object('a', repeat('x', 100000)))::text) < 4097");
    assert_eq!(longest, "t");
}

#[harness::test]
fn who_sends_too_much_reads_why() {
    let (_api, client) = served();
    // A client that sends all of it before it reads: more than the server throws away of what it does not expect.
    for (path, kind, bytes) in
        [("/v1/users", "application/json", (5 << 20) - 1), ("/v1/components/x", "application/wasm", (32 << 20) + 1)]
    {
        let head = client.head(&format!("POST {path}"));
        let mut request = format!("{head}content-type: {kind}\r\ncontent-length: {bytes}\r\n\r\n");
        request.push_str(&"x".repeat(bytes));
        let answer = client.raw(&request, |answer| answer.contains("\"too_large\""));
        assert!(answer.starts_with("HTTP/1.1 413"), "{path}: {answer}");
    }
}

#[harness::test]
fn a_reader_that_does_not_read_is_given_up() {
    let flow = Database::new().flow("steps");
    let mut session = flow.session();
    session.run("INSERT INTO wed_attr (aname, atype) VALUES ('remark', 'text')");
    session.run("INSERT INTO wed_trig (trname, cpred) VALUES ('step', 'remark IS NOT NULL')");
    session.run("INSERT INTO wed_flow (remark) SELECT repeat('x', 200000) FROM generate_series(1, 25)");
    // One connection is served at a time: while the first one is, no other is answered.
    let api = Api::with(&flow.database, |settings| {
        settings.connections = 1;
        settings.taking = Duration::from_millis(300);
    });
    let client = api.user(TENANT, "ann", "viewer");
    let list = client.head("GET /v1/flows/steps/instances?limit=500");
    let mut stream = TcpStream::connect(api.address).expect("connected");
    // More than the buffers of both ends hold.
    let requests = format!("{list}\r\n").repeat(12);
    stream.write_all(requests.as_bytes()).expect("sent");
    let mut first = [0; 15];
    stream.read_exact(&mut first).expect("an answer");
    assert_eq!(&first, b"HTTP/1.1 200 OK");
    let request = format!("{}\r\n", client.head("GET /v1/me"));
    let answer = client.raw(&request, |answer| answer.contains("ann"));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop(stream);
}

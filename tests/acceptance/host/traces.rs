//! Spans, at a receiver that reads OTLP's JSON: from a request to a webhook, joined by their ids.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};

use crate::support::database::{TENANT, sample_component};
use crate::support::http::Client;
use crate::support::program::{run, wed, wed_path};
use crate::support::{Database, eventually};

/// Requests as they were received: path, headers in small letters, body.
pub(crate) type Received = Arc<Mutex<Vec<(String, String, Json)>>>;

/// Answers every request with 200, and keeps what it says.
pub(crate) fn receiver() -> (SocketAddr, Received) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let received = Received::default();
    let kept = Arc::clone(&received);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let kept = Arc::clone(&kept);
            std::thread::spawn(move || while receive(&stream, &kept).is_some() {});
        }
    });
    (address, received)
}

fn receive(stream: &TcpStream, kept: &Received) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let path = head.split(' ').nth(1)?.to_owned();
    let head = head.to_lowercase();
    let length = head.split("content-length: ").nth(1)?.lines().next()?;
    let mut body = vec![0; length.trim().parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    kept.lock().expect("the list").push((path, head, body));
    let mut stream = stream;
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").ok()
}

/// Returns the resources of the exports that were received, as JSON text.
pub(crate) fn resources(received: &Received) -> Vec<String> {
    let received = received.lock().expect("the list");
    let exports = received.iter().filter(|(path, ..)| path == "/v1/traces");
    exports.map(|(_, _, body)| body["resourceSpans"][0]["resource"].to_string()).collect()
}

/// Returns the spans that were received.
fn spans(received: &Received) -> Vec<Json> {
    let received = received.lock().expect("the list");
    let exports = received.iter().filter(|(path, ..)| path == "/v1/traces");
    exports
        .flat_map(|(_, _, body)| body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array())
        .flatten()
        .cloned()
        .collect()
}

/// Ends the program with the test.
struct Serving(std::process::Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a server whose spans go to a collector.
fn serving(url: &str, collector: std::net::SocketAddr) -> (Serving, std::net::SocketAddr) {
    let log = tempfile::NamedTempFile::new().expect("a file");
    let serving = Serving(
        std::process::Command::new(wed_path())
            .args(["serve", "--listen", "127.0.0.1:0", "--lanes", "1"])
            .args(["--allow-http", &collector.to_string()])
            .env("DATABASE_URL", url)
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{collector}"))
            .env("OTEL_BSP_SCHEDULE_DELAY", "20")
            .env("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
            .stderr(log.reopen().expect("the file"))
            .spawn()
            .expect("wed runs"),
    );
    let address = eventually("the address", || {
        let said = std::fs::read_to_string(log.path()).ok()?;
        let rest = said.split("the API is at http://").nth(1)?;
        rest.split(';').next()?.parse().ok()
    });
    (serving, address)
}

/// Asserts that the message to a webhook carries the span of its post in `traceparent`.
fn assert_receiver_goes_on(received: &Received, post: &Json) {
    let received = received.lock().expect("the list");
    let told = received.iter().find(|(path, ..)| path == "/told");
    let (_, head, _) = told.expect("the message");
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let header = format!("traceparent: 00-{}-{}-01", text(&post["traceId"]), text(&post["spanId"]));
    assert!(head.contains(&header), "{head}");
    let export = received.iter().find(|(path, ..)| path == "/v1/traces");
    let resource = &export.expect("an export").2["resourceSpans"][0]["resource"];
    assert!(resource.to_string().contains("deployment.environment"), "{resource}");
}

#[harness::test]
fn spans_lead_from_a_request_to_a_webhook() {
    let database = Database::new();
    let flow = json!({
        "name": "traced", "final": "a2 IS NOT NULL",
        "attribute": [{ "name": "a1", "default": "ready" }, { "name": "a2" }, { "name": "a3" }],
        "trigger": [{ "name": "t", "when": "a1 = 'ready' AND a2 IS NULL", "transition": "tr_a2" }],
        "transition": { "tr_a2": { "component": "paper" } },
    });
    database.upload("paper", sample_component("paper"));
    let (collector, received) = receiver();
    let (_serving, address) = serving(&database.url(), collector);
    let url = database.url();
    run(wed(&url).args(["user", "create", "ann", "--role", "admin"])).done();
    let token = run(wed(&url).args(["--json", "--tenant", TENANT, "token", "create", "ann"])).done();
    let client = Client::at(address, token.json()["secret"].as_str().expect("a secret"));
    client.json("PUT", "/v1/flows/traced", &flow).is(201);
    let webhook = json!({ "url": format!("http://{collector}/told"), "flow": "traced", "events": ["instance.final"] });
    client.json("PUT", "/v1/webhooks", &webhook).is(200);
    let caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let started = client.send(
        "POST",
        "/v1/flows/traced/instances",
        &[("traceparent", caller), ("content-type", "application/json")],
        b"{}",
    );
    started.is(201);
    let of = |name: &str| eventually(name, || spans(&received).into_iter().find(|span| span["name"] == name));
    let request = of("POST /v1/flows/{flow}/instances");
    let [start, claim, ran, commit] = ["start", "claim tr_a2", "run tr_a2", "commit"].map(of);
    let post = of("post instance.final");
    // The request is the caller's, and leads to the instance's trace.
    assert_eq!(request["traceId"], "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(request["parentSpanId"], "b7ad6b7169203331");
    assert_eq!(request["links"][0]["traceId"], start["traceId"]);
    assert_eq!(request["links"][0]["spanId"], start["spanId"]);
    // Each is the child of what caused it.
    for (child, parent) in [(&claim, &start), (&ran, &claim), (&commit, &ran), (&post, &commit)] {
        assert_eq!(child["traceId"], start["traceId"], "{child}");
        assert_eq!(child["parentSpanId"], parent["spanId"], "{child}");
    }
    assert_eq!(start["parentSpanId"], Json::Null);
    let outcome = json!({ "key": "wed.outcome", "value": { "stringValue": "returned" } });
    let attributes = ran["attributes"].as_array().expect("attributes");
    assert!(attributes.contains(&outcome), "{ran}");
    assert_receiver_goes_on(&received, &post);
}

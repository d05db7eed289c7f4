//! Worklists over HTTP and the command line.

use serde_json::{Value as Json, json};

use super::Office;
use crate::support::eventually;
use crate::support::http::{Api, Client};
use crate::support::program::{run, wed};

/// Reports an item twice with one key: the second answer is the first one's.
fn report_twice(ana: &Client, order: &Json) {
    let report = json!({ "values": { "form": "tea" } });
    let path = format!("/v1/work/items/{order}/report");
    ana.json("POST", &path, &report).problem(400, "idempotency_key");
    let send = || {
        let headers = [("content-type", "application/json"), ("idempotency-key", "k1")];
        ana.send("POST", &path, &headers, report.to_string().as_bytes())
    };
    assert_eq!(send().is(200).json()["applied"], true);
    assert_eq!(send().is(200).json()["replayed"], true);
}

#[harness::test]
fn work_is_claimed_and_reported_over_http() {
    let mut office = Office::new();
    let api = Api::of(office.database());
    let [ana, beto, caio] = ["ana", "beto", "caio"].map(|name| api.user("default", name, "participant"));
    let viewer = api.user("default", "vera", "viewer");
    let started = ana
        .json("POST", "/v1/work/processes", &json!({ "flow": "repairs", "in_charge": "dora", "warnings": [6] }))
        .is(201)
        .json();
    assert_eq!(started["wid"], 1);
    let order = ana.get("/v1/work/items?order=priority").is(200).json()["items"][0]["item"].clone();
    ana.json("POST", &format!("/v1/work/items/{order}/select"), &json!({})).is(200);
    viewer.json("POST", &format!("/v1/work/items/{order}/select"), &json!({})).problem(403, "not_permitted");
    report_twice(&ana, &order);
    let item = office.item(1, "visit");
    let path = |act: &str| format!("/v1/work/items/{item}/{act}");
    beto.json("POST", &path("lock"), &json!({})).is(200);
    let lost = caio.json("POST", &path("lock"), &json!({})).problem(409, "WF081");
    assert!(lost["detail"].to_string().contains("held by beto"), "{lost}");
    beto.json("POST", &path("delegate"), &json!({ "to": "caio" })).is(200);
    let headers = [("content-type", "application/json"), ("idempotency-key", "k2")];
    let refused = beto.send("POST", &path("report"), &headers, b"{}").is(409).json();
    assert_eq!((&refused["applied"], &refused["holder"]), (&json!(false), &json!("caio")));
    caio.json("POST", &path("comments"), &json!({ "text": "on my way" })).is(201);
    let history = caio.get(&path("history")).is(200).json();
    assert_eq!(history["items"].as_array().map(Vec::len), Some(5), "{history}");
    assert_eq!(caio.get("/v1/work/messages").is(200).json()["items"][0]["kind"], "task_delegated");
    beto.get(&path("application")).problem(404, "not_found");
}

#[harness::test]
fn worklist_changes_are_events() {
    use std::io::{BufRead, BufReader, Write};
    let mut office = Office::new();
    let api = Api::of(office.database());
    let beto = api.user("default", "beto", "participant");
    let mut stream = std::net::TcpStream::connect(api.address).expect("connected");
    stream.set_read_timeout(Some(crate::support::GENEROUS)).expect("a timeout");
    let token = beto.token.clone().unwrap_or_default();
    write!(stream, "GET /v1/work/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n").expect("sent");
    let mut lines = BufReader::new(stream).lines();
    let mut next = || loop {
        let line = lines.next().expect("a line").expect("read");
        if let Some(data) = line.strip_prefix("data: ") {
            return serde_json::from_str::<serde_json::Value>(data).expect("a document");
        }
    };
    assert_eq!(next()["items"], 0);
    office.visit();
    assert_eq!(next()["items"], 1);
}

#[harness::test]
fn work_is_claimed_and_reported_on_the_command_line() {
    let mut office = Office::new();
    let item = office.visit().to_string();
    let url = office.database().url();
    let work = |person: &str, words: &[&str]| run(wed(&url).args(["--json", "work", "--as", person]).args(words));
    assert_eq!(work("beto", &["list"]).done().json()[0]["task"], "visit");
    work("beto", &["lock", &item]).done();
    let lost = work("caio", &["select", &item]).exits(4).error();
    assert_eq!(lost["code"], "WF081");
    work("beto", &["comment", &item, "nobody at home"]).done();
    work("beto", &["release", &item]).done();
    work("caio", &["select", &item]).done();
    let refused = work("beto", &["report", &item, "--set", "cost=1"]).exits(4).error();
    assert_eq!(refused["code"], "WF084", "{refused}");
    let done = work("caio", &["report", &item, "--set", "cost=12.5"]).done().json();
    assert_eq!(done["state"], "SUCCEEDED");
    assert_eq!(office.flow.session().line("SELECT cost FROM wed_flow"), "12.5");
    let history = work("caio", &["history", &item]).done().json();
    assert_eq!(history.as_array().map(Vec::len), Some(7), "{history}");
    let messages = work("dora", &["messages"]).done().json();
    assert_eq!(messages[0]["kind"], "process_ended");
    let people = run(wed(&url).args(["--json", "work", "people", "--add", "eva", "--role", "Tecnico"]));
    people.done();
    let people = run(wed(&url).args(["--json", "work", "people"])).done().json();
    assert_eq!(people.as_array().map(Vec::len), Some(5));
    run(wed(&url).args(["work", "list"])).exits(2);
    // A first list says when offers come.
    let first = run(wed(&url).args(["work", "--as", "eva", "list"])).done();
    assert!(first.err.contains("within 10 seconds"), "{}", first.err);
}

#[harness::test]
fn hosts_send_warnings_by_themselves() {
    let mut office = Office::new();
    let item = office.visit_with("1, 1, '{6}', NULL");
    office.owner.run(&format!(
        "UPDATE wed.work_item SET arrived_at = arrived_at - interval '43 hours', deadline_at = deadline_at - \
         interval '43 hours',
           alarm_at = alarm_at - interval '43 hours' WHERE item_id = {item}"
    ));
    let host = office.database().host(crate::support::database::one_lane("clock"));
    eventually("a warning", || {
        office.messages("dora").iter().any(|line| line.starts_with("task_deadline")).then_some(())
    });
    crate::support::on(host.stop());
}

#[harness::test]
fn peoples_jobs_are_counted_as_peoples() {
    let mut office = Office::new();
    office.start();
    let url = office.database().url();
    let status = run(wed(&url).args(["--json", "status"])).json();
    assert_eq!((&status["queue"]["people"], &status["queue"]["external"]), (&1.into(), &0.into()), "{status}");
    let listed = run(wed(&url).args(["job", "list", "repairs"])).done().out;
    assert!(listed.contains("people") && !listed.contains("external workers"), "{listed}");
}

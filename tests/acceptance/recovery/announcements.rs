//! New exceptions are announced to webhooks, and the installation tells its figures.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};

use wedflow_api::MetricsServer;
use wedflow_worker::{HostSettings, Measures, OutsideSettings};

use super::operators::exception;
use crate::support::database::one_lane;
use crate::support::flows::PAPER;
use crate::support::program::{run, wed};
use crate::support::{Flow, eventually, on};

/// A request as its receiver has it: head and body.
type Received = (String, String);

/// An HTTP server that answers its first requests with these statuses and all later ones with 200; nothing, when
/// silent.
struct Receiver {
    port: u16,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Receiver {
    fn new(statuses: &'static [u16], silent: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let kept = Arc::clone(&received);
        std::thread::spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming().flatten() {
                let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
                let (mut head, mut length) = (String::new(), 0);
                loop {
                    let mut line = String::new();
                    if reader.read_line(&mut line).unwrap_or(0) <= 2 {
                        break;
                    }
                    if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().expect("a number");
                    }
                    head.push_str(&line);
                }
                let mut body = vec![0; length];
                let _ = reader.read_exact(&mut body);
                let mut all = kept.lock().unwrap_or_else(PoisonError::into_inner);
                all.push((head, String::from_utf8_lossy(&body).into_owned()));
                let status = statuses.get(all.len() - 1).copied().unwrap_or(200);
                drop(all);
                let mut stream = stream;
                if silent {
                    open.push(stream);
                } else {
                    let _ = write!(stream, "HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                }
            }
        });
        Receiver { port, received }
    }

    fn all(&self) -> Vec<Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }
}

/// A host that may reach these ports of this machine.
fn reaching(ports: &[u16]) -> HostSettings {
    let places = ports.iter().map(|port| format!("127.0.0.1:{port}").parse().expect("a place"));
    HostSettings {
        outside: OutsideSettings { http: places.collect(), ..OutsideSettings::default() },
        ..one_lane("one")
    }
}

fn set_webhook(flow: &Flow, url: &str) -> String {
    let answer = run(wed(&flow.database.url()).args(["--json", "webhook", "set", url])).done();
    answer.json()["secret"].as_str().expect("a secret").to_owned()
}

#[harness::test]
fn silent_receiver_delays_no_other_webhook_of_its_tenant() {
    let flow = Flow::of(PAPER);
    let (silent, other) = (Receiver::new(&[], true), Receiver::new(&[], false));
    set_webhook(&flow, &silent.url());
    set_webhook(&flow, &other.url());
    flow.database.owner().run(&format!(
        "INSERT INTO wed.instance (flow_id, wid, status) SELECT {}, 1000 + i, 'E' FROM generate_series(1, 24) i",
        flow.id
    ));
    let host = flow.database.host(reaching(&[silent.port, other.port]));
    let set = run(wed(&flow.database.url()).args(["webhook", "set", &other.url()])).done();
    assert!(!set.err.contains("warning"), "{set:?}");
    eventually("all messages of the other webhook", || (other.all().len() >= 24).then_some(()));
    // Four at a time, each for ten seconds.
    let held_up = silent.all().len();
    assert!(held_up < 24, "{held_up} of 24 messages went to the silent one first");
    on(host.stop());
}

#[harness::test]
fn exception_is_posted_until_it_is_taken() {
    let flow = Flow::of(PAPER);
    let receiver = Receiver::new(&[500, 503], false);
    let secret = set_webhook(&flow, &receiver.url());
    assert!(secret.starts_with("whsec_"), "{secret}");
    let mut owner = flow.database.owner();
    let wid = exception(&mut owner, &flow);
    let host = flow.database.host(reaching(&[receiver.port]));
    let received = eventually("three attempts", || {
        // An attempt that failed is due again after seconds; the test need not wait.
        owner.run("UPDATE wed.outbox SET due = least(due, now()) WHERE last_error IS NOT NULL");
        Some(receiver.all()).filter(|all| all.len() >= 3)
    });
    let identifiers: Vec<_> = received
        .iter()
        .map(|(head, _)| head.lines().find(|line| line.starts_with("webhook-id")).map(str::to_owned))
        .collect();
    assert!(
        identifiers.windows(2).all(|two| two[0] == two[1]) && identifiers[0].is_some(),
        "one message: {received:?}"
    );
    assert!(received[0].0.contains("webhook-signature: v1,"), "{received:?}");
    let body: serde_json::Value = serde_json::from_str(&received[2].1).expect("a document");
    assert_eq!(body["type"], "instance.exception");
    assert_eq!((&body["data"]["flow"], body["data"]["wid"].as_i64()), (&"trial".into(), Some(wid)));
    eventually("an empty outbox", || (owner.number("SELECT count(*) FROM wed.outbox") == 0).then_some(()));
    on(host.stop());
}

#[harness::test]
fn exception_that_is_left_at_once_is_announced() {
    let flow = Flow::of(PAPER);
    set_webhook(&flow, "https://alerts.example.com/wed");
    let mut owner = flow.database.owner();
    let wid = exception(&mut owner, &flow);
    owner.line(&format!("SELECT wed.retry_instance({}, {wid}, 'ann', 'mended')", flow.id));
    let told = "SELECT count(*) FROM wed.outbox WHERE body ->> 'type' = 'instance.exception'";
    assert_eq!(owner.line(told), "1");
    owner.chores("exceptions");
    assert_eq!(owner.line(told), "1", "once");
}

#[harness::test]
fn webhook_reaches_no_place_that_the_operator_does_not_allow() {
    let flow = Flow::of(PAPER);
    let receiver = Receiver::new(&[], false);
    let set = |url: &str| run(wed(&flow.database.url()).args(["webhook", "set", url])).done().err;
    let warned = set(&receiver.url());
    assert!(warned.contains("no host runs"), "{warned}");
    let mut owner = flow.database.owner();
    exception(&mut owner, &flow);
    let host = flow.database.host(one_lane("one"));
    let warned = set(&receiver.url());
    assert!(warned.contains("warning: nothing would be delivered") && warned.contains("--allow-http"), "{warned}");
    let error =
        eventually("a refusal", || owner.lines("SELECT last_error FROM wed.outbox WHERE last_error IS NOT NULL").pop());
    assert!(error.contains("--allow-http"), "{error}");
    assert!(receiver.all().is_empty());
    owner.run("UPDATE wed.outbox SET attempt = 3");
    let problems = owner.lines("SELECT code, hint FROM wed.problems()");
    assert!(problems.iter().any(|line| line.starts_with("webhook_failing|")), "{problems:?}");
    on(host.stop());
}

#[harness::test]
fn receiver_that_does_not_answer_holds_up_its_own_tenant_only() {
    let flow = Flow::of(PAPER);
    let database = &flow.database;
    let (silent, good) = (Receiver::new(&[], true), Receiver::new(&[], false));
    set_webhook(&flow, &silent.url());
    let mut owner = database.owner();
    owner.run("INSERT INTO wed.tenant (name) VALUES ('other')");
    owner.line(&format!(
        "SELECT wed.set_webhook(tenant_id, NULL, '{}', NULL, NULL, NULL, 'ann') FROM wed.tenant WHERE name = 'other'",
        good.url()
    ));
    owner.run(
        "INSERT INTO wed.outbox (webhook_id, tenant_id, body) SELECT webhook_id, tenant_id, '{}' FROM wed.webhook, \
         generate_series(1, 12)",
    );
    let host = database.host(reaching(&[silent.port, good.port]));
    eventually("all of the other tenant's", || (good.all().len() == 12).then_some(()));
    // As many as may be under way, and no answer to any.
    assert!(silent.all().len() <= 8, "{}", silent.all().len());
    on(host.stop());
}

/// Types of the messages that wait for delivery, in order.
fn told(owner: &mut crate::support::Session) -> Vec<String> {
    owner.lines("SELECT body ->> 'type' FROM wed.outbox ORDER BY message_id")
}

#[harness::test]
fn webhook_hears_of_the_events_that_it_names() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('n', 'integer', '0'), ('remark', 'text', NULL);
         INSERT INTO wed_trig (trname, cpred) VALUES ('step', 'n < 2');
         INSERT INTO wed_trig (cfinal, cpred) VALUES (true, 'n >= 2')",
    );
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    let set = |arguments: &[&str]| {
        let base = ["--json", "webhook", "set", "https://example.com/hook"];
        run(wed(&flow.database.url()).args(base).args(arguments)).done().json()
    };
    s.run("INSERT INTO wed_flow DEFAULT VALUES");
    assert!(told(&mut owner).is_empty());
    let first = set(&["--event", "instance.started", "--event", "instance.final"]);
    assert!(first["secret"].is_string(), "{first}");
    s.run("INSERT INTO wed_flow DEFAULT VALUES");
    s.finish(2, "step", "n = n + 1");
    s.finish(2, "step", "n = n + 1");
    assert_eq!(told(&mut owner), ["instance.started", "instance.final"]);
    let outcomes = "SELECT body #>> '{data,outcome}' FROM wed.outbox ORDER BY 1";
    assert_eq!(owner.lines(outcomes), ["final", "·"]);
    // Set again: the secret is not told twice.
    let again = set(&["--event", "instance.changed", "--attribute", "remark"]);
    assert_eq!((&again["name"], &again["secret"]), (&first["name"], &serde_json::Value::Null));
    owner.run("DELETE FROM wed.outbox");
    s.finish(1, "step", "n = n + 1");
    assert!(told(&mut owner).is_empty());
    s.finish(1, "step", "n = n + 1, remark = 'x'");
    assert_eq!(told(&mut owner), ["instance.changed"]);
    assert_eq!(owner.line("SELECT body -> 'data' ->> 'attributes' FROM wed.outbox"), "[\"remark\"]");
    run(wed(&flow.database.url()).args(["webhook", "set", "https://example.com/hook", "--event", "all"])).exits(4);
}

#[harness::test]
fn webhook_hears_once_of_each_job_that_waits_too_long() {
    let flow = Flow::of(PAPER);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    run(wed(&flow.database.url()).args([
        "webhook",
        "set",
        "https://example.com/hook",
        "--event",
        "job.waiting",
        "--waits-over",
        "10 minutes",
    ]))
    .done();
    s.run("INSERT INTO wed_flow DEFAULT VALUES");
    assert_eq!(owner.number("SELECT wed.announce_waiting(100)"), 0);
    owner.run("UPDATE wed.job SET fired_at = fired_at - interval '11 minutes'");
    assert_eq!(owner.number("SELECT wed.announce_waiting(100)"), 2);
    assert_eq!(owner.number("SELECT wed.announce_waiting(100)"), 0);
    assert_eq!(told(&mut owner), ["job.waiting", "job.waiting"]);
}

#[harness::test]
fn secret_is_replaced_while_both_sign() {
    let flow = Flow::of(PAPER);
    let receiver = Receiver::new(&[], false);
    let old = set_webhook(&flow, &receiver.url());
    let mut owner = flow.database.owner();
    let name = owner.line("SELECT name FROM wed.webhook");
    let webhook =
        |arguments: &[&str]| run(wed(&flow.database.url()).arg("--json").arg("webhook").args(arguments)).done().json();
    let new = webhook(&["rotate", &name])["secret"].clone();
    assert!(new.is_string() && new != old.as_str(), "{new}");
    webhook(&["test", &name]);
    let host = flow.database.host(reaching(&[receiver.port]));
    let received = eventually("a message", || receiver.all().pop());
    let signed = received.0.lines().find(|line| line.starts_with("webhook-signature:"));
    assert_eq!(signed.map(|line| line.matches("v1,").count()), Some(2), "{received:?}");
    assert!(received.1.contains("webhook.test"), "{received:?}");
    owner.run("UPDATE wed.webhook SET old_until = now()");
    webhook(&["test", &name]);
    let received = eventually("another message", || receiver.all().get(1).cloned());
    assert_eq!(received.0.matches("v1,").count(), 1, "{received:?}");
    on(host.stop());
}

#[harness::test]
fn message_that_was_given_up_is_sent_again() {
    let flow = Flow::of(PAPER);
    let receiver = Receiver::new(&[410, 200], false);
    set_webhook(&flow, &receiver.url());
    let mut owner = flow.database.owner();
    let name = owner.line("SELECT name FROM wed.webhook");
    let webhook =
        |arguments: &[&str]| run(wed(&flow.database.url()).arg("--json").arg("webhook").args(arguments)).done().json();
    exception(&mut owner, &flow);
    let host = flow.database.host(reaching(&[receiver.port]));
    eventually("a dead letter", || {
        (owner.number("SELECT count(*) FROM wed.outbox WHERE dead_at IS NOT NULL") == 1).then_some(())
    });
    // A receiver that is gone hears of nothing more.
    assert_eq!(webhook(&["list"])[0]["ended"], true);
    assert_eq!(webhook(&["messages", &name])[0]["status"], "dead");
    assert_eq!(webhook(&["redeliver", &name])["messages"], 1);
    eventually("an empty outbox", || (owner.number("SELECT count(*) FROM wed.outbox") == 0).then_some(()));
    assert_eq!(receiver.all().len(), 2);
    on(host.stop());
}

#[harness::test]
fn url_is_masked_where_it_may_be_a_secret() {
    let flow = Flow::of(PAPER);
    let database = &flow.database;
    let api = crate::support::http::Api::of(database);
    let admin = api.user("default", "ann", "admin");
    let url = "https://example.com/hook?secret=HOOKSECRET";
    admin.json("PUT", "/v1/webhooks", &serde_json::json!({ "url": url })).is(200);
    let seen = |client: &crate::support::http::Client| client.get("/v1/webhooks").is(200).json();
    assert_eq!(seen(&admin)["items"][0]["url"], url);
    let viewer = api.user("default", "bob", "viewer");
    assert_eq!(seen(&viewer)["items"][0]["url"], "https://example.com/…");
    let mut owner = database.owner();
    let audit = owner.lines("SELECT target || detail::text FROM wed.audit");
    assert!(!audit.join(" ").contains("HOOKSECRET"), "{audit:?}");
    owner.run(
        "INSERT INTO wed.outbox (webhook_id, tenant_id, body, attempt) SELECT webhook_id, tenant_id, '{}', 5 \
               FROM wed.webhook",
    );
    let problems = owner.lines("SELECT text FROM wed.problems()");
    assert!(!problems.join(" ").contains("HOOKSECRET"), "{problems:?}");
}

#[harness::test]
fn figures_are_served_for_monitoring() {
    let flow = Flow::of(PAPER);
    exception(&mut flow.database.owner(), &flow);
    let measures = Measures::default();
    measures.committed.inc_by(5);
    let server =
        on(MetricsServer::start(&flow.database.store, ([127, 0, 0, 1], 0).into(), measures)).expect("a listener");
    let text = ureq::get(format!("http://{}/metrics", server.address()))
        .call()
        .expect("an answer")
        .into_body()
        .read_to_string()
        .expect("text");
    for line in [
        "wedflow_exceptions{tenant=\"default\",flow=\"trial\"} 1.0",
        "wedflow_transitions_committed_total 5",
        "wedflow_problems{code=\"no_host\"} 1.0",
        "wedflow_jobs{state=\"exceptions\"} 1.0",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    server.stop();
}

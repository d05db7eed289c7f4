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
                    let _ = write!(
                        stream,
                        "HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                    );
                }
            }
        });
        Receiver { port, received }
    }

    fn all(&self) -> Vec<Received> {
        self.received
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }
}

/// A host that may reach these ports of this machine.
fn reaching(ports: &[u16]) -> HostSettings {
    let places = ports
        .iter()
        .map(|port| format!("127.0.0.1:{port}").parse().expect("a place"));
    HostSettings {
        outside: OutsideSettings {
            http: places.collect(),
            ..OutsideSettings::default()
        },
        ..one_lane("one")
    }
}

fn set_webhook(flow: &Flow, url: &str) -> String {
    let answer = run(wed(&flow.database.url()).args(["--json", "webhook", "set", url])).done();
    answer.json()["secret"]
        .as_str()
        .expect("a secret")
        .to_owned()
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
    eventually("all messages of the other webhook", || {
        (other.all().len() >= 24).then_some(())
    });
    // Four at a time, each for ten seconds.
    let held_up = silent.all().len();
    assert!(
        held_up < 24,
        "{held_up} of 24 messages went to the silent one first"
    );
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
        .map(|(head, _)| {
            head.lines()
                .find(|line| line.starts_with("webhook-id"))
                .map(str::to_owned)
        })
        .collect();
    assert!(
        identifiers.windows(2).all(|two| two[0] == two[1]) && identifiers[0].is_some(),
        "one message: {received:?}"
    );
    assert!(
        received[0].0.contains("webhook-signature: v1,"),
        "{received:?}"
    );
    let body: serde_json::Value = serde_json::from_str(&received[2].1).expect("a document");
    assert_eq!(body["type"], "instance.exception");
    assert_eq!(
        (&body["data"]["flow"], body["data"]["wid"].as_i64()),
        (&"trial".into(), Some(wid))
    );
    eventually("an empty outbox", || {
        (owner.number("SELECT count(*) FROM wed.outbox") == 0).then_some(())
    });
    on(host.stop());
}

#[harness::test]
fn webhook_reaches_no_place_that_the_operator_does_not_allow() {
    let flow = Flow::of(PAPER);
    let receiver = Receiver::new(&[], false);
    set_webhook(&flow, &receiver.url());
    let mut owner = flow.database.owner();
    exception(&mut owner, &flow);
    let host = flow.database.host(one_lane("one"));
    let error = eventually("a refusal", || {
        owner
            .lines("SELECT last_error FROM wed.outbox WHERE last_error IS NOT NULL")
            .pop()
    });
    assert!(error.contains("--allow-http"), "{error}");
    assert!(receiver.all().is_empty());
    owner.run("UPDATE wed.outbox SET attempt = 3");
    let problems = owner.lines("SELECT code, hint FROM wed.problems()");
    assert!(
        problems
            .iter()
            .any(|line| line.starts_with("webhook_failing|")),
        "{problems:?}"
    );
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
        "SELECT wed.set_webhook(tenant_id, NULL, '{}', true, 'ann') FROM wed.tenant WHERE name = 'other'",
        good.url()
    ));
    owner.run(
        "INSERT INTO wed.outbox (webhook_id, tenant_id, body) SELECT webhook_id, tenant_id, '{}' FROM wed.webhook, \
         generate_series(1, 12)",
    );
    let host = database.host(reaching(&[silent.port, good.port]));
    eventually("all of the other tenant's", || {
        (good.all().len() == 12).then_some(())
    });
    // As many as may be under way, and no answer to any.
    assert!(silent.all().len() <= 8, "{}", silent.all().len());
    on(host.stop());
}

#[harness::test]
fn figures_are_served_for_monitoring() {
    let flow = Flow::of(PAPER);
    exception(&mut flow.database.owner(), &flow);
    let measures = Measures::default();
    measures.committed.inc_by(5);
    let server = on(MetricsServer::start(
        &flow.database.store,
        ([127, 0, 0, 1], 0).into(),
        measures,
    ))
    .expect("a listener");
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

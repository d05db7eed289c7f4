//! The register of shared things in ARCHITECTURE.md: each entry names a test that floods it with one tenant while
//! another is served. Those of the API stand here, in one table.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::steps;
use crate::layers::sources;
use crate::support::database::TENANT;
use crate::support::harness::names_of_tests;
use crate::support::http::{Api, Client};
use crate::support::{Database, Session, eventually, on, repository};

/// An API with two tenants: the first one floods, the second one is to be served.
struct Flooded {
    api: Api,
    flooder: Client,
    neighbour: Client,
}

/// Floods one thing that the API shares.
type Flood = fn(&Flooded);

/// Floods by the first tenant, each with the name of what is shared: it is refused more, or waits, and the second one
/// is served.
const FLOODS: [(&str, Flood); 5] = [
    ("streams of events", watchers),
    ("requests that wait", polls),
    ("bodies of uploads", uploads),
    ("definitions", definitions),
    ("look-ups of tokens", tokens),
];

#[harness::test]
fn tenant_that_floods_what_the_api_shares_keeps_no_other_from_it() {
    let api = Api::of(&Database::new());
    on(api.database.store.create_tenant("other", "")).expect("a tenant");
    // More requests a second than a test makes: another bound is meant.
    let rate = [("requests_per_second".to_owned(), Some(100_000))].into();
    on(api.database.store.set_quotas(TENANT, &rate)).expect("a quota");
    let flooded = Flooded {
        flooder: api.user(TENANT, "ann", "developer"),
        neighbour: api.user("other", "bob", "developer"),
        api,
    };
    for client in [&flooded.flooder, &flooded.neighbour] {
        client.json("PUT", "/v1/flows/steps", &steps("steps")).is(201);
        client.json("POST", "/v1/flows/steps/instances", &json!({})).is(201);
    }
    for (name, flood) in FLOODS {
        println!("{name}");
        flood(&flooded);
    }
}

impl Flooded {
    /// Sends the head of a request, and what follows it, and reads nothing.
    fn send(&self, client: &Client, request: &str, rest: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.api.address).expect("connected");
        let text = format!("{}{rest}", client.head(request));
        stream.write_all(text.as_bytes()).expect("sent");
        stream
    }

    /// The same, for an answer that never ends; returns the status.
    fn open(&self, client: &Client, request: &str) -> (TcpStream, String) {
        let mut stream = self.send(client, request, "\r\n");
        let mut first = [0; 12];
        stream.read_exact(&mut first).expect("an answer");
        (stream, String::from_utf8_lossy(&first[9..]).into_owned())
    }
}

fn watchers(flooded: &Flooded) {
    const EVENTS: &str = "GET /v1/flows/steps/instances/1/events";
    let held: Vec<_> = (0..32).map(|_| flooded.open(&flooded.flooder, EVENTS)).collect();
    assert!(held.iter().all(|(_, status)| status == "200"));
    assert_eq!(flooded.open(&flooded.flooder, EVENTS).1, "429");
    assert_eq!(flooded.open(&flooded.neighbour, EVENTS).1, "200");
}

fn polls(flooded: &Flooded) {
    const POLL: &str = "GET /v1/events?from=now&wait=20";
    // An event that comes late may answer some: then there are more.
    let mut held = Vec::new();
    eventually("the share is used up", || {
        held.extend((0..33).map(|_| flooded.send(&flooded.flooder, POLL, "\r\n")));
        let last = held.last_mut()?;
        last.set_read_timeout(Some(Duration::from_millis(500))).expect("a timeout");
        let mut first = [0; 12];
        let answered = last.read_exact(&mut first).is_ok();
        (answered && first.ends_with(b"429")).then_some(())
    });
    flooded.neighbour.get("/v1/events?from=now&wait=1").is(200);
}

fn uploads(flooded: &Flooded) {
    let rest = format!("content-type: application/wasm\r\ncontent-length: {}\r\n\r\n", 32 << 20);
    let held: Vec<_> = (0..3).map(|_| flooded.send(&flooded.flooder, "POST /v1/components/large", &rest)).collect();
    flooded.neighbour.upload("small", b"no component", &[]).is(422);
    drop(held);
}

fn definitions(flooded: &Flooded) {
    let url = on(flooded.api.database.store.flow_url(TENANT, "steps")).expect("its URL");
    let mut holder = Session::on(&flooded.api.database, &url);
    holder.run("BEGIN; LOCK TABLE wed_flow");
    let mut changed = steps("steps");
    changed["attribute"][0]["default"] = json!("1");
    let body = changed.to_string();
    let rest = format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let held: Vec<_> = (0..3).map(|_| flooded.send(&flooded.flooder, "PUT /v1/flows/steps", &rest)).collect();
    flooded.neighbour.json("PUT", "/v1/flows/more", &steps("more")).is(201);
    let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'wed_flow'::regclass";
    assert!(holder.number(waiting) <= 1, "one definition of a tenant at a time");
    holder.run("ROLLBACK");
    drop(held);
}

fn tokens(flooded: &Flooded) {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for n in 0..5 {
                    let unknown = flooded.flooder.with_token(&format!("wed_{n:048}"));
                    assert!([401, 429].contains(&unknown.get("/v1/me").status));
                }
            });
        }
        for _ in 0..5 {
            flooded.neighbour.get("/v1/me").is(200);
        }
    });
}

/// The rows of the register: what is shared, and the tests that hold it, by their full names.
fn register() -> Vec<(String, Vec<String>)> {
    let page = std::fs::read_to_string(repository("ARCHITECTURE.md")).expect("the page");
    let part = page.split("## Shared things").nth(1).expect("the register");
    let part = part.split("\n## ").next().unwrap_or_default();
    let rows = part.lines().filter(|line| line.starts_with("| ")).skip(2);
    let cells = rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    cells
        .map(|cells| {
            assert_eq!(cells.len(), 4, "{cells:?}");
            assert!(cells.iter().all(|cell| !cell.is_empty()), "{cells:?}");
            let named = cells[3].split('`').skip(1).step_by(2).map(str::to_owned);
            (cells[0].to_owned(), named.collect())
        })
        .collect()
}

/// Returns true if a file of a crate has a test of that name: `compiler.rs::a_test`.
fn is_unit_test(name: &str) -> bool {
    let Some((file, function)) = name.split_once("::").filter(|(file, _)| file.ends_with(".rs")) else {
        return false;
    };
    let holds = |path: &Path| {
        path.file_name().is_some_and(|name| name == file)
            && std::fs::read_to_string(path).is_ok_and(|text| text.contains(&format!("fn {function}(")))
    };
    sources("host", "rs").iter().any(|path| holds(path))
}

#[harness::test]
fn each_shared_thing_has_a_share_a_limit_and_a_test_that_floods_it() {
    let tests: BTreeSet<String> = names_of_tests().into_iter().collect();
    let rows = register();
    assert!(rows.len() > 20, "{rows:?}");
    for (thing, named) in rows {
        assert!(!named.is_empty(), "{thing}: no test");
        for name in named {
            assert!(tests.contains(&name) || is_unit_test(&name), "{thing}: there is no test {name}");
        }
    }
}

//! Access of transitions outside their calls: files of their instance, and HTTP to hosts that operator and flow
//! both name. No other access, no other instance's files, and no way out for a secret.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use wedflow_model::FlowDefinition;
use wedflow_worker::{HostSettings, OutsideSettings, SecretKey};

use super::guests;
use crate::support::database::one_lane;
use crate::support::program::{run, wed};
use crate::support::{Database, Flow, Session, eventually, on};

const CANARY: &str = "canary-9e21'44ab";

/// A flow whose instances do what their attribute `tags` says, and are final when `last` holds.
fn flow(database: &Arc<Database>, transition: &str, grant: &str, when: &str, last: &str) -> Flow {
    database.upload("hostile", guests::hostile());
    database.define(&definition(transition, grant, when, last))
}

fn definition(transition: &str, grant: &str, when: &str, last: &str) -> FlowDefinition {
    let text = format!(
        r#"
        name = "{transition}"
        final = """{last}"""
        [[attribute]]
        name = "a1"
        default = "new"
        [[attribute]]
        name = "n"
        type = "integer"
        default = "0"
        [[attribute]]
        name = "tags"
        type = "text[]"
        [[trigger]]
        name = "t"
        transition = "{transition}"
        when = """{when}"""
        timeout = "2 s"
        attempts = 2
        backoff = "10 ms"
        [transition.{transition}]
        component = "hostile"
        {grant}
        "#
    );
    toml::from_str(&text).expect("a definition")
}

pub(super) fn definition_of_one_step(transition: &str) -> FlowDefinition {
    definition(transition, "", "a1 = 'new'", "a1 <> 'new'")
}

pub(super) fn one_step(database: &Arc<Database>, transition: &str, grant: &str) -> Flow {
    flow(database, transition, grant, "a1 = 'new'", "a1 <> 'new'")
}

pub(super) fn host(name: &str, files: Option<&Path>, http: &[String]) -> HostSettings {
    HostSettings {
        outside: OutsideSettings {
            files: files.map(Path::to_owned),
            http: http.iter().map(|place| place.parse().expect("a place")).collect(),
            authorities: None,
        },
        secret_key: Some(SecretKey::from_hex(&"5a".repeat(32)).expect("a key")),
        ..one_lane(name)
    }
}

pub(super) fn start(flow: &Flow, tags: &[&str]) -> i64 {
    start_in(&mut flow.session(), tags)
}

pub(super) fn start_in(session: &mut Session, tags: &[&str]) -> i64 {
    let tags: Vec<String> = tags.iter().map(|tag| format!("'{}'", tag.replace('\'', "''"))).collect();
    session.number(&format!("INSERT INTO wed_flow (tags) VALUES (ARRAY[{}]::text[]) RETURNING wid", tags.join(", ")))
}

/// Returns the end of an instance's transition.
pub(super) fn told(flow: &Flow, tags: &[&str]) -> String {
    let wid = start(flow, tags);
    let end = flow.end_of(wid);
    let mut session = flow.session();
    let why = session.lines(&format!("SELECT message FROM wed_attempt WHERE wid = {wid}"));
    assert_eq!(end, "F", "{why:?}");
    session.line(&format!("SELECT a1 FROM wed_flow WHERE wid = {wid}"))
}

/// Every file under a folder, with its content.
fn all_files(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(all_files(&path));
        } else if name != ".mark" {
            found.push((name, std::fs::read_to_string(&path).expect("text")));
        }
    }
    found
}

#[harness::test]
fn files_stay_with_their_instance_until_it_is_final() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = Database::new();
    let flow = flow(&database, "files", "files = true", "a1 IN ('new', 'appended|x')", "n = 1");
    let running = database.host(host("filing", Some(folder.path()), &[]));
    let wid = start(&flow, &["append log x", "read log"]);
    let mut session = flow.session();
    // The second attempt at the transition saw what the first had written.
    eventually("the second step", || {
        let a1 = session.line(&format!("SELECT a1 FROM wed_flow WHERE wid = {wid}"));
        (a1 == "appended|xx").then_some(())
    });
    assert_eq!(all_files(folder.path()), [("log".to_owned(), "xx".to_owned())]);
    on(running.stop());
    database.owner().run(&format!("UPDATE wed.instance SET status = 'F' WHERE wid = {wid}"));
    // A host that begins looks after what is left.
    let running = database.host(host("cleaning", Some(folder.path()), &[]));
    let folders = || std::fs::read_dir(folder.path()).expect("a folder").flatten().filter(|one| one.path().is_dir());
    eventually("no folder of a flow", || (folders().count() == 0).then_some(()));
    on(running.stop());
}

#[harness::test]
fn an_attempt_that_fails_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = Database::new();
    let flow = one_step(&database, "files", "files = true");
    let running = database.host(host("failing", Some(folder.path()), &[]));
    let wid = start(&flow, &["write a x", "fail"]);
    assert_eq!(flow.end_of(wid), "E");
    assert_eq!(all_files(folder.path()), []);
    on(running.stop());
}

#[harness::test]
fn no_instance_reaches_anothers_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = Database::new();
    let flow = one_step(&database, "files", "files = true");
    let running = database.host(host("private", Some(folder.path()), &[]));
    assert_eq!(told(&flow, &["write mine secret", "all"]), "written|mine=6");
    let seen = told(&flow, &["all", "read mine", "read ../1/mine", "read /etc/passwd", "write ../x y", "read .drafts"]);
    let parts: Vec<&str> = seen.split('|').collect();
    assert_eq!(parts[..2], ["", "none"], "{seen}");
    for refused in &parts[2..] {
        assert!(refused.starts_with("FileErrorKind::Name"), "{seen}");
    }
    let full = told(&flow, &["fill f"]);
    assert!(full.starts_with("16 FileErrorKind::NoRoom"), "{full}");
    on(running.stop());
}

#[harness::test]
fn files_and_http_need_operator_and_flow() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = Database::new();
    let granted = one_step(&database, "files", "files = true");
    let web = one_step(&database, "fetch", r#"http = ["127.0.0.1:9"]"#);
    let running = database.host(host("without", None, &[]));
    let seen = told(&granted, &["all"]);
    assert!(seen.contains("Denied") && seen.contains("--files"), "{seen}");
    let seen = told(&web, &["GET", "http://127.0.0.1:9/", ""]);
    assert!(seen.contains("Denied") && seen.contains("--allow-http"), "{seen}");
    on(running.stop());
    // The flow no longer asks for it; the operator gives it.
    let granted = one_step(&database, "files", "");
    let web = one_step(&database, "fetch", "");
    let running = database.host(host("with", Some(folder.path()), &["127.0.0.1:9".to_owned()]));
    let seen = told(&granted, &["write a x"]);
    assert!(seen.contains("Denied") && seen.contains("files = true"), "{seen}");
    let seen = told(&web, &["GET", "http://127.0.0.1:9/", ""]);
    assert!(seen.contains("Denied") && seen.contains("flow.toml"), "{seen}");
    on(running.stop());
}

/// A server of HTTP that answers with what it was sent; which is noted.
struct Echo {
    port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Echo {
    fn new(answer: fn(&str) -> Option<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let noted = Arc::clone(&noted);
                std::thread::spawn(move || {
                    let mut stream = stream;
                    let mut bytes = [0; 16 << 10];
                    let read = stream.read(&mut bytes).unwrap_or(0);
                    let text = String::from_utf8_lossy(&bytes[..read]).into_owned();
                    let answer = answer(&text);
                    noted.lock().unwrap_or_else(PoisonError::into_inner).push(text);
                    match answer {
                        Some(answer) => {
                            let _ = stream.write_all(answer.as_bytes());
                        }
                        None => std::thread::sleep(Duration::from_secs(60)),
                    }
                });
            }
        });
        Echo { port, seen }
    }

    fn place(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn echoed(text: &str) -> Option<String> {
    Some(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{text}", text.len()))
}

#[harness::test]
fn http_goes_where_both_allow_and_nowhere_else() {
    let database = Database::new();
    let echo = Echo::new(echoed);
    let hidden = Echo::new(echoed);
    static HIDDEN: std::sync::OnceLock<u16> = std::sync::OnceLock::new();
    HIDDEN.get_or_init(|| hidden.port);
    let redirecting = Echo::new(|_| {
        let port = HIDDEN.get().copied().unwrap_or(0);
        Some(format!("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:{port}/\r\ncontent-length: 0\r\n\r\n"))
    });
    let metadata = "169.254.169.254:80".to_owned();
    let by_name = format!("localhost:{}", hidden.port);
    let flow = one_step(
        &database,
        "fetch",
        &format!("http = ['{}', '{}', '{metadata}', '{by_name}']", echo.place(), redirecting.place()),
    );
    let running = database.host(host("outgoing", None, &[echo.place(), redirecting.place(), by_name.clone()]));
    let url = |place: &str| format!("http://{place}/there");
    let seen = told(&flow, &["POST", &url(&echo.place()), "hello"]);
    assert!(seen.starts_with("200 ") && seen.ends_with("hello"), "{seen}");
    assert!(seen.contains("POST /there HTTP/1.1"), "{seen}");
    // A redirect is an answer like any other.
    let seen = told(&flow, &["GET", &url(&redirecting.place()), ""]);
    assert!(seen.starts_with("302 "), "{seen}");
    for (place, says) in [
        (metadata.as_str(), "this host does not allow"),
        (by_name.as_str(), "private address"),
        (&hidden.place(), "the flow does not allow"),
        ("10.0.0.1:80", "the flow does not allow"),
    ] {
        let seen = told(&flow, &["GET", &url(place), ""]);
        assert!(seen.contains("Denied") && seen.contains(says), "{place}: {seen}");
    }
    assert_eq!(hidden.seen(), [""; 0]);
    on(running.stop());
}

#[harness::test]
fn a_secret_travels_by_its_name_and_stays_nowhere() {
    let database = Database::new();
    let echo = Echo::new(echoed);
    let flow = one_step(&database, "fetch", &format!("http = ['{}']", echo.place()));
    let key = SecretKey::from_hex(&"5a".repeat(32)).expect("a key");
    let (ciphertext, nonce) = key.seal(flow.id, "key", CANARY).expect("sealed");
    on(database.store.put_secret(flow.id, "key", &ciphertext, &nonce)).expect("stored");
    assert!(on(database.store.grant_secret(flow.id, "key", &["fetch".to_owned()])).expect("granted"));
    let running = database.host(host("discreet", None, &[echo.place()]));
    let url = format!("http://{}/", echo.place());
    let seen = told(&flow, &["POST", &url, "x", "authorization", "Bearer ", "key"]);
    // It was sent, and what came back is masked.
    assert!(echo.seen().concat().contains(&format!("authorization: Bearer {CANARY}\r\n")));
    assert!(seen.contains("authorization: Bearer ***"), "{seen}");
    let seen = told(&flow, &["POST", &url, "x", "authorization", "Bearer ", "other"]);
    assert!(seen.contains("no secret `other`"), "{seen}");
    on(running.stop());
    let mut owner = database.owner();
    assert!(owner.number("SELECT count(*) FROM wed.recording") >= 2);
    let tables = owner.lines(
        "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables \
         WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
    );
    for table in tables {
        for part in ["canary-9e21", "44ab"] {
            let hits = owner.number(&format!("SELECT count(*) FROM {table} t WHERE strpos(t::text, '{part}') > 0"));
            assert_eq!(hits, 0, "{part} in {table}");
        }
    }
}

#[harness::test]
fn every_attempt_has_the_same_key_and_a_replay_sends_nothing() {
    let database = Database::new();
    let echo = Echo::new(echoed);
    let flow = one_step(&database, "fetch", &format!("http = ['{}']", echo.place()));
    let running = database.host(host("insistent", None, &[echo.place()]));
    let url = format!("http://{}/", echo.place());
    told(&flow, &["POST", &url, "and fail"]);
    told(&flow, &["POST", &url, "once"]);
    on(running.stop());
    let seen = echo.seen();
    let keys: Vec<&str> = seen
        .iter()
        .filter_map(|request| request.lines().find_map(|line| line.strip_prefix("idempotency-key: ")))
        .collect();
    assert_eq!(keys.len(), 3, "{seen:?}");
    assert!(keys[0] == keys[1] && keys[1] != keys[2], "{keys:?}");
    for wid in ["fetch/1", "fetch/2"] {
        let replayed = run(wed(&database.url()).args(["replay", wid, "--json"])).done().json();
        assert_eq!(replayed["same"], true, "{replayed}");
    }
    assert_eq!(echo.seen().len(), 3, "a replay has sent something");
}

#[harness::test]
fn a_server_that_never_answers_holds_up_nobody() {
    let database = Database::new();
    let silent = Echo::new(|_| None);
    let flow = one_step(&database, "fetch", &format!("http = ['{}']", silent.place()));
    let other = super::flow_of_one(&database, "clause", "");
    let running = database.host(host("patient", None, &[silent.place()]));
    let url = format!("http://{}/", silent.place());
    let waiting: Vec<i64> = (0..40).map(|_| start(&flow, &["GET", &url, ""])).collect();
    eventually("requests on their way", || (silent.seen().len() >= 20).then_some(()));
    // One lane, forty waiting: another's work is done meanwhile.
    let wid = other.session().start();
    assert_eq!(other.end_of(wid), "F");
    for wid in waiting {
        assert_eq!(flow.end_of(wid), "E");
    }
    let mut session = flow.session();
    assert_eq!(session.lines("SELECT DISTINCT outcome FROM wed_attempt"), ["timed_out"]);
    on(running.stop());
}

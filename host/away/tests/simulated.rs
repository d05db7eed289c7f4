//! A simulated person and server over a link that is cut at every request and every byte, that delivers requests twice,
//! late and out of order. Nothing is lost, nothing is done twice. `WEDFLOW_SEED` begins the seeds elsewhere.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use wedflow_away::{Answered, AwayError, Leaving, LocalStore, Part, Wire, disconnect, prefetch, reconnect};

/// Seeds that are tried.
const SEEDS: u64 = 60;
/// Bytes of the component that items of the simulation need.
const COMPONENT_BYTES: usize = 260;

/// A server's item.
#[derive(Debug, Clone)]
struct Item {
    state: &'static str,
    holder: Option<&'static str>,
    claim: i64,
    task: &'static str,
    applied: Vec<Json>,
}

/// The server: what the SQL functions do, as the acceptance tests `worklist` hold it.
#[derive(Debug)]
struct Server {
    items: BTreeMap<i64, Item>,
    reports: BTreeMap<String, (u16, Json)>,
    active: bool,
    component: Vec<u8>,
    /// Bytes of components that were sent.
    sent: u64,
    /// True if item 1 reserves the task that follows it.
    together: bool,
    /// Changes of the instances' data.
    changes: i64,
}

/// Names the person whose token it is.
fn owner(person: &str) -> Json {
    json!({ "person": person, "tenant": "default", "server": "here" })
}

impl Server {
    fn new(together: bool) -> Self {
        let ready = Item { state: "READY", holder: None, claim: 0, task: "visit", applied: Vec::new() };
        let locked = Item { state: "LOCKED", holder: Some("beto"), claim: 1, ..ready.clone() };
        Server {
            items: [(1, locked.clone()), (2, locked), (3, ready)].into(),
            reports: BTreeMap::new(),
            active: true,
            component: (0..COMPONENT_BYTES).map(|at| (at % 251) as u8).collect(),
            sent: 0,
            together,
            changes: 0,
        }
    }

    fn document(&self, number: i64) -> Json {
        let item = &self.items[&number];
        json!({
            "item": number, "flow": "f", "wid": number, "task": item.task, "state": item.state,
            "holder": item.holder, "claim": item.claim, "disconnected": true, "application": "paper",
            "application_bytes": self.component.len(), "application_mark": mark(&self.component),
            "mark": format!("{} {} {}", self.changes, item.claim, mark(&self.component)),
        })
    }

    /// Beto's worklist.
    fn list(&self) -> Json {
        let own = self.items.iter().filter(|(_, item)| {
            ["READY", "LOCKED", "SELECTED"].contains(&item.state) && item.holder.is_none_or(|name| name == "beto")
        });
        let items: Vec<Json> = own.map(|(number, _)| self.document(*number)).collect();
        json!({ "items": items, "cut": false, "for": owner("beto") })
    }

    fn show(&self, number: i64) -> Json {
        let mut document = self.document(number);
        document["data"] = json!({ "a1": "ready", "note": self.changes });
        document["types"] = json!({ "a1": "text", "a2": "text" });
        let follows = json!({ "task": "after", "flow": "f", "wid": 1, "state": "LOCKED", "application": null,
            "disconnected": true, "data": { "a1": "ready" }, "types": { "a1": "text", "a2": "text" } });
        document["behind"] = if self.together && number == 1 { json!([follows]) } else { json!([]) };
        document
    }

    fn report(&mut self, number: i64, key: &str, body: &Json) -> (u16, Json) {
        if let Some(answer) = self.reports.get(key) {
            return answer.clone();
        }
        let Some(item) = self.items.get_mut(&number) else {
            return (404, json!({ "code": "WF080" }));
        };
        let held = item.holder == Some("beto") && item.state == "LOCKED" && body["claim"] == item.claim;
        let answer = if held {
            item.state = "SUCCEEDED";
            item.applied.push(body["values"].clone());
            let follow = Item { task: "after", claim: 1, applied: Vec::new(), state: "LOCKED", holder: Some("beto") };
            if self.together && number == 1 {
                self.items.insert(11, follow);
            }
            (200, json!({ "applied": true }))
        } else {
            let (yours, present) = (body["values"].clone(), json!({}));
            (409, json!({ "applied": false, "code": "WF084", "yours": yours, "present": present }))
        };
        self.reports.insert(key.to_owned(), answer.clone());
        answer
    }

    fn answer(&mut self, request: &Request) -> (u16, Json) {
        // The task that follows has its instance's number.
        let number = |path: &str| path.split('/').nth(4).and_then(|word| word.parse().ok()).unwrap_or(0);
        let path = request.path.split('?').next().unwrap_or_default();
        match (request.method.as_str(), path) {
            ("PUT", "/v1/work/connection") => {
                self.active = true;
                (200, json!({ "active": true, "delivered": 0, "for": owner("beto") }))
            }
            ("DELETE", "/v1/work/connection") => {
                self.active = false;
                (200, json!({ "active": false }))
            }
            ("GET", "/v1/work/items") => {
                let mut list = self.list();
                for one in list["items"].as_array_mut().into_iter().flatten() {
                    if one["task"] == "after" {
                        one["wid"] = 1.into();
                    }
                }
                (200, list)
            }
            ("POST", path) => {
                let key = request.key.clone().unwrap_or_default();
                self.report(number(path), &key, request.document.as_ref().unwrap_or(&Json::Null))
            }
            (_, path) => (200, self.show(number(path))),
        }
    }
}

/// A request on its way.
#[derive(Debug, Clone)]
struct Request {
    method: String,
    path: String,
    document: Option<Json>,
    key: Option<String>,
}

/// The fate of requests.
enum Fate {
    /// Random, from a seed.
    Chance(Box<RefCell<StdRng>>),
    /// The n-th request is cut: before it arrives, or behind.
    At(Cell<u64>, bool),
    /// The n-th byte of a copy is the last one.
    Byte(Cell<u64>),
    /// All arrive.
    Fine,
}

/// A link to the simulated server.
struct Cable {
    server: RefCell<Server>,
    fate: RefCell<Fate>,
    /// Requests that arrive late.
    late: RefCell<Vec<Request>>,
}

impl Cable {
    fn new(together: bool, fate: Fate) -> Self {
        Cable { server: RefCell::new(Server::new(together)), fate: RefCell::new(fate), late: RefCell::default() }
    }

    /// Decides whether a request arrives, whether its answer does, and how often it arrives.
    fn cast(&self) -> (bool, bool, u32, bool) {
        match &*self.fate.borrow() {
            Fate::Chance(random) => {
                let mut random = random.borrow_mut();
                let arrives = random.random_bool(0.75);
                let twice = if random.random_bool(0.2) { 2 } else { 1 };
                (arrives, arrives && random.random_bool(0.75), twice, random.random_bool(0.3))
            }
            Fate::At(left, before) => {
                left.set(left.get().wrapping_sub(1));
                let cut = left.get() == 0;
                (!(cut && *before), !cut, 1, false)
            }
            Fate::Byte(_) | Fate::Fine => (true, true, 1, false),
        }
    }

    /// Returns how many of the bytes arrive.
    fn through(&self, bytes: usize) -> usize {
        match &*self.fate.borrow() {
            Fate::Chance(random) => {
                let mut random = random.borrow_mut();
                if random.random_bool(0.5) { random.random_range(0..=bytes) } else { bytes }
            }
            Fate::Byte(at) => match at.take() {
                0 => bytes,
                at => usize::try_from(at).map_or(bytes, |at| at.min(bytes)),
            },
            _ => bytes,
        }
    }

    fn deliver_late(&self) {
        let mut late = self.late.take();
        // Out of order.
        late.reverse();
        for request in late {
            self.server.borrow_mut().answer(&request);
        }
    }
}

fn mark(component: &[u8]) -> String {
    let digest: String = Sha256::digest(component).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\"paper-1-{digest}\"")
}

fn cut() -> AwayError {
    AwayError::Cut("simulated".to_owned())
}

impl Wire for Cable {
    fn ask(&self, method: &str, path: &str, document: Option<&Json>, key: Option<&str>) -> Result<Answered, AwayError> {
        let request = Request {
            method: method.to_owned(),
            path: path.to_owned(),
            document: document.cloned(),
            key: key.map(str::to_owned),
        };
        let (arrives, answered, times, late) = self.cast();
        if !arrives {
            // A report may arrive when nobody waits for it any more.
            if late && method == "POST" {
                self.late.borrow_mut().push(request);
            }
            return Err(cut());
        }
        self.deliver_late();
        let mut answer = (0, Json::Null);
        for _ in 0..times {
            answer = self.server.borrow_mut().answer(&request);
        }
        if !answered {
            return Err(cut());
        }
        Ok(Answered { status: answer.0, document: answer.1 })
    }

    fn fetch(
        &self,
        _: &str,
        from: u64,
        part: &mut dyn FnMut(Part<'_>) -> Result<(), AwayError>,
    ) -> Result<(), AwayError> {
        let (arrives, _, _, _) = self.cast();
        if !arrives {
            return Err(cut());
        }
        let whole = self.server.borrow().component.clone();
        let from = usize::try_from(from).expect("an offset");
        let rest = &whole[from..];
        let through = self.through(rest.len());
        self.server.borrow_mut().sent += through as u64;
        let etag = mark(&whole);
        let mut at = from;
        for chunk in rest[..through].chunks(97) {
            part(Part { etag: &etag, total: whole.len() as u64, at: at as u64, bytes: chunk })?;
            at += chunk.len();
        }
        if at < whole.len() { Err(cut()) } else { Ok(()) }
    }
}

/// A person's machine.
struct Machine {
    _folder: tempfile::TempDir,
    path: std::path::PathBuf,
    store: LocalStore,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("work.db");
        Machine { store: LocalStore::open(&path).expect("a store"), path, _folder: folder }
    }

    /// The machine is switched off and on.
    fn restart(&mut self) {
        self.store = LocalStore::open(&self.path).expect("a store");
    }

    fn leave(&mut self, cable: &Cable) -> Result<(), AwayError> {
        self.store_leave(cable)
    }

    fn store_leave(&mut self, wire: &dyn Wire) -> Result<(), AwayError> {
        let leaving =
            Leaving { wait_seconds: 1e9, confirmed: true, accepted: true, path: &self.path.clone(), quota_bytes: None };
        disconnect(wire, &mut self.store, &leaving, |_| {})
    }

    /// Does an item without a connection.
    fn work(&mut self, item: i64) -> Result<(), AwayError> {
        let (found, bytes) = self.store.executable(item)?;
        if item > 0 {
            assert_eq!(bytes.map(|bytes| bytes.len()), Some(COMPONENT_BYTES), "a truncated copy ran");
        } else {
            // It sees what was set before it.
            assert_eq!(found.document["data"]["a2"], "of 1");
        }
        let values = json!({ "a2": format!("of {item}") });
        let body = json!({ "success": true, "values": values, "reason": null, "claim": found.claim });
        self.store.keep_result(&found, &body).map(drop)
    }

    fn kept(&self) -> usize {
        let results = self.store.results().expect("results");
        results.iter().filter(|result| result.is_pending()).count()
    }
}

/// Leaves, works on both locked items, and returns, over a link that breaks as its fate says; then holds what must be
/// true.
fn live(cable: &Cable, together: bool, name: &str) {
    let mut machine = Machine::new();
    let tries = |what: &str, tried: &mut dyn FnMut() -> bool| {
        assert!((0..3_000).any(|_| tried()), "{name}: {what} never ended");
    };
    tries("leaving", &mut || {
        // What came by prefetching is not fetched again.
        let _ = prefetch(cable, &mut machine.store);
        machine.restart();
        machine.leave(cable).is_ok()
    });
    let component = COMPONENT_BYTES as u64;
    assert_eq!(cable.server.borrow().sent, component, "{name}: bytes were moved twice, or not at all");
    for item in [1, 2] {
        machine.work(item).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(machine.work(item).is_err(), "{name}: done twice");
    }
    assert!(machine.work(3).is_err(), "{name}: it is not locked");
    if together {
        machine.work(-100).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    machine.restart();
    tries("returning", &mut || {
        let _ = reconnect(cable, &mut machine.store);
        machine.restart();
        machine.kept() == 0
    });
    *cable.fate.borrow_mut() = Fate::Fine;
    cable.deliver_late();
    reconnect(cable, &mut machine.store).expect("connected");
    let server = cable.server.borrow();
    for (number, value) in [(1, "of 1"), (2, "of 2"), (11, "of -100")] {
        if let Some(item) = server.items.get(&number) {
            assert_eq!(item.applied, [json!({ "a2": value })], "{name}: item {number}");
        }
    }
    assert_eq!(server.items.contains_key(&11), together, "{name}");
    assert!(machine.store.results().expect("results").is_empty(), "{name}");
    assert!(server.active, "{name}");
}

#[test]
fn nothing_is_lost_and_nothing_is_done_twice_whatever_the_link_does() {
    let first: u64 = std::env::var("WEDFLOW_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    for seed in first..first + SEEDS {
        let together = seed % 2 == 0;
        let random = RefCell::new(StdRng::seed_from_u64(seed));
        live(&Cable::new(together, Fate::Chance(Box::new(random))), together, &format!("seed {seed}"));
    }
}

#[test]
fn link_that_is_cut_at_any_request_loses_nothing() {
    for before in [true, false] {
        for at in 1..40 {
            let cable = Cable::new(true, Fate::At(Cell::new(at), before));
            live(&cable, true, &format!("request {at}, before: {before}"));
        }
    }
}

#[test]
fn copy_that_is_cut_at_any_byte_goes_on_behind_it() {
    for at in 1..COMPONENT_BYTES as u64 {
        let cable = Cable::new(false, Fate::Byte(Cell::new(at)));
        let mut machine = Machine::new();
        let _ = machine.leave(&cable);
        assert!(machine.store.executable(1).is_err(), "{at}");
        let held = machine.store.held_bytes(1).expect("held");
        assert_eq!(held, at);
        *cable.fate.borrow_mut() = Fate::Fine;
        machine.restart();
        live_on(&cable, &mut machine);
        assert_eq!(cable.server.borrow().sent, COMPONENT_BYTES as u64, "{at}");
    }
}

fn live_on(cable: &Cable, machine: &mut Machine) {
    machine.leave(cable).expect("left");
    assert!(machine.store.executable(1).is_ok());
    assert!(machine.store.executable(2).is_ok());
}

#[test]
fn result_of_an_item_that_was_lost_is_kept_with_both_versions() {
    let cable = Cable::new(true, Fate::Fine);
    let mut machine = Machine::new();
    machine.leave(&cable).expect("left");
    machine.work(1).expect("done");
    machine.work(-100).expect("done");
    {
        let mut server = cable.server.borrow_mut();
        let item = server.items.get_mut(&1).expect("an item");
        (item.holder, item.claim) = (Some("dora"), 2);
    }
    let returned = reconnect(&cable, &mut machine.store).expect("connected");
    // What was built upon the lost result is refused with it.
    assert_eq!((returned.applied.len(), returned.refused.len()), (0, 2));
    let kept = machine.store.results().expect("results");
    assert_eq!(kept[0].body["values"]["a2"], "of 1");
    assert_eq!(kept[1].body["values"]["a2"], "of -100");
    assert!(kept.iter().all(|one| one.state == "refused" && one.answer.is_some()));
}

/// A wire on which somebody else answers.
struct Stranger<'a> {
    cable: &'a Cable,
    /// Status and document of the answers to requests of this method, or to all.
    answer: (u16, Json),
    method: Option<&'a str>,
}

impl Wire for Stranger<'_> {
    fn ask(&self, method: &str, path: &str, document: Option<&Json>, key: Option<&str>) -> Result<Answered, AwayError> {
        if self.method.is_some_and(|only| only != method) {
            return self.cable.ask(method, path, document, key);
        }
        let (status, document) = self.answer.clone();
        Ok(Answered { status, document })
    }

    fn fetch(&self, _: &str, _: u64, _: &mut dyn FnMut(Part<'_>) -> Result<(), AwayError>) -> Result<(), AwayError> {
        Ok(())
    }
}

/// Answers of login pages, proxies and servers of something else.
fn strange_answers() -> Vec<(u16, Json)> {
    let mut answers: Vec<(u16, Json)> = [200, 201, 204, 302, 400, 401, 403, 404, 409, 413, 422, 429, 500, 502]
        .into_iter()
        .flat_map(|status| {
            let other = json!({ "items": "none", "active": "yes", "applied": "sure", "code": "not_found",
                "status": status });
            [(status, Json::Null), (status, json!({})), (status, json!([])), (status, other)]
        })
        .collect();
    // A problem of ours that somebody sends under another status.
    let ours = json!({ "type": "urn:wedflow:problem:WF080", "code": "WF080", "status": 404 });
    answers.push((403, ours));
    answers
}

#[test]
fn answers_that_are_not_of_the_server_lose_nothing() {
    for (status, document) in strange_answers() {
        for method in [None, Some("POST"), Some("GET"), Some("PUT")] {
            let name = format!("{status} {document} to {method:?}");
            let cable = Cable::new(false, Fate::Fine);
            let mut machine = Machine::new();
            machine.leave(&cable).expect("left");
            machine.work(1).expect("done");
            let stranger = Stranger { cable: &cable, answer: (status, document.clone()), method };
            let returned = reconnect(&stranger, &mut machine.store);
            assert!(matches!(returned, Err(AwayError::Cut(_))), "{name}: {returned:?}");
            if method != Some("POST") && method != Some("PUT") {
                let copied = prefetch(&stranger, &mut machine.store);
                assert!(matches!(copied, Err(AwayError::Cut(_))), "{name}: {copied:?}");
            }
            assert_eq!(machine.kept(), 1, "{name}");
            assert!(machine.store.executable(2).is_ok(), "{name}");
            reconnect(&cable, &mut machine.store).expect("connected");
            assert_eq!(cable.server.borrow().items[&1].applied.len(), 1, "{name}");
        }
    }
}

/// Beto's machine with the result of item 1, and another wire.
fn with_a_result() -> (Cable, Machine) {
    let cable = Cable::new(false, Fate::Fine);
    let mut machine = Machine::new();
    machine.leave(&cable).expect("left");
    machine.work(1).expect("done");
    (cable, machine)
}

#[test]
fn token_of_somebody_else_changes_nothing() {
    let (cable, mut machine) = with_a_result();
    for (person, tenant, server) in
        [("caio", "default", "here"), ("beto", "other", "here"), ("beto", "default", "elsewhere")]
    {
        let whose = json!({ "person": person, "tenant": tenant, "server": server });
        let answer = json!({ "active": true, "items": [], "cut": false, "for": whose });
        let other = Stranger { cable: &cable, answer: (200, answer), method: None };
        for tried in [
            reconnect(&other, &mut machine.store).map(drop),
            prefetch(&other, &mut machine.store).map(drop),
            machine.store_leave(&other),
        ] {
            assert!(matches!(tried, Err(AwayError::Foreign { .. })), "{tried:?}");
        }
    }
    assert_eq!(machine.kept(), 1);
    assert!(machine.store.executable(2).is_ok());
    let returned = reconnect(&cable, &mut machine.store).expect("connected");
    assert_eq!(returned.applied, [1]);
}

#[test]
fn refusal_of_any_kind_keeps_the_result_which_can_be_corrected_sent_again_and_forgotten() {
    let (cable, mut machine) = with_a_result();
    let problem = json!({ "type": "urn:wedflow:problem:WF010", "code": "WF010", "status": 422,
        "detail": "the task may not set a2", "hint": "look at it" });
    let refusing = Stranger { cable: &cable, answer: (422, problem), method: Some("POST") };
    let returned = reconnect(&refusing, &mut machine.store).expect("connected");
    assert_eq!(returned.refused.len(), 1);
    let kept = machine.store.result(1).expect("kept");
    assert_eq!(kept.state, "refused");
    let why = AwayError::Refused(kept.answer.expect("an answer")["answer"].clone());
    assert!(why.to_string().contains("may not set a2"), "{why}");
    let corrected = json!({ "a2": "corrected" });
    machine.store.send_again(1, corrected.as_object()).expect("again");
    let key = machine.store.result(1).expect("kept").key;
    assert_ne!(key, kept.key, "another body needs another key");
    reconnect(&cable, &mut machine.store).expect("connected");
    assert_eq!(cable.server.borrow().items[&1].applied, [corrected]);
    assert_eq!(machine.store.sent().expect("sent").len(), 1);
    // Forgetting leaves the item to be done anew.
    machine.work(2).expect("done");
    machine.store.forget(2).expect("forgotten");
    machine.store.set("mode", "disconnected").expect("set");
    assert!(machine.store.executable(2).is_ok());
}

#[test]
fn refusal_of_the_moment_is_sent_again() {
    for (status, code) in [(401, "token"), (403, "scope"), (409, "WF087"), (409, "locked"), (429, "rate")] {
        let (cable, mut machine) = with_a_result();
        let problem = json!({ "type": format!("urn:wedflow:problem:{code}"), "code": code, "status": status,
            "detail": "not now" });
        let refusing = Stranger { cable: &cable, answer: (status, problem), method: Some("POST") };
        let returned = reconnect(&refusing, &mut machine.store).expect("connected");
        assert!(returned.applied.is_empty() && returned.refused.is_empty(), "{code}");
        assert_eq!(returned.kept.len(), 1, "{code}");
        let kept = machine.store.result(1).expect("kept");
        assert!(kept.is_pending() && kept.answer.is_some(), "{code}: {kept:?}");
        let returned = reconnect(&cable, &mut machine.store).expect("connected");
        assert_eq!(returned.applied, [1], "{code}");
    }
}

#[test]
fn data_that_changed_are_fetched_again() {
    let cable = Cable::new(false, Fate::Fine);
    let mut machine = Machine::new();
    prefetch(&cable, &mut machine.store).expect("copied");
    cable.server.borrow_mut().changes = 7;
    machine.leave(&cable).expect("left");
    let (found, _) = machine.store.executable(1).expect("here");
    assert_eq!(found.document["data"]["note"], 7);
    assert!(found.fresh);
}

#[test]
fn component_that_changed_replaces_the_former_when_it_is_whole() {
    let cable = Cable::new(false, Fate::Fine);
    let mut machine = Machine::new();
    machine.leave(&cable).expect("left");
    let second = vec![7; COMPONENT_BYTES];
    cable.server.borrow_mut().component.clone_from(&second);
    *cable.fate.borrow_mut() = Fate::Byte(Cell::new(100));
    machine.leave(&cable).expect_err("cut");
    machine.store.set("mode", "disconnected").expect("set");
    let (_, bytes) = machine.store.executable(1).expect("the former one is whole");
    assert_ne!(bytes.expect("bytes"), second);
    *cable.fate.borrow_mut() = Fate::Fine;
    machine.leave(&cable).expect("left");
    let (_, bytes) = machine.store.executable(1).expect("here");
    assert_eq!(bytes.expect("bytes"), second);
}

#[test]
fn list_that_is_cut_deletes_nothing_that_was_copied() {
    let cable = Cable::new(false, Fate::Fine);
    let mut machine = Machine::new();
    prefetch(&cable, &mut machine.store).expect("copied");
    let list = cable.server.borrow().list();
    let held: Vec<Json> = list["items"].as_array().expect("items")[..2].to_vec();
    machine.store.take_list(&held, true).expect("taken");
    assert_eq!(machine.store.items().expect("items").len(), 2);
    let all = list["items"].as_array().expect("items");
    machine.store.take_list(all, true).expect("taken");
    assert!(machine.store.items().expect("items")[2].transferred, "it was copied before");
    machine.store.take_list(&held, false).expect("taken");
    machine.store.take_list(all, false).expect("taken");
    assert!(!machine.store.items().expect("items")[2].transferred);
}

#[test]
fn followers_of_an_earlier_claim_are_not_taken_along() {
    let cable = Cable::new(true, Fate::Fine);
    let mut machine = Machine::new();
    prefetch(&cable, &mut machine.store).expect("copied");
    assert!(machine.store.items().expect("items").iter().any(|item| item.item == -100));
    {
        let mut server = cable.server.borrow_mut();
        server.together = false;
        server.items.get_mut(&1).expect("an item").claim = 3;
    }
    prefetch(&cable, &mut machine.store).expect("copied");
    assert!(machine.store.items().expect("items").iter().all(|item| item.item > 0));
}

#[test]
fn result_that_the_disk_changed_is_shown_and_not_sent() {
    let (cable, mut machine) = with_a_result();
    let connection = rusqlite::Connection::open(&machine.path).expect("a store");
    connection.execute("UPDATE result SET body = replace(body, 'of 1', 'of 9')", []).expect("changed");
    let returned = reconnect(&cable, &mut machine.store).expect("connected");
    assert!(returned.applied.is_empty());
    assert_eq!(machine.store.result(1).expect("kept").state, "damaged");
    assert!(cable.server.borrow().items[&1].applied.is_empty());
}

#[test]
fn drafts_outlive_the_program_and_end_with_the_result() {
    let cable = Cable::new(false, Fate::Fine);
    let mut machine = Machine::new();
    machine.leave(&cable).expect("left");
    machine.store.keep_draft(1, &json!({ "a2": "half" })).expect("kept");
    machine.restart();
    let drafts = machine.store.drafts().expect("drafts");
    assert_eq!((drafts[0].item, &drafts[0].texts["a2"]), (1, &json!("half")));
    machine.work(1).expect("done");
    assert!(machine.store.drafts().expect("drafts").is_empty());
}

#[test]
fn bandwidth_is_that_of_transfers_that_tell() {
    let machine = Machine::new();
    let store = &machine.store;
    store.measure(1_000, 1.0).expect("measured");
    assert_eq!(store.bandwidth().expect("known"), None);
    store.measure(100_000, 1.0).expect("measured");
    store.measure(50_000, 10.0).expect("measured");
    assert_eq!(store.bandwidth().expect("known"), Some(100_000.0));
    for _ in 0..5 {
        store.measure(50_000, 10.0).expect("measured");
    }
    assert_eq!(store.bandwidth().expect("known"), Some(5_000.0));
}

#[test]
fn store_of_an_earlier_program_is_brought_up_to_date() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("old.db");
    let connection = rusqlite::Connection::open(&path).expect("a store");
    connection
        .execute_batch(
            "CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
             CREATE TABLE item (item INTEGER PRIMARY KEY, state TEXT NOT NULL, claim INTEGER NOT NULL,
               document TEXT NOT NULL, etag TEXT, place INTEGER NOT NULL, data_complete INTEGER NOT NULL);
             CREATE TABLE wanted (item INTEGER PRIMARY KEY, etag TEXT NOT NULL);
             CREATE TABLE result (item INTEGER PRIMARY KEY, key TEXT NOT NULL, claim INTEGER NOT NULL,
               body TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'kept', answer TEXT, document TEXT NOT NULL);
             INSERT INTO setting VALUES ('person', 'beto');
             INSERT INTO item VALUES (1, 'LOCKED', 1, '{\"item\": 1}', NULL, 0, 1);
             INSERT INTO result VALUES (1, 'k', 1, '{\"values\": {}}', 'kept', NULL, '{}');",
        )
        .expect("made");
    for _ in 0..2 {
        let store = LocalStore::open(&path).expect("opened");
        assert_eq!(store.result(1).expect("kept").state, "saved");
        assert_eq!(store.owner().expect("known").expect("an owner").person, "beto");
    }
}

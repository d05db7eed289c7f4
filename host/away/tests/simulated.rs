//! A simulated person and server over a link that is cut at every request and every byte, that delivers requests twice,
//! late and out of order. Nothing is lost, nothing is done twice. `WEDFLOW_SEED` begins the seeds elsewhere.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use wedflow_away::{
    Answered, AwayError, Leaving, LocalStore, Part, Wire, disconnect, prefetch, reconnect,
};

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
}

impl Server {
    fn new(together: bool) -> Self {
        let ready = Item {
            state: "READY",
            holder: None,
            claim: 0,
            task: "visit",
            applied: Vec::new(),
        };
        let locked = Item {
            state: "LOCKED",
            holder: Some("beto"),
            claim: 1,
            ..ready.clone()
        };
        Server {
            items: [(1, locked.clone()), (2, locked), (3, ready)].into(),
            reports: BTreeMap::new(),
            active: true,
            component: (0..COMPONENT_BYTES).map(|at| (at % 251) as u8).collect(),
            sent: 0,
            together,
        }
    }

    fn document(&self, number: i64) -> Json {
        let item = &self.items[&number];
        json!({
            "item": number, "flow": "f", "wid": number, "task": item.task, "state": item.state,
            "holder": item.holder, "claim": item.claim, "disconnected": true, "application": "paper",
        })
    }

    /// Beto's worklist.
    fn list(&self) -> Json {
        let own = self.items.iter().filter(|(_, item)| {
            ["READY", "LOCKED", "SELECTED"].contains(&item.state)
                && item.holder.is_none_or(|name| name == "beto")
        });
        json!({ "items": own.map(|(number, _)| self.document(*number)).collect::<Vec<_>>() })
    }

    fn show(&self, number: i64) -> Json {
        let mut document = self.document(number);
        document["data"] = json!({ "a1": "ready" });
        document["types"] = json!({ "a1": "text", "a2": "text" });
        document["application_bytes"] = COMPONENT_BYTES.into();
        document["application_mark"] = mark(&self.component).into();
        let follows = json!({ "task": "after", "flow": "f", "wid": 1, "state": "LOCKED", "application": null,
            "disconnected": true, "data": { "a1": "ready" }, "types": { "a1": "text", "a2": "text" } });
        document["behind"] = if self.together && number == 1 {
            json!([follows])
        } else {
            json!([])
        };
        document
    }

    fn report(&mut self, number: i64, key: &str, body: &Json) -> (u16, Json) {
        if let Some(answer) = self.reports.get(key) {
            return answer.clone();
        }
        let Some(item) = self.items.get_mut(&number) else {
            return (404, json!({ "code": "WF080" }));
        };
        let held =
            item.holder == Some("beto") && item.state == "LOCKED" && body["claim"] == item.claim;
        let answer = if held {
            item.state = "SUCCEEDED";
            item.applied.push(body["values"].clone());
            let follow = Item {
                task: "after",
                claim: 1,
                applied: Vec::new(),
                state: "LOCKED",
                holder: Some("beto"),
            };
            if self.together && number == 1 {
                self.items.insert(11, follow);
            }
            (200, json!({ "applied": true }))
        } else {
            let (yours, present) = (body["values"].clone(), json!({}));
            (
                409,
                json!({ "applied": false, "code": "WF084", "yours": yours, "present": present }),
            )
        };
        self.reports.insert(key.to_owned(), answer.clone());
        answer
    }

    fn answer(&mut self, request: &Request) -> (u16, Json) {
        // The task that follows has its instance's number.
        let number = |path: &str| {
            path.split('/')
                .nth(4)
                .and_then(|word| word.parse().ok())
                .unwrap_or(0)
        };
        let path = request.path.split('?').next().unwrap_or_default();
        match (request.method.as_str(), path) {
            ("PUT", "/v1/work/connection") => {
                self.active = true;
                (200, json!({ "active": true, "delivered": 0 }))
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
                self.report(
                    number(path),
                    &key,
                    request.document.as_ref().unwrap_or(&Json::Null),
                )
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
    /// By chance, from a seed.
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
        Cable {
            server: RefCell::new(Server::new(together)),
            fate: RefCell::new(fate),
            late: RefCell::default(),
        }
    }

    /// Decides whether a request arrives, whether its answer does, and how often it arrives.
    fn cast(&self) -> (bool, bool, u32, bool) {
        match &*self.fate.borrow() {
            Fate::Chance(random) => {
                let mut random = random.borrow_mut();
                let arrives = random.random_bool(0.75);
                let twice = if random.random_bool(0.2) { 2 } else { 1 };
                (
                    arrives,
                    arrives && random.random_bool(0.75),
                    twice,
                    random.random_bool(0.3),
                )
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
                if random.random_bool(0.5) {
                    random.random_range(0..=bytes)
                } else {
                    bytes
                }
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
    let digest: String = Sha256::digest(component)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("\"paper-1-{digest}\"")
}

fn cut() -> AwayError {
    AwayError::Cut("simulated".to_owned())
}

impl Wire for Cable {
    fn ask(
        &self,
        method: &str,
        path: &str,
        document: Option<&Json>,
        key: Option<&str>,
    ) -> Result<Answered, AwayError> {
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
        Ok(Answered {
            status: answer.0,
            document: answer.1,
        })
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
            part(Part {
                etag: &etag,
                total: whole.len() as u64,
                at: at as u64,
                bytes: chunk,
            })?;
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
        Machine {
            store: LocalStore::open(&path).expect("a store"),
            path,
            _folder: folder,
        }
    }

    /// The machine is switched off and on.
    fn restart(&mut self) {
        self.store = LocalStore::open(&self.path).expect("a store");
    }

    fn leave(&mut self, cable: &Cable) -> Result<(), AwayError> {
        let leaving = Leaving {
            wait_seconds: 1e9,
            confirmed: true,
            accepted: true,
            path: &self.path.clone(),
            quota_bytes: None,
        };
        disconnect(cable, &mut self.store, &leaving, |_| {})
    }

    /// Does an item without a connection.
    fn work(&mut self, item: i64) -> Result<(), AwayError> {
        let (found, bytes) = self.store.executable(item)?;
        if item > 0 {
            assert_eq!(
                bytes.map(|bytes| bytes.len()),
                Some(COMPONENT_BYTES),
                "a truncated copy ran"
            );
        } else {
            // It sees what was set before it.
            assert_eq!(found.document["data"]["a2"], "of 1");
        }
        let values = json!({ "a2": format!("of {item}") });
        let body =
            json!({ "success": true, "values": values, "reason": null, "claim": found.claim });
        self.store.keep_result(&found, &body).map(drop)
    }

    fn kept(&self) -> usize {
        let results = self.store.results().expect("results");
        results
            .iter()
            .filter(|result| result.state == "kept")
            .count()
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
    assert_eq!(
        cable.server.borrow().sent,
        component,
        "{name}: bytes were moved twice, or not at all"
    );
    for item in [1, 2] {
        machine
            .work(item)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(machine.work(item).is_err(), "{name}: done twice");
    }
    assert!(machine.work(3).is_err(), "{name}: it is not locked");
    if together {
        machine
            .work(-100)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
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
            assert_eq!(
                item.applied,
                [json!({ "a2": value })],
                "{name}: item {number}"
            );
        }
    }
    assert_eq!(server.items.contains_key(&11), together, "{name}");
    assert!(
        machine.store.results().expect("results").is_empty(),
        "{name}"
    );
    assert!(server.active, "{name}");
}

#[test]
fn nothing_is_lost_and_nothing_is_done_twice_whatever_the_link_does() {
    let first: u64 = std::env::var("WEDFLOW_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    for seed in first..first + SEEDS {
        let together = seed % 2 == 0;
        let random = RefCell::new(StdRng::seed_from_u64(seed));
        live(
            &Cable::new(together, Fate::Chance(Box::new(random))),
            together,
            &format!("seed {seed}"),
        );
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
    assert!(
        kept.iter()
            .all(|one| one.state == "refused" && one.answer.is_some())
    );
}

#[test]
fn answers_that_are_not_of_the_server_lose_nothing() {
    /// A network that answers all with a login page.
    struct Portal;
    impl Wire for Portal {
        fn ask(
            &self,
            _: &str,
            _: &str,
            _: Option<&Json>,
            _: Option<&str>,
        ) -> Result<Answered, AwayError> {
            Ok(Answered {
                status: 200,
                document: Json::Null,
            })
        }
        fn fetch(
            &self,
            _: &str,
            _: u64,
            _: &mut dyn FnMut(Part<'_>) -> Result<(), AwayError>,
        ) -> Result<(), AwayError> {
            Ok(())
        }
    }
    let cable = Cable::new(false, Fate::Fine);
    let mut machine = Machine::new();
    machine.leave(&cable).expect("left");
    machine.work(1).expect("done");
    assert!(matches!(
        reconnect(&Portal, &mut machine.store),
        Err(AwayError::Cut(_))
    ));
    assert!(matches!(
        prefetch(&Portal, &mut machine.store),
        Err(AwayError::Cut(_))
    ));
    assert_eq!(machine.kept(), 1);
    assert!(machine.store.executable(2).is_ok());
}

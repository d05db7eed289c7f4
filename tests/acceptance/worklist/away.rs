//! Disconnected work: transfers that are cut resume, components run locally, results are applied once on return.

use std::path::PathBuf;

use serde_json::Value as Json;
use wedflow_away::{
    AwayError, Leaving, Link, LocalStore, Wire, disconnect, prefetch, prefetch_next, reconnect, take_worklist, warnings,
};

use super::Office;
use crate::recovery::proxy::Proxy;
use crate::support::database::sample_component;
use crate::support::http::Api;
use crate::support::program::{Answer, run, wed};

/// A task whose application is the sample component `paper`.
pub(super) const HOUSE: &str = r#"
name = "house"
final = "a2 IS NOT NULL"
[[attribute]]
name = "a1"
default = "ready"
[[attribute]]
name = "a2"
[[trigger]]
name = "visit"
when = "a1 = 'ready' AND a2 IS NULL"
transition = "tr_a2"
[trigger.work]
type = "semi_automatic"
application = "paper"
role = "Tecnico"
deadline = "48 hours"
disconnected = true
inputs = ["a1"]
outputs = ["a2"]
"#;

/// An office whose API is behind a link that can be cut, and beto's machine.
pub(super) struct Field {
    pub(super) office: Office,
    pub(super) proxy: Proxy,
    link: Link,
    pub(super) token: String,
    folder: tempfile::TempDir,
    pub(super) api: Api,
}

impl Field {
    pub(super) fn new() -> Self {
        Field::of(HOUSE)
    }

    pub(super) fn of(definition: &str) -> Self {
        let office = Office::of(definition);
        office.database().upload("paper", sample_component("paper"));
        let api = Api::of(office.database());
        let token = api.user("default", "beto", "participant").token.expect("a token");
        let proxy = Proxy::new(api.address);
        Field {
            link: Link::new(&format!("http://127.0.0.1:{}", proxy.port), &token),
            office,
            proxy,
            token,
            folder: tempfile::tempdir().expect("a folder"),
            api,
        }
    }

    /// An item that beto has locked.
    pub(super) fn locked(&mut self) -> i64 {
        let wid = self.office.start_with("1, 1, '{6}', NULL");
        let item = self.office.item(wid, "visit");
        self.office.act("lock_work", "beto", item);
        item
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn link(&self) -> &Link {
        &self.link
    }

    /// Leaves with a store of a name.
    #[track_caller]
    pub(super) fn leave(&self, store: &mut LocalStore, name: &str) {
        disconnect(&self.link, store, &leaving(&self.path(name)), |_| {}).expect("left");
    }

    pub(super) fn store(&self, name: &str) -> LocalStore {
        LocalStore::open(&self.path(name)).expect("a store")
    }

    /// `wed work` on beto's machine, where there is no database.
    pub(super) fn work(&self, store: &str, words: &[&str]) -> Answer {
        self.work_as(&self.token, store, words)
    }

    /// The same with another token.
    pub(super) fn work_as(&self, token: &str, store: &str, words: &[&str]) -> Answer {
        run(wed("postgres://nobody@127.0.0.1:1/nothing")
            .args(["--json", "work"])
            .args(words)
            .env("WEDFLOW_WORK_STORE", self.path(store))
            .env("WEDFLOW_SERVER", format!("http://127.0.0.1:{}", self.proxy.port))
            .env("WEDFLOW_TOKEN", token))
    }

    pub(super) fn steps_of(&mut self) -> i64 {
        self.office.flow.session().number("SELECT count(*) FROM wed_trace WHERE trw = 'tr_a2'")
    }
}

fn leaving(path: &std::path::Path) -> Leaving<'_> {
    Leaving { wait_seconds: 60.0, confirmed: false, accepted: false, path, quota_bytes: None }
}

#[harness::test]
fn transfer_resumes_at_the_byte_where_it_was_cut() {
    let mut field = Field::new();
    let item = field.locked();
    let whole = sample_component("paper");
    for cut in [12_000, 20_000, 50_000, 90_000] {
        let mut store = field.store(&format!("cut-{cut}"));
        field.proxy.cut_after(cut);
        let (mut held, mut cuts) = (0, 0);
        while let Err(error) = prefetch(&field.link, &mut store) {
            assert!(matches!(error, AwayError::Cut(_)), "{error}");
            let now = store.held_bytes(item).expect("held");
            assert!(now >= held && now <= whole.len() as u64, "{now} after {held}");
            (held, cuts) = (now, cuts + 1);
            // A truncated copy is never executable.
            let refused = store.executable(item).expect_err("not whole");
            assert!(matches!(refused, AwayError::NotEnabled(_)), "{refused}");
            assert!(cuts < 500, "no progress with {cut}");
        }
        assert!(cuts > 0, "nothing was cut with {cut}");
        field.proxy.cut_after(0);
        let (_, bytes) = store.executable(item).expect("transferred");
        assert_eq!(bytes.as_deref(), Some(whole));
        // Nothing is transferred again.
        assert_eq!(prefetch(&field.link, &mut store).expect("in order"), 0);
    }
}

#[harness::test]
fn nearly_empty_battery_gets_only_what_is_locked() {
    let mut field = Field::new();
    let wid = field.office.start_with("1, 1, '{6}', NULL");
    let offered = field.office.item(wid, "visit");
    let mut store = field.store("spare");
    take_worklist(&field.link, &mut store, "arrival").expect("taken");
    let next = prefetch_next(&field.link, &mut store, true).expect("in order");
    assert_eq!(next, None, "item {offered} is only offered");
    let locked = field.locked();
    take_worklist(&field.link, &mut store, "arrival").expect("taken");
    for expected in [Some(locked), None] {
        let next = prefetch_next(&field.link, &mut store, true).expect("in order");
        assert_eq!(next.map(|(item, _)| item), expected);
    }
    let next = prefetch_next(&field.link, &mut store, false).expect("in order");
    assert_eq!(next.map(|(item, _)| item), Some(offered));
}

#[harness::test]
fn disconnection_cut_at_any_step_resumes() {
    let mut field = Field::new();
    let item = field.locked();
    for cut in 1..=11 {
        let name = format!("step-{cut}");
        let mut store = field.store(&name);
        let path = field.path(&name);
        let first = disconnect(&field.link, &mut store, &leaving(&path), |step| {
            if step.step == cut {
                field.proxy.cut_after(1);
                field.proxy.cut();
            }
        });
        assert!(matches!(first, Ok(()) | Err(AwayError::Cut(_))), "{cut}: {first:?}");
        field.proxy.cut_after(0);
        let mut steps = Vec::new();
        for _ in 0..3 {
            steps.clear();
            let again = disconnect(&field.link, &mut store, &leaving(&path), |step| {
                steps.push(step.step);
            });
            // A kept connection may have been among the cut ones.
            if again.is_ok() {
                break;
            }
        }
        steps.dedup();
        assert_eq!(steps.first(), Some(&1), "{cut}");
        assert_eq!(steps.last(), Some(&11), "{cut}");
        assert!(store.executable(item).is_ok(), "{cut}");
    }
}

#[harness::test]
fn disconnection_asks_for_decisions() {
    let mut field = Field::new();
    let item = field.locked();
    let mut store = field.store("s");
    let path = field.path("s");
    let decide = |result: Result<(), AwayError>, word: &str| match result {
        Err(AwayError::Decide { message, .. }) => assert!(message.contains(word), "{message}"),
        other => panic!("{other:?}"),
    };
    let tight = Leaving { quota_bytes: Some(10), ..leaving(&path) };
    decide(disconnect(&field.link, &mut store, &tight, |_| {}), "there is room for 10");
    store.measure(100_000, 100.0).expect("measured");
    let hasty = Leaving { wait_seconds: 5.0, ..leaving(&path) };
    decide(disconnect(&field.link, &mut store, &hasty, |_| {}), "5 s are given");
    let wid = field.office.start();
    let other = field.office.item(wid, "visit");
    field.office.act("select_work", "beto", other);
    let accepted = Leaving { accepted: true, ..hasty };
    decide(disconnect(&field.link, &mut store, &accepted, |_| {}), "are selected");
    let confirmed = Leaving { confirmed: true, ..accepted };
    disconnect(&field.link, &mut store, &confirmed, |_| {}).expect("left");
    assert!(store.executable(item).is_ok());
    assert!(store.executable(other).is_err());
    assert_eq!(field.office.owner.line("SELECT active FROM wed.person WHERE name = 'beto'"), "f");
}

#[harness::test]
fn offline_run_uses_the_component_and_is_applied_once_when_the_return_is_cut() {
    let mut field = Field::new();
    let item = field.locked();
    let steps = field.work("s", &["away"]).done().json();
    assert_eq!(steps[0]["step"], 1, "{steps}");
    field.proxy.cut_after(1);
    let number = item.to_string();
    let done = field.work("s", &["do", &number]).done().json();
    assert_eq!(done["values"]["a2"], "done", "{done}");
    // Done once: disabled until its result was taken.
    assert_eq!(field.work("s", &["do", &number]).exits(4).error()["code"], "not_enabled");
    let mut store = field.store("s");
    // The report arrives, and its answer is lost.
    field.proxy.cut_after(0);
    let kept = store.results().expect("results").remove(0);
    let path = format!("/v1/work/items/{item}/report");
    let link = field.link.clone();
    let lost = (0..3).find_map(|_| link.ask("POST", &path, Some(&kept.body), Some(&kept.key)).ok());
    assert_eq!(lost.map(|answered| answered.status), Some(200));
    assert_eq!(field.steps_of(), 1);
    // The return is cut wherever it can be, until its answer comes through.
    for cut in (100..8_000).step_by(40) {
        field.proxy.cut_after(cut);
        let returned = reconnect(&field.link, &mut store);
        field.proxy.cut();
        if store.results().expect("results").is_empty() {
            break;
        }
        assert!(matches!(returned, Err(AwayError::Cut(_))), "{returned:?}");
    }
    assert!(store.results().expect("results").is_empty());
    assert_eq!(field.steps_of(), 1);
    assert_eq!(field.office.flow.session().line("SELECT a2 FROM wed_flow"), "done");
}

#[harness::test]
fn result_of_a_lost_item_is_refused_kept_and_shown() {
    let mut field = Field::new();
    let item = field.locked();
    let number = item.to_string();
    field.work("s", &["away"]).done();
    field.office.sweep(item, "43 hours");
    field.office.act("take_over_work", "dora", item);
    field.work("s", &["do", &number, "--set", "a2=mine"]).done();
    let refused = field.work("s", &["return"]).exits(4).error();
    assert_eq!(refused["code"], "WF084", "{refused}");
    let local: Json = field.work("s", &["local"]).done().json();
    assert_eq!(local["results"][0]["state"], "refused", "{local}");
    assert_eq!(local["results"][0]["body"]["values"]["a2"], "mine");
    let answer = &local["results"][0]["answer"]["answer"];
    assert_eq!(answer["holder"], "dora");
    assert_eq!(answer["present"]["a2"], Json::Null);
    assert_eq!(field.steps_of(), 0);
}

#[harness::test]
fn lost_link_disables_all_but_locked_and_transferred_items() {
    let mut field = Field::new();
    let item = field.locked();
    let wid = field.office.start();
    let selected = field.office.item(wid, "visit");
    field.office.act("select_work", "beto", selected);
    let mut store = field.store("s");
    prefetch(&field.link, &mut store).expect("copied");
    let enabled = |store: &LocalStore| -> Vec<i64> {
        let items = store.items().expect("items");
        items.iter().filter(|item| item.enabled).map(|item| item.item).collect()
    };
    assert_eq!(enabled(&store), [item, selected]);
    field.proxy.cut_after(1);
    field.proxy.cut();
    prefetch(&field.link, &mut store).expect_err("cut");
    assert_eq!(enabled(&store), [item]);
    field.proxy.cut_after(0);
    let back = (0..3).find_map(|_| reconnect(&field.link, &mut store).ok());
    assert!(back.is_some());
    assert_eq!(enabled(&store), [item, selected]);
}

#[harness::test]
fn item_that_left_the_worklist_leaves_the_store() {
    let mut field = Field::new();
    let item = field.locked();
    let mut store = field.store("s");
    prefetch(&field.link, &mut store).expect("copied");
    field.office.act("take_over_work", "dora", item);
    prefetch(&field.link, &mut store).expect("copied");
    assert!(store.items().expect("items").is_empty());
    assert_eq!(store.held_bytes(item).expect("held"), 0);
}

#[harness::test]
fn deadlines_are_warned_of_locally() {
    let mut field = Field::new();
    let item = field.locked();
    let mut store = field.store("s");
    prefetch(&field.link, &mut store).expect("copied");
    let deadline = store.items().expect("items")[0].document["deadline_epoch"].as_f64().expect("a deadline");
    let said = |hours: f64| warnings(&store, deadline - hours * 3600.0).expect("warnings");
    assert!(said(7.0).is_empty());
    assert_eq!(said(5.0), [format!("item {item}: less than 6 hours are left until its deadline")]);
    assert_eq!(said(-1.0), [format!("item {item}: its deadline has passed")]);
}

//! Values that a flow's owner provides besides the state: settings, and secrets that only the granted transition
//! sees.

use std::time::Duration;

use wedflow_worker::{HostSettings, SecretKey};

use super::{flow, flow_of_one};
use crate::support::database::one_lane;
use crate::support::program::{run, wed};
use crate::support::{Database, Flow, eventually, on};

/// Stands in no table, log or trace unless a secret leaked.
const CANARY: &str = "canary-5f1c'7d0e-yellow";

fn key() -> SecretKey {
    SecretKey::from_hex(&"5a".repeat(32)).expect("a key")
}

fn with_key(name: &str) -> HostSettings {
    HostSettings { secret_key: Some(key()), ..one_lane(name) }
}

fn store_secret(flow: &Flow, name: &str, value: &str, transitions: &[&str]) {
    let store = &flow.database.store;
    let (ciphertext, nonce) = key().seal(flow.id, name, value).expect("sealed");
    on(store.put_secret(flow.id, name, &ciphertext, &nonce)).expect("stored");
    let transitions: Vec<String> = transitions.iter().map(|name| (*name).to_owned()).collect();
    assert!(on(store.grant_secret(flow.id, name, &transitions)).expect("granted"));
}

/// The transition answers with a clause that no flow takes, so that the refusal tells what it saw.
fn seen(flow: &Flow) -> String {
    let mut session = flow.session();
    let wid = session.start();
    assert_eq!(flow.end_of(wid), "E");
    session.line(&format!("SELECT message FROM wed_attempt WHERE wid = {wid} ORDER BY attempt DESC LIMIT 1"))
}

#[harness::test]
fn a_change_of_a_setting_reaches_a_running_host() {
    let database = Database::new();
    let flow = flow_of_one(&database, "ask-settings", "");
    let host = database.host(one_lane("attentive"));
    let none = seen(&flow);
    assert!(none.contains("url=None none=None key=None"), "{none}");
    on(database.store.set_setting(flow.id, "url", "https://one")).expect("set");
    let one = seen(&flow);
    assert!(one.contains("url=Some(\"https://one\")"), "{one}");
    on(database.store.set_setting(flow.id, "url", "https://two")).expect("set");
    let two = seen(&flow);
    assert!(two.contains("https://two"), "{two}");
    assert!(on(database.store.unset_setting(flow.id, "url")).expect("unset"));
    let none = seen(&flow);
    assert!(none.contains("url=None"), "{none}");
    on(host.stop());
}

#[harness::test]
fn only_granted_secrets_are_served() {
    let database = Database::new();
    let flow = flow_of_one(&database, "ask-settings", "");
    store_secret(&flow, "key", "the right one", &["ask-settings"]);
    store_secret(&flow, "other", "somebody else's", &["leak"]);
    let host = database.host(with_key("trusted"));
    let told = seen(&flow);
    // What was served is masked where it is shown.
    assert!(told.contains("key=Some(\"***\") other=None"), "{told}");
    on(host.stop());
}

#[harness::test]
fn a_replay_has_the_secret_and_does_not_show_it() {
    let database = Database::new();
    let flow = flow_of_one(&database, "ask-settings", ", attempts=1");
    store_secret(&flow, "key", "the right one", &["ask-settings"]);
    let host = database.host(with_key("trusted"));
    seen(&flow);
    on(host.stop());
    let replay = |key: &str, json: bool| {
        let mut command = wed(&database.url());
        command.args(["replay", "ask-settings", "1"]).env("WEDFLOW_SECRET_KEY", key.repeat(32));
        run(if json { command.arg("--json") } else { &mut command })
    };
    let replayed = replay("5a", true).done();
    assert!(!replayed.out.contains("the right one"), "{replayed:?}");
    let document = replayed.json();
    // The answer is the same to the byte, so the secret was served; it is masked where the answer is shown.
    assert_eq!(document["same"], true, "{document}");
    assert_eq!(document["missing_secrets"], serde_json::json!(["other"]));
    let told = replay("5a", false).done();
    assert!(told.out.contains("***") && !told.out.contains("the right one"), "{told:?}");
    // Another key opens nothing.
    let other = replay("5b", true).exits(1);
    let missing = serde_json::json!(["key", "other"]);
    assert_eq!(other.json()["missing_secrets"], missing);
}

#[harness::test]
fn a_secret_is_nowhere_in_clear_text() {
    let database = Database::new();
    // As text, as a SQL literal, and through an error of the database's own.
    let ways = ["log", "abort", "clause", "value", "fail"];
    let flow = flow(
        &database,
        "leaky",
        "INSERT INTO wed_trig (tgname, trname, cpred, attempts) VALUES ('t', 'leak', $$a1 IN ('log', 'abort', \
         'clause', 'value', 'fail')$$, 1);
         INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a1 = 'logged'$$, true)",
    );
    flow.bind("leak", "hostile");
    store_secret(&flow, "key", CANARY, &["leak"]);
    let host = database.host(with_key("careful"));
    let mut session = flow.session();
    for way in ways {
        let wid = session.number(&format!("INSERT INTO wed_flow (a1) VALUES ('{way}') RETURNING wid"));
        let end = if way == "log" { "F" } else { "E" };
        assert_eq!(flow.end_of(wid), end, "{way}");
    }
    on(host.stop());
    let mut owner = database.owner();
    // The attempts and the log are there, masked.
    assert_eq!(owner.line("SELECT count(*) FROM wed.attempt WHERE message LIKE '%***%'"), "4");
    assert_eq!(owner.line("SELECT message, fields->>'key' FROM wed.log"), "the key is ***!|***");
    let tables = owner.lines(
        "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables \
         WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
    );
    assert!(tables.len() > 10, "{tables:?}");
    for table in tables {
        for text in [CANARY, "canary-5f1c", "7d0e-yellow"] {
            let text = text.replace('\'', "''");
            let hits = owner.number(&format!(
                "SELECT count(*) FROM {table} t WHERE strpos(t::text, '{text}') > 0 \
                 OR strpos(t::text, encode(convert_to('{text}', 'UTF8'), 'hex')) > 0"
            ));
            assert_eq!(hits, 0, "{text} in {table}");
        }
    }
}

#[harness::test]
fn without_the_key_a_granted_transition_does_not_run() {
    let database = Database::new();
    let flow = flow_of_one(&database, "ask-settings", ", attempts=1");
    store_secret(&flow, "key", "the right one", &["ask-settings"]);
    // Without any key the transition waits, which is no attempt.
    let host = database.host(one_lane("untrusted"));
    let mut session = flow.session();
    let wid = session.start();
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(session.pending(wid), ["ask-settings"]);
    assert_eq!(session.number("SELECT count(*) FROM wed_attempt"), 0);
    on(host.stop());
    let host = database.host(HostSettings {
        secret_key: Some(SecretKey::from_hex(&"5b".repeat(32)).expect("a key")),
        ..one_lane("wrong")
    });
    eventually("the other reason", || {
        let told = session.line("SELECT coalesce(waits_for, '') FROM job_pool");
        told.contains("stored under another key").then_some(())
    });
    assert_eq!(session.number("SELECT count(*) FROM wed_attempt"), 0);
    on(host.stop());
}

#[harness::test]
fn settings_and_secrets_of_a_flow_are_bounded_in_number_and_bytes() {
    let database = Database::new();
    let flow = database.flow("bounded");
    let store = &database.store;
    let refused = |result: Result<(), wedflow_store::StoreError>| {
        let error = result.expect_err("it is refused");
        assert_eq!(error.code(), Some("WF020"), "{error}");
    };
    let large = "v".repeat(60_000);
    for number in 0..17 {
        on(store.set_setting(flow.id, &format!("large{number}"), &large)).expect("there is room");
    }
    refused(on(store.set_setting(flow.id, "large17", &large)));
    for number in 0..83 {
        on(store.set_setting(flow.id, &format!("small{number}"), "v")).expect("there is room");
    }
    refused(on(store.set_setting(flow.id, "small83", "v")));
    // Another value for a known one is none more.
    on(store.set_setting(flow.id, "small1", "w")).expect("changed");

    for number in 0..50 {
        store_secret(&flow, &format!("secret{number}"), "value", &[]);
    }
    let (ciphertext, nonce) = key().seal(flow.id, "more", "value").expect("sealed");
    refused(on(store.put_secret(flow.id, "more", &ciphertext, &nonce)));
}

//! Requests of one tenant for another's things, by every endpoint and every verb: they are as good as missing.

use serde_json::json;

use super::{CANARY, Two};
use crate::support::http::Answered;
use crate::support::program::{Answer, run, wed};
use crate::support::repository;

/// An answer without what differs between any two.
fn essence(answer: &Answered, names: &[(&str, String, String)]) -> (u16, String) {
    let mut text = answer.text.clone();
    if let Some(id) = answer.header("x-request-id") {
        text = text.replace(id, "");
    }
    for (_, known, absent) in names {
        if known.len() > 1 {
            text = text.replace(known, absent);
        }
    }
    (answer.status, text)
}

/// Names and values of the other tenant that no answer may show.
const CANARIES: [&str; 7] = [
    "canary_attribute",
    "canary_value",
    "canary_step",
    "canary_description",
    "canary_setting",
    "canary_set",
    "canary-token",
];

/// Asserts that the other tenant's things are there, and that a cursor of its list opens nothing.
fn assert_all_is_still_there(two: &Two) {
    let beta = &two.beta;
    for path in [
        "/v1/flows/canary-flow/instances/1",
        "/v1/flows/canary-flow/instances/1/jobs/canary_trigger",
        "/v1/components/canary-component/versions/1",
        "/v1/users/canary-user",
    ] {
        beta.get(path).is(200);
    }
    two.beta.with_token(&two.secret).get("/v1/flows").is(200);
    // A cursor of another tenant's list opens nothing.
    for _ in 0..3 {
        beta.json("POST", "/v1/flows/canary-flow/instances", &json!({})).is(201);
    }
    let cursor = beta.get("/v1/audit?limit=2").is(200).json()["next"].clone();
    let cursor = cursor.as_str().expect("a cursor");
    let entries = two.alpha.get(&format!("/v1/audit?cursor={cursor}")).is(200);
    assert!(!entries.text.contains(CANARY), "{entries:?}");
}

#[harness::test]
fn another_tenants_things_are_as_good_as_missing() {
    let two = Two::new();
    let names = two.names();
    let description = two.alpha.get("/openapi.json").is(200).json();
    let paths = description["paths"].as_object().expect("paths");
    let mut asked = 0;
    for (path, methods) in paths.iter().filter(|(path, _)| path.starts_with("/v1")) {
        for method in methods.as_object().expect("methods").keys() {
            let method = method.to_uppercase();
            let with = |other: bool| {
                let mut concrete = path.clone();
                for (name, known, absent) in &names {
                    let value = if other { known } else { absent };
                    concrete = concrete.replace(&format!("{{{name}}}"), value);
                }
                // A parameter that is not known here would go untried.
                assert!(!concrete.contains('{'), "{concrete}");
                concrete
            };
            let send = |path: &str| {
                // Documents that would do something, if the thing were there.
                let document = match (method.as_str(), path) {
                    (_, path) if path.contains("/users/") => json!({ "role": "viewer" }),
                    (_, path) if path.ends_with("/activate") => json!({ "version": 1 }),
                    _ => json!({}),
                };
                if method == "GET" || method == "DELETE" {
                    two.alpha.send(&method, path, &[], b"")
                } else {
                    two.alpha.json(&method, path, &document)
                }
            };
            let (others, absent) = (send(&with(true)), send(&with(false)));
            asked += 1;
            assert_eq!(essence(&others, &names), essence(&absent, &names), "{method} {path}");
            for answer in [&others, &absent] {
                let said = answer.text.replace(&with(true), "");
                let shown = CANARIES.iter().any(|canary| said.contains(canary));
                assert!(!shown && !said.contains(&two.secret), "{method} {path}: {answer:?}");
                assert!(answer.status < 500, "{method} {path}: {answer:?}");
            }
            if !path.contains('{') {
                assert!(!others.text.contains(CANARY), "{method} {path}: {others:?}");
            }
        }
    }
    assert!(asked >= 25, "{asked}");
    assert_all_is_still_there(&two);
}

/// Commands that name a thing, which may be another tenant's; words in capitals stand for its name.
const VERBS: &[&[&str]] = &[
    &["flow", "show", "FLOW"],
    &["flow", "url", "FLOW"],
    &["flow", "events", "FLOW"],
    &["flow", "hook", "list", "FLOW"],
    &["flow", "hook", "delete", "FLOW", "canary_hook"],
    &["job", "claim", "FLOW", "canary_step"],
    &["job", "extend", "FLOW", "1", "canary_trigger", "--lease", "1"],
    &["job", "complete", "FLOW", "1", "canary_trigger", "--lease", "1"],
    &["job", "fail", "FLOW", "1", "canary_trigger", "no", "--lease", "1"],
    &["flow", "bind", "FLOW", "canary_step", "COMPONENT"],
    &["flow", "unbind", "FLOW", "canary_step"],
    &["flow", "rematch", "FLOW"],
    &["flow", "rematch", "FLOW", "--apply"],
    &["flow", "delete", "FLOW", "--yes"],
    &["flow", "graph", "FLOW"],
    &["flow", "what-if", "FLOW", "canary_trigger", "true"],
    &["flow", "retry", "FLOW"],
    &["flow", "retry", "FLOW", "--yes"],
    &["flow", "pause", "FLOW", "--reason", "x"],
    &["flow", "resume", "FLOW"],
    &["flow", "history", "FLOW"],
    &["flow", "diff", "FLOW"],
    &["flow", "rollback", "FLOW"],
    &["flow", "rollback", "FLOW", "1", "--yes"],
    &["flow", "lint", "FLOW"],
    &["flow", "reservations", "FLOW"],
    &["flow", "resource", "list", "FLOW"],
    &["flow", "resource", "set", "FLOW", "x", "1"],
    &["flow", "order", "list", "FLOW"],
    &["flow", "order", "add", "FLOW", "x", "y"],
    &["flow", "order", "drop", "FLOW", "x", "y"],
    &["flow", "schedule", "list", "FLOW"],
    &["flow", "schedule", "set", "FLOW", "x", "--cron", "0 * * * *"],
    &["flow", "schedule", "pause", "FLOW", "canary_schedule"],
    &["flow", "schedule", "resume", "FLOW", "canary_schedule"],
    &["flow", "schedule", "remove", "FLOW", "canary_schedule"],
    &["flow", "config", "set", "FLOW", "canary_setting", "x"],
    &["flow", "config", "get", "FLOW", "canary_setting"],
    &["flow", "config", "unset", "FLOW", "canary_setting"],
    &["flow", "config", "list", "FLOW"],
    &["flow", "secret", "grant", "FLOW", "canary_secret", "canary_step"],
    &["flow", "secret", "list", "FLOW"],
    &["flow", "secret", "remove", "FLOW", "canary_secret"],
    &["component", "show", "COMPONENT"],
    &["component", "activate", "COMPONENT", "1"],
    &["component", "rollback", "COMPONENT"],
    &["job", "list", "FLOW"],
    &["job", "logs", "FLOW", "1"],
    &["replay", "FLOW", "1"],
    &["sql", "FLOW", "-c", "TABLE wed_flow"],
    &["instance", "start", "FLOW"],
    &["instance", "list", "FLOW"],
    &["instance", "show", "FLOW", "1"],
    &["instance", "trace", "FLOW", "1"],
    &["instance", "watch", "FLOW", "1"],
    &["instance", "retry", "FLOW", "1"],
    &["instance", "cancel", "FLOW", "1", "--reason", "x"],
    &["instance", "pause", "FLOW", "1", "--reason", "x"],
    &["instance", "resume", "FLOW", "1"],
    &["instance", "set", "FLOW", "1", "--reason", "x", "a=1"],
    &["instance", "skip", "FLOW", "1", "--reason", "x", "--transition", "x"],
    &["instance", "back", "FLOW", "1", "--reason", "x", "--to", "1"],
    &["instance", "event", "FLOW", "1", "a=x"],
    &["instance", "batch", "FLOW", "cancel"],
    &["instance", "batch", "FLOW", "cancel", "--reason", "x", "--yes"],
    &["user", "role", "USER", "viewer"],
    &["user", "delete", "USER"],
    &["token", "create", "USER"],
    &["token", "rotate", "TOKEN"],
    &["token", "delete", "TOKEN"],
];

/// Runs `wed` as a user of tenant alpha, with the names in place of the words in capitals.
fn ask_as_alpha(url: &str, words: &[&str], names: &[(&str, &str)]) -> Answer {
    let words: Vec<String> = words
        .iter()
        .map(|word| {
            names
                .iter()
                .find(|(name, _)| word == name)
                .map_or_else(|| (*word).to_owned(), |(_, value)| (*value).to_owned())
        })
        .collect();
    run(wed(url).args(["--json", "--tenant", "alpha"]).args(words))
}

/// Asserts that [`VERBS`] or the test has every verb of these nouns, except those that name nothing existing.
fn assert_all_verbs_are_tried(url: &str) {
    for noun in ["flow", "component", "instance", "job", "user", "token"] {
        let help = run(wed(url).args([noun, "--help"])).done().out;
        let commands = help.split("Commands:").nth(1).expect("commands");
        let commands = commands.split("Options:").next().expect("commands");
        for line in commands.lines() {
            let Some(verb) = line.strip_prefix("  ").and_then(|rest| rest.split(' ').next()) else {
                continue;
            };
            let known = VERBS.iter().any(|words| words[..2] == [noun, verb])
                || ["list", "create", "apply", "encode", "push", "gc", "help", "pauses", "fmt", "check", ""]
                    .contains(&verb);
            assert!(known, "`wed {noun} {verb}` is not tried");
        }
    }
}

#[harness::test]
fn another_tenants_things_are_as_good_as_missing_for_the_command_line() {
    let two = Two::new();
    let url = two.database().url();
    let paper = repository("sample-transitions/target/wasm32-wasip2/release/paper.wasm");
    let ask = |words: &[&str], names: &[(&str, &str)]| ask_as_alpha(&url, words, names);
    let names = two.names();
    let known: Vec<(&str, &str)> = vec![
        ("FLOW", "canary-flow"),
        ("COMPONENT", "canary-component"),
        ("USER", "canary-user"),
        ("TOKEN", &two.token),
    ];
    let absent = vec![
        ("FLOW", "absent-flow"),
        ("COMPONENT", "absent-component"),
        ("USER", "absent-user"),
        ("TOKEN", "wed_absent00"),
    ];
    assert_all_verbs_are_tried(&url);
    for words in VERBS {
        let (others, missing) = (ask(words, &known), ask(words, &absent));
        let mut said = others.err.clone();
        for (_, known, absent) in names.iter().filter(|(_, known, _)| known.len() > 1) {
            said = said.replace(known, absent);
        }
        assert_eq!((others.code, &said), (Some(3), &missing.err), "{words:?}");
        assert!(others.out.is_empty() && !said.contains(CANARY), "{words:?}: {others:?}");
    }
    for words in [
        &["flow", "list"][..],
        &["component", "list"],
        &["component", "gc", "--keep", "0"],
        &["user", "list"],
        &["token", "list"],
        &["audit"],
    ] {
        let answer = ask(words, &[]).done();
        assert!(!answer.out.contains(CANARY), "{words:?}: {answer:?}");
    }
    // A component of the same name is the tenant's own, and pushes nothing over the other's.
    let pushed = ask(&["component", "push", paper.to_str().expect("a path"), "--name", "canary-component"], &[]).done();
    assert_eq!(pushed.json()[0]["version"], 1);
    let versions = two.beta.get("/v1/components/canary-component").is(200).json();
    assert_eq!(versions["items"].as_array().map(Vec::len), Some(1));
}

#[harness::test]
fn equal_names_of_two_tenants_are_two_things() {
    let two = Two::new();
    let flow = json!({ "name": "canary-flow", "final": "own = 'x'",
        "attribute": [{ "name": "own" }], "trigger": [{ "name": "t", "when": "own IS NULL", "transition": "s" }] });
    two.alpha.json("PUT", "/v1/flows/canary-flow", &flow).is(201);
    let started = two.alpha.json("POST", "/v1/flows/canary-flow/instances", &json!({})).is(201);
    assert_eq!(started.json()["wid"], 1);
    let own = two.alpha.get("/v1/flows/canary-flow/instances/1").is(200).json();
    assert_eq!(own["state"], json!({ "own": null }));
    two.alpha.delete("/v1/flows/canary-flow").is(204);
    two.beta.get("/v1/flows/canary-flow/instances/1").is(200);
}

//! Components: pushed, bound, listed.

use std::path::PathBuf;

use serde_json::{Value as Json, json};

use super::{Cli, has, paper, path};
use crate::support::database::sample_component;
use crate::support::repository;

/// The flow `paper` without its bindings, and the component that performs its transitions.
fn unbound_paper() -> (Cli, PathBuf) {
    let cli = Cli::new();
    let wasm = paper();
    let flow = cli.file(
        "flow.toml",
        std::fs::read_to_string(repository("sample-transitions/paper/flow.toml"))
            .expect("the sample")
            .split("[transition.")
            .next()
            .expect("the flow without its bindings")
            .as_bytes(),
    );
    cli.run(&["flow", "apply", path(&flow)]).done();
    (cli, wasm)
}

/// The components of the flow's triggers.
fn performers(cli: &Cli) -> Vec<Json> {
    let shown = cli.json(&["flow", "show", "paper"]);
    let triggers = shown["triggers"].as_array().expect("triggers").clone();
    triggers
        .into_iter()
        .filter(|trigger| trigger["final"] == false)
        .map(|trigger| trigger["component"].clone())
        .collect()
}

#[harness::test]
fn a_pushed_component_gets_a_version_and_no_binding() {
    let (cli, wasm) = unbound_paper();
    let pushed = cli.json(&["component", "push", path(&wasm), "--name", "mine"]);
    let pushed = &pushed[0];
    has(pushed, &["component", "version", "digest", "transitions"]);
    assert_eq!(pushed["component"], "mine");
    assert_eq!(pushed["version"], 1);
    assert_eq!(pushed["transitions"], json!(["tr_a2", "tr_a3", "tr_final"]));
    assert_eq!(performers(&cli), [Json::Null, Json::Null, Json::Null]);
    // Without --name it has the file's.
    let text = cli.run(&["component", "push", path(&wasm)]).done().out;
    assert!(text.contains("Component paper version 1 performs tr_a2"), "{text}");
}

#[harness::test]
fn transitions_are_bound_and_unbound() {
    let (cli, wasm) = unbound_paper();
    let none = Json::Null;
    let by = json!("mine");
    // As it is already, in a flow that binds nothing.
    cli.run(&["flow", "unbind", "paper", "tr_a2"]).done();
    let push = ["component", "push", path(&wasm), "--name", "mine"];
    let words = [&push[..], &["--flow", "paper"]].concat();
    let two = ["--transition", "tr_a2", "--transition", "tr_a3"];
    cli.run(&[&words[..], &two].concat()).done();
    assert_eq!(performers(&cli), [by.clone(), by.clone(), none.clone()]);
    let unbound = cli.json(&["flow", "unbind", "paper", "tr_a2"]);
    assert_eq!(unbound, json!({ "flow": "paper", "transition": "tr_a2", "component": null }));
    assert_eq!(performers(&cli), [none.clone(), by.clone(), none.clone()]);
    let bound = cli.json(&["flow", "bind", "paper", "tr_a2", "mine"]);
    assert_eq!(bound, json!({ "flow": "paper", "transition": "tr_a2", "component": "mine" }));
    assert_eq!(performers(&cli), [by.clone(), by.clone(), none]);
    // All that it declares. The same bytes are no new version.
    let all = cli.json(&words);
    assert_eq!(all[0]["version"], 1);
    assert_eq!(performers(&cli), [by.clone(), by.clone(), by]);
    let error = cli.fails(4, &[&words[..], &["--transition", "tr_a9"]].concat());
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("tr_a2, tr_a3")), "{error}");
}

#[harness::test]
fn components_are_listed_and_shown() {
    let (cli, wasm) = unbound_paper();
    let push = ["component", "push", path(&wasm), "--name", "mine"];
    let pushed = cli.json(&[&push[..], &["--flow", "paper"]].concat());
    let list = cli.json(&["component", "list"]);
    assert_eq!(list.as_array().map(Vec::len), Some(1));
    has(&list[0], &["name", "version", "digest", "size", "manifest", "created_at", "used_by"]);
    assert_eq!(list[0]["used_by"], json!(["paper/tr_a2", "paper/tr_a3", "paper/tr_final"]));
    let shown = cli.json(&["component", "show", "mine"]);
    assert_eq!(shown[0]["digest"], pushed[0]["digest"]);
    assert_eq!(shown[0]["manifest"]["transitions"][0]["writes"], json!([{ "name": "a2", "kind": "text" }]));
    let text = cli.run(&["component", "show", "mine"]).done().out;
    for part in ["mine version 1", "tr_final", "a2 text", "paper/tr_a3"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

#[harness::test]
fn the_list_of_components_counts_and_does_not_list() {
    let cli = Cli::new();
    let wasm = paper();
    cli.run(&["component", "push", path(&wasm)]).done();
    let table = cli.run(&["component", "list"]).done().out;
    for line in table.lines() {
        assert!(line.chars().count() < 110, "{line}");
    }
    assert!(table.contains("paper") && !table.contains("tr_a"), "{table}");
}

#[harness::test]
fn component_that_would_break_a_flow_is_stored_and_not_in_use() {
    let cli = Cli::new();
    let sample = repository("sample-transitions/paper/flow.toml");
    let wasm = paper();
    cli.run(&["component", "push", path(&wasm), "--name", "paper"]).done();
    cli.run(&["flow", "apply", path(&sample)]).done();
    let other = cli.file("travel.wasm", sample_component("travel"));
    let push = ["component", "push", path(&other), "--name", "paper"];
    let pushed = cli.run(&push).done();
    assert!(pushed.out.contains("Component paper version 2 is stored, and not in use"), "{pushed:?}");
    let named = "warning: flow paper: component paper does not declare transition tr_a2";
    assert!(pushed.err.contains(named), "{pushed:?}");
    let pushed = cli.run(&[&["--json", "-q"], &push[..]].concat()).done().json();
    assert_eq!((&pushed[0]["version"], &pushed[0]["active"]), (&json!(2), &json!(false)));
    assert!(pushed[0]["warnings"][0].as_str().is_some_and(|warning| named.ends_with(warning)), "{pushed}");
    let active = |version: i64| {
        let list = cli.run(&["--json", "component", "list"]).done().json();
        let all = list.as_array().cloned().unwrap_or_default();
        all.iter().any(|one| one["version"] == version && one["active"] == true)
    };
    assert!(active(1) && !active(2));
    cli.run(&[&push[..], &["--activate"]].concat()).done();
    assert!(active(2));
}

#[harness::test]
fn attribute_of_another_type_is_named_with_its_flow() {
    let (cli, wasm) = unbound_paper();
    let text = std::fs::read_to_string(repository("sample-transitions/paper/flow.toml")).expect("the sample");
    let retyped = (text.replace("name = \"paper\"", "name = \"retyped\""))
        .replace("name = \"a2\"\n", "name = \"a2\"\ntype = \"integer\"\n");
    cli.run(&["flow", "apply", path(&cli.file("retyped.toml", retyped.as_bytes()))]).done();
    let pushed = cli.run(&["component", "push", path(&wasm), "--name", "paper"]).done();
    let named = "flow retyped: transition tr_a2 of component paper uses attribute \"a2\" as text, and it is integer";
    assert!(pushed.err.contains(named), "{pushed:?}");
}

#[harness::test]
fn several_components_are_pushed_all_or_none() {
    let cli = Cli::new();
    let wasm = paper();
    let bad = cli.file("bad.wasm", b"this is no component");
    for files in [[path(&wasm), path(&bad)], [path(&wasm), "/nowhere/b.wasm"]] {
        let answer = cli.run(&[&["component", "push"], &files[..]].concat());
        assert_ne!(answer.code, Some(0), "{answer:?}");
        assert_eq!(cli.json(&["component", "list"]), json!([]));
    }
}

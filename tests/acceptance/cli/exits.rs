//! Exit codes, and the message of each.

use std::process::Stdio;

use serde_json::json;

use super::{Cli, NOWHERE, STEPS, paper, path, says_error};
use crate::support::Database;
use crate::support::database::sample_component;
use crate::support::program::{run, wed};

#[harness::test]
fn wrong_usage_exits_with_2() {
    let cli = Cli::with_steps();
    let wasm = paper();
    let wasm = path(&wasm);
    for words in [
        &["nonsense"][..],
        &["flow", "create"],
        &["flow", "bind", "steps"],
        &["instance", "list", "steps", "--status", "odd"],
        &["instance", "show", "steps", "first"],
        &["component", "push"],
        &["component", "push", wasm, "--transition", "tr_a2"],
    ] {
        let answer = cli.run(words).exits(2);
        assert!(answer.err.contains("error: ") && answer.err.contains("--help"), "{answer:?}");
    }
    cli.fails(2, &["component", "push", wasm, wasm, "--name", "two"]);
    cli.fails(2, &["instance", "start", "steps", "n"]);
    cli.fails(2, &["instance", "start", "steps", "--state", "[1]"]);
    cli.fails(2, &["instance", "start", "steps", "--state", "{n: 1}"]);
    for (name, text) in
        [("broken.toml", "name = "), ("unnamed.toml", "final = 'true'"), ("typo.toml", "name = 'x'\nfinall = 'true'")]
    {
        let file = cli.file(name, text.as_bytes());
        let error = cli.fails(2, &["flow", "apply", path(&file)]);
        assert!(error["message"].as_str().is_some_and(|text| text.contains(name)), "{error}");
    }
    assert_eq!(cli.json(&["instance", "list", "steps"]), json!([]));
}

#[harness::test]
fn what_is_missing_exits_with_3() {
    let cli = Cli::with_steps();
    for words in [
        &["flow", "show", "none"][..],
        &["flow", "url", "none"],
        &["flow", "rematch", "none"],
        &["flow", "drop", "none", "--yes"],
        &["flow", "bind", "steps", "step", "none"],
        &["flow", "unbind", "none", "step"],
        &["component", "show", "none"],
        &["instance", "start", "none"],
        &["instance", "list", "none"],
        &["instance", "show", "steps", "77"],
        &["instance", "trace", "steps", "77"],
        &["instance", "watch", "steps", "77"],
        &["demo", "none"],
    ] {
        let error = cli.fails(3, words);
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains("none") || message.contains("77"), "{error}");
    }
    let nothing = cli.files.path().join("nothing");
    for words in [["flow", "apply", path(&nothing)], ["component", "push", path(&nothing)]] {
        let answer = cli.run(&words).exits(3);
        says_error(&answer);
        assert!(answer.err.contains(path(&nothing)), "{answer:?}");
    }
}

#[harness::test]
fn what_a_rule_refuses_exits_with_4() {
    let cli = Cli::with_steps();
    let long = "a".repeat(300);
    for name in ["Two Words", "", "-", "ü", "x;y", &long] {
        cli.fails(4, &["flow", "create", "--", name]);
    }
    // Not `fails`: each refused start uses up a wid, which its message names.
    let refused = ["instance", "start", "steps", "--state", r#"{"n": null}"#];
    says_error(&cli.run(&refused).exits(4));
    let error = cli.run(&[&["--json"], &refused[..]].concat()).exits(4).error();
    assert_eq!(error["code"], "WF001", "{error}");
    let wasm = paper();
    cli.fails(4, &["component", "push", path(&wasm), "--name", "Two Words"]);
    for (name, from, to) in [
        ("predicate.toml", "n < 3", "n < 3 AND"),
        ("function.toml", "n < 3", "pg_sleep(1) IS NULL"),
        ("attribute.toml", "\"remark\"", "\"wid\""),
        ("transition.toml", "\"step\"", "\"_step\""),
    ] {
        let text = STEPS.replace(from, to).replace("\"steps\"", "\"other\"");
        assert!(text.contains(to));
        let file = cli.file(name, text.as_bytes());
        cli.fails(4, &["flow", "apply", path(&file)]);
    }
    // Nothing is left of what was refused.
    let list = cli.json(&["flow", "list"]);
    assert_eq!(list.as_array().map(Vec::len), Some(1), "{list}");
    assert_eq!(list[0]["regular"], 0);
}

#[harness::test]
fn what_is_no_component_exits_with_4() {
    let cli = Cli::new();
    let whole = sample_component("paper");
    for (name, bytes) in [
        ("text.wasm", &b"this is no component"[..]),
        ("empty.wasm", b""),
        ("module.wasm", b"\0asm\x01\0\0\0"),
        ("half.wasm", &whole[..whole.len() / 2]),
        ("short.wasm", &whole[..whole.len() - 1]),
    ] {
        let file = cli.file(name, bytes);
        let answer = cli.run(&["component", "push", path(&file)]).exits(4);
        says_error(&answer);
        assert!(answer.err.contains(name), "{answer:?}");
    }
    assert_eq!(cli.json(&["component", "list"]), json!([]));
}

#[harness::test]
fn a_database_out_of_reach_exits_with_5() {
    for url in [NOWHERE, "nonsense"] {
        let error = run(wed(url).args(["flow", "list", "--json"])).exits(5).error();
        assert_eq!(error["exit_code"], 5, "{error}");
    }
    let people = run(wed("nonsense").args(["flow", "list"])).exits(5);
    says_error(&people);
    assert!(people.err.contains("hint: Check DATABASE_URL"), "{people:?}");
    // The command line comes first.
    let database = Database::new();
    run(wed(NOWHERE).args(["flow", "list", "--database-url", &database.url()])).done();
}

#[harness::test]
fn an_answer_that_cannot_be_written_fails() {
    let cli = Cli::with_steps();
    cli.run(&["user", "create", "ann", "--role", "viewer"]).done();
    let into_full = |words: &[&str]| {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let status =
            wed(&cli.database.url()).args(words).stdout(full.expect("the device")).stderr(Stdio::null()).status();
        status.expect("wed runs").code()
    };
    for words in [&["flow", "list"][..], &["flow", "url", "steps"], &["token", "create", "ann"]] {
        assert_eq!(into_full(words), Some(1), "{words:?}");
    }
    // A token that nobody saw is worth nothing.
    let tokens = cli.json(&["token", "list"]);
    assert_eq!(tokens[0]["status"], "revoked", "{tokens}");
}

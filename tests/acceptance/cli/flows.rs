//! Flows: applied, shown, rematched, dropped.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value as Json, json};

use super::{Cli, STEPS, has, path, says};
use crate::support::program::wed;
use crate::support::{Session, eventually};

/// The flow `own`, with an attribute, a trigger, a final condition and an instance.
fn own_flow() -> (Cli, Session) {
    let cli = Cli::new();
    cli.run(&["flow", "create", "own", "--description", "Of my own"]).done();
    let url = cli.run(&["flow", "url", "own"]).done().out;
    let mut session = Session::on(&cli.database, url.trim());
    session.run(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('n', 'integer', '0');
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('t', 'step', 'n < 3');
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('n >= 3', true);",
    );
    session.start();
    (cli, session)
}

#[harness::test]
fn a_flow_is_created_once() {
    let cli = Cli::new();
    let made = cli.json(&["flow", "create", "own", "--description", "Of my own"]);
    assert_eq!(made["flow"], "own");
    let url = cli.json(&["flow", "url", "own"]);
    let text = cli.run(&["flow", "url", "own"]).done().out;
    assert_eq!(url["url"], text.trim());
    let again = cli.fails(4, &["flow", "create", "own"]);
    assert!(again["message"].as_str().is_some_and(|text| text.contains("own")), "{again}");
}

#[harness::test]
fn flows_are_listed_with_their_instances() {
    let (cli, _session) = own_flow();
    let list = cli.json(&["flow", "list"]);
    let flow = &list[0];
    assert_eq!(list.as_array().map(Vec::len), Some(1));
    has(flow, &["name", "description", "version", "regular", "final", "exception", "jobs"]);
    assert_eq!(flow["name"], "own");
    assert_eq!(flow["description"], "Of my own");
    assert_eq!((&flow["regular"], &flow["jobs"]), (&json!(1), &json!(1)));
}

#[harness::test]
fn a_flow_is_shown_with_its_attributes_and_triggers() {
    let (cli, _session) = own_flow();
    let shown = cli.json(&["flow", "show", "own"]);
    assert_eq!(shown["name"], "own");
    assert_eq!(shown["attributes"][0]["name"], "n");
    assert_eq!(shown["triggers"].as_array().map(Vec::len), Some(2));
    has(&shown["triggers"][0], &["name", "transition", "when", "final", "enabled", "timeout", "component"]);
    let text = cli.run(&["flow", "show", "own"]).done().out;
    for part in ["Of my own", "n < 3", "step", "(final)", "external workers", "1 regular"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

#[harness::test]
fn a_dropped_flow_is_gone() {
    let (cli, session) = own_flow();
    drop(session);
    let gone = cli.json(&["flow", "drop", "own", "--yes"]);
    assert_eq!(gone, json!({ "flow": "own", "deleted": true }));
    assert_eq!(cli.json(&["flow", "list"]), json!([]));
    cli.fails(3, &["flow", "show", "own"]);
}

#[harness::test]
fn applying_again_changes_what_changed() {
    let cli = Cli::new();
    let file = cli.file("flow.toml", STEPS.as_bytes());
    let first = cli.json(&["flow", "apply", path(&file)]);
    assert_eq!(first["flow"], "steps");
    assert_eq!(first["applied"]["created"], true);
    assert_eq!(first["applied"]["attributes_added"], json!(["n", "remark"]));
    let again = cli.json(&["flow", "apply", path(&file)]);
    assert_eq!(again["applied"]["created"], false);
    for key in ["attributes_added", "triggers_added", "triggers_changed", "triggers_removed"] {
        assert_eq!(again["applied"][key], json!([]), "{key}");
    }
    let changed = STEPS.replace("n < 3", "n < 2 OR n = 2");
    cli.file("flow.toml", changed.as_bytes());
    let answer = cli.run(&["flow", "apply", path(&file)]).done();
    assert!(answer.out.contains("triggers changed: t"), "{answer:?}");
    cli.file("flow.toml", format!("{changed}[[attribute]]\nname = \"more\"\n").as_bytes());
    let more = cli.json(&["flow", "apply", path(&file)]);
    assert_eq!(more["applied"]["attributes_added"], json!(["more"]));
}

#[harness::test]
fn applying_tells_changed_defaults_and_a_changed_final_condition() {
    let cli = Cli::with_steps();
    let changed = STEPS.replace("default = \"0\"", "default = \"1\"").replace("n >= 3", "n > 2");
    let file = cli.file("flow.toml", changed.as_bytes());
    for dry_run in [true, false] {
        let mut call = vec!["flow", "apply", path(&file)];
        call.extend(dry_run.then_some("--dry-run"));
        let answer = cli.run(&call).done();
        for told in ["attributes changed: n", "settings changed: final"] {
            assert!(answer.out.contains(told), "{told}: {answer:?}");
        }
    }
}

#[harness::test]
fn applying_says_what_it_did_and_what_it_left() {
    let cli = Cli::with_steps();
    let file = cli.file("again.toml", STEPS.as_bytes());
    let same = cli.run(&["flow", "apply", path(&file)]).done();
    assert!(same.out.contains("is up to date"), "{same:?}");
    let bound = format!("{STEPS}\n[transition.step]\ncomponent = \"none\"\n");
    let file = cli.file("bound.toml", bound.as_bytes());
    let changed = cli.run(&["flow", "apply", path(&file)]).done();
    assert!(changed.out.contains("is changed") && changed.out.contains("step by none"), "{changed:?}");
    assert!(changed.err.contains("component none was not uploaded"), "{changed:?}");
    cli.flow("steps").run("UPDATE wed_trig SET enabled = false WHERE trname = 'step'");
    let left = cli.run(&["flow", "apply", path(&file)]).done();
    assert!(left.out.contains("disabled, left as they are"), "{left:?}");
}

#[harness::test]
fn what_a_flow_is_shown_with_is_its_definition() {
    let cli = Cli::with_steps();
    cli.flow("steps").run(
        "UPDATE wed_trig SET timeout = '10 minutes', attempts = 7 WHERE NOT cfinal;
         INSERT INTO wed_attr (aname, atype, adv, open) VALUES ('paid', 'boolean', 'false', true)",
    );
    let shown = cli.run(&["flow", "show", "steps"]).done().out;
    let row = |name: &str| {
        shown
            .lines()
            .rfind(|line| line.trim_start().starts_with(name))
            .unwrap_or_default()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(row("paid"), "paid boolean false yes", "{shown}");
    assert!(shown.contains("10m") && shown.contains(" 7"), "{shown}");
    let document = cli.json(&["flow", "show", "steps"]);
    assert_eq!(document["definition"]["trigger"][0]["attempts"], 7);
}

#[harness::test]
fn a_rematch_shows_before_it_fires() {
    let cli = Cli::with_steps();
    let mut session = cli.flow("steps");
    let wid = session.start();
    session.run("INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('u', 'other', 'n = 0')");
    let shown = cli.json(&["flow", "rematch", "steps"]);
    let rows = json!([{ "wid": wid, "fires": ["other"], "becomes": "regular" }]);
    let answer = |applied: bool, rows: &Json| {
        json!({ "flow": "steps", "applied": applied, "matching": rows.as_array().map(Vec::len),
            "instances": rows })
    };
    assert_eq!(shown, answer(false, &rows));
    assert_eq!(session.pending(wid), ["step"]);
    let text = cli.run(&["flow", "rematch", "steps"]).done();
    assert!(text.out.contains("would fire") && text.err.contains("--apply"), "{text:?}");
    assert_eq!(cli.json(&["flow", "rematch", "steps", "--apply"]), answer(true, &rows));
    assert_eq!(session.pending(wid), ["other", "step"]);
    assert_eq!(cli.json(&["flow", "rematch", "steps", "--apply"]), answer(true, &json!([])));
}

#[harness::test]
fn dropping_a_flow_must_be_confirmed() {
    let cli = Cli::with_steps();
    cli.flow("steps").start();
    let error = cli.fails(2, &["flow", "drop", "steps"]);
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("--yes")), "{error}");
    assert_eq!(cli.json(&["instance", "list", "steps"]).as_array().map(Vec::len), Some(1));
    // Not even by an answer that nobody typed.
    let mut asked = wed(&cli.database.url());
    let mut asked =
        asked.args(["flow", "drop", "steps"]).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("wed starts");
    let _ = asked.stdin.take().expect("its input").write_all(b"yes\n");
    let status = eventually("its answer", || asked.try_wait().expect("a status"));
    assert_eq!(status.code(), Some(2));
    assert_eq!(cli.json(&["flow", "list"]).as_array().map(Vec::len), Some(1));
}

#[harness::test]
fn mistakes_in_a_definition_are_told_with_what_mends_them() {
    let cli = Cli::new();
    let steps = STEPS.replace("default = \"0\"", "default = 0");
    let file = cli.file("numbers.toml", steps.as_bytes());
    cli.run(&["flow", "apply", path(&file)]).done();
    let twice = STEPS.replace("name = \"remark\"", "name = \"n\"");
    let file = cli.file("twice.toml", twice.as_bytes());
    let told = cli.run(&["flow", "apply", path(&file)]).exits(4);
    says(&told.err, &["more than one attribute \"n\""]);
    let lone = STEPS.replace("[[trigger]]", "[trigger]");
    let file = cli.file("lone.toml", lone.as_bytes());
    let told = cli.run(&["flow", "apply", path(&file)]).exits(2);
    says(&told.err, &["[[trigger]]"]);
    let file = cli.file("wide.toml", b"\xff\xfen\0");
    let told = cli.run(&["flow", "apply", path(&file)]).exits(2);
    says(&told.err, &["UTF-8"]);
    let told = cli.run(&["flow", "bind", "step", "t", "c"]).exits(3);
    says(&told.err, &["Perhaps you mean \"steps\""]);
    let told = cli.run(&["instance", "show", "steps/9"]).exits(3);
    says(&told.err, &["9"]);
}

//! Help, hints, and what needs no flow.

use serde_json::Value as Json;

use super::{Cli, NOWHERE, has, says};
use crate::support::on;
use crate::support::program::{run, wed};

#[harness::test]
fn help_names_what_there_is() {
    let help = run(wed(NOWHERE).arg("--help")).done().out;
    for word in ["dev", "serve", "demo", "flow", "component", "instance"] {
        let named = help.lines().any(|line| line.trim_start().starts_with(&format!("{word} ")));
        assert!(named, "{word} is missing in {help}");
    }
    assert!(help.contains("Exit codes"), "{help}");
    for noun in ["db", "flow", "component", "instance", "demo", "dev", "serve"] {
        run(wed(NOWHERE).args([noun, "--help"])).done();
    }
    // Alone, it helps as well, but that is no success.
    let alone = run(&mut wed(NOWHERE)).exits(2);
    assert!(alone.err.contains("Usage"), "{alone:?}");
    run(wed(NOWHERE).arg("--version")).done();
}

#[harness::test]
fn the_demos_are_listed_without_a_database() {
    let list = run(wed(NOWHERE).args(["demo", "--json"])).done().json();
    let names: Vec<&str> =
        list.as_array().expect("a list").iter().map(|demo| demo["demo"].as_str().expect("a name")).collect();
    assert_eq!(
        names,
        ["paper", "counters", "random-walk", "patterns", "travel", "book-sale", "order", "requisition", "manutencao"]
    );
    has(&list[0], &["demo", "about"]);
    let text = run(wed(NOWHERE).arg("demo")).done().out;
    assert!(names.iter().all(|name| text.contains(name)), "{text}");
}

#[harness::test]
fn hints_carry_the_options_in_force() {
    let cli = Cli::new();
    on(cli.database.store.create_tenant("bobs", "")).expect("a tenant");
    let made = cli.run(&["--tenant", "bobs", "user", "create", "ann", "--role", "admin"]).done();
    assert!(made.err.contains("wed --tenant bobs token create ann"), "{made:?}");
    let url = cli.database.url();
    let made = run(wed(NOWHERE).args(["user", "create", "bob", "--role", "viewer"]).args(["--database-url", &url]));
    // Without its password, which would end in logs.
    let password = url.split([':', '@']).nth(2).expect("a password");
    let made = made.done();
    let place = url.rsplit('@').next().expect("a place");
    assert!(made.err.contains(&format!(":…@{place}'")), "{made:?}");
    assert!(!made.err.contains(password), "{made:?}");
    let missing = cli.run(&["token", "create", "zoe"]).exits(3);
    assert!(missing.err.contains("tenant default"), "{missing:?}");
}

#[harness::test]
fn a_rotated_token_keeps_its_life() {
    let cli = Cli::new();
    cli.run(&["user", "create", "ann", "--role", "viewer"]).done();
    let day = |document: &Json| document["expires_at"].as_str().map(|text| text[..10].to_owned());
    let first = cli.json(&["token", "create", "ann", "--days", "30"]);
    let second = cli.json(&["token", "rotate", first["id"].as_str().expect("an id")]);
    assert_eq!(day(&second), day(&first));
}

#[harness::test]
fn codes_and_pages_are_explained_without_a_database() {
    let code = run(wed(NOWHERE).args(["explain", "WF011"])).done().out;
    says(&code, &["WF011", "predicate", "wed explain conditions"]);
    let page = run(wed(NOWHERE).args(["explain", "conditions"])).done().out;
    assert!(page.starts_with("# "), "{page}");
    let unknown = run(wed(NOWHERE).args(["explain", "WF01"])).exits(3);
    says(&unknown.err, &["Perhaps you mean"]);
}

#[harness::test]
fn arguments_that_are_no_text_and_settings_that_say_nothing_are_wrong_usage() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let no_text = OsStr::from_bytes(b"\xff");
    run(wed(NOWHERE).args([OsStr::new("flow"), OsStr::new("list"), no_text])).exits(2);
    let log = run(wed(NOWHERE).args(["explain"]).env("WEDFLOW_LOG", "json")).exits(2);
    says(&log.err, &["WEDFLOW_LOG", "`json` says no level"]);
    for (option, value) in [("--listen", "8080"), ("--lanes", "0"), ("--in-flight", "0")] {
        run(wed(NOWHERE).args(["serve", option, value])).exits(2);
    }
    let other = run(wed(NOWHERE).arg("logs")).exits(2);
    says(&other.err, &["job logs"]);
}

#[harness::test]
fn a_shell_is_offered_commands_and_a_script() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(wed(NOWHERE).args(["completions", shell])).done().out;
        assert!(script.contains("COMPLETE"), "{script}");
    }
    run(wed(NOWHERE).args(["completions", "dos"])).exits(2);
}

#[harness::test]
fn what_did_nothing_or_names_nothing_says_so() {
    let cli = Cli::with_steps();
    cli.run(&["tenant", "create", "acme"]).done();
    let resumed = cli.run(&["tenant", "resume", "acme"]).done().out;
    assert!(resumed.contains("neither suspended nor paused"), "{resumed}");
    cli.run(&["tenant", "suspend", "acme"]).done();
    let resumed = cli.json(&["tenant", "resume", "acme"]);
    assert_eq!(resumed["changed"], true, "{resumed}");

    let name = cli.database.owner().line("SELECT current_database()");
    let missing = cli.database.url().replace(&name, "wed_no_such_database");
    let error = cli.fails(5, &["tenant", "move", "acme", "--to", &missing]);
    let hint = error["hint"].as_str().expect("a hint");
    assert!(hint.contains("--to") && hint.contains("wed migrate"), "{hint}");

    let wait = super::STEPS
        .replace("transition = \"step\"", "transition = \"step\"\nwaits_for = \"n\"\nor_after = \"infinity\"");
    let file = cli.file("wait.toml", wait.as_bytes());
    let error = cli.fails(4, &["flow", "apply", super::path(&file)]);
    // Postgres 15 reads no such interval, later ones do.
    let told = error.to_string();
    assert!(told.contains("or_after") && !told.contains("delay"), "{error}");

    let error = cli.fails(4, &["work", "people", "--add", "Ann"]);
    let hint = error["hint"].as_str().expect("a hint");
    assert!(hint.contains("ann@example.org"), "{hint}");

    let mut owner = cli.database.owner();
    assert_eq!(owner.line("SELECT wed.place_of(1000000, 3)"), "instance 3 of a removed flow");
}

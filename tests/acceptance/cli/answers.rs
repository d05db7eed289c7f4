//! Answers and refusals of the command line, word by word, held against the files in `snapshots`.
//! `INSTA_UPDATE=always` writes them anew.

use std::fmt::Write as _;

use super::{Cli, NOWHERE, STEPS, paper, path};
use crate::support::program::{run, wed};
use crate::support::repository;

/// Replaces what differs from run to run: moments, addresses, folders, digests.
const SAME: [(&str, &str); 6] = [
    (r"postgres://[^\s`']+", "postgres://…"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d(:?\d\d)?)?", "MOMENT"),
    (r"(/[\w.+-]+)*/\.tmp\w+", "FOLDER"),
    (r"\b[0-9a-f]{12,64}\b", "DIGEST"),
    (r"\b\d+(\.\d+)? (ms|µs|s)\b", "TIME"),
    (r"[ \t]+\n", "\n"),
];

/// Runs commands one after another, and writes down what they print as a terminal shows it.
fn transcript(cli: &Cli, commands: &[&[&str]]) -> String {
    let mut text = String::new();
    for words in commands {
        let answer = cli.run(words);
        let shown = words.join(" ");
        writeln!(text, "$ wed {shown}\n{}{}", answer.out, answer.err).expect("written");
        if answer.code != Some(0) {
            writeln!(text, "[exit {:?}]\n", answer.code.unwrap_or(-1)).expect("written");
        }
    }
    text
}

/// Holds a transcript against its file.
#[track_caller]
fn is_as_kept(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    for (pattern, same) in SAME {
        settings.add_filter(pattern, same);
    }
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[harness::test]
fn answers_about_a_flow_and_its_instances() {
    let cli = Cli::new();
    let file = cli.file("flow.toml", STEPS.as_bytes());
    let wider = STEPS.replace("n < 3", "n < 4").replace("n >= 3", "n >= 4");
    let other = cli.file("wider.toml", wider.as_bytes());
    let text = transcript(
        &cli,
        &[
            &["flow", "list"],
            &["flow", "check", path(&file)],
            &["flow", "apply", path(&file)],
            &["flow", "apply", path(&file)],
            &["flow", "list"],
            &["flow", "show", "steps"],
            &["instance", "start", "steps", "n=1", "remark=hello"],
            &["instance", "start", "steps", "n=3"],
            &["instance", "list", "steps"],
            &["instance", "show", "steps", "1"],
            &["instance", "trace", "steps", "2"],
            &["job", "list", "steps"],
            &["flow", "apply", "--dry-run", path(&other)],
            &["flow", "apply", path(&other)],
            &["flow", "history", "steps"],
            &["flow", "diff", "steps", "1", "2"],
            &["flow", "pause", "steps", "--reason", "stocktaking"],
            &["flow", "pauses"],
            &["instance", "resume", "steps", "1"],
            &["flow", "resume", "steps"],
            &["instance", "cancel", "steps", "1", "--reason", "no longer wanted"],
            &["instance", "show", "steps", "1"],
            &["flow", "drop", "steps", "--yes"],
        ],
    );
    is_as_kept("flow", &text);
}

#[harness::test]
fn answers_about_a_tenant_and_its_people() {
    let cli = Cli::new();
    let text = transcript(
        &cli,
        &[
            &["tenant", "create", "bobs", "--description", "Bob's bikes"],
            &["tenant", "list"],
            &["tenant", "show", "bobs"],
            &["--tenant", "bobs", "user", "create", "bob", "--role", "admin"],
            &["--tenant", "bobs", "user", "list"],
            &["--tenant", "bobs", "flow", "list"],
            &["--tenant", "bobs", "webhook", "list"],
            &["tenant", "suspend", "bobs"],
            &["tenant", "resume", "bobs"],
            &["tenant", "delete", "bobs", "--yes"],
        ],
    );
    is_as_kept("tenant", &text);
}

#[harness::test]
fn answers_about_components_and_what_a_flow_gives_them() {
    let cli = Cli::new();
    let flow = std::fs::read(repository("sample-transitions/paper/flow.toml")).expect("the flow");
    let component = std::fs::read(paper()).expect("the component");
    let flow = path(&cli.file("flow.toml", &flow)).to_owned();
    let component = path(&cli.file("paper.wasm", &component)).to_owned();
    let text = transcript(
        &cli,
        &[
            &["component", "list"],
            &["flow", "apply", &flow],
            &["component", "push", &component],
            &["component", "push", &component],
            &["component", "show", "paper"],
            &["component", "rollback", "paper"],
            &["component", "gc"],
            &["flow", "unbind", "paper", "tr_a2"],
            &["flow", "bind", "paper", "tr_a2", "paper"],
            &["flow", "bind", "paper", "tr_a2", "other"],
            &["flow", "config", "set", "paper", "region", "eu"],
            &["flow", "config", "list", "paper"],
            &["flow", "config", "get", "paper", "zone"],
            &["flow", "config", "unset", "paper", "region"],
            &["flow", "secret", "list", "paper"],
            &["flow", "secret", "remove", "paper", "key"],
        ],
    );
    is_as_kept("component", &text);
}

#[harness::test]
fn answers_about_what_a_flow_reserves_and_when_it_starts() {
    let cli = Cli::with_steps();
    let text = transcript(
        &cli,
        &[
            &["flow", "resource", "list", "steps"],
            &["flow", "resource", "set", "steps", "oven", "3"],
            &["flow", "resource", "list", "steps"],
            &["flow", "order", "list", "steps"],
            &["flow", "order", "add", "steps", "t", "t"],
            &["flow", "schedule", "list", "steps"],
            &["flow", "schedule", "pause", "steps", "nightly"],
            &["flow", "lint", "steps"],
            &["webhook", "list"],
            &["webhook", "remove", "https://example.org/none"],
            &["token", "list"],
            &["token", "revoke", "9"],
        ],
    );
    is_as_kept("reserve", &text);
}

#[harness::test]
fn answers_about_peoples_work() {
    let cli = Cli::with_steps();
    let text = transcript(
        &cli,
        &[
            &["work", "people"],
            &["work", "roles"],
            &["work", "people", "--add", "ann", "--role", "clerk"],
            &["work", "--as", "ann", "list"],
            &["work", "--as", "ann", "messages"],
            &["work", "--as", "ann", "show", "9"],
            &["work", "--as", "ann", "select", "9"],
            &["work", "--as", "ann", "begin", "steps"],
        ],
    );
    is_as_kept("work", &text);
}

#[harness::test]
fn refusals_name_what_is_wrong_and_how_to_mend_it() {
    let cli = Cli::with_steps();
    let file = |name: &str, text: &str| path(&cli.file(name, text.as_bytes())).to_owned();
    let predicate = file("predicate.toml", &STEPS.replace("n < 3", "n < 3 AND oops > 1"));
    let syntax = file("syntax.toml", "name = steps");
    let key = file("key.toml", &format!("colour = 'red'\n{STEPS}"));
    let kind = file("kind.toml", &STEPS.replace("\"integer\"", "\"intejer\""));
    let text = transcript(
        &cli,
        &[
            &["flow", "apply", &predicate],
            &["flow", "apply", &syntax],
            &["flow", "apply", &key],
            &["flow", "apply", &kind],
            &["flow", "apply", "missing.toml"],
            &["flow", "show", "step"],
            &["flow", "create", "Steps!"],
            &["flow", "create", "steps"],
            &["flow", "rollback", "steps", "9"],
            &["flow", "schedule", "set", "steps", "daily", "--cron", "61 * * * *"],
            &["instance", "start", "steps", "m=1"],
            &["instance", "start", "steps", "n=many"],
            &["instance", "show", "steps", "9"],
            &["instance", "show", "steps", "one"],
            &["instance", "retry", "steps", "9"],
            &["instance", "list", "steps", "--where", "oops=1"],
            &["component", "show", "none"],
            &["component", "push", &predicate],
            &["user", "create", "ann", "--role", "king"],
            &["--tenant", "nobody", "flow", "list"],
            &["work", "--as", "nobody", "list"],
            &["guard", "check", "--kind", "pred", "n < "],
        ],
    );
    is_as_kept("refusals", &text);
}

#[harness::test]
fn without_a_server_the_refusal_says_how_to_get_one() {
    let answer = run(wed(NOWHERE).args(["flow", "list"]));
    is_as_kept("nowhere", &format!("{}{}[exit {:?}]", answer.out, answer.err, answer.code));
}

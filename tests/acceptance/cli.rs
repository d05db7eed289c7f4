//! The command line: what it answers, what it refuses, and how it says so.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::support::database::{one_lane, sample_component};
use crate::support::program::{Answer, run, wed};
use crate::support::{Database, Session, eventually, on, repository};

/// A database address at which no server answers.
const NOWHERE: &str = "postgres://nobody@127.0.0.1:1/nothing";

/// Definition file with one attribute that one transition raises.
const STEPS: &str = r#"
name = "steps"
description = "Raises a number"
final = "n >= 3"
[[attribute]]
name = "n"
type = "integer"
default = "0"
[[attribute]]
name = "remark"
[[trigger]]
name = "t"
when = "n < 3"
transition = "step"
"#;

/// `wed` on a database of its own, and files for it.
struct Cli {
    database: Arc<Database>,
    files: tempfile::TempDir,
}

impl Cli {
    fn new() -> Self {
        Cli {
            database: Database::new(),
            files: tempfile::tempdir().expect("a folder"),
        }
    }

    /// With the flow `steps`.
    fn with_steps() -> Self {
        let cli = Cli::new();
        let file = cli.file("flow.toml", STEPS.as_bytes());
        cli.run(&["flow", "apply", path(&file)]).done();
        cli
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let file = self.files.path().join(name);
        std::fs::write(&file, bytes).expect("written");
        file
    }

    fn run(&self, words: &[&str]) -> Answer {
        run(wed(&self.database.url()).args(words))
    }

    /// The answer for machines.
    #[track_caller]
    fn json(&self, words: &[&str]) -> Json {
        let answer = self.run(&[&["--json"], words].concat()).done();
        let document = answer.json();
        // And people get something else.
        assert!(answer.err.is_empty(), "{words:?}: {answer:?}");
        document
    }

    /// Asserts an exit code, and that people and machines get the same error.
    #[track_caller]
    fn fails(&self, code: i32, words: &[&str]) -> Json {
        let people = self.run(words).exits(code);
        assert!(people.out.is_empty(), "{words:?}: {people:?}");
        says_error(&people);
        let error = self.run(&[&["--json"], words].concat()).exits(code).error();
        assert_eq!(error["exit_code"], code, "{words:?}: {error}");
        let message = error["message"].as_str().expect("a message");
        assert!(people.err.contains(message), "{words:?}: {people:?}");
        // How to mend it, or, in a fragment of SQL, where.
        match error["hint"].as_str() {
            Some(hint) => assert!(people.err.contains(&format!("hint: {hint}")), "{people:?}"),
            None => assert!(error["place"].is_object(), "no hint for {words:?}: {error}"),
        }
        error
    }

    fn flow(&self, name: &str) -> Session {
        let url = on(self.database.store.flow_url("default", name)).expect("its URL");
        Session::on(&self.database, &url)
    }
}

fn path(file: &Path) -> &str {
    file.to_str().expect("a path in UTF-8")
}

fn paper() -> PathBuf {
    sample_component("paper");
    repository("sample-transitions/target/wasm32-wasip2/release/paper.wasm")
}

/// Checks that the answer ends with an error; progress may precede it.
#[track_caller]
fn says_error(answer: &Answer) {
    let said = answer.err.lines().any(|line| line.starts_with("error: "));
    assert!(said, "{answer:?}");
}

#[track_caller]
fn has(document: &Json, keys: &[&str]) {
    for key in keys {
        assert!(
            document.get(key).is_some(),
            "{key} is missing in {document}"
        );
    }
}

#[harness::test]
fn help_names_what_there_is() {
    let help = run(wed(NOWHERE).arg("--help")).done().out;
    for word in ["dev", "serve", "demo", "flow", "component", "instance"] {
        let named = help
            .lines()
            .any(|line| line.trim_start().starts_with(&format!("{word} ")));
        assert!(named, "{word} is missing in {help}");
    }
    assert!(help.contains("Exit codes"), "{help}");
    for noun in [
        "db",
        "flow",
        "component",
        "instance",
        "demo",
        "dev",
        "serve",
    ] {
        run(wed(NOWHERE).args([noun, "--help"])).done();
    }
    // Alone, it helps as well, but that is no success.
    let alone = run(&mut wed(NOWHERE)).exits(2);
    assert!(alone.err.contains("Usage"), "{alone:?}");
    run(wed(NOWHERE).arg("--version")).done();
}

#[harness::test]
fn a_flow_from_its_making_to_its_end() {
    let cli = Cli::new();
    let made = cli.json(&["flow", "create", "own", "--description", "Of my own"]);
    assert_eq!(made["flow"], "own");
    assert!(made["flow_id"].is_i64());

    let url = cli.json(&["flow", "url", "own"]);
    let text = cli.run(&["flow", "url", "own"]).done().out;
    assert_eq!(url["url"], text.trim());
    let mut session = Session::on(&cli.database, text.trim());
    session.run(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('n', 'integer', '0');
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('t', 'step', 'n < 3');
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('n >= 3', true);",
    );
    session.start();

    let list = cli.json(&["flow", "list"]);
    let flow = &list[0];
    assert_eq!(list.as_array().map(Vec::len), Some(1));
    has(
        flow,
        &[
            "flow_id",
            "name",
            "description",
            "version",
            "regular",
            "final",
            "exception",
            "jobs",
        ],
    );
    assert_eq!(
        (
            &flow["name"],
            &flow["description"],
            &flow["regular"],
            &flow["jobs"]
        ),
        (&json!("own"), &json!("Of my own"), &json!(1), &json!(1))
    );
    let shown = cli.json(&["flow", "show", "own"]);
    assert_eq!(shown["flow"]["name"], "own");
    assert_eq!(shown["attributes"][0]["name"], "n");
    assert_eq!(shown["triggers"].as_array().map(Vec::len), Some(2));
    has(
        &shown["triggers"][0],
        &[
            "tgid",
            "tgname",
            "trname",
            "cpred",
            "cfinal",
            "enabled",
            "timeout",
            "component",
        ],
    );
    let text = cli.run(&["flow", "show", "own"]).done().out;
    for part in [
        "Of my own",
        "n < 3",
        "step",
        "(final)",
        "external workers",
        "1 regular",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }

    let again = cli.fails(4, &["flow", "create", "own"]);
    assert!(
        again["message"]
            .as_str()
            .is_some_and(|text| text.contains("own")),
        "{again}"
    );

    drop(session);
    let gone = cli.json(&["flow", "drop", "own", "--yes"]);
    assert_eq!(gone, json!({ "flow": "own", "dropped": true }));
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
    for key in [
        "attributes_added",
        "triggers_added",
        "triggers_changed",
        "triggers_removed",
    ] {
        assert_eq!(again["applied"][key], json!([]), "{key}");
    }
    let changed = STEPS.replace("n < 3", "n < 2 OR n = 2");
    cli.file("flow.toml", changed.as_bytes());
    let answer = cli.run(&["flow", "apply", path(&file)]).done();
    assert!(answer.out.contains("triggers changed: t"), "{answer:?}");
    cli.file(
        "flow.toml",
        format!("{changed}[[attribute]]\nname = \"more\"\n").as_bytes(),
    );
    let more = cli.json(&["flow", "apply", path(&file)]);
    assert_eq!(more["applied"]["attributes_added"], json!(["more"]));
}

#[harness::test]
fn a_rematch_shows_before_it_fires() {
    let cli = Cli::with_steps();
    let mut session = cli.flow("steps");
    let wid = session.start();
    session.run("INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('u', 'other', 'n = 0')");
    let shown = cli.json(&["flow", "rematch", "steps"]);
    assert_eq!(
        shown,
        json!([{ "wid": wid, "fires": ["other"], "becomes": "R" }])
    );
    assert_eq!(session.pending(wid), ["step"]);
    let text = cli.run(&["flow", "rematch", "steps"]).done();
    assert!(
        text.out.contains("would fire") && text.err.contains("--apply"),
        "{text:?}"
    );
    assert_eq!(cli.json(&["flow", "rematch", "steps", "--apply"]), shown);
    assert_eq!(session.pending(wid), ["other", "step"]);
    assert_eq!(
        cli.json(&["flow", "rematch", "steps", "--apply"]),
        json!([])
    );
}

#[harness::test]
fn components_are_pushed_bound_and_shown() {
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
    let performers = || -> Vec<Json> {
        let shown = cli.json(&["flow", "show", "paper"]);
        let triggers = shown["triggers"].as_array().expect("triggers").clone();
        triggers
            .into_iter()
            .filter(|trigger| trigger["cfinal"] == false)
            .map(|trigger| trigger["component"].clone())
            .collect()
    };
    let none = Json::Null;
    let by = json!("mine");

    let pushed = cli.json(&["component", "push", path(&wasm), "--name", "mine"]);
    let pushed = &pushed[0];
    has(pushed, &["component", "version", "digest", "transitions"]);
    assert_eq!((&pushed["component"], &pushed["version"]), (&by, &json!(1)));
    assert_eq!(pushed["transitions"], json!(["tr_a2", "tr_a3", "tr_final"]));
    assert_eq!(performers(), [none.clone(), none.clone(), none.clone()]);

    let words = [
        "component",
        "push",
        path(&wasm),
        "--name",
        "mine",
        "--flow",
        "paper",
    ];
    cli.run(
        &[
            &words[..],
            &["--transition", "tr_a2", "--transition", "tr_a3"],
        ]
        .concat(),
    )
    .done();
    assert_eq!(performers(), [by.clone(), by.clone(), none.clone()]);
    let unbound = cli.json(&["flow", "unbind", "paper", "tr_a2"]);
    assert_eq!(
        unbound,
        json!({ "flow": "paper", "transition": "tr_a2", "component": null })
    );
    assert_eq!(performers(), [none.clone(), by.clone(), none.clone()]);
    let bound = cli.json(&["flow", "bind", "paper", "tr_a2", "mine"]);
    assert_eq!(
        bound,
        json!({ "flow": "paper", "transition": "tr_a2", "component": "mine" })
    );
    assert_eq!(performers(), [by.clone(), by.clone(), none]);
    // All that it declares. The same bytes are no new version.
    let all = cli.json(&words);
    assert_eq!(all[0]["version"], 1);
    assert_eq!(performers(), [by.clone(), by.clone(), by]);
    let error = cli.fails(4, &[&words[..], &["--transition", "tr_a9"]].concat());
    assert!(
        error["hint"]
            .as_str()
            .is_some_and(|hint| hint.contains("tr_a2, tr_a3")),
        "{error}"
    );

    let list = cli.json(&["component", "list"]);
    assert_eq!(list.as_array().map(Vec::len), Some(1));
    has(
        &list[0],
        &[
            "name",
            "version",
            "digest",
            "size",
            "manifest",
            "created_at",
            "used_by",
        ],
    );
    assert_eq!(
        list[0]["used_by"],
        json!(["paper/tr_a2", "paper/tr_a3", "paper/tr_final"])
    );
    let shown = cli.json(&["component", "show", "mine"]);
    assert_eq!(shown[0]["digest"], pushed["digest"]);
    assert_eq!(
        shown[0]["manifest"]["transitions"][0]["writes"],
        json!([{ "name": "a2", "kind": "text" }])
    );
    let text = cli.run(&["component", "show", "mine"]).done().out;
    for part in ["mine version 1", "tr_final", "a2 text", "paper/tr_a3"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let text = cli.run(&["component", "push", path(&wasm)]).done().out;
    assert!(
        text.contains("Component paper version 1 performs tr_a2"),
        "{text}"
    );
}

#[harness::test]
fn an_instance_is_started_and_shown() {
    let cli = Cli::with_steps();
    let started = cli.json(&["instance", "start", "steps"]);
    assert_eq!(started, json!({ "flow": "steps", "wid": 1 }));
    // A text that looks like a number or JSON stays a text; a number is a number.
    cli.run(&["instance", "start", "steps", "n=2", "remark=007"])
        .done();
    cli.run(&[
        "instance",
        "start",
        "steps",
        "--state",
        r#"{"n": 1, "remark": "it's \"odd\""}"#,
    ])
    .done();
    // Both together, and final from the start.
    cli.run(&[
        "instance",
        "start",
        "steps",
        "n=3",
        "--state",
        r#"{"remark": null}"#,
    ])
    .done();
    let list = cli.json(&["instance", "list", "steps"]);
    let states: Vec<&Json> = list
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| &one["state"])
        .collect();
    assert_eq!(
        states,
        [
            &json!({ "n": 3, "remark": null }),
            &json!({ "n": 1, "remark": "it's \"odd\"" }),
            &json!({ "n": 2, "remark": "007" }),
            &json!({ "n": 0, "remark": null }),
        ]
    );
    has(
        &list[0],
        &["wid", "status", "state", "started", "changed", "pending"],
    );
    assert_eq!(list[1]["pending"], json!(["step"]));
    let finals = cli.json(&["instance", "list", "steps", "--status", "final"]);
    assert_eq!(finals.as_array().map(Vec::len), Some(1));
    assert_eq!(finals[0]["wid"], 4);
    let two = cli.json(&[
        "instance", "list", "steps", "--status", "regular", "--limit", "2",
    ]);
    assert_eq!(two.as_array().map(Vec::len), Some(2));

    let shown = cli.json(&["instance", "show", "steps", "2"]);
    has(&shown, &["instance", "jobs", "attempts", "logs"]);
    assert_eq!(shown["instance"]["wid"], 2);
    assert_eq!(shown["jobs"][0]["trname"], "step");
    let text = cli.run(&["instance", "show", "steps", "2"]).done().out;
    for part in ["Instance 2 of steps: regular", "007", "Pending:", "step"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }

    cli.flow("steps")
        .finish(2, "step", "n = 3, remark = 'done'");
    let trace = cli.json(&["instance", "trace", "steps", "2"]);
    assert_eq!(trace.as_array().map(Vec::len), Some(2));
    has(
        &trace[0],
        &[
            "wid", "seq", "trw", "trf", "status", "state", "tstmp", "writer", "note",
        ],
    );
    assert_eq!(
        (&trace[1]["seq"], &trace[1]["trw"], &trace[1]["status"]),
        (&json!(2), &json!("step"), &json!("F"))
    );
    let text = cli.run(&["instance", "trace", "steps", "2"]).done().out;
    for part in ["(start)", "written by", "step", "final", "done"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

#[harness::test]
fn an_instance_is_watched_until_it_is_final() {
    let cli = Cli::with_steps();
    let mut session = cli.flow("steps");
    let wid = session.start();
    let mut watching = wed(&cli.database.url())
        .args(["instance", "watch", "steps", &wid.to_string(), "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("wed starts");
    let mut lines = BufReader::new(watching.stdout.take().expect("its output")).lines();
    let mut next = || -> Json {
        let line = lines.next().expect("a line").expect("text");
        serde_json::from_str(&line).expect("JSON on a line")
    };
    assert_eq!(next()["seq"], 1);
    // Each row is printed when it is there, not at the end.
    session.finish(wid, "step", "n = 1");
    assert_eq!(next()["trw"], "step");
    session.finish(wid, "step", "n = 3");
    let last = next();
    assert_eq!((&last["seq"], &last["status"]), (&json!(3), &json!("F")));
    let status = eventually("the end of watching", || {
        watching.try_wait().expect("a status")
    });
    assert_eq!(status.code(), Some(0));
}

#[harness::test]
fn waiting_for_an_instance_prints_its_trace() {
    let cli = Cli::new();
    cli.database.upload("paper", sample_component("paper"));
    let file = repository("sample-transitions/paper/flow.toml");
    cli.run(&["flow", "apply", path(&file)]).done();
    let host = cli.database.host(one_lane("waited-for"));
    let people = cli.run(&["instance", "start", "paper", "--wait"]);
    let machines = cli.run(&["instance", "start", "paper", "a2=given", "--wait", "--json"]);
    on(host.stop());
    for part in ["(start)", "tr_a2", "tr_a3", "tr_final", "final"] {
        assert!(people.out.contains(part), "{part} is missing in {people:?}");
    }
    people.done();
    let rows: Vec<Json> = machines
        .done()
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON on a line"))
        .collect();
    let wrote: Vec<&Json> = rows.iter().map(|row| &row["trw"]).collect();
    assert_eq!(wrote, [&Json::Null, &json!("tr_a3"), &json!("tr_final")]);
    assert_eq!(rows[2]["status"], "F");
}

#[harness::test]
fn waiting_for_an_exception_fails() {
    let cli = Cli::new();
    cli.database.upload("paper", sample_component("paper"));
    // After tr_a2 no condition holds.
    let file = cli.file(
        "flow.toml",
        b"name = 'stuck'\nfinal = \"a2 = 'never'\"\n[[attribute]]\nname = 'a2'\n[[trigger]]\nname = 't'\n\
          when = 'a2 IS NULL'\ntransition = 'tr_a2'\n[transition.tr_a2]\ncomponent = 'paper'\n",
    );
    cli.run(&["flow", "apply", path(&file)]).done();
    let host = cli.database.host(one_lane("excepted"));
    let answer = cli.run(&["instance", "start", "stuck", "--wait"]).exits(1);
    on(host.stop());
    assert!(answer.out.contains("exception"), "{answer:?}");
    assert!(
        answer.err.contains("error: instance 1 is an exception"),
        "{answer:?}"
    );
    assert!(
        answer.err.contains("hint: `wed instance show stuck 1`"),
        "{answer:?}"
    );
    let list = cli.json(&["instance", "list", "stuck", "--status", "exception"]);
    assert_eq!(list[0]["pending"], json!(["_EXCPT"]));
}

#[harness::test]
fn the_demos_are_listed_without_a_database() {
    let list = run(wed(NOWHERE).args(["demo", "--json"])).done().json();
    let names: Vec<&str> = list
        .as_array()
        .expect("a list")
        .iter()
        .map(|demo| demo["demo"].as_str().expect("a name"))
        .collect();
    assert_eq!(
        names,
        [
            "paper",
            "counters",
            "random-walk",
            "patterns",
            "travel",
            "book-sale",
            "order",
            "requisition",
            "manutencao"
        ]
    );
    has(&list[0], &["demo", "about"]);
    let text = run(wed(NOWHERE).arg("demo")).done().out;
    assert!(names.iter().all(|name| text.contains(name)), "{text}");
}

#[harness::test]
fn the_private_database_tells_where_it_is() {
    let home = tempfile::tempdir().expect("a folder");
    let status =
        |words: &[&str]| run(wed(NOWHERE).env("WEDFLOW_HOME", home.path()).args(words)).done();
    let document = status(&["db", "status", "--json"]).json();
    has(&document, &["running", "port", "home", "version"]);
    assert_eq!(document["running"], false);
    assert_eq!(document["home"], path(home.path()));
    let text = status(&["db", "status"]).out;
    assert!(
        text.contains("is not running") && text.contains(path(home.path())),
        "{text}"
    );
    // Asking makes nothing.
    let entries = std::fs::read_dir(home.path()).expect("the folder").count();
    assert_eq!(entries, 0);
}

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
        assert!(
            answer.err.contains("error: ") && answer.err.contains("--help"),
            "{answer:?}"
        );
    }
    cli.fails(2, &["component", "push", wasm, wasm, "--name", "two"]);
    cli.fails(2, &["instance", "start", "steps", "n"]);
    cli.fails(2, &["instance", "start", "steps", "--state", "[1]"]);
    cli.fails(2, &["instance", "start", "steps", "--state", "{n: 1}"]);
    for (name, text) in [
        ("broken.toml", "name = "),
        ("unnamed.toml", "final = 'true'"),
        ("typo.toml", "name = 'x'\nfinall = 'true'"),
    ] {
        let file = cli.file(name, text.as_bytes());
        let error = cli.fails(2, &["flow", "apply", path(&file)]);
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|text| text.contains(name)),
            "{error}"
        );
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
        assert!(
            message.contains("none") || message.contains("77"),
            "{error}"
        );
    }
    let nothing = cli.files.path().join("nothing");
    for words in [
        ["flow", "apply", path(&nothing)],
        ["component", "push", path(&nothing)],
    ] {
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
    let error = cli
        .run(&[&["--json"], &refused[..]].concat())
        .exits(4)
        .error();
    assert_eq!(error["code"], "WF001", "{error}");
    let wasm = paper();
    cli.fails(
        4,
        &["component", "push", path(&wasm), "--name", "Two Words"],
    );
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
        let error = run(wed(url).args(["flow", "list", "--json"]))
            .exits(5)
            .error();
        assert_eq!(error["exit_code"], 5, "{error}");
    }
    let people = run(wed("nonsense").args(["flow", "list"])).exits(5);
    says_error(&people);
    assert!(
        people.err.contains("hint: Check DATABASE_URL"),
        "{people:?}"
    );
    // The command line comes first.
    let database = Database::new();
    run(wed(NOWHERE).args(["flow", "list", "--database-url", &database.url()])).done();
}

#[harness::test]
fn a_bad_predicate_is_pointed_at() {
    let cli = Cli::new();
    for predicate in [
        "n < 3 AND oops > 1",
        "n < 3\n  AND oops > 1",
        "remark = 'ü' OR oops",
    ] {
        let text = STEPS.replace("\"n < 3\"", &format!("'''{predicate}'''"));
        let file = cli.file("flow.toml", text.as_bytes());
        let error = cli.fails(4, &["flow", "apply", path(&file)]);
        let before = predicate.split("oops").next().expect("what comes before");
        assert_eq!(
            error["place"],
            json!({ "fragment": predicate, "position": before.chars().count() + 1 })
        );
        let people = cli.run(&["flow", "apply", path(&file)]).err;
        let lines: Vec<&str> = people.lines().collect();
        let caret = lines
            .iter()
            .position(|line| line.contains('^'))
            .unwrap_or_else(|| panic!("no caret in {people}"));
        let column = |line: &str, what: &str| {
            let (before, _) = line.split_once(what).expect("it is there");
            before.chars().count()
        };
        assert_eq!(
            column(lines[caret], "^"),
            column(lines[caret - 1], "oops"),
            "{people}"
        );
        let place = format!("character {}", before.chars().count() + 1);
        assert!(lines[caret].contains(&place), "{people}");
    }
}

#[harness::test]
fn an_unknown_attribute_is_answered_with_those_there_are() {
    let cli = Cli::with_steps();
    for words in [["m=1", "n=1"], ["--state", r#"{"m": 1}"#]] {
        let error = cli.fails(4, &[&["instance", "start", "steps"][..], &words].concat());
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|text| text.contains("\"m\"")),
            "{error}"
        );
        let hint = error["hint"].as_str().unwrap_or_default();
        assert!(hint.contains('n') && hint.contains("remark"), "{error}");
    }
    // A value that is none of the type is refused as well.
    cli.run(&["instance", "start", "steps", "n=many"]).exits(4);
    assert_eq!(cli.json(&["instance", "list", "steps"]), json!([]));
}

#[harness::test]
fn dropping_a_flow_must_be_confirmed() {
    let cli = Cli::with_steps();
    cli.flow("steps").start();
    let error = cli.fails(2, &["flow", "drop", "steps"]);
    assert!(
        error["hint"]
            .as_str()
            .is_some_and(|hint| hint.contains("--yes")),
        "{error}"
    );
    assert_eq!(
        cli.json(&["instance", "list", "steps"])
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    // Not even by an answer that nobody typed.
    let mut asked = wed(&cli.database.url());
    let mut asked = asked
        .args(["flow", "drop", "steps"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("wed starts");
    let _ = asked.stdin.take().expect("its input").write_all(b"yes\n");
    let status = eventually("its answer", || asked.try_wait().expect("a status"));
    assert_eq!(status.code(), Some(2));
    assert_eq!(
        cli.json(&["flow", "list"]).as_array().map(Vec::len),
        Some(1)
    );
}

#[harness::test]
fn hints_carry_the_options_in_force() {
    let cli = Cli::new();
    on(cli.database.store.create_tenant("bobs", "")).expect("a tenant");
    let made = cli
        .run(&[
            "--tenant", "bobs", "user", "create", "ann", "--role", "admin",
        ])
        .done();
    assert!(
        made.err.contains("wed --tenant bobs token create ann"),
        "{made:?}"
    );
    let url = cli.database.url();
    let made = run(wed(NOWHERE)
        .args(["user", "create", "bob", "--role", "viewer"])
        .args(["--database-url", &url]));
    assert!(made.done().err.contains(&format!("--database-url '{url}'")));
    let missing = cli.run(&["token", "create", "zoe"]).exits(3);
    assert!(missing.err.contains("tenant default"), "{missing:?}");
}

#[harness::test]
fn who_waits_is_told_why_nothing_happens() {
    let cli = Cli::with_steps();
    cli.flow("steps").start();
    for words in [
        &["instance", "watch", "steps", "1"][..],
        &["job", "logs", "steps", "1", "--follow"],
    ] {
        let said = tempfile::NamedTempFile::new().expect("a file");
        let mut waits = wed(&cli.database.url())
            .args(words)
            .stdout(Stdio::null())
            .stderr(said.reopen().expect("the file"))
            .spawn()
            .expect("wed starts");
        eventually("the reason", || {
            let text = std::fs::read_to_string(said.path()).ok()?;
            text.contains("waiting: step [no_worker]").then_some(())
        });
        assert!(waits.try_wait().expect("a status").is_none());
        waits.kill().expect("ended");
        waits.wait().expect("ended");
    }
}

#[harness::test]
fn a_rotated_token_keeps_its_life() {
    let cli = Cli::new();
    cli.run(&["user", "create", "ann", "--role", "viewer"])
        .done();
    let day = |document: &Json| {
        document["expires_at"]
            .as_str()
            .map(|text| text[..10].to_owned())
    };
    let first = cli.json(&["token", "create", "ann", "--days", "30"]);
    let second = cli.json(&["token", "rotate", first["id"].as_str().expect("an id")]);
    assert_eq!(day(&second), day(&first));
}

#[harness::test]
fn an_answer_that_cannot_be_written_fails() {
    let cli = Cli::with_steps();
    cli.run(&["user", "create", "ann", "--role", "viewer"])
        .done();
    let into_full = |words: &[&str]| {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let status = wed(&cli.database.url())
            .args(words)
            .stdout(full.expect("the device"))
            .stderr(Stdio::null())
            .status();
        status.expect("wed runs").code()
    };
    for words in [
        &["flow", "list"][..],
        &["flow", "url", "steps"],
        &["token", "create", "ann"],
    ] {
        assert_eq!(into_full(words), Some(1), "{words:?}");
    }
    // A token that nobody saw is worth nothing.
    let tokens = cli.json(&["token", "list"]);
    assert_eq!(tokens[0]["status"], "revoked", "{tokens}");
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
    assert!(
        changed.out.contains("is changed") && changed.out.contains("step by none"),
        "{changed:?}"
    );
    assert!(
        changed.err.contains("component none was not uploaded"),
        "{changed:?}"
    );
    cli.flow("steps")
        .run("UPDATE wed_trig SET enabled = false WHERE trname = 'step'");
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
fn instances_are_found_by_status_and_value_in_the_tables_own_words() {
    let cli = Cli::with_steps();
    for remark in ["tea", "milk"] {
        let remark = format!("remark={remark}");
        cli.run(&["instance", "start", "steps", &remark]).done();
    }
    let table = cli.run(&["instance", "list", "steps"]).done().out;
    assert!(
        table.contains(" regular ") && !table.contains("running"),
        "{table}"
    );
    for word in ["regular", "running"] {
        let found = cli.json(&["instance", "list", "steps", "--status", word]);
        assert_eq!(found.as_array().map(Vec::len), Some(2), "{word}");
    }
    let found = cli.json(&[
        "instance",
        "list",
        "steps",
        "--where",
        "remark=tea",
        "--where",
        "n=0",
    ]);
    assert_eq!(
        (found.as_array().map(Vec::len), &found[0]["wid"]),
        (Some(1), &json!(1))
    );
    // A pipe gets a line for each row, in the order of the flow's attributes.
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert!(
        lines[1].contains("n=0 remark=milk") && !table.contains('│'),
        "{table}"
    );
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
    assert!(
        table.contains("paper") && !table.contains("tr_a"),
        "{table}"
    );
}

#[harness::test]
fn mistakes_are_told_with_what_where_and_how_to_mend() {
    let cli = Cli::with_steps();
    let wrong = cli.run(&["instance", "start", "steps", "n=many"]).exits(4);
    assert!(wrong.err.contains("attribute \"n\""), "{wrong:?}");
    let text = STEPS.replace(
        "when = \"n < 3\"",
        "when = \"n < 3\"\ntimeout = \"one second\"",
    );
    assert_ne!(text, STEPS);
    let file = cli.file("interval.toml", text.as_bytes());
    let wrong = cli.run(&["flow", "apply", path(&file)]).exits(4);
    assert!(
        wrong.err.contains("trigger \"") && wrong.err.contains("10 minutes"),
        "{wrong:?}"
    );
    let home = tempfile::tempdir().expect("a folder");
    let wrong = run(wed("")
        .env("WEDFLOW_HOME", home.path())
        .env("WEDFLOW_POSTGRES_PORT", "abc")
        .args(["db", "status"]));
    assert!(
        wrong.err.contains("WEDFLOW_POSTGRES_PORT") && wrong.err.contains("a number from 1"),
        "{wrong:?}"
    );
    let unknown = cli
        .database
        .url()
        .replace("postgres://", "postgres://nobody:wrong@");
    let at = unknown.rfind('@').expect("a user");
    let url = format!("postgres://nobody:wrong{}", &unknown[at..]);
    let wrong = run(wed(&url).args(["flow", "list"])).exits(5);
    assert!(wrong.err.contains("DATABASE_URL"), "{wrong:?}");
    let wasm = cli.file("core.wasm", b"\0asm\x01\0\0\0");
    let wrong = cli.run(&["component", "push", path(&wasm)]).exits(4);
    assert!(wrong.err.contains("wed component encode"), "{wrong:?}");
    // Words that are no command: as a document where one is asked for, and no tip that removes something.
    let wrong = cli.run(&["flow", "shw", "--json"]).exits(2).error();
    assert_eq!(wrong["exit_code"], 2);
    for words in [["flow", "dro"], ["user", "delet"], ["token", "revok"]] {
        let wrong = cli.run(&words).exits(2);
        assert!(!wrong.err.contains("tip:"), "{wrong:?}");
    }
    let paper = paper();
    cli.run(&["component", "push", path(&paper)]).done();
    let wrong = cli.run(&["component", "rollback", "paper"]).exits(3);
    assert!(
        wrong
            .err
            .contains("no earlier version of component \"paper\""),
        "{wrong:?}"
    );
}

#[harness::test]
fn a_second_signal_ends_a_host_at_once() {
    let database = Database::new();
    let flow = crate::host::flow_of_one(&database, "sleep-forever", ", timeout='1 minute'");
    let mut host = wed(&database.url())
        .args(["serve", "--lanes", "1"])
        .stderr(Stdio::null())
        .spawn()
        .expect("wed runs");
    let mut session = flow.session();
    session.start();
    eventually("the job in the host's hands", || {
        (session.line("SELECT count(lckid) FROM job_pool") == "1").then_some(())
    });
    // The first one lets what runs go on for some seconds.
    let id = host.id().to_string();
    run(std::process::Command::new("kill").args(["-TERM", &id])).done();
    std::thread::sleep(std::time::Duration::from_millis(500));
    // It may have ended by then.
    let _ = std::process::Command::new("kill")
        .args(["-TERM", &id])
        .output();
    assert!(matches!(
        host.wait().expect("it ends").code(),
        Some(0 | 143)
    ));
}

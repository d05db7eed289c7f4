//! Instances: started, watched, waited for, found.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value as Json, json};

use super::{Cli, has, path};
use crate::support::database::{one_lane, sample_component};
use crate::support::program::wed;
use crate::support::{eventually, on, repository};

/// Four instances of the flow `steps`, the last of them final from the start.
fn four_instances() -> Cli {
    let cli = Cli::with_steps();
    let started = cli.json(&["instance", "start", "steps"]);
    assert_eq!(started, json!({ "flow": "steps", "wid": 1 }));
    let start = ["instance", "start", "steps"];
    for words in [
        // A text that looks like a number or JSON stays a text; a number is a number.
        &["n=2", "remark=007"][..],
        &["--state", r#"{"n": 1, "remark": "it's \"odd\""}"#],
        // Both together, and final from the start.
        &["n=3", "--state", r#"{"remark": null}"#],
    ] {
        cli.run(&[&start[..], words].concat()).done();
    }
    cli
}

#[harness::test]
fn text_of_a_tenant_moves_no_cursor_and_turns_no_direction() {
    let cli = Cli::with_steps();
    let remark = "paid\r\u{202e}due\u{9b}2J";
    cli.run(&["instance", "start", "steps", &format!("remark={remark}")]).done();
    let shown = cli.run(&["instance", "show", "steps", "1"]).done().out;
    assert!(shown.contains("\\u000d\\u202edue\\u009b2J"), "{shown}");
    assert!(!shown.contains(['\r', '\u{202e}', '\u{9b}']), "{shown:?}");
    let document = cli.run(&["--json", "instance", "show", "steps", "1"]).done();
    assert!(!document.out.contains(['\u{202e}', '\u{9b}']));
    assert!(document.json().to_string().contains("\u{202e}due"), "the same text");
}

#[harness::test]
fn instances_are_started_and_listed() {
    let cli = four_instances();
    let list = cli.json(&["instance", "list", "steps"]);
    let states: Vec<&Json> = list.as_array().expect("a list").iter().map(|one| &one["state"]).collect();
    assert_eq!(
        states,
        [
            &json!({ "n": 3, "remark": null }),
            &json!({ "n": 1, "remark": "it's \"odd\"" }),
            &json!({ "n": 2, "remark": "007" }),
            &json!({ "n": 0, "remark": null }),
        ]
    );
    has(&list[0], &["wid", "status", "state", "started", "changed", "pending"]);
    assert_eq!(list[1]["pending"], json!(["step"]));
    let finals = cli.json(&["instance", "list", "steps", "--status", "final"]);
    assert_eq!(finals.as_array().map(Vec::len), Some(1));
    assert_eq!(finals[0]["wid"], 4);
    let two = cli.json(&["instance", "list", "steps", "--status", "regular", "--limit", "2"]);
    assert_eq!(two.as_array().map(Vec::len), Some(2));
}

#[harness::test]
fn an_instance_is_shown_with_its_jobs_and_trace() {
    let cli = four_instances();
    let shown = cli.json(&["instance", "show", "steps", "2"]);
    has(&shown, &["instance", "jobs", "attempts", "logs"]);
    assert_eq!(shown["instance"]["wid"], 2);
    assert_eq!(shown["jobs"][0]["transition"], "step");
    let text = cli.run(&["instance", "show", "steps", "2"]).done().out;
    for part in ["Instance 2 of steps: regular", "007", "Pending:", "step"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }

    cli.flow("steps").finish(2, "step", "n = 3, remark = 'done'");
    let trace = cli.json(&["instance", "trace", "steps", "2"]);
    assert_eq!(trace.as_array().map(Vec::len), Some(2));
    has(&trace[0], &["seq", "transition", "fired", "status", "state", "at", "writer", "note"]);
    assert_eq!(
        (&trace[1]["seq"], &trace[1]["transition"], &trace[1]["status"]),
        (&json!(2), &json!("step"), &json!("final"))
    );
    let text = cli.run(&["instance", "trace", "steps", "2"]).done().out;
    for part in ["(start)", "written by", "step", "final", "done"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    for row in trace.as_array().expect("rows") {
        let second = &row["at"].as_str().expect("a time")[..19];
        assert!(text.contains(second), "{second} is missing in {text}");
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
    assert_eq!(next()["transition"], "step");
    session.finish(wid, "step", "n = 3");
    let last = next();
    assert_eq!((&last["seq"], &last["status"]), (&json!(3), &json!("final")));
    let status = eventually("the end of watching", || watching.try_wait().expect("a status"));
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
    let rows: Vec<Json> =
        machines.done().out.lines().map(|line| serde_json::from_str(line).expect("JSON on a line")).collect();
    let wrote: Vec<&Json> = rows.iter().map(|row| &row["transition"]).collect();
    assert_eq!(wrote, [&Json::Null, &json!("tr_a3"), &json!("tr_final")]);
    assert_eq!(rows[2]["status"], "final");
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
    assert!(answer.err.contains("error: instance 1 is an exception"), "{answer:?}");
    assert!(answer.err.contains("hint: `wed instance show stuck 1`"), "{answer:?}");
    let list = cli.json(&["instance", "list", "stuck", "--status", "exception"]);
    assert_eq!(list[0]["pending"], json!(["_EXCPT"]));
}

#[harness::test]
fn who_waits_is_told_why_nothing_happens() {
    let cli = Cli::with_steps();
    cli.flow("steps").start();
    for words in [&["instance", "watch", "steps", "1"][..], &["job", "logs", "steps", "1", "--follow"]] {
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
fn instances_are_found_by_status_and_value_in_the_tables_own_words() {
    let cli = Cli::with_steps();
    for remark in ["tea", "milk"] {
        let remark = format!("remark={remark}");
        cli.run(&["instance", "start", "steps", &remark]).done();
    }
    let table = cli.run(&["instance", "list", "steps"]).done().out;
    assert!(table.contains(" regular ") && !table.contains("running"), "{table}");
    for word in ["regular", "running"] {
        let found = cli.json(&["instance", "list", "steps", "--status", word]);
        assert_eq!(found.as_array().map(Vec::len), Some(2), "{word}");
    }
    let found = cli.json(&["instance", "list", "steps", "--where", "remark=tea", "--where", "n=0"]);
    assert_eq!((found.as_array().map(Vec::len), &found[0]["wid"]), (Some(1), &json!(1)));
    // A pipe gets a line for each row, in the order of the flow's attributes.
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert!(lines[1].contains("n=0 remark=milk") && !table.contains('│'), "{table}");
}

#[harness::test]
fn what_an_instance_shows_is_of_one_moment() {
    let cli = Cli::with_steps();
    cli.json(&["instance", "start", "steps", "n=2"]);
    let mut holder = cli.database.owner();
    // Attempts are read in the middle.
    holder.run("BEGIN; LOCK TABLE wed.attempt IN ACCESS EXCLUSIVE MODE");
    let shown = std::thread::scope(|scope| {
        let showing = scope.spawn(|| cli.run(&["--json", "instance", "show", "steps", "1"]));
        eventually("it waits", || {
            let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'wed.attempt'::regclass";
            (holder.number(waiting) > 0).then_some(())
        });
        cli.flow("steps").finish(1, "step", "n = 3");
        holder.run("ROLLBACK");
        showing.join().expect("shown").done().json()
    });
    assert_eq!(shown["instance"]["status"], "regular", "{shown}");
    assert_eq!(shown["instance"]["state"]["n"], 2, "{shown}");
    assert_eq!(shown["jobs"][0]["transition"], "step", "{shown}");
    let now = cli.json(&["instance", "show", "steps", "1"]);
    assert_eq!((&now["instance"]["status"], &now["jobs"]), (&json!("final"), &json!([])));
}

#[harness::test]
fn command_that_waits_for_a_lock_says_who_holds_it() {
    let cli = Cli::with_steps();
    let mut holder = cli.database.owner();
    holder.run("BEGIN; LOCK TABLE wed.job IN ACCESS EXCLUSIVE MODE");
    let pid = holder.line("SELECT pg_backend_pid()");
    let mut program = wed(&cli.database.url());
    program.args(["job", "list", "steps"]).stderr(Stdio::piped());
    let mut program = program.stdout(Stdio::null()).spawn().expect("started");
    let mut line = String::new();
    let mut told = BufReader::new(program.stderr.take().expect("its errors"));
    told.read_line(&mut line).expect("a line");
    holder.run("ROLLBACK");
    assert!(program.wait().expect("it ends").success());
    let named = format!("Waiting for a lock on wed.job, which session {pid} (");
    assert!(line.contains(&named), "{line}");
}

#[harness::test]
fn why_says_that_an_exception_keeps_triggers_from_firing() {
    let cli = Cli::with_steps();
    cli.json(&["instance", "start", "steps"]);
    cli.run(&["instance", "skip", "steps", "1", "--transition", "step", "--reason", "x"]).done();
    let why = cli.json(&["why", "steps", "1"]);
    assert_eq!(why["status"], "exception", "{why}");
    let told = why["exception"].as_str().expect("a text");
    assert!(told.contains("`wed instance retry steps 1`"), "{told}");
    let told = cli.run(&["why", "steps", "1"]).done().out;
    assert!(told.contains("No trigger fires: the instance is an exception"), "{told}");
}

//! Refusals: what, where, and how to mend it; in psql too.

use serde_json::json;

use super::{Cli, STEPS, paper, path};
use crate::support::program::{psql, run, wed};
use crate::support::{Session, on};

#[harness::test]
fn a_bad_predicate_is_pointed_at() {
    let cli = Cli::new();
    for predicate in ["n < 3 AND oops > 1", "n < 3\n  AND oops > 1", "remark = 'ü' OR oops"] {
        let text = STEPS.replace("\"n < 3\"", &format!("'''{predicate}'''"));
        let file = cli.file("flow.toml", text.as_bytes());
        let error = cli.fails(4, &["flow", "apply", path(&file)]);
        let before = predicate.split("oops").next().expect("what comes before");
        assert_eq!(error["place"], json!({ "fragment": predicate, "position": before.chars().count() + 1 }));
        let people = cli.run(&["flow", "apply", path(&file)]).err;
        let lines: Vec<&str> = people.lines().collect();
        let caret = lines.iter().position(|line| line.contains('^')).unwrap_or_else(|| panic!("no caret in {people}"));
        let column = |line: &str, what: &str| {
            let (before, _) = line.split_once(what).expect("it is there");
            before.chars().count()
        };
        assert_eq!(column(lines[caret], "^"), column(lines[caret - 1], "oops"), "{people}");
        let place = format!("character {}", before.chars().count() + 1);
        assert!(lines[caret].contains(&place), "{people}");
    }
}

#[harness::test]
fn an_unknown_attribute_is_answered_with_those_there_are() {
    let cli = Cli::with_steps();
    for words in [["m=1", "n=1"], ["--state", r#"{"m": 1}"#]] {
        let error = cli.fails(4, &[&["instance", "start", "steps"][..], &words].concat());
        assert!(error["message"].as_str().is_some_and(|text| text.contains("\"m\"")), "{error}");
        let hint = error["hint"].as_str().unwrap_or_default();
        assert!(hint.contains('n') && hint.contains("remark"), "{error}");
    }
    // A value that is none of the type is refused as well.
    cli.run(&["instance", "start", "steps", "n=many"]).exits(4);
    assert_eq!(cli.json(&["instance", "list", "steps"]), json!([]));
}

#[harness::test]
fn mistakes_are_told_with_what_where_and_how_to_mend() {
    let cli = Cli::with_steps();
    let wrong = cli.run(&["instance", "start", "steps", "n=many"]).exits(4);
    assert!(wrong.err.contains("attribute \"n\""), "{wrong:?}");
    let text = STEPS.replace("when = \"n < 3\"", "when = \"n < 3\"\ntimeout = \"one second\"");
    assert_ne!(text, STEPS);
    let file = cli.file("interval.toml", text.as_bytes());
    let wrong = cli.run(&["flow", "apply", path(&file)]).exits(4);
    assert!(wrong.err.contains("trigger \"") && wrong.err.contains("10 minutes"), "{wrong:?}");
    let home = tempfile::tempdir().expect("a folder");
    let wrong =
        run(wed("").env("WEDFLOW_HOME", home.path()).env("WEDFLOW_POSTGRES_PORT", "abc").args(["db", "status"]));
    assert!(wrong.err.contains("WEDFLOW_POSTGRES_PORT") && wrong.err.contains("a number from 1"), "{wrong:?}");
    let unknown = cli.database.url().replace("postgres://", "postgres://nobody:wrong@");
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
    assert!(wrong.err.contains("no earlier version of component \"paper\""), "{wrong:?}");
}

/// Refusals of a flow's tables: the SQLSTATE, and a statement that is refused with it.
const REFUSED_STATEMENTS: [(&str, &str); 19] = [
    ("WF001", "INSERT INTO wed_flow (n) VALUES (9)"),
    ("WF002", "UPDATE wed_flow SET remark = 'x' WHERE wid = 2"),
    ("WF003", "UPDATE wed_flow SET n = 1 WHERE wid = 1"),
    ("WF003", "UPDATE wed_flow SET remark = 'x', n = 1 WHERE wid = 1"),
    (
        "WF005",
        "BEGIN; SELECT pg_try_advisory_xact_lock(wid, tgid) FROM job_pool WHERE wid = 1; \
         UPDATE wed_flow SET n = 1 WHERE wid = 1",
    ),
    ("WF006", "BEGIN; UPDATE wed_flow SET remark = 'x' WHERE wid = 1; UPDATE wed_flow SET remark = 'y' WHERE wid = 1"),
    ("WF007", "UPDATE wed_flow SET remark = 'stop' WHERE wid = 1"),
    ("WF008", "UPDATE wed_flow SET wid = 7 WHERE wid = 1"),
    ("WF009", "DELETE FROM wed_flow"),
    ("WF009", "TRUNCATE wed_flow"),
    ("WF011", "INSERT INTO wed_trig (trname, cpred) VALUES ('x', 'pg_sleep(1) IS NULL')"),
    ("WF011", "INSERT INTO wed_trig (trname, cpred) VALUES ('x', 'n = (SELECT 1)')"),
    ("WF012", "INSERT INTO wed_attr (aname) VALUES ('wid')"),
    ("WF013", "INSERT INTO wed_trig (trname, cpred) VALUES ('_x', 'n = 1')"),
    ("WF012", "INSERT INTO wed_attr (aname, atype) VALUES ('z', 'nonsense')"),
    ("WF013", "DELETE FROM wed_trig WHERE trname = 'one'"),
    ("WF013", "DELETE FROM wed_attr WHERE aname = 'n'"),
    ("WF014", "INSERT INTO wed_flow (divisor) VALUES (0)"),
    ("WF033", "UPDATE wed_flow SET remark = repeat('x', 2000000) WHERE wid = 1"),
];

/// The flow `orders` with two triggers and two instances, the second of them final.
fn with_orders() -> (Cli, Session) {
    let cli = Cli::new();
    cli.run(&["flow", "create", "orders"]).done();
    let mut session = cli.flow("orders");
    session.run(
        "INSERT INTO wed_attr (aname, atype, adv, open) VALUES
           ('n', 'integer', '0', false), ('divisor', 'integer', '1', false), ('remark', 'text', NULL, true);
         INSERT INTO wed_trig (trname, cpred) VALUES ('one', 'n < 3'), ('two', '1 / divisor > 0 AND n < 3');
         INSERT INTO wed_trig (cpred, cfinal) VALUES ($$remark = 'stop' OR n = 5$$, true);
         INSERT INTO wed_flow DEFAULT VALUES;
         INSERT INTO wed_flow (n) VALUES (5)",
    );
    (cli, session)
}

#[harness::test]
fn a_refusal_in_psql_is_five_lines_at_most_and_shows_no_sql_of_ours() {
    let (cli, mut session) = with_orders();
    let url = on(cli.database.store.flow_url("default", "orders")).expect("its URL");
    for (code, statement) in REFUSED_STATEMENTS {
        let answer = psql(&url, &format!("{statement};"));
        let lines: Vec<&str> = answer.err.lines().collect();
        assert!(answer.err.contains("ERROR:"), "{code} {statement}: {answer:?}");
        assert!((1..=5).contains(&lines.len()), "{code} {statement}: {}", answer.err);
        let empty = |line: &&&str| ["DETAIL:", "HINT:"].contains(&line.trim());
        assert_eq!(lines.iter().find(empty), None, "{code} {statement}: {answer:?}");
        for inner in ["SELECT wed.", "PREPARE", "_shape.evaluate", "evaluated["] {
            assert!(!answer.err.contains(inner), "{code} {statement}: {}", answer.err);
        }
        let refusal = session.refused(statement);
        assert_eq!(refusal.code, code, "{statement}: {refusal:?}");
    }
}

#[harness::test]
fn an_unreadable_condition_is_pointed_at_in_psql() {
    let (cli, _session) = with_orders();
    let url = on(cli.database.store.flow_url("default", "orders")).expect("its URL");
    for (condition, says) in [("nope = 1", "does not exist"), ("n = = 1", "syntax error")] {
        let insert = format!("INSERT INTO wed_trig (trname, cpred) VALUES ('x', '{condition}');");
        let answer = psql(&url, &insert);
        let lines: Vec<&str> = answer.err.lines().collect();
        assert!(lines[0].contains(says), "{answer:?}");
        assert!(lines[1].contains(condition) && lines[2].trim() == "^", "{answer:?}");
    }
}

/// Asserts that a command is refused, and that message and hint hold these parts.
#[track_caller]
fn says(cli: &Cli, words: &[&str], parts: &[&str]) {
    let error = cli.fails(4, words);
    let told = format!("{} {}", error["message"], error["hint"]);
    for part in parts {
        assert!(told.contains(part), "{words:?}: {told}");
    }
}

#[harness::test]
fn values_that_are_refused_are_named() {
    let cli = Cli::with_steps();
    cli.flow("steps").run(
        "INSERT INTO wed_attr (aname, atype, open) VALUES ('paid', 'boolean', true), ('size', 'enum(s,m,l)', true)",
    );
    cli.run(&["instance", "start", "steps"]).done();
    cli.run(&["instance", "skip", "steps", "1", "-t", "step", "--reason", "x"]).done();
    let of_n = &["attribute \\\"n\\\"", "integer", "zero", "or null"][..];
    for words in [
        &["instance", "set", "steps", "1", "n=zero", "--reason", "x"][..],
        &["instance", "start", "steps", "n=zero", "--key", "k"],
    ] {
        says(&cli, words, of_n);
    }
    says(&cli, &["instance", "event", "steps", "1", "paid=perhaps"], &["attribute \\\"paid\\\"", "boolean", "perhaps"]);
    says(&cli, &["instance", "event", "steps", "1", "size=xl"], &["attribute \\\"size\\\"", "xl", "s, m, l"]);
    says(
        &cli,
        &["instance", "set", "steps", "1", "m=1", "--reason", "x"],
        &["no attribute \\\"m\\\"", "It has: n, paid, remark, size"],
    );
    for words in [
        &["instance", "start", "steps", "--key", ""][..],
        &["instance", "event", "steps", "1", "paid=true", "--key", ""],
    ] {
        says(&cli, words, &["the key has 0 bytes, and 1 to 255 are allowed"]);
    }
    says(&cli, &["webhook", "set", "ftp://example.com"], &["ftp://example.com", "http:// or https://"]);
}

#[harness::test]
fn settings_that_are_refused_are_named() {
    let cli = Cli::with_steps();
    for (setting, part) in [
        ("attempts = 0", "attempts is 0, and must be from 1 to 1000"),
        ("attempts = 1001", "attempts is 1001"),
        ("timeout = \"0 s\"", "and must be positive"),
        ("delay = \"-1 s\"", "and must not be negative"),
    ] {
        let when = "when = \"n < 3\"";
        let text = STEPS.replace(when, &format!("{when}\n{setting}"));
        let file = cli.file("setting.toml", text.as_bytes());
        says(&cli, &["flow", "apply", path(&file)], &["trigger \\\"t\\\"", part]);
    }
    let demos = cli.fails(3, &["demo", "nope"]);
    let hint = demos["hint"].as_str().unwrap_or_default();
    for name in ["paper", "order", "requisition", "manutencao"] {
        assert!(hint.contains(name), "{demos}");
    }
}

#[harness::test]
fn differences_name_the_attribute() {
    let cli = Cli::with_steps();
    let text = STEPS.replace("default = \"0\"", "default = \"1\"");
    let file = cli.file("other.toml", text.as_bytes());
    cli.run(&["flow", "apply", path(&file)]).done();
    let lines = cli.json(&["flow", "diff", "steps"])["lines"].clone();
    assert_eq!(lines, json!(["- attribute n: default = \"0\"", "+ attribute n: default = \"1\""]));
}

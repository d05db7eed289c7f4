//! The language at the command line: errors with their places, `fmt`, `check`.

use super::{flow_command, manutencao, workflow};
use crate::support::Database;
use crate::support::program::{run, wed};

#[harness::test]
fn errors_say_where_and_what_was_expected() {
    let database = Database::new();
    let source = manutencao().replace("ROLE Tecnico;", "ROEL Tecnico;");
    let error = flow_command(&database, "apply", &source, &[]).exits(2).error();
    assert_eq!(error["code"], "process");
    let picture = error["details"][0].as_str().expect("a picture").to_owned();
    for part in ["x.pdl:9:5", "    ROEL Tecnico;", "found `ROEL`, expected DEPENDS", "Perhaps ROLE is meant."] {
        assert!(picture.contains(part), "{picture}");
    }
}

#[harness::test]
fn refused_source_changes_nothing() {
    let database = Database::new();
    let source = format!("{}\nWORKFLOW Q {{ TASK A: M {{ DEPENDS X -> READY; }} }}", workflow(&[("A", "")]));
    flow_command(&database, "apply", &source, &[]).exits(2);
    assert_eq!(database.owner().number("SELECT count(*) FROM wed.flow"), 0);
}

#[harness::test]
fn fmt_prints_in_place_and_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.pdl");
    std::fs::write(&file, manutencao()).expect("written");
    let fmt = |more: &[&str]| {
        run(wed("postgres://nobody@127.0.0.1:1/none").args(["flow", "fmt"]).arg(&file).args(more).arg("--json"))
    };
    fmt(&["--check"]).exits(1);
    fmt(&[]).done();
    fmt(&["--check"]).done();
    let printed = std::fs::read_to_string(&file).expect("read");
    assert!(printed.contains("\n    DEPENDS CriarOrdemServico -> SUCCEEDED;\n"), "{printed}");
}

#[harness::test]
fn check_needs_no_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.pdl");
    std::fs::write(&file, manutencao()).expect("written");
    let answer =
        run(wed("postgres://nobody@127.0.0.1:1/none").args(["flow", "check"]).arg(&file).arg("--json")).done().json();
    assert_eq!(answer["flows"][0]["plan"]["tasks"][1]["role"], "Tecnico");
    assert_eq!(answer["warnings"][0]["line"], 17);
}

#[harness::test]
fn removed_tasks_are_removed_from_the_flow() {
    let database = Database::new();
    flow_command(&database, "apply", &workflow(&[("A", ""), ("B", "")]), &[]).done();
    let answer = flow_command(&database, "apply", &workflow(&[("A", "")]), &[]).done().json();
    assert_eq!(answer["flows"][0]["applied"]["triggers_removed"], serde_json::json!(["b"]));
    let mut owner = database.owner();
    assert_eq!(owner.lines("SELECT task FROM wed.work_task"), ["A"]);
}

#[harness::test]
fn process_keeps_its_creator_role_until_another_one_is_said() {
    let database = Database::new();
    let source = workflow(&[("A", ""), ("B", "A -> SUCCEEDED")]);
    let mut owner = database.owner();
    let mut apply = |more: &[&str]| {
        let answer = flow_command(&database, "apply", &source, more).done().json();
        let role = "SELECT r.name FROM wed.work_plan LEFT JOIN wed.role_of_people r ON role_id = creator_role";
        let changed = answer["flows"][0]["applied"]["settings_changed"].to_string();
        (owner.line(role), changed)
    };
    apply(&["--creator-role", "Gerente"]);
    assert_eq!(apply(&[]), ("Gerente".into(), "[]".into()));
    let opened = apply(&["--creator-role", ""]);
    assert_eq!(opened, ("·".into(), "[\"creator role\"]".into()));
    let wed = |words: &[&str]| run(wed(&database.url()).args(words)).done();
    // Comments name what TOML and WSQL cannot express.
    for (form, sign) in [("--toml", "# "), ("--wsql", "-- ")] {
        let shown = wed(&["flow", "show", "p", form, "--json"]).json();
        let text = shown["source"].as_str().expect("a source");
        assert!(text.starts_with(&format!("{sign}The work of people")), "{text}");
        let warning = shown["warnings"][0].as_str().expect("a warning");
        assert!(warning.contains("`wed flow show p --pdl` tells it"), "{warning}");
    }
}

#[harness::test]
fn chain_of_tasks_that_are_all_ready_is_applied() {
    let rules: Vec<(String, String)> = (0..30)
        .map(|n| match n {
            0 => ("T0".to_owned(), String::new()),
            n => (format!("T{n}"), format!("T{} -> READY", n - 1)),
        })
        .collect();
    let rules: Vec<(&str, &str)> = rules.iter().map(|(name, rule)| (name.as_str(), rule.as_str())).collect();
    let database = Database::new();
    flow_command(&database, "apply", &workflow(&rules), &[]).done();
    let mut owner = database.owner();
    assert_eq!(owner.number("SELECT count(*) FROM wed.attribute"), 30);
    assert_eq!(owner.number("SELECT count(*) FROM wed.work_task"), 30);
}

#[harness::test]
fn sub_workflow_is_shown_with_its_own_first_values() {
    let database = Database::new();
    let source = "WORKFLOW Visit { NUMBER Cost { VALUE 1; } TASK Go: Walk { ROLE R; OUT_CONTEXT Cost; } } \
                  WORKFLOW Repair { NUMBER Cost { VALUE 7; } SUB-WORKFLOW S: Visit { } } \
                  TASK Walk { TYPE MANUAL; PRIORITY 1; DISCONNECTED_OPERATION FALSE; }";
    flow_command(&database, "apply", source, &[]).done();
    let shown = run(wed(&database.url()).args(["flow", "show", "repair", "--pdl", "--json"])).done().json();
    let shown = shown["source"].as_str().expect("a source");
    let again = flow_command(&database, "apply", shown, &[]).done().json();
    for flow in again["flows"].as_array().expect("flows") {
        assert_eq!(flow["applied"]["attributes_changed"], serde_json::json!([]), "{shown}");
    }
}

#[harness::test]
fn check_refuses_queries_that_write_and_warns_of_nothing_to_do() {
    let check = |source: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("x.pdl");
        std::fs::write(&file, source).expect("written");
        run(wed("postgres://nobody@127.0.0.1:1/none").args(["flow", "check", "--json"]).arg(&file))
    };
    for (expression, is_right) in [
        ("DELETE FROM debts", false),
        ("WITH d AS (delete /* x */ from debts RETURNING *) SELECT * FROM d", false),
        ("UPDATE debts SET a = 1", false),
        ("SELECT 'DELETE FROM debts' -- delete from debts", true),
        ("WITH d AS (SELECT 1) SELECT * FROM d", true),
    ] {
        let answer = check(&format!("WORKFLOW P {{ QUERY Q {{ DATABASE \"here\"; EXPRESSION \"{expression}\"; }} }}"));
        match is_right {
            true => {
                let warnings = answer.done().json()["warnings"].to_string();
                assert!(warnings.contains("WORKFLOW P has no task"), "{warnings}");
            }
            false => assert!(answer.exits(2).error().to_string().contains("EXPRESSION of QUERY Q"), "{expression}"),
        }
    }
    let missing = run(wed("postgres://nobody@127.0.0.1:1/none").args(["flow", "check", "--json", "none.pdl"]));
    assert!(missing.exits(3).error().to_string().contains("flow.toml, x.pdl"));
}

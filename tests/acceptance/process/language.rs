//! The language at the command line: errors with their places, `fmt`, `check`.

use super::{flow_command, manutencao, workflow};
use crate::support::Database;
use crate::support::program::{run, wed};

#[harness::test]
fn errors_say_where_and_what_was_expected() {
    let database = Database::new();
    let source = manutencao().replace("ROLE Tecnico;", "ROEL Tecnico;");
    let error = flow_command(&database, "apply", &source, &[])
        .exits(2)
        .error();
    assert_eq!(error["code"], "process");
    let picture = error["details"][0].as_str().expect("a picture").to_owned();
    for part in [
        "x.pdl:9:5",
        "    ROEL Tecnico;",
        "found `ROEL`, expected DEPENDS",
        "Perhaps ROLE is meant.",
    ] {
        assert!(picture.contains(part), "{picture}");
    }
}

#[harness::test]
fn refused_source_changes_nothing() {
    let database = Database::new();
    let source = format!(
        "{}\nWORKFLOW Q {{ TASK A: M {{ DEPENDS X -> READY; }} }}",
        workflow(&[("A", "")])
    );
    flow_command(&database, "apply", &source, &[]).exits(2);
    assert_eq!(database.owner().number("SELECT count(*) FROM wed.flow"), 0);
}

#[harness::test]
fn fmt_prints_in_place_and_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.pdl");
    std::fs::write(&file, manutencao()).expect("written");
    let fmt = |more: &[&str]| {
        run(wed("postgres://nobody@127.0.0.1:1/none")
            .args(["flow", "fmt"])
            .arg(&file)
            .args(more)
            .arg("--json"))
    };
    fmt(&["--check"]).exits(1);
    fmt(&[]).done();
    fmt(&["--check"]).done();
    let printed = std::fs::read_to_string(&file).expect("read");
    assert!(
        printed.contains("\n    DEPENDS CriarOrdemServico -> SUCCEEDED;\n"),
        "{printed}"
    );
}

#[harness::test]
fn check_needs_no_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.pdl");
    std::fs::write(&file, manutencao()).expect("written");
    let answer = run(wed("postgres://nobody@127.0.0.1:1/none")
        .args(["flow", "check"])
        .arg(&file)
        .arg("--json"))
    .done()
    .json();
    assert_eq!(answer["flows"][0]["plan"]["tasks"][1]["role"], "Tecnico");
    assert_eq!(answer["warnings"][0]["line"], 17);
}

#[harness::test]
fn removed_tasks_are_removed_from_the_flow() {
    let database = Database::new();
    flow_command(&database, "apply", &workflow(&[("A", ""), ("B", "")]), &[]).done();
    let answer = flow_command(&database, "apply", &workflow(&[("A", "")]), &[])
        .done()
        .json();
    assert_eq!(
        answer["flows"][0]["applied"]["triggers_removed"],
        serde_json::json!(["b"])
    );
    let mut owner = database.owner();
    assert_eq!(owner.lines("SELECT task FROM wed.work_task"), ["A"]);
}

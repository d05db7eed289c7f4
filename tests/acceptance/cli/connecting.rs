//! Commands leave a database as it is, but for those that are to bring it up to date.

use crate::support::Database;
use crate::support::program::{run, wed};

#[harness::test]
fn command_leaves_a_database_without_a_schema_as_it_is() {
    let database = Database::restored("SELECT 1");
    for words in [&["status"][..], &["flow", "list"], &["flow", "create", "orders"], &["tenant", "create", "acme"]] {
        let error = run(wed(&database.url()).arg("--json").args(words)).exits(5).error();
        assert_eq!(error["code"], "schema", "{words:?}: {error}");
    }
    let there = database.owner().line("SELECT (to_regnamespace('wed') IS NULL)::text");
    assert_eq!(there, "true");
    run(wed(&database.url()).arg("migrate")).done();
    run(wed(&database.url()).args(["flow", "list"])).done();
}

#[harness::test]
fn command_says_both_versions_of_another_schema() {
    let database = Database::new();
    let mut owner = database.owner();
    owner.run("UPDATE wed.function_source SET digest = 'another'");
    let error = run(wed(&database.url()).args(["--json", "flow", "list"])).exits(5).error();
    let message = error["message"].as_str().unwrap_or_default();
    assert_eq!(message.matches("schema ").count(), 2, "{error}");
    assert_eq!(owner.line("SELECT digest FROM wed.function_source"), "another");
    owner.run(
        "INSERT INTO public._sqlx_migrations (version, description, success, checksum, execution_time) \
               VALUES (9999, 'x', true, '', 0)",
    );
    let error = run(wed(&database.url()).args(["--json", "flow", "list"])).exits(5).error();
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("newer")), "{error}");
}

#[harness::test]
fn command_that_reads_starts_no_private_postgres() {
    let home = tempfile::tempdir().expect("a folder");
    for words in [&["flow", "list"][..], &["status"], &["whoami"]] {
        let mut command = wed("");
        command.env_remove("DATABASE_URL");
        command.env("WEDFLOW_HOME", home.path()).env("WEDFLOW_CONFIG", home.path());
        let error = run(command.arg("--json").args(words)).exits(5).error();
        assert_eq!(error["code"], "database", "{words:?}: {error}");
    }
    let left = std::fs::read_dir(home.path()).expect("the folder").count();
    assert_eq!(left, 0);
}

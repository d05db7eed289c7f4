//! Hosts are replaced one by one under load: old ones next to new ones, and a refusal where that is not so.

use crate::support::database::{one_lane, sample_component};
use crate::support::program::{run, wed};
use crate::support::{Database, eventually, on, repository};

#[harness::test]
fn hosts_are_replaced_one_by_one_under_load() {
    let database = Database::new();
    database.upload("counters", sample_component("counters"));
    let flow = database.apply(&repository("sample-transitions/counters/flow.toml"));
    let mut s = flow.session();
    let mut hosts = vec![database.host(one_lane("a")), database.host(one_lane("b"))];
    for round in 0..4 {
        s.run("INSERT INTO wed_flow (a1) SELECT '0' FROM generate_series(1, 60)");
        // The new one is at work before the old one goes.
        hosts.push(database.host(one_lane(&format!("new {round}"))));
        on(hosts.remove(0).stop());
    }
    let mut owner = database.owner();
    eventually("all instances", || {
        (owner.number("SELECT count(*) FROM wed.instance WHERE status <> 'F'") == 0).then_some(())
    });
    assert_eq!(
        owner.number("SELECT count(*) FROM wed.attempt WHERE outcome = 'abandoned'"),
        0,
        "a host that is told to stop gives back what it has"
    );
    let found = super::checker::violations(&mut owner);
    assert!(found.is_empty(), "{found:?}");
    for host in hosts {
        on(host.stop());
    }
}

#[harness::test]
fn host_of_another_version_is_named() {
    let database = Database::new();
    let mut owner = database.owner();
    owner.run(
        "INSERT INTO wed.host (name, expires_at, version) VALUES ('old', now() + interval '1 hour', '0.0.1'), \
         ('new', now() + interval '1 hour', '9.0.0')",
    );
    let status = run(wed(&database.url()).args(["--json", "status"]))
        .exits(1)
        .json();
    let problems = status["problems"].to_string();
    assert!(
        problems.contains("host_old") && problems.contains("0.0.1"),
        "{problems}"
    );
}

#[harness::test]
fn program_refuses_a_schema_that_is_newer() {
    let database = Database::new();
    database.owner().run(
        "INSERT INTO public._sqlx_migrations (version, description, success, checksum, execution_time) VALUES \
         (9999, 'later', true, '\\x00', 0)",
    );
    let answer = run(wed(&database.url()).args(["migrate"]));
    assert_ne!(answer.code, Some(0));
    assert!(answer.err.contains("newer version of wed"), "{answer:?}");
}

#[harness::test]
fn functions_are_applied_again_under_load() {
    let database = Database::new();
    database.upload("counters", sample_component("counters"));
    let flow = database.apply(&repository("sample-transitions/counters/flow.toml"));
    let host = database.host(one_lane("one"));
    let mut owner = database.owner();
    for _ in 0..3 {
        flow.session()
            .run("INSERT INTO wed_flow (a1) SELECT '0' FROM generate_series(1, 60)");
        owner.run("UPDATE wed.function_source SET digest = 'of another program'");
        on(database.store.migrate()).expect("migrated");
    }
    eventually("all instances", || {
        (owner.number("SELECT count(*) FROM wed.instance WHERE status <> 'F'") == 0).then_some(())
    });
    let found = super::checker::violations(&mut owner);
    assert!(found.is_empty(), "{found:?}");
    on(host.stop());
}

//! Hosts are replaced one by one under load: old ones next to new ones, and a refusal where that is not so.

use std::io::Read;
use std::process::{Command, Stdio};

use super::field::{Load, Process};
use crate::support::database::{one_lane, sample_component};
use crate::support::program::{run, wed};
use crate::support::{Database, Session, eventually, on, repository};

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
    let status = run(wed(&database.url()).args(["--json", "status"])).exits(1).json();
    let problems = status["problems"].to_string();
    assert!(problems.contains("host_old") && problems.contains("0.0.1"), "{problems}");
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
        flow.session().run("INSERT INTO wed_flow (a1) SELECT '0' FROM generate_series(1, 60)");
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

/// Changes that a newer program's migration makes for hosts of an interface before its own.
const NEWER_INTERFACE: &str = "BEGIN; CREATE OR REPLACE FUNCTION wed.interface_version() RETURNS integer LANGUAGE sql \
    IMMUTABLE AS 'SELECT 1000'; SELECT wed.leave_host(host_id) FROM wed.host WHERE interface <> 1000; COMMIT";

/// Waits until no instance is left that is not final, and asks the checker.
fn all_is_done(owner: &mut Session) {
    eventually("all instances", || {
        (owner.number("SELECT count(*) FROM wed.instance WHERE status <> 'F'") == 0).then_some(())
    });
    let found = super::checker::violations(owner);
    assert!(found.is_empty(), "{found:?}");
    let steps = "SELECT DISTINCT count(*) FILTER (WHERE trw NOT LIKE '\\_%') FROM wed.trace GROUP BY flow_id, wid";
    assert_eq!(owner.lines(steps), ["12"], "each step once");
}

#[harness::test]
fn host_of_an_earlier_interface_ends_and_says_why() {
    let database = Database::new();
    database.upload("counters", sample_component("counters"));
    let flow = database.apply(&repository("sample-transitions/counters/flow.toml"));
    let mut owner = database.owner();
    let mut serve = wed(&database.url());
    serve.args(["serve", "--lanes", "1"]).stderr(Stdio::piped());
    let mut host = serve.stdout(Stdio::null()).spawn().expect("a host");
    let load = Load::start(flow.url.clone());
    let committed = "SELECT count(*) FROM wed.trace WHERE writer LIKE 'host:%'";
    eventually("transitions", || (owner.number(committed) > 50).then_some(()));
    owner.run(NEWER_INTERFACE);
    let status = host.wait().expect("it ends");
    let mut said = String::new();
    let mut errors = host.stderr.take().expect("standard error");
    errors.read_to_string(&mut said).expect("text");
    assert_eq!(status.code(), Some(4), "{said}");
    assert!(said.contains("migrated by another version of wed") && said.contains("start the newer one"), "{said}");
    assert_eq!(owner.number("SELECT count(*) FROM wed.job WHERE host_id IS NOT NULL"), 0);
    drop(load);
    owner.run("DELETE FROM wed.function_source");
    on(database.store.migrate()).expect("migrated");
    let host = database.host(one_lane("newer"));
    all_is_done(&mut owner);
    on(host.stop());
}

/// A program of an earlier revision on a database.
fn earlier(url: &str) -> Command {
    let program = std::env::var("WEDFLOW_EARLIER_WED");
    let mut command = Command::new(program.expect("WEDFLOW_EARLIER_WED names a program"));
    command.env("DATABASE_URL", url).current_dir(repository("."));
    command
}

/// Starts two hosts of a program.
fn two_hosts(program: impl Fn() -> Command, name: &str) -> Vec<Process> {
    let start = |number: u32| {
        let mut serve = program();
        serve.args(["serve", "--lanes", "1", "--name", &format!("{name}-{number}")]);
        Process::start(&mut serve)
    };
    vec![start(1), start(2)]
}

/// `make rolling` builds the earlier program.
#[harness::test(ignored)]
fn earlier_program_is_replaced_by_this_one_under_load() {
    let database = Database::restored("");
    let url = database.url();
    run(earlier(&url).arg("migrate")).done();
    let component = "sample-transitions/target/wasm32-wasip2/release/counters.wasm";
    run(earlier(&url).args(["component", "push", component])).done();
    run(earlier(&url).args(["flow", "apply", "sample-transitions/counters/flow.toml"])).done();
    let shown = run(earlier(&url).args(["flow", "url", "counters"])).done();
    let mut owner = database.owner();
    let old = two_hosts(|| earlier(&url), "old");
    let load = Load::start(shown.out.trim().to_owned());
    let committed = |names: &str| {
        format!(
            "SELECT count(*) FROM wed.trace JOIN wed.host h ON writer = 'host:' || h.host_id \
             WHERE h.name LIKE '{names}-%'"
        )
    };
    eventually("transitions of the old", || (owner.number(&committed("old")) > 100).then_some(()));
    // The first command of this program migrates, under load.
    let new = two_hosts(|| wed(&url), "new");
    eventually("transitions of the new", || (owner.number(&committed("new")) > 300).then_some(()));
    let before = owner.number(&committed("old"));
    std::thread::sleep(std::time::Duration::from_secs(6));
    let after = owner.number(&committed("old"));
    println!("{}", serde_json::json!({ "old_next_to_new": after > before, "old_committed_meanwhile": after - before }));
    // What they say may be a refusal; then their jobs are others' already.
    for host in &old {
        host.signal("-TERM");
    }
    eventually("the old ones' end", || {
        (owner.number("SELECT count(*) FROM wed.host WHERE name LIKE 'old-%'") == 0).then_some(())
    });
    drop(load);
    all_is_done(&mut owner);
    drop((old, new));
}

//! A database that takes no changes for a while, as one does whose disk is full at a provider, or a node that was
//! demoted: its hosts say so, and resume by themselves.

use std::time::Duration;

use crate::support::database::{one_lane, sample_component};
use crate::support::http::Api;
use crate::support::program::{run, wed};
use crate::support::{Database, eventually, on, repository};

/// Longer than a lease: the host loses its own meanwhile.
const READ_ONLY_TIME: Duration = Duration::from_secs(18);

#[harness::test]
fn a_host_works_again_after_a_phase_in_which_the_database_took_no_changes() {
    let database = Database::new();
    database.upload("counters", sample_component("counters"));
    let flow = database.apply(&repository("sample-transitions/counters/flow.toml"));
    let mut owner = database.owner();
    let name = owner.line("SELECT current_database()");
    let host = database.host(one_lane("read-only"));
    let api = Api::of(&database);
    let ann = api.user("default", "ann", "admin");
    api.nobody().get("/health/ready").is(200);

    owner.run(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on"));
    owner.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() \
         AND pid <> pg_backend_pid()",
    );
    let body = serde_json::json!({});
    eventually("the API says that it cannot write", || {
        let ready = api.nobody().get("/health/ready");
        let written = ann.json("POST", "/v1/flows/counters/instances", &body);
        assert_ne!(written.status, 500, "{written:?}");
        (ready.status == 503 && written.status == 503).then_some(())
    });
    ann.json("POST", "/v1/flows/counters/instances", &body).problem(503, "database");
    // Who only reads is answered.
    for path in ["flows", "flows/counters/instances", "flows/counters/jobs", "audit"] {
        ann.get(&format!("/v1/{path}")).is(200);
    }
    let said = api.nobody().get("/health/ready").problem(503, "database");
    assert!(said["detail"].as_str().is_some_and(|said| said.contains("read-only")), "{said}");
    let status = run(wed(&database.url()).args(["--json", "status"])).exits(1).json();
    let problems = status["problems"].as_array().expect("problems");
    assert!(problems.iter().any(|one| one["code"] == "read_only"), "{status}");
    std::thread::sleep(READ_ONLY_TIME);

    owner.run(&format!("ALTER DATABASE {name} RESET default_transaction_read_only"));
    eventually("the API is ready", || (api.nobody().get("/health/ready").status == 200).then_some(()));
    let wid = flow.session().start();
    assert_eq!(flow.end_of(wid), "F");
    ann.json("POST", "/v1/flows/counters/instances", &body);
    on(host.stop());
}

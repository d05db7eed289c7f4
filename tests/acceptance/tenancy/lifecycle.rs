//! Tenants: named, suspended, deleted.

use serde_json::{Value as Json, json};

use super::{CANARY, Two};
use crate::support::database::{one_lane, sample_component};
use crate::support::program::{run, wed};
use crate::support::{Database, Session, eventually, on, repository};

#[harness::test]
fn a_suspended_tenant_rests_and_goes_on() {
    let two = Two::new();
    let database = two.database();
    // A flow that a host would run.
    let flow: Json = {
        let text =
            std::fs::read_to_string(repository("sample-transitions/paper/flow.toml")).expect("the sample's definition");
        toml::from_str(&text).expect("a definition")
    };
    for client in [&two.alpha, &two.beta] {
        client.upload("paper", sample_component("paper"), &[]).is(201);
        client.json("PUT", "/v1/flows/paper", &flow).is(201);
    }
    let flow_url = on(database.store.flow_url("beta", "paper")).expect("its URL");
    let mut session = Session::on(database, &flow_url);
    session.start();
    run(wed(&database.url()).args(["tenant", "suspend", "beta"])).done();

    two.beta.get("/v1/flows").problem(403, "tenant_suspended");
    assert!(session.batch_execute("SELECT 1").is_err(), "the session has ended");
    assert!(postgres::Client::connect(&flow_url, postgres::NoTls).is_err(), "no login");
    let refused = run(wed(&database.url()).args(["--tenant", "beta", "flow", "create", "more"])).exits(4);
    assert!(refused.err.contains("suspended"), "{refused:?}");
    // The other tenant's work continues, and the suspended one's does not.
    let host = database.host(one_lane("suspended"));
    two.alpha.json("POST", "/v1/flows/paper/instances", &json!({})).is(201);
    eventually("the other's end", || {
        let instance = two.alpha.get("/v1/flows/paper/instances/1").is(200).json();
        (instance["status"] == "final").then_some(())
    });
    let untouched = "SELECT count(*) FROM wed.trace r JOIN wed.flow f USING (flow_id) JOIN wed.tenant t USING \
     (tenant_id) \
                     WHERE t.name = 'beta' AND f.name = 'paper'";
    assert_eq!(database.owner().number(untouched), 1);
    // What a host has in flight already is given back: pretend that it was claimed before.
    database.owner().run(&format!(
        "UPDATE wed.job SET host_id = {}, token = nextval('wed.fence') WHERE flow_id = (SELECT flow_id FROM wed.flow f \
         JOIN wed.tenant t USING (tenant_id) WHERE t.name = 'beta' AND f.name = 'paper')",
        host.id()
    ));
    eventually("the job to be given back", || {
        let held = "SELECT count(*) FROM wed.job WHERE host_id IS NOT NULL";
        (database.owner().number(held) == 0).then_some(())
    });
    assert_eq!(database.owner().number(untouched), 1);

    run(wed(&database.url()).args(["tenant", "resume", "beta"])).done();
    eventually("its end", || {
        let instance = two.beta.get("/v1/flows/paper/instances/1").is(200).json();
        (instance["status"] == "final").then_some(())
    });
    on(host.stop());
    Session::on(database, &flow_url).start();
}

#[harness::test]
fn a_deleted_tenant_leaves_nothing() {
    let two = Two::new();
    let database = two.database();
    let url = database.url();
    let flow_url = on(database.store.flow_url("beta", "canary-flow")).expect("its URL");
    let session = Session::on(database, &flow_url);
    let role = database
        .owner()
        .line("SELECT role_name FROM wed.flow JOIN wed.tenant t USING (tenant_id) WHERE t.name = 'beta'");
    let asked = run(wed(&url).args(["tenant", "delete", "beta"])).exits(2);
    assert!(asked.err.contains("--yes"), "{asked:?}");
    run(wed(&url).args(["tenant", "delete", "beta", "--yes"])).done();
    drop(session);
    run(wed(&url).args(["tenant", "show", "beta"])).exits(3);
    two.beta.get("/v1/flows").problem(401, "invalid_token");
    let mut owner = database.owner();
    let left = format!("SELECT count(*) FROM pg_roles WHERE rolname = '{role}'");
    assert_eq!(owner.number(&left), 0);
    let left = format!("SELECT count(*) FROM pg_namespace WHERE nspname LIKE '{role}%'");
    assert_eq!(owner.number(&left), 0);
    for table in ["flow", "component", "user", "token", "instance", "job", "trace", "idempotency"] {
        let found =
            owner.number(&format!("SELECT count(*) FROM wed.{table} t WHERE to_jsonb(t)::text LIKE '%{CANARY}%'"));
        assert_eq!(found, 0, "{table}");
    }
    // One of the same name begins anew, and sees nothing of what the first did.
    on(database.store.create_tenant("beta", "")).expect("a tenant");
    let again = two.api.user("beta", "new", "admin");
    let log = again.get("/v1/audit").is(200);
    assert!(!log.text.contains(CANARY), "{log:?}");
    let all = run(wed(&url).args(["audit", "--all"])).done();
    assert!(all.out.contains("tenant.delete"), "{all:?}");
}

#[harness::test]
fn names_of_tenants_and_users_are_checked() {
    let database = Database::new();
    let url = database.url();
    for name in ["", "Alpha", "a b", "-a", "a/b", "ä", &"a".repeat(64)] {
        let refused = run(wed(&url).args(["--json", "tenant", "create", "--", name])).exits(4);
        assert!(refused.err.contains("not allowed"), "{name}: {refused:?}");
    }
    run(wed(&url).args(["tenant", "create", "alpha"])).done();
    let again = run(wed(&url).args(["--json", "tenant", "create", "alpha"])).exits(4);
    assert!(again.err.contains("already"), "{again:?}");
    run(wed(&url).args(["user", "create", "A", "--role", "viewer"])).exits(4);
    run(wed(&url).args(["user", "create", "a", "--role", "king"])).exits(2);
    run(wed(&url).args(["--tenant", "none", "user", "create", "a", "--role", "viewer"])).exits(3);
    run(wed(&url).args(["--tenant", "none", "flow", "create", "a"])).exits(3);
    for verb in ["show", "suspend", "resume"] {
        run(wed(&url).args(["tenant", verb, "none"])).exits(3);
    }
}

//! A backup is restored into an empty server, where work continues.

use std::path::Path;

use wedflow_store::Store;
use wedflow_worker::Host;

use super::installed::InstalledServer;
use crate::support::database::{one_lane, sample_component};
use crate::support::flows::PAPER;
use crate::support::program::{Answer, run, wed};
use crate::support::{Database, Flow, Session, eventually, on, repository};

fn backup(url: &str, folder: &Path) -> Answer {
    run(wed(url).args(["db", "backup"]).arg(folder))
}

#[harness::test]
fn restored_server_goes_on() {
    let (Some(first), Some(second)) = (InstalledServer::start(false), InstalledServer::start(false)) else {
        println!("no Postgres with its tools below /usr/lib/postgresql: not tried");
        return;
    };
    let database = Database::at(&first.url());
    let paper = database.flow("trial");
    paper.session().run(PAPER);
    let wid = paper.session().start();
    paper.session().finish(wid, "tr_a2", "a2 = 'done'");
    database.upload("counters", sample_component("counters"));
    let counters = database.apply(&repository("sample-transitions/counters/flow.toml"));
    counters.session().run("INSERT INTO wed_flow (a1) SELECT '0' FROM generate_series(1, 20)");
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("backup");
    backup(&database.url(), &folder).done();

    let url = format!("{}/restored", second.url());
    run(wed(&url).args(["db", "restore"]).arg(&folder)).done();
    run(wed(&url).args(["db", "restore"]).arg(&folder)).exits(4);
    // Next to the first both databases would share the flows' roles.
    let beside = format!("{}/beside", first.url());
    let refused = run(wed(&beside).args(["db", "restore"]).arg(&folder)).exits(4);
    assert!(refused.err.contains("in use on this server"), "{refused:?}");
    let made = "SELECT count(*) FROM pg_database WHERE datname = 'beside'";
    assert_eq!(Session::open(&database.url()).number(made), 0);
    // The roles are there, with their settings and passwords: an external worker continues where it was.
    let theirs = run(wed(&url).args(["flow", "url", "trial"])).done().out;
    let mut session = Session::open(theirs.trim());
    assert_eq!(session.line("SHOW statement_timeout"), "5min");
    session.finish(wid, "tr_a3", "a3 = 'done'");
    session.finish(wid, "tr_final", "a1 = 'done'");
    assert_eq!(session.status(wid), "F");
    assert_eq!(session.trace(wid).len(), 4);
    // So does a host, with the components that were uploaded.
    let mut owner = Session::open(&url);
    let host = on(async {
        let settings = one_lane("one");
        let store = Store::connect(&url, settings.connections()).await.expect("connected");
        Host::start(store, settings).await.expect("a host")
    });
    eventually("all instances", || {
        (owner.number("SELECT count(*) FROM wed.instance WHERE status <> 'F'") == 0).then_some(())
    });
    on(host.stop());
    let found = super::checker::violations(&mut owner);
    assert!(found.is_empty(), "{found:?}");
}

#[harness::test]
fn backup_without_tools_of_the_servers_version_says_so() {
    let flow = Flow::of(PAPER);
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("backup");
    let answer = backup(&flow.database.url(), &folder);
    if answer.code != Some(0) {
        // Nothing is left behind.
        assert!(answer.err.contains("pg_dump") && answer.err.contains("Install"), "{answer:?}");
        assert!(!folder.exists());
    }
}

#[harness::test]
fn backup_is_restored_by_a_plain_role_of_another_name_beside_another_installation() {
    let (Some(first), Some(second)) = (InstalledServer::start(false), InstalledServer::start(false)) else {
        println!("no Postgres with its tools below /usr/lib/postgresql: not tried");
        return;
    };
    let role_url = |server: &InstalledServer, role: &str, database: &str| {
        let mut owner = Session::open(&format!("{}/postgres", server.url()));
        owner.run(&format!("CREATE ROLE {role} LOGIN CREATEROLE CREATEDB PASSWORD '{role}'"));
        owner.run(&format!("CREATE DATABASE {database} OWNER {role}"));
        let address = server.url().replace("postgres:x", &format!("{role}:{role}"));
        format!("{address}/{database}")
    };
    let from = role_url(&first, "seller", "shop");
    run(wed(&from).args(["migrate"])).done();
    run(wed(&from).args(["flow", "create", "trial"])).done();
    let theirs = run(wed(&from).args(["flow", "url", "trial"])).done().out;
    let mut session = Session::open(theirs.trim());
    session.run(PAPER);
    let wid = session.start();
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("backup");
    backup(&from, &folder).done();

    // The server has an installation already, which shares nothing with the restored one but the role of conditions.
    let beside = role_url(&second, "neighbour", "beside");
    run(wed(&beside).args(["migrate"])).done();
    let mut neighbour = Session::open(&format!("{}/postgres", second.url()));
    neighbour.run("CREATE ROLE buyer LOGIN CREATEROLE CREATEDB PASSWORD 'buyer'");
    neighbour.run("GRANT wed_predicate TO buyer WITH ADMIN OPTION");
    let to = format!("{}/restored", second.url().replace("postgres:x", "buyer:buyer"));
    run(wed(&to).args(["db", "restore"]).arg(&folder)).done();

    let theirs = run(wed(&to).args(["flow", "url", "trial"])).done().out;
    let mut session = Session::open(theirs.trim());
    session.finish(wid, "tr_a2", "a2 = 'done'");
    session.finish(wid, "tr_a3", "a3 = 'done'");
    session.finish(wid, "tr_final", "a1 = 'done'");
    assert_eq!(session.status(wid), "F");
    let mut owner = Session::open(&to);
    assert_eq!(
        owner.line(
            "SELECT string_agg(DISTINCT proowner::regrole::text, ' ' ORDER BY proowner::regrole::text) FROM pg_proc \
                    WHERE pronamespace = 'wed'::regnamespace"
        ),
        "buyer wed_predicate"
    );
    assert_eq!(owner.number("SELECT count(*) FROM pg_roles WHERE rolname = 'seller'"), 0);
}

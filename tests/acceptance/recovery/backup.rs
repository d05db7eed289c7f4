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
    let (Some(first), Some(second)) =
        (InstalledServer::start(false), InstalledServer::start(false))
    else {
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
    counters
        .session()
        .run("INSERT INTO wed_flow (a1) SELECT '0' FROM generate_series(1, 20)");
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
        let store = Store::connect(&url, settings.connections())
            .await
            .expect("connected");
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
        assert!(
            answer.err.contains("pg_dump") && answer.err.contains("Install"),
            "{answer:?}"
        );
        assert!(!folder.exists());
    }
}

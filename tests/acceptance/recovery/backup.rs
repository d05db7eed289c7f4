//! A backup is restored into an empty database, where work goes on.

use std::path::Path;

use crate::support::flows::PAPER;
use crate::support::program::{Answer, run, wed};
use crate::support::{Flow, Session, server};

fn backup(url: &str, folder: &Path) -> Answer {
    run(wed(url).args(["db", "backup"]).arg(folder))
}

#[harness::test]
fn restored_database_goes_on() {
    let flow = Flow::of(PAPER);
    let wid = flow.session().start();
    flow.session().finish(wid, "tr_a2", "a2 = 'done'");
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("backup");
    let answer = backup(&flow.database.url(), &folder);
    if answer.code != Some(0) {
        // Without tools of the server's version the refusal says so, and nothing is left behind.
        assert!(
            answer.err.contains("pg_dump") && answer.err.contains("Install"),
            "{answer:?}"
        );
        assert!(!folder.exists());
        return;
    }
    let name = format!("wedflow_restored_{}", std::process::id());
    let url = format!("{}/{name}", server::url());
    run(wed(&url).args(["db", "restore"]).arg(&folder)).done();
    run(wed(&url).args(["db", "restore"]).arg(&folder)).exits(4);
    let theirs = run(wed(&url).args(["flow", "url", &flow.name])).done().out;
    let mut session = Session::open(theirs.trim());
    session.finish(wid, "tr_a3", "a3 = 'done'");
    session.finish(wid, "tr_final", "a1 = 'done'");
    assert_eq!(session.status(wid), "F");
    assert_eq!(session.trace(wid).len(), 4);
    drop(session);
    let mut server = Session::open(&format!("{}/postgres", server::url()));
    server.run(&format!("DROP DATABASE \"{name}\" WITH (FORCE)"));
}

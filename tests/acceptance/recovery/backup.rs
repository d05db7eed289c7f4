//! A backup is restored into an empty server, where work continues.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use wedflow_store::Store;
use wedflow_worker::Host;

use crate::support::database::{one_lane, sample_component};
use crate::support::flows::PAPER;
use crate::support::program::{Answer, run, wed};
use crate::support::{Database, Flow, Session, eventually, on, repository};

fn backup(url: &str, folder: &Path) -> Answer {
    run(wed(url).args(["db", "backup"]).arg(folder))
}

/// A server of a version whose tools this machine has, with nothing in it; gone with the value.
struct EmptyServer {
    binaries: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
}

impl EmptyServer {
    /// Starts one; none where there is no server with its tools.
    fn start() -> Option<Self> {
        let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
        let binaries = versions
            .flatten()
            .map(|version| version.path().join("bin"))
            .find(|folder| folder.join("initdb").exists() && folder.join("pg_dump").exists())?;
        let folder = tempfile::tempdir().ok()?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .ok()?
            .local_addr()
            .ok()?
            .port();
        let server = EmptyServer {
            binaries,
            folder,
            port,
        };
        let path = server.folder.path();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).ok()?;
        let data = path.join("data");
        let made = server
            .program("initdb")
            .args(["-A", "trust", "-U", "postgres", "-D"])
            .arg(&data)
            .output();
        assert!(made.is_ok_and(|made| made.status.success()), "initdb");
        let options = format!(
            "-p {port} -k {} -c listen_addresses=127.0.0.1 -c fsync=off",
            path.display()
        );
        let mut start = server.program("pg_ctl");
        start.args(["-w", "-s", "-o", &options, "-l"]);
        start
            .arg(path.join("log"))
            .arg("-D")
            .arg(&data)
            .arg("start");
        assert!(start.status().is_ok_and(|status| status.success()));
        Some(server)
    }

    /// A program of the server's, which does not run as root.
    fn program(&self, name: &str) -> Command {
        const NOBODY: u32 = 65_534;
        let mut program = Command::new(self.binaries.join(name));
        program.current_dir(self.folder.path());
        let root = std::fs::metadata("/proc/self").is_ok_and(|own| {
            use std::os::unix::fs::MetadataExt;
            own.uid() == 0
        });
        if root {
            program.uid(NOBODY).gid(NOBODY);
        }
        program
    }

    fn url(&self) -> String {
        format!("postgres://postgres:x@127.0.0.1:{}", self.port)
    }
}

impl Drop for EmptyServer {
    fn drop(&mut self) {
        let data = self.folder.path().join("data");
        let _ = self
            .program("pg_ctl")
            .args(["-m", "immediate", "-s", "-D"])
            .arg(data)
            .arg("stop")
            .status();
    }
}

#[harness::test]
fn restored_server_goes_on() {
    let (Some(first), Some(second)) = (EmptyServer::start(), EmptyServer::start()) else {
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

//! A server of the Postgres that this machine has installed, whose clock may be set.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Library that makes a program see another time.
pub(super) const FAKE_TIME: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

/// A server of a version whose tools this machine has, with nothing in it; gone with the value.
pub(super) struct InstalledServer {
    binaries: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
    /// Seconds by which its clock is ahead, where it can be set.
    ahead: Option<i64>,
}

impl InstalledServer {
    /// Starts one, with a clock that can be set if that is wanted; none where there is no server with its tools, or no
    /// such clock.
    pub(super) fn start(has_clock: bool) -> Option<Self> {
        if has_clock && !Path::new(FAKE_TIME).exists() {
            return None;
        }
        let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
        let binaries = versions
            .flatten()
            .map(|version| version.path().join("bin"))
            .find(|folder| folder.join("initdb").exists() && folder.join("pg_dump").exists())?;
        let server = InstalledServer::empty(binaries, has_clock.then_some(0))?;
        let data = server.folder.path().join("data");
        let made = server.program("initdb").args(["-A", "trust", "-U", "postgres", "-D"]).arg(&data).output();
        assert!(made.is_ok_and(|made| made.status.success()), "initdb");
        server.run();
        Some(server)
    }

    /// Starts a replica of it, which follows it by streaming.
    pub(super) fn replica(&self) -> Self {
        let replica = InstalledServer::empty(self.binaries.clone(), None).expect("a folder");
        let data = replica.folder.path().join("data");
        let port = self.port.to_string();
        let mut copy = replica.program("pg_basebackup");
        copy.args(["-h", "127.0.0.1", "-U", "postgres", "-p", &port])
            .args(["-R", "-X", "stream", "-c", "fast", "-D"])
            .arg(&data);
        assert!(copy.status().is_ok_and(|status| status.success()), "pg_basebackup");
        replica.run();
        replica
    }

    /// A folder and a port for a server.
    fn empty(binaries: PathBuf, ahead: Option<i64>) -> Option<Self> {
        let folder = tempfile::tempdir().ok()?;
        let port = std::net::TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
        let mut server = InstalledServer { binaries, folder, port, ahead };
        server.set_ahead(0);
        let path = server.folder.path();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).ok()?;
        Some(server)
    }

    /// Starts the server in its folder.
    fn run(&self) {
        let path = self.folder.path();
        let port = self.port;
        let options = format!("-p {port} -k {} -c listen_addresses=127.0.0.1 -c fsync=off", path.display());
        let mut start = self.program("pg_ctl");
        start.args(["-w", "-s", "-o", &options, "-l"]);
        start.arg(path.join("log")).arg("-D").arg(path.join("data")).arg("start");
        assert!(start.status().is_ok_and(|status| status.success()));
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
        if self.ahead.is_some() {
            program.env("LD_PRELOAD", FAKE_TIME);
            program.env("FAKETIME_TIMESTAMP_FILE", self.clock());
            program.env("FAKETIME_NO_CACHE", "1");
            program.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
        program
    }

    /// The file that says how far its clock is ahead.
    fn clock(&self) -> PathBuf {
        self.folder.path().join("clock")
    }

    /// Sets its clock ahead by `seconds`, or back; does nothing without a clock that can be set.
    pub(super) fn set_ahead(&mut self, seconds: i64) {
        if let Some(ahead) = &mut self.ahead {
            *ahead += seconds;
            let text = format!("{ahead:+}\n");
            // In one step, since the server reads it at any time.
            let unnamed = self.folder.path().join("clock.new");
            std::fs::write(&unnamed, text).expect("written");
            std::fs::rename(&unnamed, self.clock()).expect("in its place");
        }
    }

    pub(super) fn url(&self) -> String {
        format!("postgres://postgres:x@127.0.0.1:{}", self.port)
    }
}

impl Drop for InstalledServer {
    fn drop(&mut self) {
        let data = self.folder.path().join("data");
        let _ = self.program("pg_ctl").args(["-m", "immediate", "-s", "-D"]).arg(data).arg("stop").status();
    }
}

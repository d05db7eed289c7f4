//! Programs run as a user runs them: `wed`, psql, Python.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Output};
use std::sync::OnceLock;

use super::eventually;

/// The binary `wed`, built first if it is not up to date.
pub(crate) fn wed_path() -> &'static PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        // As scripts/lib.sh does: with the features that the tests' own dependencies have, so that
        // wasmtime is not compiled a second time.
        cargo
            .args(["build", "--release", "--quiet", "--workspace"])
            .args(["--bin", "wed", "--test", "lifecycle"])
            .current_dir(super::repository("."));
        // What cargo says of this test's package to this test is not meant for what is built now: some
        // build scripts would take it for a change.
        for (name, _) in std::env::vars_os() {
            let known = name.to_string_lossy();
            if known.starts_with("CARGO_PKG_") || known.starts_with("CARGO_MANIFEST_") {
                cargo.env_remove(name);
            }
        }
        let built = cargo.output().expect("cargo runs");
        assert!(built.status.success(), "wed does not build:\n{}", String::from_utf8_lossy(&built.stderr));
        // This test binary is in its subfolder `deps`.
        let here = std::env::current_exe().expect("the test binary");
        here.ancestors().nth(2).expect("the folder of binaries").join("wed")
    })
}

/// Output and exit code of a program.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Answer {
    fn from(output: Output) -> Self {
        Answer {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Answer {
    /// Asserts that all went well.
    #[track_caller]
    pub(crate) fn done(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Asserts an exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    /// The one JSON document it printed.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The JSON document of its error.
    #[track_caller]
    pub(crate) fn error(&self) -> serde_json::Value {
        let document: serde_json::Value =
            serde_json::from_str(&self.err).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        document["error"].clone()
    }
}

/// `wed` on a database.
pub(crate) fn wed(database_url: &str) -> Command {
    let mut command = Command::new(wed_path());
    command
        .env("DATABASE_URL", database_url)
        .env_remove("WEDFLOW_TENANT")
        .env_remove("WEDFLOW_LOG")
        .env_remove("WEDFLOW_SAMPLES")
        .current_dir(super::repository("."));
    command
}

/// Runs a program to its end.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> Answer {
    match command.output() {
        Ok(output) => output.into(),
        Err(error) => panic!("{:?}: {error}", command.get_program()),
    }
}

/// psql with a script on standard input, as a person pastes it.
#[track_caller]
pub(crate) fn psql(url: &str, script: &str) -> Answer {
    use std::io::Write;
    use std::process::Stdio;
    let mut child = Command::new("psql")
        .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", url])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("psql: {error}; install it, for example: apt-get install postgresql-client"));
    // psql may stop reading at an error; what it then says is the answer.
    let _ = child.stdin.take().expect("standard input").write_all(script.as_bytes());
    child.wait_with_output().expect("psql ends").into()
}

/// `wed serve` or `wed dev` with its API over a database, ended with the value.
pub(crate) struct Serving {
    process: Child,
    pub(crate) address: SocketAddr,
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Serving {
    pub(crate) fn of(database_url: &str) -> Self {
        Serving::by(database_url, &["serve"])
    }

    /// Starts it by a command and its options.
    pub(crate) fn by(database_url: &str, command: &[&str]) -> Self {
        let log = tempfile::NamedTempFile::new().expect("a file");
        let process = Command::new(wed_path())
            .args(command)
            .args(["--listen", "127.0.0.1:0", "--lanes", "1"])
            .env("DATABASE_URL", database_url)
            .stderr(log.reopen().expect("the file"))
            .spawn()
            .expect("wed runs");
        let address = eventually("the address", || {
            let said = std::fs::read_to_string(log.path()).ok()?;
            let rest = said.split("the API is at http://").nth(1)?;
            rest.split(';').next()?.parse().ok()
        });
        Serving { process, address }
    }
}

/// A token of a new user of the default tenant.
pub(crate) fn token_of(database_url: &str, user: &str, role: &str) -> String {
    run(wed(database_url).args(["user", "create", user, "--role", role])).done();
    let token = run(wed(database_url).args(["--json", "token", "create", user])).done();
    token.json()["secret"].as_str().expect("a secret").to_owned()
}

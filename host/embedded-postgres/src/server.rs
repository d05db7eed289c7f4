//! The server's own programs: `initdb` and `pg_ctl`, run under the right account.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::account::Account;
use crate::install::{MAJOR, create_open_folder};
use crate::{PostgresError, memory, state};

/// The superuser's name.
pub(crate) const SUPERUSER: &str = "postgres";

/// Maximum time that the last processes of a crashed server may take to end.
const ORPHAN_LIMIT: Duration = Duration::from_secs(20);

/// Settings of the cluster, beyond Postgres's defaults. `fsync`, `full_page_writes` and
/// `synchronous_commit` are stated although they are defaults: durability is a promise here.
const CONFIGURATION: [(&str, &str); 22] = [
    ("listen_addresses", "127.0.0.1"),
    ("unix_socket_directories", ""),
    ("max_connections", "200"),
    ("shared_buffers", "256MB"),
    ("huge_pages", "try"),
    ("fsync", "on"),
    ("full_page_writes", "on"),
    ("synchronous_commit", "on"),
    ("wal_compression", "off"),
    ("max_wal_size", "2GB"),
    ("jit", "off"),
    // The pool of pending jobs is small and changes all the time.
    ("autovacuum_naptime", "10s"),
    ("password_encryption", "scram-sha-256"),
    ("timezone", "UTC"),
    ("log_timezone", "UTC"),
    ("logging_collector", "on"),
    ("log_filename", "postgres-%a.log"),
    ("log_rotation_age", "1d"),
    ("log_rotation_size", "0"),
    // Details and statements hold values of tenants; the log is the operator's.
    ("log_error_verbosity", "terse"),
    ("log_min_error_statement", "panic"),
    ("log_truncate_on_rotation", "on"),
];

/// Tenants' roles connect over the same port as everyone else, so nobody is trusted.
const ACCESS: &str = "\
# Written by Wedflow when the cluster was created.
# TYPE  DATABASE  USER  ADDRESS       METHOD
host    all       all   127.0.0.1/32  scram-sha-256
";

/// A data folder, and the programs that work on it.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    /// The folder of the unpacked server.
    pub(crate) installed: PathBuf,
    /// Folder of all that the server writes; belongs to `account`.
    pub(crate) folder: PathBuf,
    pub(crate) account: Option<Account>,
    /// True if files are forced to the disk at creation.
    pub(crate) lasting: bool,
}

impl Server {
    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// The folder of the log.
    pub(crate) fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    fn startup_log(&self) -> PathBuf {
        self.log().join("startup.log")
    }

    /// Creates the server's own folders and checks that it can reach what it needs.
    pub(crate) fn prepare(&self) -> Result<(), PostgresError> {
        if let Some(parent) = self.folder.parent() {
            create_open_folder(parent)?;
        }
        for folder in [&self.folder, &self.log()] {
            match fs::create_dir(folder) {
                Ok(()) => self.own(folder)?,
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(PostgresError::io("create", folder, e)),
            }
        }
        if let Some(account) = &self.account {
            account.check_reach(&self.installed)?;
            account.check_reach(&self.folder)?;
        }
        Ok(())
    }

    fn own(&self, path: &Path) -> Result<(), PostgresError> {
        self.account.as_ref().map_or(Ok(()), |account| account.own(path))
    }

    /// A program of the server, with an environment of its own: nothing of the caller's (`PGDATA`,
    /// `LANG`, `LD_PRELOAD`, its folder) can change what it does.
    fn program(&self, name: &str) -> Command {
        self.prepared(Command::new(self.installed.join("bin").join(name)))
    }

    fn prepared(&self, mut command: Command) -> Command {
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LC_ALL", "C")
            .current_dir("/")
            .stdin(Stdio::null());
        if let Some(account) = &self.account {
            account.apply(&mut command);
        }
        command
    }

    fn run(mut command: Command) -> Result<Output, PostgresError> {
        command.output().map_err(|e| {
            let program = Path::new(command.get_program());
            PostgresError::io("run", program, e)
        })
    }

    /// Creates the data folder, whole or not at all.
    pub(crate) fn initialise(&self, password: &str) -> Result<(), PostgresError> {
        let data = self.data();
        let partial = self.folder.join("data.partial");
        match fs::remove_dir_all(&partial) {
            Err(e) if e.kind() != ErrorKind::NotFound => {
                return Err(PostgresError::io("remove", &partial, e));
            }
            _ => {}
        }
        let secret = self.folder.join("initial-password");
        self.write(&secret, password)?;
        let created = {
            let mut initdb = self.program("initdb");
            initdb
                .arg("--pgdata")
                .arg(&partial)
                .arg("--pwfile")
                .arg(&secret)
                .args(["--username", SUPERUSER, "--auth", "scram-sha-256"])
                // Postgres's own collation: the same on every machine, and no upgrade of the
                // system's C library can break an index.
                .args(["--encoding", "UTF8", "--locale", "C"])
                .args(["--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"]);
            if !self.lasting {
                initdb.arg("--no-sync");
            }
            Self::run(initdb)
        };
        let removed = fs::remove_file(&secret);
        let output = created?;
        removed.map_err(|e| PostgresError::io("remove", &secret, e))?;
        if !output.status.success() {
            let said = said(&output);
            return Err(if PostgresError::speaks_of_full_disk(&said) {
                PostgresError::DiskFull { path: data }
            } else {
                PostgresError::Initialise { path: data, output: said }
            });
        }
        self.write(&partial.join("pg_hba.conf"), ACCESS)?;
        let main = partial.join("postgresql.conf");
        let mut text = fs::read_to_string(&main).map_err(|e| PostgresError::io("read", &main, e))?;
        text.push_str(
            "\n# wedflow.conf is written anew at every start; local.conf is yours.\n\
             include 'wedflow.conf'\ninclude_if_exists 'local.conf'\n",
        );
        self.write(&main, &text)?;
        fs::rename(&partial, &data).map_err(|e| PostgresError::io("move", &data, e))
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), PostgresError> {
        state::write_whole(path, text, 0o600, self.account.as_ref())
    }

    /// Checks that this server can read the data folder.
    pub(crate) fn check_version(&self) -> Result<(), PostgresError> {
        let path = self.data().join("PG_VERSION");
        let found = fs::read_to_string(&path).map_err(|e| PostgresError::io("read", &path, e))?;
        if found.trim() == MAJOR {
            Ok(())
        } else {
            Err(PostgresError::OtherVersion {
                path: self.data(),
                found: found.trim().to_owned(),
                expected: MAJOR.to_owned(),
            })
        }
    }

    /// Writes the settings for the next start.
    pub(crate) fn configure(&self, port: u16, extra: &[(String, String)]) -> Result<(), PostgresError> {
        let quoted = |value: &str| format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"));
        let mut text = format!("# Written by Wedflow at every start.\nport = {port}\n");
        text.push_str(&format!("log_directory = {}\n", quoted(&self.log().to_string_lossy())));
        let own = CONFIGURATION.iter().copied();
        let extra = extra.iter().map(|(name, value)| (&**name, &**value));
        for (name, value) in own.chain(extra) {
            text.push_str(&format!("{name} = {}\n", quoted(value)));
        }
        self.write(&self.data().join("wedflow.conf"), &text)
    }

    /// Starts the server and waits until it accepts connections. It gets a session of its own
    /// (`pg_ctl` sees to that), and nothing of this process's standard streams or files.
    pub(crate) fn start(&self, port: u16) -> Result<(), PostgresError> {
        // What a shell or a build tool left open would else be held open by the server for years;
        // this process's own files are not passed on anyway.
        close_fds::set_fds_cloexec_threadsafe(3, &[]);
        let begun = Instant::now();
        loop {
            let startup_log = self.startup_log();
            match fs::remove_file(&startup_log) {
                Err(e) if e.kind() != ErrorKind::NotFound => {
                    return Err(PostgresError::io("remove", &startup_log, e));
                }
                _ => {}
            }
            let before = self.log_size();
            let pg_ctl = self.installed.join("bin/pg_ctl");
            let mut pg_ctl = self.prepared(memory::limited(pg_ctl.as_os_str()));
            pg_ctl
                .args(["start", "--wait", "--timeout", "300", "--silent", "--pgdata"])
                .arg(self.data())
                .arg("--log")
                .arg(&startup_log);
            let output = Self::run(pg_ctl)?;
            if output.status.success() {
                return Ok(());
            }
            let mut text = said(&output);
            text.push('\n');
            text.push_str(&fs::read_to_string(&startup_log).unwrap_or_default());
            text.push_str(&self.log_since(&before));
            if text.contains("pre-existing shared memory block") && begun.elapsed() < ORPHAN_LIMIT {
                // The crashed server's last processes are still ending.
                std::thread::sleep(Duration::from_millis(200));
                continue;
            }
            return Err(if text.contains("could not bind") {
                PostgresError::PortTaken { port }
            } else if PostgresError::speaks_of_full_disk(&text) {
                PostgresError::DiskFull { path: self.data() }
            } else {
                PostgresError::Start { output: tail(&text, 20), log: self.log() }
            });
        }
    }

    /// Stops the server and waits until it has ended. `orderly` writes everything out first and
    /// makes the next start quick; otherwise the server just ends, as by a power cut.
    pub(crate) fn stop(&self, orderly: bool) -> Result<(), PostgresError> {
        let mut pg_ctl = self.program("pg_ctl");
        pg_ctl
            .args(["stop", "--wait", "--timeout", "120", "--silent", "--mode"])
            .arg(if orderly { "fast" } else { "immediate" })
            .arg("--pgdata")
            .arg(self.data());
        let output = Self::run(pg_ctl)?;
        if output.status.success() { Ok(()) } else { Err(PostgresError::Stop { output: said(&output) }) }
    }

    /// The log's files and their sizes.
    fn log_size(&self) -> Vec<(PathBuf, u64)> {
        let Ok(entries) = fs::read_dir(self.log()) else {
            return Vec::new();
        };
        entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                Some((entry.path(), entry.metadata().ok()?.len()))
            })
            .collect()
    }

    /// Returns what was added to the log since `before`, the start-up log aside.
    fn log_since(&self, before: &[(PathBuf, u64)]) -> String {
        let mut added = String::new();
        for (path, size) in self.log_size() {
            let old = before.iter().find(|(known, _)| *known == path).map_or(0, |(_, old)| *old);
            if size > old && path != self.startup_log() {
                let bytes = fs::read(&path).unwrap_or_default();
                let start = usize::try_from(old).unwrap_or(usize::MAX);
                added.push_str(&String::from_utf8_lossy(bytes.get(start..).unwrap_or(&[])));
            }
        }
        added
    }
}

/// Returns what a program printed.
fn said(output: &Output) -> String {
    let text =
        [&output.stdout, &output.stderr].map(|stream| String::from_utf8_lossy(stream).trim().to_owned()).join("\n");
    let text = tail(&text, 20);
    if text.is_empty() { output.status.to_string() } else { text }
}

/// The last lines that say anything.
fn tail(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

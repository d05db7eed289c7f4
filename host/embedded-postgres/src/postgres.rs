//! The lasting cluster.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::account::Account;
use crate::postmaster::{self, Found, Postmaster};
use crate::server::{SUPERUSER, Server};
use crate::state::{self, State};
use crate::{Connection, PostgresError, PostgresSettings, Progress, install};

/// The range of ports to choose from: below the range that systems hand out to outgoing connections, so
/// that a port found free today is not lost to one of those tomorrow.
const LASTING_PORTS: (u16, u16) = (15432, 16431);
/// The same for temporary clusters, which come in numbers.
const TEMPORARY_PORTS: (u16, u16) = (20000, 31999);

/// Maximum time that a server which someone else started or stopped may take.
const TRANSITION_LIMIT: Duration = Duration::from_secs(300);

/// A cluster in its home. Cheap to clone; any number of these, in any number of processes, may
/// speak for the same home.
#[derive(Debug, Clone)]
pub struct Postgres {
    settings: PostgresSettings,
    lasting: bool,
}

/// The state of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// No data folder exists yet.
    NotCreated,
    /// The server does not run.
    Stopped,
    /// The server runs but accepts no connections yet, or no more.
    Changing {
        /// The process.
        pid: i32,
    },
    /// The server accepts connections.
    Running {
        /// The process.
        pid: i32,
        /// The TCP port on 127.0.0.1.
        port: u16,
    },
}

impl Postgres {
    /// The cluster of a home. Nothing is read or written yet.
    ///
    /// # Errors
    /// [`PostgresError::Io`] when a relative path cannot be made absolute.
    pub fn open(settings: PostgresSettings) -> Result<Self, PostgresError> {
        Self::with(settings, true)
    }

    pub(crate) fn with(mut settings: PostgresSettings, lasting: bool) -> Result<Self, PostgresError> {
        settings.home = resolve(&settings.home)?;
        settings.binaries = resolve(&settings.binaries)?;
        Ok(Postgres { settings, lasting })
    }

    /// The settings it was opened with, paths made absolute.
    pub fn settings(&self) -> &PostgresSettings {
        &self.settings
    }

    /// The file that holds the superuser's password (mode 600).
    pub fn password_file(&self) -> PathBuf {
        self.settings.home.join("password")
    }

    /// The folder of the server's log.
    pub fn log_folder(&self) -> PathBuf {
        self.folder().join("log")
    }

    fn folder(&self) -> PathBuf {
        self.settings.home.join("server")
    }

    fn data(&self) -> PathBuf {
        self.folder().join("data")
    }

    /// Sees to it that the server runs: downloads, unpacks, creates and starts whatever is missing,
    /// and clears up after a crash. Does nothing when it runs already. Concurrent callers, in this
    /// process or others, wait for each other. `progress` hears of each slow step.
    ///
    /// The server lives on when this process ends. As root this needs the right to change accounts.
    ///
    /// # Errors
    /// Any [`PostgresError`]; after one, calling again continues where it makes sense.
    pub async fn ensure_started(
        &self,
        mut progress: impl FnMut(Progress) + Send + 'static,
    ) -> Result<Connection, PostgresError> {
        let cluster = self.clone();
        blocking(move || cluster.start(&mut progress)).await
    }

    /// Tells how the cluster is at this moment, without waiting for anyone.
    ///
    /// # Errors
    /// [`PostgresError::Io`] when its files cannot be read.
    pub fn status(&self) -> Result<Status, PostgresError> {
        Ok(match postmaster::find(&self.data())? {
            Found::Alive(found) if found.is_ready() => Status::Running { pid: found.pid, port: found.port },
            Found::Alive(found) => Status::Changing { pid: found.pid },
            Found::None | Found::Stale { .. } if self.is_created() => Status::Stopped,
            Found::None | Found::Stale { .. } => Status::NotCreated,
        })
    }

    /// Returns whether the server accepts connections at this moment.
    ///
    /// # Errors
    /// As [`Postgres::status`].
    pub fn is_running(&self) -> Result<bool, PostgresError> {
        Ok(matches!(self.status()?, Status::Running { .. }))
    }

    /// Tells how to reach the server, or nothing when it does not run.
    ///
    /// # Errors
    /// As [`Postgres::status`]; [`PostgresError::NoPassword`] when the password file is lost.
    pub fn connection(&self) -> Result<Option<Connection>, PostgresError> {
        match self.status()? {
            Status::Running { port, .. } => self.connection_at(port).map(Some),
            _ => Ok(None),
        }
    }

    /// Stops the server in order, ending its connections, and waits until it has ended; at most two
    /// minutes. Says whether it ran.
    ///
    /// # Errors
    /// [`PostgresError::Stop`], and those of [`Postgres::status`].
    pub async fn stop(&self) -> Result<bool, PostgresError> {
        let cluster = self.clone();
        blocking(move || cluster.halt(true)).await
    }

    fn is_created(&self) -> bool {
        self.data().join("PG_VERSION").exists()
    }

    fn connection_at(&self, port: u16) -> Result<Connection, PostgresError> {
        let path = self.password_file();
        let password = state::read_password(&path)?
            .ok_or_else(|| PostgresError::NoPassword { data: self.data(), password: path })?;
        Ok(Connection { port, user: SUPERUSER.to_owned(), password })
    }

    fn server(&self, installed: PathBuf) -> Result<Server, PostgresError> {
        let folder = self.folder();
        Ok(Server {
            account: Account::choose(self.settings.account.as_deref(), &folder)?,
            installed,
            folder,
            lasting: self.lasting,
        })
    }

    /// The blocking body of [`Postgres::ensure_started`].
    pub(crate) fn start(&self, progress: &mut dyn FnMut(Progress)) -> Result<Connection, PostgresError> {
        if let Some(connection) = self.connection()? {
            return Ok(connection);
        }
        let home = &self.settings.home;
        install::create_open_folder(home)?;
        let _lock = state::lock(&home.join("cluster.lock"), progress)?;
        if let Some(found) = self.await_postmaster()? {
            return self.connection_at(found.port);
        }
        let installed = install::ensure(&self.settings.binaries, self.settings.archive.as_deref(), progress)?;
        let server = self.server(installed)?;
        server.prepare()?;
        if !self.is_created() {
            progress(Progress::Initialising);
            let path = self.password_file();
            let password = match state::read_password(&path)? {
                Some(password) => password,
                None => {
                    let password = state::new_password()?;
                    state::write_whole(&path, &password, 0o600, None)?;
                    password
                }
            };
            server.initialise(&password)?;
        }
        server.check_version()?;
        if let Found::Stale { taken } = postmaster::find(&self.data())? {
            progress(Progress::Recovering);
            if taken {
                postmaster::disown(&self.data(), server.account.as_ref())?;
            }
        }
        let port = self.start_on_a_port(&server, progress)?;
        progress(Progress::Ready { port });
        self.connection_at(port)
    }

    /// Starts on the port that is asked for or remembered; without one, on the first that is free,
    /// and remembers it.
    fn start_on_a_port(&self, server: &Server, progress: &mut dyn FnMut(Progress)) -> Result<u16, PostgresError> {
        let path = self.settings.home.join("cluster.json");
        let known = State::read(&path)?;
        let fixed = self.settings.port.or(known.as_ref().map(|state| state.port));
        let mut start = |port: u16| {
            progress(Progress::Starting { port });
            server.configure(port, &self.settings.configuration)?;
            server.start(port)
        };
        let port = match fixed {
            Some(port) if !is_free(port) => return Err(PostgresError::PortTaken { port }),
            Some(port) => start(port).map(|()| port)?,
            None => {
                let (first, last) = if self.lasting { LASTING_PORTS } else { TEMPORARY_PORTS };
                let mut found = None;
                for port in self.candidates(first, last).filter(|port| is_free(*port)) {
                    match start(port) {
                        Ok(()) => {
                            found = Some(port);
                            break;
                        }
                        // Someone took it in between.
                        Err(PostgresError::PortTaken { .. }) => {}
                        Err(e) => return Err(e),
                    }
                }
                found.ok_or(PostgresError::NoFreePort { first, last })?
            }
        };
        let state = State { port, version: install::version().unwrap_or_default().to_owned() };
        if known.as_ref() != Some(&state) {
            state.write(&path)?;
        }
        Ok(port)
    }

    /// The ports from `first` to `last`; a temporary cluster begins somewhere among them, so that
    /// several that start at once do not compete for each.
    fn candidates(&self, first: u16, last: u16) -> impl Iterator<Item = u16> + use<> {
        let count = last - first + 1;
        let offset = if self.lasting {
            0
        } else {
            let name = self.settings.home.as_os_str().as_encoded_bytes();
            name.iter().fold(0_u16, |hash, byte| hash.wrapping_mul(31).wrapping_add(u16::from(*byte))) % count
        };
        (0..count).map(move |step| first + (step + offset) % count)
    }

    /// Waits until a server that is starting or stopping has done so. The caller holds the lock, so
    /// such a server was started or stopped by hand, or recovers from a crash.
    fn await_postmaster(&self) -> Result<Option<Postmaster>, PostgresError> {
        let begun = Instant::now();
        loop {
            match postmaster::find(&self.data())? {
                Found::Alive(found) if found.is_ready() => return Ok(Some(found)),
                Found::Alive(found) if begun.elapsed() > TRANSITION_LIMIT => {
                    return Err(PostgresError::Start {
                        output: format!(
                            "the server (process {}) is still {} after {} s",
                            found.pid,
                            if found.is_stopping() { "stopping" } else { "starting" },
                            TRANSITION_LIMIT.as_secs()
                        ),
                        log: self.log_folder(),
                    });
                }
                Found::Alive(_) => std::thread::sleep(Duration::from_millis(50)),
                Found::None | Found::Stale { .. } => return Ok(None),
            }
        }
    }

    /// The blocking body of [`Postgres::stop`].
    pub(crate) fn halt(&self, orderly: bool) -> Result<bool, PostgresError> {
        if !self.is_created() {
            return Ok(false);
        }
        let _lock = state::lock(&self.settings.home.join("cluster.lock"), &mut |_| {})?;
        if !matches!(postmaster::find(&self.data())?, Found::Alive(_)) {
            return Ok(false);
        }
        let installed = install::ensure(&self.settings.binaries, self.settings.archive.as_deref(), &mut |_| {})?;
        self.server(installed)?.stop(orderly)?;
        Ok(true)
    }
}

/// Runs what waits for programs and files where it holds up no other task.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PostgresError> + Send + 'static,
) -> Result<T, PostgresError> {
    tokio::task::spawn_blocking(work).await.map_err(|e| PostgresError::Interrupted { reason: e.to_string() })?
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// An absolute path without symbolic links in the part that exists: the server is recognised by
/// the path of its data folder.
fn resolve(path: &Path) -> Result<PathBuf, PostgresError> {
    let absolute = std::path::absolute(path).map_err(|e| PostgresError::io("find", path, e))?;
    let existing = absolute.ancestors().find_map(|ancestor| Some((ancestor, ancestor.canonicalize().ok()?)));
    Ok(match existing {
        Some((ancestor, real)) => match absolute.strip_prefix(ancestor) {
            Ok(rest) if rest.as_os_str().is_empty() => real,
            Ok(rest) => real.join(rest),
            Err(_) => absolute,
        },
        None => absolute,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_candidate_port_comes_once() {
        let settings = PostgresSettings::new("/somewhere/else");
        let cluster = Postgres::with(settings, false).expect("cluster");
        let (first, last) = TEMPORARY_PORTS;
        let mut ports: Vec<u16> = cluster.candidates(first, last).collect();
        ports.sort_unstable();
        assert!(ports.into_iter().eq(first..=last));
    }

    #[test]
    fn links_are_resolved_and_what_is_missing_is_kept() {
        let folder = tempfile::tempdir().expect("folder");
        let real = folder.path().canonicalize().expect("path").join("real");
        std::fs::create_dir(&real).expect("folder");
        std::os::unix::fs::symlink(&real, folder.path().join("link")).expect("link");
        let found = resolve(&folder.path().join("link/home")).expect("path");
        assert_eq!(found, real.join("home"));
    }
}

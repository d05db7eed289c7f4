//! Settings of a cluster and of connections to it.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::PostgresError;

/// Place and parameters of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresSettings {
    /// The folder of the cluster. As root it must be reachable by the account the server runs
    /// under: not below a folder of mode 700.
    pub home: PathBuf,
    /// The folder of the unpacked servers, one folder per version; may be shared by clusters.
    pub binaries: PathBuf,
    /// A local copy of the server's archive, for machines without a network.
    pub archive: Option<PathBuf>,
    /// The TCP port on 127.0.0.1. When absent: the one recorded in the home, and at the first start
    /// the first free one from 15432 on.
    pub port: Option<u16>,
    /// As root, the account to run the server under. When absent: the owner of the data, else
    /// `wedflow` when there is such an account, else `nobody`. Ignored otherwise.
    pub account: Option<String>,
    /// Server settings beyond the cluster's own, by name; they win over those.
    pub configuration: Vec<(String, String)>,
}

impl PostgresSettings {
    /// A cluster in `home`, everything else as it comes.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        let home = home.into();
        PostgresSettings {
            binaries: home.join("postgres"),
            home,
            archive: None,
            port: None,
            account: None,
            configuration: Vec::new(),
        }
    }

    /// The cluster of this user: in [`default_home`], with `WEDFLOW_POSTGRES_ARCHIVE` (a local copy
    /// of the archive), `WEDFLOW_POSTGRES_PORT` and `WEDFLOW_POSTGRES_ACCOUNT` heeded.
    ///
    /// # Errors
    /// [`PostgresError::NoHome`]; [`PostgresError::Variable`] when the port is no number.
    pub fn from_environment() -> Result<Self, PostgresError> {
        let mut settings = PostgresSettings::new(default_home()?);
        settings.archive = variable("WEDFLOW_POSTGRES_ARCHIVE").map(PathBuf::from);
        settings.account = variable("WEDFLOW_POSTGRES_ACCOUNT");
        if let Some(port) = variable("WEDFLOW_POSTGRES_PORT") {
            settings.port = Some(port.parse().map_err(|_| PostgresError::Variable {
                name: "WEDFLOW_POSTGRES_PORT",
                value: port,
                wanted: "a number from 1 to 65535",
            })?);
        }
        Ok(settings)
    }
}

/// Returns where this user's cluster lives: `WEDFLOW_HOME`; else `/var/lib/wedflow` as root; else
/// `$XDG_DATA_HOME/wedflow`, or `~/.local/share/wedflow`.
///
/// # Errors
/// [`PostgresError::NoHome`] when none of the variables is set.
pub fn default_home() -> Result<PathBuf, PostgresError> {
    if let Some(home) = variable("WEDFLOW_HOME") {
        return Ok(PathBuf::from(home));
    }
    if rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from("/var/lib/wedflow"));
    }
    variable("XDG_DATA_HOME")
        .map(PathBuf::from)
        // The XDG specification: a relative path there is to be ignored.
        .filter(|path| path.is_absolute())
        .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".local/share")))
        .map(|data| data.join("wedflow"))
        .ok_or(PostgresError::NoHome)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Address and credentials of a running cluster's superuser.
#[derive(Clone, PartialEq, Eq)]
pub struct Connection {
    /// The TCP port on 127.0.0.1.
    pub port: u16,
    /// The superuser's name.
    pub user: String,
    /// The password: letters and digits only, so it needs no escaping in a URL.
    pub password: String,
}

impl Connection {
    /// The address the server listens on.
    pub const HOST: &'static str = "127.0.0.1";

    /// The URL of the cluster's first database, `postgres`. It carries the password: not for logs.
    pub fn url(&self) -> String {
        self.url_of("postgres")
    }

    /// The URL of a database of this cluster, whose name is percent-encoded where need be. It
    /// carries the password: not for logs.
    pub fn url_of(&self, database: &str) -> String {
        let mut name = String::with_capacity(database.len());
        for byte in database.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' => {
                    name.push(char::from(byte));
                }
                _ => name.push_str(&format!("%{byte:02X}")),
            }
        }
        // The server has no certificate and only the loopback interface: asking for TLS first would
        // cost a round trip.
        format!("postgres://{}:{}@{}:{}/{name}?sslmode=disable", self.user, self.password, Self::HOST, self.port)
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("port", &self.port).field("user", &self.user).finish_non_exhaustive()
    }
}

/// The step that [`crate::Postgres::ensure_started`] is busy with. `Display` gives a line for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// Another process is creating, starting or stopping the same cluster.
    Waiting,
    /// The server is being downloaded (about 12 MB), once.
    Downloading {
        /// The version.
        version: &'static str,
    },
    /// The server is being unpacked, once.
    Unpacking,
    /// The data folder is being created, once.
    Initialising,
    /// The server is starting.
    Starting {
        /// The port.
        port: u16,
    },
    /// A server that had crashed left traces; they are being cleared away.
    Recovering,
    /// The server accepts connections.
    Ready {
        /// The port.
        port: u16,
    },
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Progress::Waiting => f.write_str("waiting for another process"),
            Progress::Downloading { version } => write!(f, "downloading PostgreSQL {version}"),
            Progress::Unpacking => f.write_str("unpacking PostgreSQL"),
            Progress::Initialising => f.write_str("creating the database"),
            Progress::Starting { port } => write!(f, "starting PostgreSQL on port {port}"),
            Progress::Recovering => f.write_str("recovering from a crash"),
            Progress::Ready { port } => write!(f, "PostgreSQL is ready on port {port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_not_in_the_debug_form_and_names_are_encoded() {
        let connection = Connection { port: 15432, user: "postgres".into(), password: "s3cret".into() };
        assert!(!format!("{connection:?}").contains("s3cret"));
        assert_eq!(
            connection.url_of("a b/é"),
            "postgres://postgres:s3cret@127.0.0.1:15432/a%20b%2F%C3%A9?sslmode=disable"
        );
    }
}

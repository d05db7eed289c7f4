//! Errors, worded so that a person can mend the cause.

use std::io;
use std::path::{Path, PathBuf};

/// Why the embedded Postgres could not be installed, started or stopped. The text of each says what
/// happened and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PostgresError {
    /// No folder to keep the cluster in could be derived from the environment.
    #[error("cannot tell where to keep the database: set WEDFLOW_HOME (or HOME) to a folder")]
    NoHome,
    /// A variable of the environment makes no sense.
    #[error("{name} is `{value}`; give it {wanted}")]
    Variable {
        /// The variable.
        name: &'static str,
        /// The value it has.
        value: String,
        /// A value that it can have.
        wanted: &'static str,
    },
    /// A file or folder could not be read or written.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// The action, as a verb.
        doing: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file system is full.
    #[error(
        "no space is left on the disk that holds {}: free some (the server needs about 60 MB, a new cluster about \
         100 MB), or set WEDFLOW_HOME to a folder elsewhere",
        path.display()
    )]
    DiskFull {
        /// The path that was being written.
        path: PathBuf,
    },
    /// The server could not be downloaded.
    #[error(
        "cannot download PostgreSQL {version}: {reason}; this needs the network once. Without one, fetch {file} \
         elsewhere and name it in WEDFLOW_POSTGRES_ARCHIVE, or use a Postgres server of your own"
    )]
    Download {
        /// The version.
        version: String,
        /// The archive's file name in the Maven repository of the server's builds.
        file: String,
        /// The reason.
        reason: String,
    },
    /// The archive is not the one this build of Wedflow was made for.
    #[error(
        "the archive of PostgreSQL {version} is not the expected one (SHA-256 {found}, expected {expected}): it was \
         damaged or changed on its way and has not been unpacked"
    )]
    Digest {
        /// The version.
        version: String,
        /// The digest that is pinned.
        expected: String,
        /// The digest of what arrived.
        found: String,
    },
    /// The archive could not be unpacked.
    #[error("cannot unpack PostgreSQL {version}: {reason}")]
    Unpack {
        /// The version.
        version: String,
        /// The reason.
        reason: String,
    },
    /// No build of the server exists for this machine.
    #[error("there is no embedded PostgreSQL for {platform}: use a Postgres server of your own")]
    Platform {
        /// Operating system and architecture.
        platform: String,
    },
    /// As root, the account to run the server under is missing.
    #[error(
        "Postgres refuses to run as root and there is no account `{name}` in /etc/passwd to run it under: create \
         one (useradd --system {name}), or name another in WEDFLOW_POSTGRES_ACCOUNT"
    )]
    NoAccount {
        /// The account.
        name: String,
    },
    /// The account the server runs under cannot reach a folder it needs.
    #[error(
        "Postgres runs as `{account}`, which cannot reach {}: {} is closed to it. Open that folder (chmod o+x), or \
         set WEDFLOW_HOME to one that `{account}` can reach, such as /var/lib/wedflow",
        path.display(), blocked.display()
    )]
    Unreachable {
        /// The account.
        account: String,
        /// The folder it needs.
        path: PathBuf,
        /// The folder on the way that is closed.
        blocked: PathBuf,
    },
    /// The cluster belongs to another user of this machine.
    #[error(
        "the database in {} belongs to another user (uid {owner}): run as that user, or set WEDFLOW_HOME to a \
         folder of your own",
        path.display()
    )]
    NotOwner {
        /// The cluster's folder.
        path: PathBuf,
        /// The owner's user id.
        owner: u32,
    },
    /// The data folder could not be created.
    #[error("cannot create the database in {}: {output}", path.display())]
    Initialise {
        /// The data folder.
        path: PathBuf,
        /// The output of `initdb`.
        output: String,
    },
    /// The data folder was written by another major version.
    #[error(
        "the database in {} was written by PostgreSQL {found}, and this Wedflow brings {expected}: export it with \
         that version and import it into a new one",
        path.display()
    )]
    OtherVersion {
        /// The data folder.
        path: PathBuf,
        /// The major version that wrote it.
        found: String,
        /// The major version that is pinned.
        expected: String,
    },
    /// The superuser's password file is missing or empty.
    #[error(
        "the database in {} exists but its password file {} does not: restore that file from a backup",
        data.display(), password.display()
    )]
    NoPassword {
        /// The data folder.
        data: PathBuf,
        /// The file that is missing.
        password: PathBuf,
    },
    /// The cluster's port is in use by another program.
    #[error(
        "port {port} on 127.0.0.1 is taken by another program: end it, or choose another port for the database with \
         WEDFLOW_POSTGRES_PORT"
    )]
    PortTaken {
        /// The port.
        port: u16,
    },
    /// Every port that was tried is taken.
    #[error("no free port for the database between {first} and {last}: name one in WEDFLOW_POSTGRES_PORT")]
    NoFreePort {
        /// The first that was tried.
        first: u16,
        /// The last that was tried.
        last: u16,
    },
    /// The server did not start.
    #[error("Postgres did not start: {output}\nIts log is in {}", log.display())]
    Start {
        /// The end of what `pg_ctl` and the server said.
        output: String,
        /// The folder of its log.
        log: PathBuf,
    },
    /// The server did not stop.
    #[error("Postgres did not stop: {output}")]
    Stop {
        /// The output of `pg_ctl`.
        output: String,
    },
    /// The cluster's state file cannot be read.
    #[error("{} is damaged ({reason}): delete it, it will be written anew", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The work was cut off, because the program is ending or has panicked.
    #[error("the start of the database was interrupted: {reason}")]
    Interrupted {
        /// The runtime's message.
        reason: String,
    },
}

impl PostgresError {
    /// An I/O error in its place; a full disk gets its own name.
    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => PostgresError::DiskFull { path },
            io::ErrorKind::PermissionDenied if owner_of(&path).is_some_and(|owner| owner != own_uid()) => {
                PostgresError::NotOwner { owner: owner_of(&path).unwrap_or_default(), path }
            }
            _ => PostgresError::Io { doing, path, source },
        }
    }

    /// Returns whether what a program printed speaks of a full disk.
    pub(crate) fn speaks_of_full_disk(output: &str) -> bool {
        output.contains("No space left on device") || output.contains("Disk quota exceeded")
    }
}

/// The owner of a file, or of the nearest folder above it that can be looked at.
fn owner_of(path: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let found = path.ancestors().find_map(|one| std::fs::metadata(one).ok());
    found.map(|found| found.uid())
}

/// The user of this process.
fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

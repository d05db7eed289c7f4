//! The throw-away cluster, for tests.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;

use crate::postgres::blocking;
use crate::{Connection, Postgres, PostgresError, PostgresSettings, settings};

const PREFIX: &str = "wedflow-temporary-";
const OWNER: &str = "owner.lock";

/// A cluster in a folder of its own below the system's temporary folder; stopped and removed when
/// dropped. One whose process was killed is removed by the next [`Postgres::temporary`].
///
/// Settings and durability are those of a lasting cluster. Dropping takes some tenths of a second
/// and blocks the thread.
#[derive(Debug)]
pub struct TemporaryPostgres {
    cluster: Postgres,
    connection: Connection,
    // Dropped in this order, after `drop` has stopped the server.
    _home: TempDir,
    _owner: File,
}

impl Postgres {
    /// Starts a throw-away cluster. The unpacked server is the one of [`PostgresSettings::from_environment`],
    /// and is put there first when it is missing.
    ///
    /// # Errors
    /// Any [`PostgresError`].
    pub async fn temporary() -> Result<TemporaryPostgres, PostgresError> {
        blocking(TemporaryPostgres::create).await
    }
}

impl TemporaryPostgres {
    /// Tells how to reach it.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The URL of its first database, `postgres`.
    pub fn url(&self) -> String {
        self.connection.url()
    }

    /// The cluster itself, to be stopped, started or looked at.
    pub fn cluster(&self) -> &Postgres {
        &self.cluster
    }

    fn create() -> Result<Self, PostgresError> {
        let parent = std::env::temp_dir();
        sweep(&parent);
        let fail = |e| PostgresError::io("create a folder in", &parent, e);
        let home = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&parent).map_err(fail)?;
        // As root, the server's account must get through.
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o711)).map_err(fail)?;
        // Locked before it has its name: others who sweep must never see it unlocked.
        let unnamed = home.path().join("owner.new");
        let owner = File::create(&unnamed).map_err(fail)?;
        owner.lock().map_err(fail)?;
        fs::rename(&unnamed, home.path().join(OWNER)).map_err(fail)?;
        let environment = PostgresSettings::from_environment()?;
        let mut settings = PostgresSettings::new(home.path());
        settings.binaries = settings::default_home()?.join("postgres");
        settings.archive = environment.archive;
        settings.account = environment.account;
        let cluster = Postgres::with(settings, false)?;
        let connection = cluster.start(&mut |_| {})?;
        Ok(TemporaryPostgres { cluster, connection, _home: home, _owner: owner })
    }
}

impl Drop for TemporaryPostgres {
    fn drop(&mut self) {
        // Nobody is left to tell, and the next temporary cluster sweeps up.
        let _ = self.cluster.halt(false);
    }
}

/// Removes the temporary clusters whose process has died: the system has released their locks.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let home = entry.path();
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let Ok(owner) = OpenOptions::new().write(true).open(home.join(OWNER)) else {
            continue;
        };
        if owner.try_lock().is_err() {
            continue;
        }
        let Ok(default_home) = settings::default_home() else {
            continue;
        };
        let mut settings = PostgresSettings::new(&home);
        settings.binaries = default_home.join("postgres");
        let halted = Postgres::with(settings, false).and_then(|cluster| cluster.halt(false));
        if halted.is_ok() {
            // Whoever cannot remove it now finds it again next time.
            let _ = fs::remove_dir_all(&home);
        }
    }
}

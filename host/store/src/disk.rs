//! The disk of the database's server: whether it takes what is written, and, on this machine, how much of it is free.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::{Store, StoreError};

/// Rows that the server writes to a temporary file and drops again: some megabytes.
const PROBE_ROWS: i32 = 200_000;
/// Least part of the disk that is to be free, in percent.
const FREE_PERCENT_MIN: u64 = 5;

/// State of the disk of the database's server.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Disk {
    /// The server's complaint, where it cannot write.
    full: Option<String>,
    /// Bytes that are free, and bytes in all; absent where the server is on another machine.
    free_of: Option<(u64, u64)>,
}

impl Disk {
    /// Looks at the disk of the database's server.
    pub(crate) async fn of(store: &Store) -> Result<Self, StoreError> {
        Ok(Disk { full: full(store).await?, free_of: free_of(store).await? })
    }

    /// Adds it to the state of an installation, with what is wrong and how to mend it.
    pub(crate) fn add_to(&self, installation: &mut Json) {
        let (free, total) = self.free_of.unzip();
        installation["disk"] = json!({ "writable": self.full.is_none(), "free_bytes": free, "total_bytes": total });
        if let (Some(problem), Some(problems)) = (self.problem(), installation["problems"].as_array_mut()) {
            problems.insert(0, problem);
        }
    }

    fn problem(&self) -> Option<Json> {
        const HINT: &str = "Make room on the disk of the database's server: `wed db retention`, old logs and backups, \
            or a larger disk. Hosts try again until there is room; nothing is lost.";
        if let Some(complaint) = &self.full {
            let text = format!("the database's disk is full: {complaint}");
            return Some(json!({ "code": "disk_full", "text": text, "hint": HINT }));
        }
        let (free, total) = self.free_of?;
        (free < total / 100 * FREE_PERCENT_MIN).then(|| {
            let text = format!("of the database's disk {} of {} MiB are free", free >> 20, total >> 20);
            json!({ "code": "disk_low", "text": text, "hint": HINT })
        })
    }
}

/// Returns the used part of the disk of the database's server, from 0 to 1, where it is on this machine.
pub(crate) async fn used(store: &Store) -> Result<Option<f64>, StoreError> {
    let free_of = free_of(store).await?;
    #[expect(clippy::cast_precision_loss, reason = "a part of a disk is not exact")]
    Ok(free_of.map(|(free, total)| 1.0 - free as f64 / total.max(1) as f64))
}

/// Lets the server write a temporary file; returns its complaint where the disk is full.
async fn full(store: &Store) -> Result<Option<String>, StoreError> {
    let mut transaction = store.begin().await?;
    sqlx::query("SET LOCAL work_mem = '64kB'").execute(&mut *transaction).await?;
    // The rows of a function in FROM are kept, in a file where they are many.
    let written =
        sqlx::query("SELECT count(*) FROM generate_series(1, $1)").bind(PROBE_ROWS).execute(&mut *transaction).await;
    transaction.rollback().await?;
    match written {
        Ok(_) => Ok(None),
        Err(error) => match StoreError::from(error) {
            StoreError::Refused(refusal) if refusal.code == "53100" => Ok(Some(refusal.message)),
            other => Err(other),
        },
    }
}

/// Returns the free and all bytes of the disk with the server's data, where that is on this machine and this user may
/// look.
async fn free_of(store: &Store) -> Result<Option<(u64, u64)>, StoreError> {
    let found: Option<(String, i64)> = sqlx::query_as(
        "SELECT setting, extract(epoch FROM pg_postmaster_start_time())::bigint FROM pg_settings \
         WHERE name = 'data_directory'",
    )
    .fetch_optional(&store.pool)
    .await?;
    Ok(found.and_then(|(folder, started)| space_of(Path::new(&folder), started)))
}

/// Returns the space of the disk with a folder of data, if the server in it was started at that time (seconds since
/// 1970): another machine's server may have a folder of the same name.
fn space_of(folder: &Path, started: i64) -> Option<(u64, u64)> {
    let noted = std::fs::read_to_string(folder.join("postmaster.pid")).ok()?;
    let noted: i64 = noted.lines().nth(2)?.trim().parse().ok()?;
    if noted.abs_diff(started) > 2 {
        return None;
    }
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some((disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_than_a_twentieth_is_a_problem() {
        let disk = |free| Disk { full: None, free_of: Some((free, 100 << 30)) };
        assert_eq!(disk(6 << 30).problem(), None);
        let problem = disk(4 << 30).problem().expect("a problem");
        assert_eq!(problem["code"], "disk_low");
    }

    #[test]
    fn folder_of_another_server_is_not_looked_at() {
        let folder = std::env::temp_dir().join(format!("wedflow-disk-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("postmaster.pid"), "1\n/data\n1700000000\n5432\n").expect("written");
        assert!(space_of(&folder, 1_700_000_001).is_some());
        assert_eq!(space_of(&folder, 1_700_000_900), None);
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}

//! Brings a database's schema up to this program's: numbered migrations once, then all functions when one changed.

use std::time::Duration;

use rust_embed::RustEmbed;
use sha2::{Digest, Sha256};
use sqlx::migrate::{Migrate, MigrateError, Migrator};
use sqlx::{AssertSqlSafe, Connection, FromRow, PgConnection};
use wedflow_guard::rules;

use crate::servers::Access;
use crate::{Store, StoreError};

/// Longest wait for a lock, as Postgres reads it: another program may be migrating.
const LOCK_TIMEOUT: &str = "10min";

/// Numbered migrations: tables, types and indexes. Append-only.
static NUMBERED: Migrator = sqlx::migrate!("../../migrations");

/// SQL functions, a file for each subject, applied together when any of them changed.
#[derive(RustEmbed)]
#[folder = "../../migrations/functions"]
struct Functions;

const FIRST: &str = "first.sql";
const LAST: &str = "last.sql";
/// Folder of the templates of what each flow has: kept in the database and filled in for each flow.
const TEMPLATES: &str = "templates/";

/// The first number after the tables that the nine migrations of wed 0.1.0 made together with their functions.
const AFTER_BASELINE: i64 = 7;
/// Number of migrations that wed 0.1.0 records.
const FORMER_COUNT: i64 = 9;
/// SHA-384 of the first of those migrations.
const FORMER_FIRST: &str =
    concat!("e1d92fc6f71417b77f85ffca962350446bd246a6dcd1d9c4", "5e5c0728a9f470acd8a00378b17f6fdbb4c3ecd970dbe810",);

/// Maximum number of tries at the functions while hosts are at work.
const TRIES_MAX: usize = 20;
/// Time between two of them.
const BETWEEN_TRIES: Duration = Duration::from_millis(200);

/// Settings of a database's server on which durability and leases depend.
#[derive(Debug, Clone, PartialEq, FromRow)]
pub struct ServerSettings {
    /// Version of Postgres.
    pub version: String,
    /// Connections that it takes at once.
    pub connections_max: i64,
    /// True if commits reach the disk.
    pub fsync: bool,
    /// True if a page that was half written is mended after a crash.
    pub full_page_writes: bool,
    /// True if a commit is answered only once it is on the disk.
    pub synchronous_commit: bool,
    /// The server's time, seconds since 1970.
    pub epoch_s: f64,
    /// True if the role may bound the temporary files of flows' sessions.
    pub bounds_files: bool,
    /// Role of the connection.
    pub role: String,
}

/// The schema of a database, as this program finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schema {
    /// The one of this program.
    Current,
    /// Schema of something else than Wedflow, or none.
    Absent,
    /// That of another version: the number of its newest migration, and of this program's. They are the same where
    /// only functions differ.
    Other {
        /// Number of the database's newest migration.
        found: i64,
        /// Number of this program's.
        own: i64,
    },
}

impl Store {
    /// Reads the server's settings on which durability and leases depend.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn server_settings(&self) -> Result<ServerSettings, StoreError> {
        Ok(sqlx::query_as(
            "SELECT current_setting('server_version') AS version, \
               current_setting('max_connections')::bigint AS connections_max, \
               current_setting('fsync')::boolean AS fsync, \
               current_setting('full_page_writes')::boolean AS full_page_writes, \
               current_setting('synchronous_commit') <> 'off' AS synchronous_commit, \
               extract(epoch FROM clock_timestamp())::float8 AS epoch_s, \
               has_parameter_privilege('temp_file_limit', 'SET') AS bounds_files, \
               quote_ident(current_user) AS role",
        )
        .fetch_one(&self.pool)
        .await?)
    }

    /// Compares the database's schema with this program's; changes nothing.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn schema(&self) -> Result<Schema, StoreError> {
        let mut connection = self.pool.acquire().await?;
        let is_there: bool = sqlx::query_scalar(
            "SELECT to_regclass('public._sqlx_migrations') IS NOT NULL \
               AND to_regclass('wed.function_source') IS NOT NULL",
        )
        .fetch_one(&mut *connection)
        .await?;
        if !is_there {
            return Ok(Schema::Absent);
        }
        let found: Option<i64> =
            sqlx::query_scalar("SELECT max(version) FROM public._sqlx_migrations").fetch_one(&mut *connection).await?;
        let own = NUMBERED.iter().map(|migration| migration.version).max();
        let (found, own) = (found.unwrap_or_default(), own.unwrap_or_default());
        let digest = applied_digest(connection.driver()).await?;
        Ok(match found == own && digest.as_deref() == Some(own_digest()) {
            true => Schema::Current,
            false => Schema::Other { found, own },
        })
    }

    /// Brings the database's schema up to this version. Several processes may call it at once; it is
    /// one query when there is nothing to do.
    ///
    /// # Errors
    /// [`StoreError::Migration`] when a migration fails, or the database is newer than this program; a refusal with
    /// SQLSTATE 25006 when there is something to do and the database is read-only.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        // The record of applied migrations is kept where new tables usually are.
        let options = (self.options.clone()).options([("search_path", "public"), ("lock_timeout", LOCK_TIMEOUT)]);
        let connection = self.servers.connect(&options, Access::Any).await;
        let mut connection = connection.map_err(StoreError::unreachable)?;
        if is_read_only(&mut connection).await? {
            return match is_up_to_date(&mut connection).await? {
                true => Ok(()),
                false => Err(StoreError::read_only()),
            };
        }
        adopt_former(&mut connection).await?;
        NUMBERED.run(&mut connection).await.map_err(explained)?;
        apply_functions(&mut connection).await
    }
}

async fn is_read_only(connection: &mut PgConnection) -> Result<bool, StoreError> {
    let asked = "SELECT current_setting('transaction_read_only')::boolean";
    Ok(sqlx::query_scalar(asked).fetch_one(connection).await?)
}

/// Returns true if the database has the functions of this version, which come after all tables.
async fn is_up_to_date(connection: &mut PgConnection) -> Result<bool, StoreError> {
    let asked = "SELECT to_regclass('wed.function_source') IS NOT NULL";
    let made: bool = sqlx::query_scalar(asked).fetch_one(&mut *connection).await?;
    Ok(made && applied_digest(connection).await?.as_deref() == Some(own_digest()))
}

fn explained(error: MigrateError) -> StoreError {
    StoreError::Migration(match error {
        MigrateError::VersionMismatch(_) => {
            "it was made by another development version of wed; use another database, or drop this one".to_owned()
        }
        MigrateError::VersionMissing(_) => "it was made by a newer version of wed; use that one".to_owned(),
        other => other.to_string(),
    })
}

/// Rewrites the record of a database that wed 0.1.0 migrated: its nine migrations made the same tables as
/// today's first six.
async fn adopt_former(connection: &mut PgConnection) -> Result<(), StoreError> {
    connection.lock().await.map_err(explained)?;
    let adopted = rewrite_record(connection).await;
    connection.unlock().await.map_err(explained)?;
    adopted
}

async fn rewrite_record(connection: &mut PgConnection) -> Result<(), StoreError> {
    let recorded: bool = sqlx::query_scalar("SELECT to_regclass('public._sqlx_migrations') IS NOT NULL")
        .fetch_one(&mut *connection)
        .await?;
    if !recorded {
        return Ok(());
    }
    // Today's seventh is none of its nine.
    let after_baseline = NUMBERED
        .iter()
        .find(|migration| migration.version == AFTER_BASELINE)
        .map(|migration| migration.checksum.to_vec())
        .unwrap_or_default();
    let mut transaction = connection.begin().await?;
    let former: bool = sqlx::query_scalar(
        "SELECT count(*) = $1 AND bool_or(version = 1 AND encode(checksum, 'hex') = $2) \
           AND NOT bool_or(version = $3 AND checksum = $4) FROM public._sqlx_migrations",
    )
    .bind(FORMER_COUNT)
    .bind(FORMER_FIRST)
    .bind(AFTER_BASELINE)
    .bind(after_baseline)
    .fetch_one(&mut *transaction)
    .await?;
    if former {
        sqlx::query("DELETE FROM public._sqlx_migrations").execute(&mut *transaction).await?;
        for migration in NUMBERED.iter().filter(|m| m.version < AFTER_BASELINE) {
            sqlx::query(
                "INSERT INTO public._sqlx_migrations (version, description, success, checksum, execution_time)
                 VALUES ($1, $2, true, $3, 0)",
            )
            .bind(migration.version)
            .bind(&*migration.description)
            .bind(&*migration.checksum)
            .execute(&mut *transaction)
            .await?;
        }
    }
    transaction.commit().await?;
    Ok(())
}

/// Applies all functions, again while locks of hosts at work are in the way.
async fn apply_functions(connection: &mut PgConnection) -> Result<(), StoreError> {
    for _ in 1..TRIES_MAX {
        match apply_functions_once(connection).await {
            Err(StoreError::Conflict(_) | StoreError::Locked { .. }) => {
                tokio::time::sleep(BETWEEN_TRIES).await;
            }
            ended => return ended,
        }
    }
    apply_functions_once(connection).await
}

/// Applies all functions in one transaction unless the database has exactly these.
async fn apply_functions_once(connection: &mut PgConnection) -> Result<(), StoreError> {
    let files = sources();
    let digest = digest_of(&files);
    if applied_digest(connection).await?.as_deref() == Some(digest.as_str()) {
        return Ok(());
    }
    let mut transaction = connection.begin().await?;
    // Holds the row against another process that applies functions; the first one is inserted under the lock.
    sqlx::query("LOCK TABLE wed.function_source IN SHARE ROW EXCLUSIVE MODE").execute(&mut *transaction).await?;
    if applied_digest(&mut transaction).await?.as_deref() == Some(digest.as_str()) {
        return Ok(());
    }
    let templates: Vec<&str> = (files.iter().filter_map(|(path, _)| template_name(path))).collect();
    sqlx::query("DELETE FROM wed.template WHERE name <> ALL ($1)").bind(&templates).execute(&mut *transaction).await?;
    for (path, text) in &files {
        if let Some(name) = template_name(path) {
            sqlx::query(
                "INSERT INTO wed.template (name, text) VALUES ($1, $2)
                    ON CONFLICT (name) DO UPDATE SET text = excluded.text",
            )
            .bind(name)
            .bind(text)
            .execute(&mut *transaction)
            .await?;
            continue;
        }
        sqlx::raw_sql(AssertSqlSafe(text.clone())).execute(&mut *transaction).await.map_err(|error| {
            match StoreError::from(error) {
                in_the_way @ (StoreError::Conflict(_) | StoreError::Locked { .. }) => in_the_way,
                error => StoreError::Migration(format!("functions/{path}: {error}")),
            }
        })?;
    }
    sqlx::query(
        "INSERT INTO wed.function_source (digest) VALUES ($1)
         ON CONFLICT (only_row) DO UPDATE SET digest = excluded.digest, applied_at = clock_timestamp()",
    )
    .bind(&digest)
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(())
}

async fn applied_digest(connection: &mut PgConnection) -> Result<Option<String>, StoreError> {
    Ok(sqlx::query_scalar("SELECT digest FROM wed.function_source").fetch_optional(connection).await?)
}

/// The name of a template of functions that each flow has; nothing for a file that is applied itself.
fn template_name(path: &str) -> Option<&str> {
    path.strip_prefix(TEMPLATES)?.strip_suffix(".sql")
}

/// Path and text of every file: `first.sql`, the functions by path, `last.sql`. Two are made from the guard's table.
fn sources() -> Vec<(String, String)> {
    let made = [
        ("generated/allowed_calls.sql", rules::allowed_calls()),
        ("generated/bounded_calls.sql", rules::bounded_calls()),
    ];
    let mut files: Vec<(String, String)> = Functions::iter()
        .filter(|path| path.ends_with(".sql"))
        .filter_map(|path| {
            let file = Functions::get(&path)?;
            Some((path.into_owned(), String::from_utf8_lossy(&file.data).into_owned()))
        })
        .chain(made.map(|(path, text)| (path.to_owned(), text)))
        .collect();
    files.sort_by_key(|(path, _)| (path == LAST, path != FIRST, path.clone()));
    files
}

/// Returns the digest of this program's functions.
fn own_digest() -> &'static str {
    static DIGEST: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    DIGEST.get_or_init(|| digest_of(&sources()))
}

fn digest_of(files: &[(String, String)]) -> String {
    let mut hash = Sha256::new();
    for (path, text) in files {
        hash.update(path);
        hash.update([0]);
        hash.update(text);
        hash.update([0]);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_embedded_between_first_and_last() {
        let files = sources();
        assert_eq!(files[0].0, FIRST);
        assert_eq!(files[files.len() - 1].0, LAST);
        assert!(files.len() > 50, "{} files", files.len());
    }
}

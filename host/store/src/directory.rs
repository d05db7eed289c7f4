//! The directory of clusters: a small database of its own that says which cluster each tenant is on. No cluster reads
//! it, and it decides nothing: a cluster refuses what is asked for a tenant that has left it.

use std::collections::BTreeMap;
use std::time::Duration;

use sqlx::FromRow;
use sqlx::migrate::Migrator;
use wedflow_documents::Tenant;

use crate::error::about_name;
use crate::servers::Access;
use crate::{LOCK_TIMEOUT, Store, StoreError};

/// Tables of the directory.
static TABLES: Migrator = sqlx::migrate!("../../migrations/placement");
/// Longest run of a statement of the directory, and longest wait for a session.
const STATEMENT_TIME_MAX: Duration = Duration::from_secs(2);
/// Most names in a refusal.
const NAMES_MAX: usize = 5;

/// A directory of clusters.
#[derive(Debug, Clone)]
pub struct Directory {
    store: Store,
}

/// A cluster, as the directory has it.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct ClusterRow {
    /// Name of the cluster.
    pub name: String,
    /// Address of its database, with its password.
    pub url: String,
    /// Address of the replica to read from, with its password.
    pub read_url: Option<String>,
    /// `open`, or `draining`: it takes no new tenants.
    pub state: String,
    /// Number of tenants on it.
    pub tenants: i64,
}

/// Addresses of a cluster, for who serves it.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct ClusterAddress {
    /// Name of the cluster.
    pub name: String,
    /// Address of its database, with its password.
    pub url: String,
    /// Address of the replica to read from, with its password.
    pub read_url: Option<String>,
    /// Mark of its database, as [`Store::installation_mark`] returns it.
    pub mark: String,
}

/// Place of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct TenantPlace {
    /// Name of the tenant.
    pub tenant: String,
    /// Name of the cluster that it is on.
    pub cluster: String,
    /// Number of the last change; a larger one is newer.
    pub version: i64,
}

/// Tenants of a cluster that is added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedCluster {
    /// Tenants that the directory has on it from now on.
    pub taken: Vec<String>,
    /// Empty tenants whose names are another cluster's: they are not served.
    pub skipped: Vec<String>,
}

const CLUSTERS: &str = "SELECT c.name, c.url, c.read_url, c.state, (SELECT count(*) FROM placement.tenant t WHERE t.cluster = c.name) \
    AS tenants FROM placement.cluster c";

impl Store {
    /// Reads a database's URL; connects when it is used, and waits no longer than each use says.
    ///
    /// # Errors
    /// [`StoreError::Url`] when the URL cannot be read.
    pub fn at(url: &str) -> Result<Self, StoreError> {
        Store::lazy(url)
    }
}

impl Directory {
    /// Opens the directory at a database's URL, makes it where it is missing, and brings its tables up to date.
    ///
    /// # Errors
    /// As [`Store::connect_or_create`], and [`StoreError::Migration`].
    pub async fn open(url: &str, connections: u32) -> Result<Self, StoreError> {
        let store = Store::connect_or_create(url, 1).await?;
        let options = store.options.clone().options([("search_path", "placement")]);
        let connection = store.servers.connect(&options, Access::Any).await;
        let mut connection = connection.map_err(StoreError::unreachable)?;
        // Several processes may do so at the same instant.
        sqlx::raw_sql(
            "BEGIN; SELECT pg_advisory_xact_lock(hashtext('placement')); SET LOCAL client_min_messages = warning; \
             CREATE SCHEMA IF NOT EXISTS placement; COMMIT",
        )
        .execute(&mut connection)
        .await?;
        let migrated = TABLES.run(&mut connection).await;
        migrated.map_err(|error| StoreError::Migration(error.to_string()))?;
        store.close().await;
        Ok(Directory { store: store.bounded(connections, STATEMENT_TIME_MAX, LOCK_TIMEOUT) })
    }

    /// Closes every connection.
    pub async fn close(&self) {
        self.store.close().await;
    }

    /// Lists the clusters by name.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn clusters(&self) -> Result<Vec<ClusterRow>, StoreError> {
        let query = sqlx::AssertSqlSafe(format!("{CLUSTERS} ORDER BY c.name"));
        Ok(sqlx::query_as(query).fetch_all(&self.store.pool).await?)
    }

    /// Lists the addresses of the clusters by name. Asks for little: servers ask every few seconds.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn addresses(&self) -> Result<Vec<ClusterAddress>, StoreError> {
        let query = "SELECT name, url, read_url, mark FROM placement.cluster ORDER BY name";
        Ok(sqlx::query_as(query).fetch_all(&self.store.pool).await?)
    }

    /// Returns a cluster.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn cluster(&self, name: &str) -> Result<ClusterRow, StoreError> {
        let query = sqlx::AssertSqlSafe(format!("{CLUSTERS} WHERE c.name = $1"));
        let found = sqlx::query_as(query).bind(name);
        let found: Option<ClusterRow> = found.fetch_optional(&self.store.pool).await?;
        found.ok_or_else(|| StoreError::not_found("cluster", name))
    }

    /// Returns the place of a tenant; none of one that the directory does not know.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn place(&self, tenant: &str) -> Result<Option<TenantPlace>, StoreError> {
        Ok(self.places(&[tenant.to_owned()]).await?.pop())
    }

    /// Returns the places of tenants.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn places(&self, tenants: &[String]) -> Result<Vec<TenantPlace>, StoreError> {
        let query = "SELECT name AS tenant, cluster, version FROM placement.tenant WHERE name = ANY ($1)";
        Ok(sqlx::query_as(query).bind(tenants).fetch_all(&self.store.pool).await?)
    }

    /// Adds a cluster with the tenants that are on it, or gives the one of that name another address of the same
    /// database, or of its replica, and takes in tenants that were made there meanwhile. With `check` nothing is
    /// changed.
    ///
    /// # Errors
    /// [`StoreError::Refused`] for a database that is another cluster, for another database than the cluster's, and
    /// for a tenant whose name is another cluster's; those of the cluster's connection.
    pub async fn add_cluster(
        &self,
        name: &str,
        (url, read_url): (&str, Option<&str>),
        check: bool,
    ) -> Result<AddedCluster, StoreError> {
        read_url.map(Store::at).transpose()?;
        let cluster = Store::connect(url, 1).await?;
        let mark = cluster.installation_mark().await?;
        let tenants = cluster.tenants().await?;
        cluster.close().await;
        let mut transaction = self.store.begin().await?;
        let marks: Vec<(String, String)> =
            sqlx::query_as("SELECT name, mark FROM placement.cluster WHERE name = $1 OR mark = $2")
                .bind(name)
                .bind(&mark)
                .fetch_all(&mut *transaction)
                .await?;
        check_mark(name, &mark, &marks)?;
        sqlx::query(
            "INSERT INTO placement.cluster (name, url, mark, read_url) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (name) DO UPDATE SET url = excluded.url, read_url = excluded.read_url",
        )
        .bind(name)
        .bind(url)
        .bind(&mark)
        .bind(read_url)
        .execute(&mut *transaction)
        .await
        .map_err(|error| about_name(error.into(), "cluster", name))?;
        let known: Vec<(String, String)> =
            sqlx::query_as("SELECT name, cluster FROM placement.tenant").fetch_all(&mut *transaction).await?;
        let added = taken_in(name, tenants, &known.into_iter().collect())?;
        sqlx::query("INSERT INTO placement.tenant (name, cluster) SELECT tenant, $2 FROM unnest($1::text[]) tenant")
            .bind(&added.taken)
            .bind(name)
            .execute(&mut *transaction)
            .await?;
        match check {
            true => transaction.rollback().await?,
            false => transaction.commit().await?,
        }
        Ok(added)
    }

    /// Opens a cluster to new tenants, or drains it: it takes none.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn set_draining(&self, name: &str, draining: bool) -> Result<ClusterRow, StoreError> {
        let state = if draining { "draining" } else { "open" };
        sqlx::query("UPDATE placement.cluster SET state = $2 WHERE name = $1")
            .bind(name)
            .bind(state)
            .execute(&self.store.pool)
            .await?;
        self.cluster(name).await
    }

    /// Takes a cluster without tenants out of the directory; its database stays as it is.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Refused`] while tenants are on it.
    pub async fn remove_cluster(&self, name: &str) -> Result<(), StoreError> {
        let removed = sqlx::query("DELETE FROM placement.cluster WHERE name = $1")
            .bind(name)
            .execute(&self.store.pool)
            .await
            .map_err(StoreError::from);
        match removed {
            Ok(removed) if removed.rows_affected() == 0 => Err(StoreError::not_found("cluster", name)),
            Ok(_) => Ok(()),
            Err(error) if error.code() == Some("23503") => Err(refused(
                format!("cluster \"{name}\" has tenants"),
                "Move them away first: `wed tenant move TENANT --to-cluster NAME`.",
            )),
            Err(error) => Err(error),
        }
    }

    /// Places a tenant that is to be made on the open cluster of those in `among` with the fewest tenants. Returns its
    /// place, and whether it is new: a tenant that has one keeps it.
    ///
    /// # Errors
    /// [`StoreError::Refused`] where none of them is open.
    pub async fn claim_place(&self, tenant: &str, among: &[String]) -> Result<(TenantPlace, bool), StoreError> {
        let made: Option<TenantPlace> = sqlx::query_as(
            "INSERT INTO placement.tenant (name, cluster) \
             SELECT $1, c.name FROM placement.cluster c WHERE c.state = 'open' AND c.name = ANY ($2) \
             ORDER BY (SELECT count(*) FROM placement.tenant t WHERE t.cluster = c.name), c.name LIMIT 1 \
             ON CONFLICT (name) DO NOTHING RETURNING name AS tenant, cluster, version",
        )
        .bind(tenant)
        .bind(among)
        .fetch_optional(&self.store.pool)
        .await
        .map_err(|error| about_name(error.into(), "tenant", tenant))?;
        match made {
            Some(place) => Ok((place, true)),
            None => match self.place(tenant).await? {
                Some(place) => Ok((place, false)),
                None => Err(refused(
                    format!("no cluster takes new tenants: of {} none is open and at hand", names(among)),
                    "`wed cluster list` shows the clusters; `wed cluster open` opens one that is draining.",
                )),
            },
        }
    }

    /// Forgets the place of a tenant that is gone.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn forget_place(&self, tenant: &str) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM placement.tenant WHERE name = $1").bind(tenant).execute(&self.store.pool).await?;
        Ok(())
    }

    /// Switches a tenant that has left one cluster to another. Returns false if it is not on the first any more.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn switch_place(&self, tenant: &str, from: &str, to: &str) -> Result<bool, StoreError> {
        let switched = sqlx::query(
            "UPDATE placement.tenant SET cluster = $3, version = nextval('placement.version') \
             WHERE name = $1 AND cluster = $2",
        )
        .bind(tenant)
        .bind(from)
        .bind(to)
        .execute(&self.store.pool)
        .await?;
        Ok(switched.rows_affected() > 0)
    }
}

/// Refuses a database that is another cluster, and another database than the cluster's.
fn check_mark(name: &str, mark: &str, marks: &[(String, String)]) -> Result<(), StoreError> {
    if let Some((other, _)) = (marks.iter()).find(|(other, of)| of == mark && other != name) {
        return Err(refused(format!("this database is cluster \"{other}\" already"), "One database is one cluster."));
    }
    match marks.iter().any(|(_, of)| of != mark) {
        true => Err(refused(
            format!("cluster \"{name}\" is another database"),
            "Choose another name; `wed cluster list` shows the clusters.",
        )),
        false => Ok(()),
    }
}

/// Sorts the tenants that are on a cluster: those to take in, and empty ones whose names are another cluster's.
fn taken_in(name: &str, tenants: Vec<Tenant>, known: &BTreeMap<String, String>) -> Result<AddedCluster, StoreError> {
    let mut added = AddedCluster { taken: Vec::new(), skipped: Vec::new() };
    let mut twice = Vec::new();
    for tenant in tenants {
        let is_here = !matches!(tenant.moving.as_deref(), Some("left" | "arriving"));
        match known.get(&tenant.name) {
            _ if !is_here => {}
            None => added.taken.push(tenant.name),
            Some(cluster) if cluster == name => {}
            Some(_) if tenant.flows + tenant.components + tenant.users == 0 => {
                added.skipped.push(tenant.name);
            }
            Some(_) => twice.push(tenant.name),
        }
    }
    match twice.is_empty() {
        true => Ok(added),
        false => Err(refused(
            format!("tenants of these names are on other clusters: {}", names(&twice)),
            "Give them other names first: `wed tenant export`, `wed tenant import --as`, `wed tenant delete`.",
        )),
    }
}

/// Names the first few of many.
fn names(all: &[String]) -> String {
    let mut text = all[..all.len().min(NAMES_MAX)].join(", ");
    if all.len() > NAMES_MAX {
        text.push_str(", …");
    }
    if text.is_empty() {
        text.push_str("none");
    }
    text
}

fn refused(message: impl Into<String>, hint: &str) -> StoreError {
    StoreError::refused("WF028", message, hint)
}

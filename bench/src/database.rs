//! A throw-away database: made migrated, filled in bulk, dropped with the roles of its flows.

use anyhow::{Context, Result};
use serde_json::{Map, Value as Json};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions};
use wedflow_store::{Flow, Store};
use wedflow_worker::HostSettings;

/// Connections for bulk loads and queries of the benchmark itself.
const OWN_CONNECTIONS: u32 = 4;

/// Trace rows that one statement adds.
const TRACE_CHUNK: usize = 500_000;

/// Size of the database in bytes, and number of dead rows in the pool of jobs.
#[derive(Debug, Clone, Copy, sqlx::FromRow)]
pub(crate) struct Sizes {
    pub(crate) trace: i64,
    pub(crate) job: i64,
    pub(crate) job_indexes: i64,
    pub(crate) records: i64,
    pub(crate) dead_jobs: i64,
}

/// Migrated database of one scenario.
pub(crate) struct Database {
    /// Connections of its host.
    pub(crate) store: Store,
    /// URL, as pgbench takes it.
    pub(crate) url: String,
    pool: PgPool,
    options: PgConnectOptions,
}

impl Database {
    /// Creates database `name` on the server at `url` and migrates it.
    pub(crate) async fn create(url: &str, name: &str) -> Result<Self> {
        let options: PgConnectOptions = url.parse().context("the URL of the server")?;
        let options = options.database(name);
        let url = without_cache_setting(options.to_url_lossy().as_str());
        let store = Store::connect_or_create(&url, HostSettings::default().connections()).await?;
        store.migrate().await?;
        let pool = PgPoolOptions::new().max_connections(OWN_CONNECTIONS).connect_with(options.clone()).await?;
        Ok(Database { store, url, pool, options })
    }

    /// Drops the database and the roles of its flows.
    pub(crate) async fn drop(self) -> Result<()> {
        let roles: Vec<String> = sqlx::query_scalar("SELECT role_name FROM wed.flow").fetch_all(&self.pool).await?;
        let name = self.options.get_database().unwrap_or_default().to_owned();
        self.store.close().await;
        self.pool.close().await;
        let mut connection = self.options.database("postgres").connect().await?;
        let database = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", quoted(&name));
        let roles = roles.iter().map(|role| format!("DROP ROLE IF EXISTS {}", quoted(role)));
        for statement in [database].into_iter().chain(roles) {
            sqlx::query(AssertSqlSafe(statement)).persistent(false).execute(&mut connection).await?;
        }
        Ok(())
    }

    /// Starts instances in one statement, which evaluates the conditions once for all.
    pub(crate) async fn start_instances(&self, flow: &Flow, states: &[Map<String, Json>]) -> Result<()> {
        let Some(first) = states.first() else {
            return Ok(());
        };
        let names: Vec<String> = first.keys().map(|name| quoted(name)).collect();
        let (names, schema) = (names.join(", "), self.schema_of(flow).await?);
        sqlx::query(AssertSqlSafe(format!(
            "INSERT INTO {schema}.wed_flow ({names}) \
             SELECT {names} FROM jsonb_populate_recordset(NULL::{schema}.wed_flow, $1)"
        )))
        .persistent(false)
        .bind(sqlx::types::Json(states))
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Returns the quoted name of the schema that a flow's tables stand in.
    async fn schema_of(&self, flow: &Flow) -> Result<String> {
        let name: String = sqlx::query_scalar("SELECT schema_name FROM wed.flow WHERE flow_id = $1")
            .bind(flow.flow_id)
            .fetch_one(&self.pool)
            .await?;
        Ok(quoted(&name))
    }

    /// Creates a tenant without quotas unless there is one.
    pub(crate) async fn ensure_tenant(&self, name: &str) -> Result<()> {
        sqlx::query("INSERT INTO wed.tenant (name) VALUES ($1) ON CONFLICT DO NOTHING")
            .bind(name)
            .execute(&self.pool)
            .await?;
        sqlx::query(
            "UPDATE wed.quota SET flows = NULL, instances = NULL, jobs = NULL, components = NULL, \
             requests_per_second = NULL WHERE tenant_id = (SELECT tenant_id FROM wed.tenant WHERE name = $1)",
        )
        .bind(name)
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Returns p50 and p99, in microseconds, of the time between two commits of one instance, over the
    /// newest `rows` trace rows since a moment of the server ([`Database::now`]): what passes between two
    /// measurements is no gap.
    pub(crate) async fn commit_gaps(&self, rows: i64, since: f64) -> Result<(f64, f64)> {
        Ok(sqlx::query_as(include_str!("../sql/commit_gaps.sql")).bind(rows).bind(since).fetch_one(&self.pool).await?)
    }

    /// Returns the server's time, in seconds since 1970.
    pub(crate) async fn now(&self) -> Result<f64> {
        Ok(sqlx::query_scalar("SELECT extract(epoch FROM clock_timestamp())::float8").fetch_one(&self.pool).await?)
    }

    /// Returns the number of a flow's newest instance; 0 when it has none.
    pub(crate) async fn newest_instance(&self, flow: &Flow) -> Result<i32> {
        Ok(sqlx::query_scalar("SELECT coalesce(max(wid), 0) FROM wed.instance WHERE flow_id = $1")
            .bind(flow.flow_id)
            .fetch_one(&self.pool)
            .await?)
    }

    /// Returns how long the first transition of each of a flow's instances after `from` took, from the
    /// commit that fired it to its own, in microseconds, ascending. Unfinished ones are left out.
    pub(crate) async fn first_steps(&self, flow: &Flow, from: i32) -> Result<Vec<f64>> {
        Ok(sqlx::query_scalar(
            "SELECT extract(epoch FROM b.tstmp - a.tstmp)::float8 * 1e6 AS took \
             FROM wed.trace a JOIN wed.trace b ON b.flow_id = a.flow_id AND b.wid = a.wid AND b.seq = 2 \
             WHERE a.flow_id = $1 AND a.wid > $2 AND a.seq = 1 ORDER BY took",
        )
        .bind(flow.flow_id)
        .bind(from)
        .fetch_all(&self.pool)
        .await?)
    }

    /// Measures what the database holds.
    pub(crate) async fn sizes(&self) -> Result<Sizes> {
        Ok(sqlx::query_as(
            "SELECT (SELECT sum(pg_total_relation_size(inhrelid))::bigint FROM pg_inherits \
                     WHERE inhparent = 'wed.trace'::regclass) AS trace, \
             pg_table_size('wed.job') AS job, pg_indexes_size('wed.job') AS job_indexes, \
             pg_total_relation_size('wed.attempt') + pg_total_relation_size('wed.log') \
               + pg_total_relation_size('wed.recording') AS records, \
             coalesce((SELECT n_dead_tup FROM pg_stat_user_tables WHERE relid = 'wed.job'::regclass), 0) AS dead_jobs",
        )
        .fetch_one(&self.pool)
        .await?)
    }

    /// Returns the process that serves one of the connections, on the server's machine.
    pub(crate) async fn backend_process(&self) -> Result<i32> {
        Ok(sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&self.pool).await?)
    }

    /// Refreshes statistics, removes dead rows and writes a checkpoint, so that no measurement pays for them.
    /// The checkpoint is left out where the role must not (`pg_checkpoint`).
    pub(crate) async fn vacuum(&self) -> Result<()> {
        for statement in ["VACUUM ANALYZE", "CHECKPOINT"] {
            let done = sqlx::query(statement).persistent(false).execute(&self.pool).await;
            match done {
                Err(sqlx::Error::Database(refusal))
                    if statement == "CHECKPOINT" && refusal.code().as_deref() == Some("42501") => {}
                done => {
                    done?;
                }
            }
        }
        Ok(())
    }

    /// Adds `rows` trace rows, as if the instances had a history: copies of their newest rows, numbered
    /// downwards from 0.
    pub(crate) async fn lengthen_trace(&self, rows: usize) -> Result<()> {
        let mut before = 0;
        while before < rows {
            let count = TRACE_CHUNK.min(rows - before);
            sqlx::query(include_str!("../sql/lengthen_trace.sql"))
                .bind(i64::try_from(before)?)
                .bind(i64::try_from(count)?)
                .persistent(false)
                .execute(&self.pool)
                .await?;
            before += count;
        }
        Ok(())
    }

    /// Holds a transaction with a snapshot open until the returned value is dropped, as a forgotten session does.
    pub(crate) async fn hold_snapshot(&self) -> Result<impl Send + use<>> {
        let mut transaction = self.pool.begin().await?;
        for statement in ["SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM wed.flow"] {
            sqlx::query(statement).execute(&mut *transaction).await?;
        }
        Ok(transaction)
    }
}

/// Removes the driver's setting that other clients do not know.
fn without_cache_setting(url: &str) -> String {
    let Some((base, query)) = url.split_once('?') else {
        return url.to_owned();
    };
    let kept: Vec<&str> = query.split('&').filter(|setting| !setting.starts_with("statement-cache-capacity")).collect();
    format!("{base}?{}", kept.join("&"))
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

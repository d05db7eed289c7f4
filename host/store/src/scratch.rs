//! Throw-away databases on the same server, and what benchmarks need of a store.

use serde_json::{Map, Value as Json};
use sqlx::{AssertSqlSafe, ConnectOptions};

use crate::{Flow, Store, StoreError};

impl Store {
    /// Makes a database of its own on the server at `url`, migrated, and returns it with its URL. Remove
    /// it with [`Store::drop_database`].
    ///
    /// # Errors
    /// As [`Store::connect_or_create`]; [`StoreError::Refused`] when `name` is taken.
    pub async fn scratch(
        url: &str,
        name: &str,
        connections: u32,
    ) -> Result<(Store, String), StoreError> {
        let options = crate::options_of(url)?;
        let url = options.database(name).to_url_lossy().to_string();
        // A setting of our driver's that other clients do not know.
        let url = match url.split_once('?') {
            Some((base, query)) => {
                let kept: Vec<&str> = query
                    .split('&')
                    .filter(|setting| !setting.starts_with("statement-cache-capacity"))
                    .collect();
                format!("{base}?{}", kept.join("&"))
            }
            None => url,
        };
        let store = Store::connect_or_create(&url, connections).await?;
        store.migrate().await?;
        Ok((store, url))
    }

    /// Removes this store's database, and the roles of its flows.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn drop_database(self) -> Result<(), StoreError> {
        let (_, _, name) = self.place();
        let roles: Vec<String> = sqlx::query_scalar("SELECT role_name FROM wed.flow")
            .fetch_all(&self.pool)
            .await?;
        self.pool.close().await;
        let mut connection = self
            .options
            .clone()
            .database("postgres")
            .connect()
            .await
            .map_err(StoreError::unreachable)?;
        let quoted = name.replace('"', "\"\"");
        for statement in [format!("DROP DATABASE IF EXISTS \"{quoted}\" WITH (FORCE)")]
            .into_iter()
            .chain(
                roles
                    .iter()
                    .map(|role| format!("DROP ROLE IF EXISTS \"{role}\"")),
            )
        {
            sqlx::query(AssertSqlSafe(statement))
                .persistent(false)
                .execute(&mut connection)
                .await?;
        }
        Ok(())
    }

    /// Starts many instances in one statement, which is one evaluation of the conditions.
    ///
    /// # Errors
    /// As [`Store::start_instance`]; none is started then.
    pub async fn start_instances(
        &self,
        flow: &Flow,
        states: &[Map<String, Json>],
    ) -> Result<(), StoreError> {
        let Some(first) = states.first() else {
            return Ok(());
        };
        let names: Vec<String> = first
            .keys()
            .map(|name| format!("\"{}\"", name.replace('"', "\"\"")))
            .collect();
        let names = names.join(", ");
        sqlx::query(AssertSqlSafe(format!(
            "INSERT INTO \"{schema}\".wed_flow ({names}) \
             SELECT {names} FROM jsonb_populate_recordset(NULL::\"{schema}\".wed_flow, $1)",
            schema = flow.schema_name
        )))
        .persistent(false)
        .bind(sqlx::types::Json(states))
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Makes a tenant without limits, if it is not there.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the name is not allowed.
    pub async fn ensure_tenant(&self, name: &str) -> Result<(), StoreError> {
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

    /// The 50th and 99th percentile, in microseconds, of the time between two commits of one instance,
    /// over the newest `last` rows of the whole trace.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn commit_gaps(&self, last: i64) -> Result<(f64, f64), StoreError> {
        Ok(sqlx::query_as(include_str!("../sql/commit_gaps.sql"))
            .bind(last)
            .fetch_one(&self.pool)
            .await?)
    }

    /// The number of a flow's newest instance; 0 when it has none.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn newest_instance(&self, flow: &Flow) -> Result<i32, StoreError> {
        Ok(
            sqlx::query_scalar("SELECT coalesce(max(wid), 0) FROM wed.instance WHERE flow_id = $1")
                .bind(flow.flow_id)
                .fetch_one(&self.pool)
                .await?,
        )
    }

    /// How long the first transition of each of a flow's instances after `from` took, of those that have had
    /// it: from the commit that fired it to its own, in microseconds, ascending.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn first_steps(&self, flow: &Flow, from: i32) -> Result<Vec<f64>, StoreError> {
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

    /// The process that serves one of this store's connections, on the server's machine.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn backend_process(&self) -> Result<i32, StoreError> {
        Ok(sqlx::query_scalar("SELECT pg_backend_pid()")
            .fetch_one(&self.pool)
            .await?)
    }

    /// Refreshes the planner's statistics, clears dead rows away, and has all of it on disk, so that what is measured
    /// next does not pay for it; the last only where the role may (`pg_checkpoint`).
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn vacuum(&self) -> Result<(), StoreError> {
        for statement in ["VACUUM ANALYZE", "CHECKPOINT"] {
            let done = sqlx::query(statement)
                .persistent(false)
                .execute(&self.pool)
                .await;
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

    /// Gives the instances so many trace rows more, as if they had a history: copies of their newest
    /// rows, numbered downwards from 0.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn lengthen_trace(&self, rows: usize) -> Result<(), StoreError> {
        const CHUNK: usize = 500_000;
        let mut before = 0;
        while before < rows {
            let count = CHUNK.min(rows - before);
            sqlx::query(include_str!("../sql/lengthen_trace.sql"))
                .bind(i64::try_from(before).unwrap_or(i64::MAX))
                .bind(i64::try_from(count).unwrap_or(i64::MAX))
                .persistent(false)
                .execute(&self.pool)
                .await?;
            before += count;
        }
        Ok(())
    }

    /// Holds a transaction with a snapshot open until the returned value is dropped, as a forgotten
    /// session would.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn hold_snapshot(&self) -> Result<impl Send + use<>, StoreError> {
        let mut transaction = self.pool.begin().await?;
        sqlx::query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            .execute(&mut *transaction)
            .await?;
        sqlx::query("SELECT count(*) FROM wed.flow")
            .execute(&mut *transaction)
            .await?;
        Ok(transaction)
    }
}

//! A session of a flow's own role: what any program with a Postgres connection does, by the papers' protocol.

use sqlx::{AssertSqlSafe, Connection, PgConnection};
use wedflow_model::Wid;

use crate::servers::{Access, Servers};
use crate::{Store, StoreError};

/// A session that sees one flow's tables, with the flow's rights.
#[derive(Debug)]
pub struct FlowSession(PgConnection);

impl Store {
    /// Opens a session of a flow's own role.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; those of the connection.
    pub async fn flow_session(&self, tenant: &str, flow: &str) -> Result<FlowSession, StoreError> {
        let url = self.flow_url(tenant, flow).await?;
        let (servers, options) = Servers::of(&url)?;
        let connection = servers.connect(&options, Access::Any).await;
        Ok(FlowSession(connection.map_err(StoreError::unreachable)?))
    }
}

impl FlowSession {
    /// Runs statements of the caller's own.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn run(&mut self, sql: &str) -> Result<(), StoreError> {
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut self.0).await?;
        Ok(())
    }

    /// The texts of a query's only column.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn texts(&mut self, sql: &str) -> Result<Vec<String>, StoreError> {
        Ok(sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).persistent(false).fetch_all(&mut self.0).await?)
    }

    /// Finishes a pending transition of an instance: lock, UPDATE, COMMIT. False: another session has it, and nothing
    /// is done.
    ///
    /// # Errors
    /// A rule of the gate or of the flow that the new state breaks.
    pub async fn finish(&mut self, wid: Wid, transition: &str, clause: &str) -> Result<bool, StoreError> {
        let mut transaction = self.0.begin().await?;
        let locked: Option<bool> = sqlx::query_scalar(
            "SELECT pg_try_advisory_xact_lock(wid, tgid) FROM job_pool WHERE wid = $1 AND trname = $2",
        )
        .bind(wid)
        .bind(transition)
        .fetch_optional(&mut *transaction)
        .await?;
        if locked != Some(true) {
            transaction.rollback().await?;
            return Ok(false);
        }
        sqlx::query(AssertSqlSafe(format!("UPDATE wed_flow SET {clause} WHERE wid = $1")))
            .persistent(false)
            .bind(wid)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(true)
    }
}

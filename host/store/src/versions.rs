//! Versions of a flow's definition: previews, history, the way back.

use serde::Deserialize;
use sqlx::AssertSqlSafe;
use wedflow_model::{FlowDefinition, FlowId};

use crate::{Store, StoreError};
use wedflow_documents::{Applied, Rematched, RolledBack, Version};

/// Columns of a [`Version`].
const VERSION: &str = "version, wed.rfc3339(applied_at) AS applied_at, actor, definition";

/// Reads the definition of a version.
///
/// # Errors
/// [`StoreError::Other`] when this program cannot read it.
pub fn definition_of(version: &Version) -> Result<FlowDefinition, StoreError> {
    serde_json::from_value(version.definition.clone()).map_err(StoreError::unreadable)
}

/// Answer of `wed.roll_back`.
#[derive(Deserialize)]
struct Back {
    version: i32,
    applied: Applied,
    instances: Vec<Rematched>,
}

impl Store {
    /// Previews the effect of applying a definition, and what live instances would then fire. Changes nothing: it
    /// happens in a transaction that is rolled back.
    ///
    /// # Errors
    /// As [`Store::apply`].
    pub async fn preview_apply(
        &self,
        tenant: &str,
        definition: &FlowDefinition,
    ) -> Result<(Applied, Vec<Rematched>), StoreError> {
        let mut transaction = self.begin_alone().await?;
        // Who holds the flow's table is not made to wait behind a preview.
        sqlx::query("SET LOCAL lock_timeout = '2s'").execute(&mut *transaction).await?;
        let applied = crate::apply::apply(&mut transaction, &self.actor, tenant, definition).await?;
        let rows = sqlx::query_as(
            "SELECT r.wid, r.fires, r.becomes FROM wed.flow f JOIN wed.tenant t USING (tenant_id) \
             CROSS JOIN LATERAL wed.rematch(f.flow_id, true) r WHERE t.name = $1 AND f.name = $2",
        )
        .bind(tenant)
        .bind(&definition.name)
        .fetch_all(&mut *transaction)
        .await?;
        transaction.rollback().await?;
        Ok((applied, rows))
    }

    /// Definitions that a flow had, newest first; those before a version where one is given.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn flow_versions(
        &self,
        flow_id: FlowId,
        before: Option<i32>,
        limit: i64,
    ) -> Result<Vec<Version>, StoreError> {
        Ok(sqlx::query_as(AssertSqlSafe(format!(
            "SELECT {VERSION} FROM wed.flow_version WHERE flow_id = $1 AND version < coalesce($2, 2147483647) \
             ORDER BY version DESC LIMIT $3"
        )))
        .bind(flow_id)
        .bind(before)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?)
    }

    /// Two versions to compare: without a number the newest, and the one before the newest.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] where one is not kept.
    pub async fn two_versions(
        &self,
        flow_id: FlowId,
        old: Option<i32>,
        new: Option<i32>,
    ) -> Result<(Version, Version), StoreError> {
        Ok((self.version_or(flow_id, old, 1).await?, self.version_or(flow_id, new, 0).await?))
    }

    /// Finds a version by its number, or by its place behind the newest.
    async fn version_or(&self, flow_id: FlowId, version: Option<i32>, place: i64) -> Result<Version, StoreError> {
        let found = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT {VERSION} FROM wed.flow_version WHERE flow_id = $1 AND version = coalesce($2, version) \
             ORDER BY version DESC LIMIT 1 OFFSET $3"
        )))
        .bind(flow_id)
        .bind(version)
        .bind(if version.is_some() { 0 } else { place })
        .fetch_optional(&self.pool)
        .await?;
        let name = || version.map_or_else(|| "before the newest".to_owned(), |number| number.to_string());
        found.ok_or_else(|| StoreError::not_found("version", name()))
    }

    /// Makes a flow what it was in a version, the one before the newest for none; or shows what that would do.
    ///
    /// # Errors
    /// [`StoreError::Refused`] with `WF040` where no such version is kept, and as [`Store::apply`].
    pub async fn roll_back(
        &self,
        flow_id: FlowId,
        version: Option<i32>,
        preview: bool,
    ) -> Result<RolledBack, StoreError> {
        let call = sqlx::query_scalar("SELECT wed.roll_back($1, $2, $3, true, $4)")
            .bind(flow_id)
            .bind(version)
            .bind(preview)
            .bind(&*self.actor);
        let sqlx::types::Json::<Back>(back) = self.call(call).await?;
        Ok(RolledBack {
            applied: !preview,
            version: back.version,
            changes: back.applied,
            matching: back.instances.len(),
            instances: back.instances,
        })
    }
}

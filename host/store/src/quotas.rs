//! A tenant's quotas and use.

use std::collections::BTreeMap;

use sqlx::AssertSqlSafe;
use wedflow_documents::Usage;

use crate::tenants::tenant_id;
use crate::{Store, StoreError};

/// The limits by their names, which are columns of `wed.quota`.
const NAMES: [&str; 20] = [
    "flows",
    "instances",
    "jobs",
    "components",
    "requests_per_second",
    "fuel_per_minute",
    "concurrency",
    "trace_bytes",
    "row_bytes",
    "connections",
    "finished",
    "attempt_bytes",
    "log_bytes",
    "recording_bytes",
    "resources",
    "orders",
    "schedules",
    "other_bytes",
    "transaction_seconds",
    "storage_bytes",
];

/// New limits of a tenant by their names ([`Usage::name`]): what is absent is left as it is, and none takes a limit
/// away.
pub type QuotaChange = BTreeMap<String, Option<i64>>;

impl Store {
    /// A tenant's limits, and what it uses of them, counted now.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn quotas(&self, tenant: &str) -> Result<Vec<Usage>, StoreError> {
        let quotas: Vec<Usage> =
            sqlx::query_as("SELECT q.* FROM wed.tenant t, LATERAL wed.quotas(t.tenant_id) q WHERE t.name = $1")
                .bind(tenant)
                .fetch_all(&self.pool)
                .await?;
        if quotas.is_empty() {
            return Err(StoreError::not_found("tenant", tenant));
        }
        Ok(quotas)
    }

    /// Keeps how many bytes of files the instances of flows have in a folder of hosts, which its mark names, by the
    /// names of the flows' folders in it; others have none there.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn keep_file_bytes(&self, folder: &str, kept: &[(String, u64)]) -> Result<(), StoreError> {
        let (flows, bytes): (Vec<&str>, Vec<i64>) =
            (kept.iter()).map(|(flow, bytes)| (flow.as_str(), i64::try_from(*bytes).unwrap_or(i64::MAX))).unzip();
        let query = sqlx::query("SELECT wed.keep_file_bytes($1, $2, $3)").bind(folder).bind(flows).bind(bytes);
        query.execute(&self.pool).await?;
        Ok(())
    }

    /// Sets a tenant's limits. What it uses already stays.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Refused`] for a name or a number that is no limit.
    pub async fn set_quotas(&self, tenant: &str, change: &QuotaChange) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let tenant_id = tenant_id(&mut transaction, tenant).await?;
        // The named ones as they are said, all others as they were.
        if let Some(unknown) = change.keys().find(|name| !NAMES.contains(&name.as_str())) {
            return Err(no_limit(format!("there is no limit \"{unknown}\"")));
        }
        let named = serde_json::to_value(change).unwrap_or_default();
        sqlx::query(AssertSqlSafe(format!(
            "UPDATE wed.quota q SET ({0}) = (SELECT {0} FROM jsonb_populate_record(q, $2)) WHERE tenant_id = $1",
            NAMES.join(", ")
        )))
        .bind(tenant_id)
        .bind(&named)
        .execute(&mut *transaction)
        .await
        .map_err(|error| match StoreError::from(error) {
            StoreError::Refused(refusal) if refusal.code == "23514" => no_limit("this is no limit".to_owned()),
            other => other,
        })?;
        self.commit_noted(transaction, tenant, "tenant.quota", tenant, named).await
    }
}

fn no_limit(message: String) -> StoreError {
    StoreError::refused(
        "WF023",
        message,
        "Give a number, not below 0 (requests: 1 to 1000000, connections: at most 10000, transaction_seconds: at least 10), or `none`.",
    )
}

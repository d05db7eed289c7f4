//! What a tenant may use, and what it uses.

use serde::Serialize;
use sqlx::FromRow;

use crate::audit::note;
use crate::tenants::tenant_id;
use crate::{Refusal, Store, StoreError};

/// A limit of a tenant.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Quota {
    /// Its name.
    pub name: String,
    /// What is counted.
    pub unit: String,
    /// How many are used; none: it is no number of things.
    pub used: Option<i64>,
    /// How many may be; none: as many as the tenant likes.
    pub allowed: Option<i64>,
}

/// New limits of a tenant; what is absent is left as it is, and `Some(None)` takes a limit away.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct QuotaChange {
    /// Flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Option<i64>>,
    /// Instances that are not final.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances: Option<Option<i64>>,
    /// Pending jobs, when an instance is started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<Option<i64>>,
    /// Versions of components.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub components: Option<Option<i64>>,
    /// Requests to the API in a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_second: Option<Option<i64>>,
    /// Fuel of transitions in a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fuel_per_minute: Option<Option<i64>>,
    /// Jobs in the hands of hosts at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<Option<i64>>,
    /// Bytes of history, when an instance is started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_bytes: Option<Option<i64>>,
    /// Bytes of the states of instances, when one is started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_bytes: Option<Option<i64>>,
    /// Sessions of each flow's role at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<Option<i64>>,
}

impl Store {
    /// A tenant's limits, and what it uses of them, counted now.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn quotas(&self, tenant: &str) -> Result<Vec<Quota>, StoreError> {
        let quotas: Vec<Quota> = sqlx::query_as(
            "SELECT q.* FROM wed.tenant t, LATERAL wed.quotas(t.tenant_id) q WHERE t.name = $1",
        )
        .bind(tenant)
        .fetch_all(&self.pool)
        .await?;
        if quotas.is_empty() {
            return Err(StoreError::not_found("tenant", tenant));
        }
        Ok(quotas)
    }

    /// Sets a tenant's limits. What it uses already stays.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Refused`] for a number that is no limit.
    pub async fn set_quotas(&self, tenant: &str, change: &QuotaChange) -> Result<(), StoreError> {
        let mut transaction = self.pool.begin().await?;
        let tenant_id = tenant_id(&mut transaction, tenant).await?;
        // The named ones as they are said, all others as they were.
        let named = serde_json::to_value(change).unwrap_or_default();
        sqlx::query(
            "UPDATE wed.quota q SET (flows, instances, jobs, components, requests_per_second, fuel_per_minute, \
               concurrency, trace_bytes, row_bytes, connections) = (SELECT n.flows, n.instances, n.jobs, n.components, \
               n.requests_per_second, n.fuel_per_minute, n.concurrency, n.trace_bytes, n.row_bytes, n.connections \
               FROM jsonb_populate_record(q, $2) n) \
             WHERE tenant_id = $1",
        )
        .bind(tenant_id)
        .bind(&named)
        .execute(&mut *transaction)
        .await
        .map_err(|error| match StoreError::from(error) {
            StoreError::Refused(refusal) if refusal.code == "23514" => {
                StoreError::Refused(Box::new(Refusal {
                    code: "WF023".to_owned(),
                    message: "this is no limit".to_owned(),
                    detail: None,
                    hint: Some(
                        "Give a number, not below 0 (requests: 1 to 1000000, connections: at most 10000), or `none`.".to_owned(),
                    ),
                    place: None,
                }))
            }
            other => other,
        })?;
        note(
            &mut transaction,
            &self.actor,
            Some(tenant),
            "tenant.quota",
            tenant,
            named,
        )
        .await?;
        transaction.commit().await?;
        Ok(())
    }
}

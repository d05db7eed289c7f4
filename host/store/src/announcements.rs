//! Announcements of exceptions: webhooks, and the outbox of messages that are still to be delivered.

use serde::Serialize;
use sqlx::{AssertSqlSafe, FromRow};
use wedflow_model::{ComponentId, HostId};

use crate::flows::Flow;
use crate::times::RFC3339;
use crate::{Store, StoreError};

/// A place to which a tenant's exceptions are announced.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Webhook {
    /// The flow; none: all flows of the tenant.
    pub flow: Option<String>,
    /// URL that messages are posted to.
    pub url: String,
    /// Actor who set it.
    pub actor: String,
    /// Messages that are still to be delivered.
    pub pending: i64,
    /// Why the last of these was not delivered.
    pub last_error: Option<String>,
    /// Since when, RFC 3339.
    pub since: String,
}

/// A message that is to be delivered.
#[derive(Debug, Clone, FromRow)]
pub struct Message {
    /// Number of the message, the same at every attempt.
    pub message_id: i64,
    /// Number of the webhook.
    pub webhook_id: i32,
    /// The tenant.
    pub tenant: String,
    /// URL of the receiver.
    pub url: String,
    /// Secret that signs it: `whsec_` and 32 bytes in base64.
    pub secret: String,
    /// The body, a JSON document.
    pub body: String,
    /// Number of this attempt, from 1.
    pub attempt: i32,
}

impl Store {
    /// Announces a tenant's exceptions to a URL: of one flow, or of all. Returns the secret that signs the messages.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for the tenant; [`StoreError::Refused`] for a URL that is none, and with `WF047`
    /// when the tenant has too many.
    pub async fn set_webhook(
        &self,
        tenant: &str,
        flow: Option<&Flow>,
        url: &str,
    ) -> Result<String, StoreError> {
        let secret = self.change_webhook(tenant, flow, url, true).await?;
        Ok(secret.unwrap_or_default())
    }

    /// Announces no more to a URL; what was not delivered is dropped.
    ///
    /// # Errors
    /// [`StoreError::Refused`] with `WF040` when there is no such webhook.
    pub async fn remove_webhook(
        &self,
        tenant: &str,
        flow: Option<&Flow>,
        url: &str,
    ) -> Result<(), StoreError> {
        self.change_webhook(tenant, flow, url, false).await?;
        Ok(())
    }

    async fn change_webhook(
        &self,
        tenant: &str,
        flow: Option<&Flow>,
        url: &str,
        announce: bool,
    ) -> Result<Option<String>, StoreError> {
        let mut transaction = self.begin().await?;
        let done = sqlx::query_scalar(
            "SELECT wed.set_webhook(tenant_id, $2, $3, $4, $5) FROM wed.tenant WHERE name = $1",
        )
        .bind(tenant)
        .bind(flow.map(|flow| flow.flow_id))
        .bind(url)
        .bind(announce)
        .bind(&*self.actor)
        .fetch_optional(&mut *transaction)
        .await?
        .ok_or_else(|| StoreError::not_found("tenant", tenant))?;
        transaction.commit().await?;
        Ok(done)
    }

    /// A tenant's webhooks, oldest first.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn webhooks(&self, tenant: &str) -> Result<Vec<Webhook>, StoreError> {
        Ok(sqlx::query_as(AssertSqlSafe(format!(
            "SELECT f.name AS flow, w.url, w.actor, count(o.*) AS pending, max(o.last_error) AS last_error, \
               to_char(w.made_at AT TIME ZONE 'UTC', {RFC3339}) AS since \
             FROM wed.webhook w JOIN wed.tenant t USING (tenant_id) LEFT JOIN wed.flow f ON f.flow_id = w.flow_id \
             LEFT JOIN wed.outbox o USING (webhook_id) WHERE t.name = $1 \
             GROUP BY w.webhook_id, f.name ORDER BY w.webhook_id"
        )))
        .bind(tenant)
        .fetch_all(&self.pool)
        .await?)
    }

    /// Takes messages that are due, of each webhook those that its share has room for; `busy` names the webhook of each
    /// message under way. Each message is due again later until it is delivered.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn take_messages(
        &self,
        busy: &[i32],
        limit: i32,
    ) -> Result<Vec<Message>, StoreError> {
        Ok(sqlx::query_as("SELECT * FROM wed.take_messages($1, $2)")
            .bind(busy)
            .bind(limit)
            .fetch_all(&self.pool)
            .await?)
    }

    /// Takes the message of a webhook that is due longest.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn take_next_message(&self, webhook_id: i32) -> Result<Option<Message>, StoreError> {
        Ok(sqlx::query_as("SELECT * FROM wed.take_messages_of($1, 1)")
            .bind(webhook_id)
            .fetch_optional(&self.pool)
            .await?)
    }

    /// Takes a delivered message out of the outbox.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn message_delivered(&self, message_id: i64) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM wed.outbox WHERE message_id = $1")
            .bind(message_id)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Records why a message was not delivered.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn message_failed(&self, message_id: i64, reason: &str) -> Result<(), StoreError> {
        sqlx::query("SELECT wed.message_failed($1, $2)")
            .bind(message_id)
            .bind(reason)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Records that a host has opened, or closed, the circuit breaker of a component's transition.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn set_circuit(
        &self,
        host: HostId,
        component: ComponentId,
        transition: &str,
        open: bool,
    ) -> Result<(), StoreError> {
        let statement = if open {
            "INSERT INTO wed.circuit (host_id, component_id, trname) \
             SELECT host_id, $2, $3 FROM wed.host WHERE host_id = $1 ON CONFLICT DO NOTHING"
        } else {
            "DELETE FROM wed.circuit WHERE host_id = $1 AND component_id = $2 AND trname = $3"
        };
        sqlx::query(statement)
            .bind(host)
            .bind(component)
            .bind(transition)
            .execute(&self.pool)
            .await?;
        Ok(())
    }
}

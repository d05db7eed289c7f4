//! Webhooks, which receive events, and the outbox of messages that are still to be delivered.

use sqlx::FromRow;
use wedflow_documents::{Webhook, WebhookMessage, WebhookPlace, WebhookSet};
use wedflow_model::{ComponentId, HostId};

use crate::flows::Flow;
use crate::statements::statements;
use crate::tenants::tenant_id;
use crate::{Numbered, Store, StoreError};

/// A message that is to be delivered.
#[derive(Debug, Clone, FromRow)]
pub struct Message {
    /// Number of the message.
    pub message_id: i64,
    /// Number of the webhook.
    pub webhook_id: i32,
    /// The tenant.
    pub tenant: String,
    /// Name of the webhook.
    pub webhook: String,
    /// URL of the receiver.
    pub url: String,
    /// Secrets that sign it: `whsec_` and 32 bytes in base64; two while one is being replaced.
    pub secrets: Vec<String>,
    /// Name of the message, the same at every attempt.
    pub name: String,
    /// The body, a JSON document.
    pub body: String,
    /// Number of this attempt, from 1.
    pub attempt: i32,
}

statements! {
    /// A webhook's messages that were not delivered, oldest first, after the message of a number.
    pub webhook_messages(
        &self, tenant: &str, name: &str, after: Option<i64>, limit: i64
    ) -> Vec<Numbered<WebhookMessage>>
        = rows "SELECT o.name, CASE WHEN o.dead_at IS NULL THEN 'pending' ELSE 'dead' END AS status, \
              o.attempt AS attempts, o.last_error, wed.rfc3339(o.made_at) AS made_at, o.body, \
              o.message_id AS number \
            FROM wed.outbox o JOIN wed.webhook w USING (webhook_id) JOIN wed.tenant t ON t.tenant_id = w.tenant_id \
            WHERE t.name = $1 AND w.name = $2 AND o.message_id > coalesce($3, 0) ORDER BY o.message_id LIMIT $4",
            tenant, name, after, limit;

    /// A tenant's webhooks, oldest first; with `masked`, of each URL what is no secret.
    pub webhooks(&self, tenant: &str, masked: bool) -> Vec<Webhook>
        = rows "SELECT w.name, f.name AS flow, w.events, w.attributes, \
              CASE WHEN $2 THEN wed.masked_url(w.url) ELSE w.url END AS url, \
              w.waits_over::text AS waits_over, w.actor, o.pending, o.dead, o.last_error, \
              wed.rfc3339(w.made_at) AS since, w.ended_at IS NOT NULL AS ended \
            FROM wed.webhook w JOIN wed.tenant t USING (tenant_id) LEFT JOIN wed.flow f ON f.flow_id = w.flow_id \
            CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE dead_at IS NULL) AS pending, count(dead_at) AS dead, \
              (array_agg(last_error ORDER BY message_id DESC) FILTER (WHERE last_error IS NOT NULL))[1] AS last_error \
              FROM wed.outbox WHERE webhook_id = w.webhook_id) o \
            WHERE t.name = $1 ORDER BY w.webhook_id", tenant, masked;

    /// Takes messages that are due, of each webhook those that its share has room for; `busy` names the webhook of each
    /// message under way. Each message is due again later until it is delivered.
    pub take_messages(&self, busy: &[i32], limit: i32) -> Vec<Message>
        = rows "SELECT * FROM wed.take_messages($1, $2)", busy, limit;

    /// Takes the message of a webhook that is due longest.
    pub take_next_message(&self, webhook_id: i32) -> Option<Message>
        = optional_row "SELECT * FROM wed.take_messages_of($1, 1)", webhook_id;

    /// Tells webhooks of jobs that are pending for longer than they say, at most `limit` of each webhook.
    pub announce_waiting(&self, limit: i32) -> i64 = one "SELECT wed.announce_waiting($1)", limit;

    /// Takes a delivered message out of the outbox.
    pub message_delivered(&self, message_id: i64) -> ()
        = run "DELETE FROM wed.outbox WHERE message_id = $1", message_id;

    /// Records why a message was not delivered; `is_gone`: its receiver wants no more.
    pub message_failed(&self, message_id: i64, reason: &str, is_gone: bool) -> ()
        = run "SELECT wed.message_failed($1, $2, $3)", message_id, reason, is_gone;
}

impl Store {
    /// Makes a webhook that sends a tenant's events to a URL, or changes the one of this URL.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for the tenant; [`StoreError::Refused`] for a URL or an event that is none, and with
    /// `WF047` when the tenant has too many.
    pub async fn set_webhook(
        &self,
        tenant: &str,
        flow: Option<&Flow>,
        webhook: &WebhookPlace,
    ) -> Result<WebhookSet, StoreError> {
        let mut transaction = self.begin().await?;
        let tenant_id = tenant_id(&mut transaction, tenant).await?;
        let set = sqlx::query_as(
            "SELECT name, $3::text AS url, secret FROM wed.set_webhook($1, $2, $3, $4, $5, $6::interval, $7)",
        )
        .bind(tenant_id)
        .bind(flow.map(|flow| flow.flow_id))
        .bind(&webhook.url)
        .bind(&webhook.events)
        .bind(&webhook.attributes)
        .bind(&webhook.waits_over)
        .bind(&*self.actor)
        .fetch_one(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(set)
    }

    /// Lists for each host that runs the places to which its operator allows HTTP, as `--allow-http` has them.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn places_of_hosts(&self) -> Result<Vec<Vec<String>>, StoreError> {
        let asked = "SELECT h.http FROM wed.host h WHERE wed.host_runs(h) ORDER BY h.host_id";
        Ok(sqlx::query_scalar(asked).fetch_all(&self.pool).await?)
    }

    /// Removes the webhook of a URL with its undelivered messages.
    ///
    /// # Errors
    /// [`StoreError::Refused`] with `WF040` when there is no such webhook.
    pub async fn remove_webhook(&self, tenant: &str, flow: Option<&Flow>, url: &str) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let tenant_id = tenant_id(&mut transaction, tenant).await?;
        sqlx::query("SELECT wed.remove_webhook($1, $2, $3, $4)")
            .bind(tenant_id)
            .bind(flow.map(|flow| flow.flow_id))
            .bind(url)
            .bind(&*self.actor)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Replaces the secret of a webhook and returns the new one. Messages are signed with both for `overlap`
    /// (Postgres's notation).
    ///
    /// # Errors
    /// [`StoreError::Refused`] with `WF040` when there is no such webhook, and for a time that is too long.
    pub async fn rotate_webhook(&self, tenant: &str, name: &str, overlap: &str) -> Result<String, StoreError> {
        self.tenant(tenant).await?;
        let call = "SELECT wed.rotate_webhook(tenant_id, $2, $3::interval, $4) FROM wed.tenant WHERE name = $1";
        let call = sqlx::query_scalar(call).bind(tenant).bind(name).bind(overlap);
        self.call(call.bind(&*self.actor)).await
    }

    /// Sends a webhook a message for trying it out; returns the message's name.
    ///
    /// # Errors
    /// [`StoreError::Refused`] with `WF040` when there is no such webhook.
    pub async fn test_webhook(&self, tenant: &str, name: &str) -> Result<String, StoreError> {
        self.tenant(tenant).await?;
        let call = "SELECT wed.test_webhook(tenant_id, $2, $3) FROM wed.tenant WHERE name = $1";
        let call = sqlx::query_scalar(call).bind(tenant).bind(name);
        self.call(call.bind(&*self.actor)).await
    }

    /// Sends messages again whose delivery was given up, one or all of a webhook; returns how many.
    ///
    /// # Errors
    /// [`StoreError::Refused`] with `WF040` when there is no such webhook or message.
    pub async fn redeliver(&self, tenant: &str, name: &str, message: Option<&str>) -> Result<i64, StoreError> {
        self.tenant(tenant).await?;
        let call = "SELECT wed.redeliver(tenant_id, $2, $3, $4) FROM wed.tenant WHERE name = $1";
        let call = sqlx::query_scalar(call).bind(tenant).bind(name).bind(message);
        self.call(call.bind(&*self.actor)).await
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
        sqlx::query(statement).bind(host).bind(component).bind(transition).execute(&self.pool).await?;
        Ok(())
    }
}

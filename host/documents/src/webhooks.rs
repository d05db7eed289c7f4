//! Receivers of messages about events, and what became of the messages.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Receiver of events.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookPlace {
    /// URL that messages are posted to: `http://` or `https://`. The hosts' operator must allow the place.
    pub url: String,
    /// Only those of this flow.
    pub flow: Option<String>,
    /// `instance.started`, `instance.final`, `instance.changed`, `instance.exception`, `job.waiting`; as before when
    /// absent, exceptions alone for a new webhook.
    pub events: Option<Vec<String>>,
    /// Attributes of whose changes `instance.changed` tells; empty: of all.
    pub attributes: Option<Vec<String>>,
    /// Time after which `job.waiting` tells of a pending job, in Postgres's interval notation; `1 hour` for a new one.
    pub waits_over: Option<String>,
}

/// A webhook that was set.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct WebhookSet {
    /// Name.
    pub name: String,
    /// URL that messages are posted to.
    pub url: String,
    /// Secret that signs the messages, as Standard Webhooks specify. Shown only once: absent for an existing webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Reason why no host that runs would deliver messages there, for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "sqlx", sqlx(skip))]
    pub warning: Option<String>,
}

/// A webhook.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct Webhook {
    /// Name.
    pub name: String,
    /// The URL; only its host for those who may not change settings.
    pub url: String,
    /// Flow; all of the tenant when absent.
    pub flow: Option<String>,
    /// Types of the events that are sent.
    pub events: Vec<String>,
    /// Attributes whose changes are sent; empty: all.
    pub attributes: Vec<String>,
    /// Time after which a pending job is announced.
    pub waits_over: String,
    /// Messages that are still to be delivered.
    pub pending: i64,
    /// Messages whose delivery was given up.
    pub dead: i64,
    /// Why the newest of these was not delivered.
    pub last_error: Option<String>,
    /// Actor who set it.
    pub actor: String,
    /// Time at which it was set.
    pub since: String,
    /// True once its receiver answered 410: nothing is sent until the webhook is set again.
    pub ended: bool,
}

/// A message that was not delivered yet, or given up.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct WebhookMessage {
    /// Name.
    pub name: String,
    /// `pending`, or `dead` when its delivery was given up.
    pub status: String,
    /// Number of attempts.
    pub attempts: i32,
    /// Reason of the last failure.
    pub last_error: Option<String>,
    /// Time of the event.
    pub made_at: String,
    /// The message.
    #[schema(value_type = Object)]
    pub body: serde_json::Value,
}

/// Terms on which a secret is replaced.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookRotation {
    /// Hours for which messages are signed with the old secret, too; 24 when absent.
    #[schema(maximum = 720)]
    pub overlap_hours: Option<u32>,
}

/// A webhook's new secret, told once.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct WebhookSecret {
    /// The secret.
    pub secret: String,
}

/// A message that was made for trying a webhook out.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct WebhookTest {
    /// Name of the message.
    pub message: String,
}

/// Messages to send again.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Redelivery {
    /// Name of the message; all that were given up when absent.
    pub message: Option<String>,
}

/// Messages that are sent again.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Redelivered {
    /// Number of messages.
    pub messages: i64,
}

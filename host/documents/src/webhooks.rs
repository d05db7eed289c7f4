//! Receivers of messages about exceptions.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Receiver of messages about exceptions.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookPlace {
    /// URL that messages are posted to: `http://` or `https://`. The hosts' operator must allow the place.
    pub url: String,
    /// Only those of this flow.
    pub flow: Option<String>,
}

/// A webhook that was set.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct WebhookSet {
    /// URL that messages are posted to.
    pub url: String,
    /// Secret that signs the messages, as Standard Webhooks say.
    pub secret: String,
}

/// A webhook.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Webhook {
    /// URL that messages are posted to.
    pub url: String,
    /// Flow.
    pub flow: Option<String>,
    /// Messages that are still to be delivered.
    pub pending: i64,
    /// Why the last of these was not delivered.
    pub last_error: Option<String>,
    /// Actor.
    pub actor: String,
    /// Time at which it began.
    pub since: String,
}

//! Inbound hooks: webhooks of others, and what of them becomes of instances.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wedflow_model::Wid;

/// Way in which messages are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookScheme {
    /// Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`.
    Standard,
    /// GitHub: `X-Hub-Signature-256`.
    Github,
}

/// Effect of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookActs {
    /// Starts an instance.
    Start,
    /// Sets open attributes of the instance that runs under its key.
    Set,
    /// Sets them where an instance runs under its key, and starts one where none does.
    Both,
}

/// A hook to make or change.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutHook {
    /// Way in which messages are signed.
    pub scheme: HookScheme,
    /// Effect of a message.
    pub acts: HookActs,
    /// JSON pointer to the business key of the instance; needed unless `acts` is `start`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Attributes, each with the JSON pointer to its value; one whose pointer points at nothing is left out.
    #[schema(value_type = Object)]
    pub attributes: BTreeMap<String, String>,
    /// Secret that the sender signs with, 16 to 255 bytes; as before when absent, and a random one for a new hook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// Terms on which the secret of a hook is replaced.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HookRotation {
    /// The new secret, 16 to 255 bytes; a random one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Hours for which messages that are signed with the old secret are taken, too; 24 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 720)]
    pub overlap_hours: Option<u32>,
}

/// A hook that was set.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct HookSet {
    /// Name.
    pub name: String,
    /// Path that messages are posted to.
    pub path: String,
    /// The random secret, which is shown only once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// A hook.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct Hook {
    /// Name.
    pub name: String,
    /// Path that messages are posted to.
    pub path: String,
    /// Way in which messages are signed.
    #[cfg_attr(feature = "sqlx", sqlx(json))]
    pub scheme: HookScheme,
    /// Effect of a message.
    #[cfg_attr(feature = "sqlx", sqlx(json))]
    pub acts: HookActs,
    /// JSON pointer to the business key.
    pub key: Option<String>,
    /// Attributes, each with the JSON pointer to its value.
    #[schema(value_type = Object)]
    #[cfg_attr(feature = "sqlx", sqlx(json))]
    pub attributes: BTreeMap<String, String>,
    /// Actor who set it.
    pub actor: String,
    /// Time at which it was made.
    pub since: String,
}

/// Outcome of a message.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct HookTaken {
    /// Number of the instance.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// `started`, `set`, or `nothing` where the message has none of the values.
    pub did: String,
    /// True for a message that was taken before.
    pub repeated: bool,
}

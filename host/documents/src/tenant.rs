//! Users, tokens, settings and secrets of a tenant; hosts, and its last hour.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// A host, as a tenant sees it.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
pub struct Host {
    /// Number.
    pub host_id: i32,
    /// Name.
    pub name: String,
    /// Version of its program.
    pub version: Option<String>,
    /// True if its leases hold, and its session is connected.
    pub running: bool,
    /// Start, RFC 3339.
    pub started: String,
    /// End of its leases unless it renews them, RFC 3339.
    pub leased_until: String,
    /// Jobs of the tenant that it has in flight.
    pub jobs: i64,
}

/// The last hour of a tenant's flows, by minute.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
pub struct LastHour {
    /// Beginning of the first of the 60 minutes, RFC 3339; the last one is the present.
    pub since: String,
    /// True when the figures come from a sample, since they are many.
    pub sampled: bool,
    /// Flows of which something was tried or is due, by name.
    pub flows: Vec<FlowHour>,
}

/// The last hour of a flow, by minute.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
pub struct FlowHour {
    /// Flow.
    pub flow: String,
    /// Attempts in each minute, by outcome: `committed`, or how they failed. Null: none.
    pub attempts: BTreeMap<String, Vec<Option<i64>>>,
    /// Median time in microseconds for which the jobs of components that were committed in a minute had waited. Null:
    /// none was. Empty: none in the whole hour.
    pub wait_us: Vec<Option<i64>>,
    /// Seconds for which the oldest job that a host could run is due; null: none is.
    pub oldest_s: Option<i64>,
}

/// A user to make.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewUser {
    /// Name.
    #[schema(min_length = 1)]
    pub name: String,
    /// `admin`, `developer`, `operator`, `participant` or `viewer`
    #[schema(pattern = "^(admin|developer|operator|participant|viewer)$")]
    pub role: String,
}

/// Another role for a user.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRole {
    /// `admin`, `developer`, `operator`, `participant` or `viewer`
    #[schema(pattern = "^(admin|developer|operator|participant|viewer)$")]
    pub role: String,
}

/// A token to make.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// Name of the token.
    #[schema(min_length = 1)]
    pub name: String,
    /// User of the token; the caller when absent.
    pub user: Option<String>,
    /// `read`, `write`, or `AREA:read`, `AREA:write`; no more than the token that makes it.
    #[schema(min_items = 1, max_items = 30)]
    pub scopes: Vec<String>,
    /// Flows that it is for: nothing outside of `/v1/flows/{flow}` but `/v1/me`. Everything that its scopes allow when
    /// absent.
    #[serde(default)]
    #[schema(max_items = 30)]
    pub flows: Vec<String>,
    /// Life in days; 90 when absent.
    #[schema(minimum = 1, maximum = 3660)]
    pub days: Option<i32>,
}

/// Terms on which a token is replaced.
#[derive(Debug, Clone, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rotation {
    /// Life of the new token in days; 90 when absent.
    #[schema(minimum = 1, maximum = 3660)]
    pub days: Option<i32>,
    /// Hours for which the old token stays valid; 24 when absent.
    pub overlap_hours: Option<u32>,
}

/// Settings to change; absent ones stay as they are.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSettings {
    /// Description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The longest life of a token, in days, 1 to 3660.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 3660)]
    pub token_days: Option<i32>,
}

/// Filters of the audit log.
#[derive(Debug, Clone, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditFilter {
    /// Not older than this: a time (RFC 3339), or a span counted back from now, such as `2 hours`.
    pub since: Option<String>,
    /// End of the part before: its `next`.
    pub cursor: Option<String>,
    /// Maximum number of entries, 1 to 500.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<i64>,
}

/// A setting's value.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSetting {
    /// Value, at most 64 KiB.
    pub value: String,
}

/// A secret, to be stored or granted; what is absent stays as it is.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSecret {
    /// The value, 4 bytes to 64 KiB. It is encrypted, and never answered.
    pub value: Option<String>,
    /// The transitions that may ask for it.
    pub transitions: Option<Vec<String>>,
    /// The transitions that may send it in a header, and not read it.
    pub senders: Option<Vec<String>>,
}

//! Schedules that start instances.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use wedflow_model::Wid;

/// A schedule, to be made or changed.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutSchedule {
    /// Minute, hour, day of month, month and weekday; or seconds in front of them.
    pub cron: String,
    /// The time zone, as in the IANA database; UTC when absent.
    pub zone: Option<String>,
    /// Initial values of the instances.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub state: Map<String, Value>,
    /// Times that passed while no host ran: `skip`, `one` (when absent) or `all`.
    pub missed: Option<String>,
    /// While the instance started last is running: `start` (when absent) or `skip`.
    pub overlap: Option<String>,
    /// True while it starts no instances; absent: as it is, false for a new one.
    pub paused: Option<bool>,
}

/// A schedule.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct Schedule {
    /// Name.
    pub name: String,
    /// Times, in cron notation.
    pub cron: String,
    /// Time zone.
    pub zone: String,
    /// Rule for times that passed while no host ran.
    pub missed: String,
    /// Rule while the instance started last is running.
    pub overlap: String,
    /// True while it is paused.
    pub paused: bool,
    /// Time of the next start.
    pub next_at: Option<String>,
    /// Time of the last start.
    pub last_at: Option<String>,
    /// Instance that was started last.
    #[schema(value_type = Option<i32>)]
    pub last_wid: Option<Wid>,
    /// Error of the last time.
    pub last_error: Option<String>,
}

/// A span of time to make up for.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Backfill {
    /// The first time (RFC 3339).
    pub from: String,
    /// The time before which it ends (RFC 3339).
    pub until: String,
}

/// Instances that were started.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Backfilled {
    /// Instances that were started.
    #[schema(value_type = Vec<i32>)]
    pub started: Vec<Wid>,
}

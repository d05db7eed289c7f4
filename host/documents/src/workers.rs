//! Jobs of workers over HTTP: claimed, extended, completed, failed.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use wedflow_model::{LeaseToken, Wid};

use crate::answers::Status;

/// Jobs that a worker claims.
#[derive(Debug, Clone, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimJobs {
    /// Name of the worker, 1 to 100 characters; `wed job list` and the record of a lost attempt show it.
    pub worker: String,
    /// Transitions that the worker performs, 1 to 100; jobs are taken from them by turns.
    #[schema(min_items = 1, max_items = 100)]
    pub transitions: Vec<String>,
    /// Maximum number of jobs, 1 to 100; 1 when absent.
    #[schema(minimum = 1, maximum = 100)]
    pub jobs: Option<i32>,
    /// Seconds for which each job is leased, 1 to 3600; the timeout of its trigger when absent.
    #[schema(minimum = 1, maximum = 3600)]
    pub seconds: Option<i32>,
    /// Seconds to wait for a job, 0 to 20; 0 when absent.
    #[schema(minimum = 0, maximum = 20)]
    pub wait: Option<u64>,
}

/// A job that is leased to a worker.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct LeasedJob {
    /// Number of the instance.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// The trigger that fired it: its name, or its number where it has none.
    pub trigger: String,
    /// Transition to perform.
    pub transition: String,
    /// Lease token: what the worker does to the job is accepted only with it.
    #[schema(value_type = i64)]
    pub lease: LeaseToken,
    /// Time at which the lease ends unless it is extended.
    pub lease_ends: String,
    /// Number of this attempt, 1 for the first.
    pub attempt: i32,
    /// Maximum number of attempts.
    pub attempts: i32,
    /// Row of the trace that fired it.
    pub seq: i32,
    /// State that fired it.
    #[schema(value_type = Object)]
    #[cfg_attr(feature = "sqlx", sqlx(try_from = "crate::Readable"))]
    pub state: Value,
    /// Progress that an earlier attempt reported.
    #[schema(value_type = Option<Object>)]
    #[cfg_attr(feature = "sqlx", sqlx(json(nullable)))]
    pub progress: Option<Map<String, Value>>,
}

/// Sign of life of a worker.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExtendLease {
    /// Lease token.
    #[schema(value_type = i64)]
    pub lease: LeaseToken,
    /// Seconds from now on, 1 to 3600; the timeout of the trigger when absent.
    #[schema(minimum = 1, maximum = 3600)]
    pub seconds: Option<i32>,
    /// JSON object of at most 16 KiB, which the next attempt gets; as before when absent.
    #[schema(value_type = Option<Object>)]
    pub progress: Option<Map<String, Value>>,
}

/// A lease that was extended.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ExtendedLease {
    /// Time at which the lease ends.
    pub lease_ends: String,
}

/// Result of a job: values, or a SET clause.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CompleteJob {
    /// Lease token.
    #[schema(value_type = i64)]
    pub lease: LeaseToken,
    /// New values; the other attributes stay.
    #[schema(value_type = Option<Object>)]
    pub state: Option<Map<String, Value>>,
    /// Right side of SET, as components return it: `qty = qty + 1`.
    pub clause: Option<String>,
}

/// A job that was completed.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CompletedJob {
    /// Number of the instance.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// Status of the instance then.
    pub status: Status,
    /// Row of the trace that was written.
    pub seq: i32,
}

/// An attempt that changes nothing.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FailJob {
    /// Lease token.
    #[schema(value_type = i64)]
    pub lease: LeaseToken,
    /// Message for a person; 8 KiB of it are kept.
    pub message: String,
    /// False: the attempt was the last one. True when absent.
    #[serde(default = "yes")]
    pub retry: bool,
    /// Seconds until the next attempt, 0 to 86400; the backoff of the trigger when absent.
    #[schema(minimum = 0, maximum = 86400)]
    pub after: Option<i32>,
}

fn yes() -> bool {
    true
}

/// State of a job after an attempt that changed nothing.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct FailedJob {
    /// Number of the instance.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// Status of the instance then.
    pub status: Status,
    /// Time of the next attempt; none: the attempts are used up.
    pub again_at: Option<String>,
}

//! Filters of lists, and instances to start.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use wedflow_model::Wid;

use crate::answers::Status;

/// Part of a list that a request asks for.
#[derive(Debug, Clone, Default, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Page {
    /// End of the part before: its `next`.
    pub cursor: Option<String>,
    /// Maximum number of entries, 1 to 500; fewer come when they are long.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<i64>,
}

/// Days whose use is asked for.
#[derive(Debug, Clone, Default, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReceiptFilter {
    /// First day (UTC), such as `2026-01-01`; today when absent.
    pub since: Option<String>,
    /// Last day; today when absent. At most 366 days are asked for at once.
    pub until: Option<String>,
    /// End of the part before: its `next`.
    pub cursor: Option<String>,
    /// Maximum number of entries, 1 to 500; fewer come when the days are long.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<i64>,
}

/// An instance to start.
#[derive(Debug, Clone, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Initial values; the other attributes take their defaults.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub state: Map<String, Value>,
    /// Business key: a name that no other instance of the flow has while this one is not final; 1 to 255 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 255)]
    pub key: Option<String>,
    /// Answer when an instance runs under the key already.
    #[serde(default, skip_serializing_if = "IfRunning::is_refuse")]
    pub if_running: IfRunning,
}

/// Answer to a start under a key under which an instance runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum IfRunning {
    /// A conflict that names the instance, as usual.
    #[default]
    Refuse,
    /// The instance that runs, and nothing is started.
    Use,
    /// The instance that runs, which gets the values as an event; its attributes must be open.
    Send,
}

impl IfRunning {
    fn is_refuse(&self) -> bool {
        *self == IfRunning::Refuse
    }
}

/// Filters of a list of instances.
#[derive(Debug, Clone, Default, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct InstanceFilter {
    /// Only those of this status.
    #[param(inline)]
    pub status: Option<Status>,
    /// Only those whose attributes have these values: a JSON object, such as `{"item":"tea"}`.
    pub state: Option<String>,
    /// Only those whose status changed since this time (RFC 3339).
    pub changed_since: Option<String>,
    /// Only those that were started since this time (RFC 3339).
    pub started_since: Option<String>,
    /// Only those that were started before this time (RFC 3339).
    pub started_before: Option<String>,
    /// Only those with a pending job of this transition.
    pub transition: Option<String>,
    /// Only those with this business key, final ones too.
    pub key: Option<String>,
    /// Only those whose state fulfils this condition, as in a trigger: `qty > 3 AND item = 'tea'`.
    pub r#where: Option<String>,
    /// `newest` first, as usual, or `oldest`.
    #[param(inline)]
    pub order: Option<Order>,
    /// End of the page before: its `next`.
    pub cursor: Option<String>,
    /// Maximum number of entries, 1 to 500; fewer when they are long.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<i64>,
}

/// Order of a list of instances, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The newest first.
    Newest,
    /// The oldest first.
    Oldest,
}

/// Time to wait for an instance's end.
#[derive(Debug, Clone, Default, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ResultFilter {
    /// Seconds, 0 to 300; 30 when absent.
    #[param(minimum = 0, maximum = 300)]
    pub wait: Option<u64>,
}

/// Number of instances that match.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Count {
    /// The number; 100,000 stands for that many or more.
    pub count: i64,
}

/// Part of a feed that a request asks for.
#[derive(Debug, Clone, Default, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FeedFilter {
    /// End of the part before: its `next`.
    pub cursor: Option<String>,
    /// Beginning without a cursor: `oldest`, as usual, the first event that is kept; or `now`.
    #[param(inline)]
    pub from: Option<FeedStart>,
    /// Maximum number of events, 1 to 500; 50 when absent.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<i64>,
    /// Seconds to wait for an event, 0 to 20; 0 when absent.
    #[param(minimum = 0, maximum = 20)]
    pub wait: Option<u64>,
}

/// Beginning of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FeedStart {
    /// The first event that is kept.
    Oldest,
    /// The next event.
    Now,
}

/// Rows of a trace that a request asks for.
#[derive(Debug, Clone, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TraceFilter {
    /// Only rows with a higher `seq`.
    pub after: Option<i32>,
    /// End of the part before: its `next`. Wins over `after`.
    pub cursor: Option<String>,
    /// Maximum number of rows, 1 to 500; fewer come when they are long.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<i64>,
}

/// Versions to keep.
#[derive(Debug, Clone, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Kept {
    /// Number of the newest versions to keep of each component; default 3.
    #[param(minimum = 0)]
    pub keep: Option<i32>,
}

/// Jobs that a request asks for.
#[derive(Debug, Clone, Default, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct JobFilter {
    /// Only those of this instance.
    #[param(value_type = Option<i32>)]
    pub wid: Option<Wid>,
    /// End of the part before: its `next`.
    pub cursor: Option<String>,
    /// Maximum number of entries, 1 to 500.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<i64>,
}

/// Use of a component that is uploaded.
#[derive(Debug, Clone, Default, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct UploadTerms {
    /// True: put it into use although a flow that fits the version before does not fit it.
    #[serde(default)]
    pub activate: bool,
    /// True: check it only, and store nothing.
    #[serde(default)]
    pub check: bool,
    /// Name for a component whose manifest gives none; used where the path names none.
    pub otherwise: Option<String>,
}

/// Last attempts of a flow that a request asks for.
#[derive(Debug, Clone, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AttemptFilter {
    /// Transition; needed.
    pub transition: Option<String>,
    /// Maximum number of attempts, 1 to 500.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<i64>,
}

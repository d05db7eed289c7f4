//! Acts of operators on instances and flows.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use wedflow_model::Wid;

use crate::answers::Status;

/// Why an operator acts.
#[derive(Debug, Clone, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// Kept in the trace and in the audit log.
    #[serde(default)]
    pub reason: String,
}

/// Transitions that were fired or hurried.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Retried {
    /// Number of the instance.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// Transitions.
    pub transitions: Vec<String>,
}

/// State of an instance after an operator's action.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Operated {
    /// Number of the instance.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// Status.
    pub status: Status,
}

/// State of a pause.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Paused {
    /// True while it is paused.
    pub paused: bool,
    /// False: it was so already.
    pub changed: bool,
}

/// A job to skip.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Skip {
    /// Transition.
    pub transition: String,
    /// Kept in the trace and in the audit log.
    pub reason: String,
}

/// A state to set by hand.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetState {
    /// New values; the other attributes stay.
    #[schema(value_type = Object)]
    pub state: Map<String, Value>,
    /// Kept in the trace and in the audit log.
    pub reason: String,
}

/// Exceptions to retry.
#[derive(Debug, Clone, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryMatching {
    /// Only those that this transition's failure made.
    pub transition: Option<String>,
    /// Only those whose reason holds this text.
    pub message: Option<String>,
    /// Only those since this time (RFC 3339), or for this long, such as "2 hours".
    pub since: Option<String>,
    /// Kept in the trace and in the audit log.
    #[serde(default)]
    pub reason: String,
    /// Retry them; otherwise they are counted and listed only.
    #[serde(default)]
    pub apply: bool,
}

/// Exceptions that match, and the result of retrying them.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RetriedMatching {
    /// True: they were retried. False: a preview, nothing was changed.
    pub applied: bool,
    /// Number of exceptions that match. The oldest 1 000 are listed, and retried: ask again for the others.
    pub matching: i64,
    /// The exceptions that match.
    pub instances: Vec<MatchingException>,
    /// Instances that were retried.
    #[schema(value_type = Vec<i32>)]
    pub retried: Vec<Wid>,
    /// Instances that could not be, or in a preview would not be, and why.
    pub refused: Vec<Refused>,
}

/// An exception that matches.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct MatchingException {
    /// Number of the instance.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// The transition whose failure made it; none: no transition failed.
    pub transition: Option<String>,
    /// Why it is an exception.
    pub message: Option<String>,
}

/// An instance that could not be retried.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Refused {
    /// Number of the instance.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// Reason.
    pub reason: String,
}

/// Scope of a pause: the whole flow, or a trigger of it.
#[derive(Debug, Clone, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// Only this trigger: its name, its number or its transition.
    pub trigger: Option<String>,
    /// Kept in the audit log; needed to pause.
    #[serde(default)]
    pub reason: String,
}

/// A reason why a job waits.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Waiting {
    /// Transition.
    pub transition: String,
    /// `time`, `locked`, `siblings`, `quota`, `paused`, `circuit`, `no_host`, `no_component`, `not_runnable`,
    /// `no_worker`, `person`, `nobody`, `reservation`, `precedence`, `event` or `child`.
    pub code: String,
    /// Reason, for a person.
    pub text: String,
    /// Advice.
    pub hint: String,
    /// Time at which it is due.
    pub due: Option<String>,
}

/// State to which an exception goes back.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GoBack {
    /// The row of the trace.
    pub to: i32,
    /// Kept in the trace and in the audit log.
    pub reason: String,
}

/// Progress of an exception that goes back.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct GoingBack {
    /// Number of the instance.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// Steps to undo.
    pub steps: i32,
}

/// An event: open attributes to set.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// New values; the other attributes stay.
    #[schema(value_type = Object)]
    pub state: Map<String, Value>,
}

/// Result of sending an event.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Sent {
    /// Number of the instance.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// False: it was sent before under this key.
    pub sent: bool,
}

/// A present pause.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct PausedThing {
    /// Flow; none for the whole tenant.
    pub flow: Option<String>,
    /// Trigger.
    pub trigger: Option<String>,
    /// Number of the instance.
    #[schema(value_type = Option<i32>)]
    pub wid: Option<Wid>,
    /// Actor.
    pub actor: String,
    /// Reason.
    pub reason: String,
    /// Time at which it began.
    pub since: String,
}

/// Action of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// Retries it.
    Retry,
    /// Ends it.
    Cancel,
    /// Pauses it.
    Pause,
    /// Resumes it.
    Resume,
    /// Drops the pending job of `transition`.
    Skip,
    /// Sends it an event: sets the open attributes that `values` names.
    Send,
    /// Removes a final one with all that is recorded of it, but for the audit log.
    Delete,
}

/// Instances to act on.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// Action.
    pub act: Act,
    /// Open attributes with the values that `send` sets.
    #[schema(value_type = Option<Object>)]
    pub values: Option<Map<String, Value>>,
    /// Only those of this status.
    pub status: Option<Status>,
    /// Only those whose attributes have these values.
    #[schema(value_type = Option<Object>)]
    pub state: Option<Map<String, Value>>,
    /// Only those whose state fulfils this condition.
    pub r#where: Option<String>,
    /// Only those with a pending job of this transition; `skip` needs it.
    pub transition: Option<String>,
    /// Only those whose status changed since this time (RFC 3339).
    pub changed_since: Option<String>,
    /// Only those that were started before this time (RFC 3339).
    pub started_before: Option<String>,
    /// Only those with a higher number than this: the last of the batch before.
    #[schema(value_type = Option<i32>)]
    pub after: Option<Wid>,
    /// Kept in the trace and in the audit log.
    #[serde(default)]
    pub reason: String,
    /// Do it; otherwise they are counted and listed only.
    #[serde(default)]
    pub apply: bool,
}

/// Instances that match, and what was done to them.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Batched {
    /// True: it was done. False: a preview, nothing was changed.
    pub applied: bool,
    /// Number of instances that match; 100,000 stands for that many or more.
    pub matching: i64,
    /// The first 1,000 of these, oldest first.
    #[schema(value_type = Vec<i32>)]
    pub instances: Vec<Wid>,
    /// Instances to which it was done.
    #[schema(value_type = Vec<i32>)]
    pub done: Vec<Wid>,
    /// Instances to which it was not done, with the reasons.
    pub refused: Vec<Refused>,
}

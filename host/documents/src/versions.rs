//! Definitions of a flow: previews, history, differences.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use wedflow_model::Wid;

use crate::answers::{Applied, Status};

/// Transitions that a live instance would fire, or fired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct Rematched {
    /// Number of the instance.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// The transitions that are fired.
    pub fires: Vec<String>,
    /// Status afterwards.
    #[cfg_attr(feature = "sqlx", sqlx(try_from = "String"))]
    pub becomes: Status,
}

/// Effect that applying a definition would have.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Preview {
    /// Changes of the definition.
    pub would_apply: Applied,
    /// Number of live instances that a re-match would then touch.
    pub matching: usize,
    /// The first 1,000 of these.
    pub instances: Vec<Rematched>,
}

/// Effect of rolling back: what it would do, or what it did.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RolledBack {
    /// True: the version was applied. False: a preview, nothing was changed.
    pub applied: bool,
    /// The version that the flow goes back to.
    pub version: i32,
    /// Changes of the definition.
    pub changes: Applied,
    /// Number of live instances that a re-match touches afterwards.
    pub matching: usize,
    /// The first 1,000 of these.
    pub instances: Vec<Rematched>,
}

/// Effect of the present model on live instances.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RematchResult {
    /// True: the transitions were fired. False: a preview, nothing was changed.
    pub applied: bool,
    /// Number of instances that fire something, or whose status changes.
    pub matching: usize,
    /// The first 1,000 of these.
    pub instances: Vec<Rematched>,
}

/// A definition that a flow had.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct Version {
    /// The flow's version after it was applied.
    pub version: i32,
    /// Time at which it was applied.
    pub applied_at: String,
    /// Actor who applied it.
    pub actor: String,
    /// Definition.
    #[schema(value_type = Object)]
    pub definition: serde_json::Value,
}

/// Versions to compare.
#[derive(Debug, Clone, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Between {
    /// The older version; the one before the newest when absent.
    pub old: Option<i32>,
    /// The newer version; the newest when absent.
    pub new: Option<i32>,
}

/// Differences of two versions.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Difference {
    /// Older version.
    pub old: i32,
    /// Newer version.
    pub new: i32,
    /// Lines of TOML that only one of them has, with `-` or `+` and the attribute, trigger or transition in front; at
    /// most 2,000, long ones cut.
    pub lines: Vec<String>,
    /// Number of further lines, which are left out.
    pub left_out: usize,
}

/// Version to go back to.
#[derive(Debug, Clone, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RollBack {
    /// The version; the one before the newest when absent.
    pub version: Option<i32>,
    /// Do it; otherwise it is shown only.
    #[serde(default)]
    pub apply: bool,
}

/// Choice between a preview and firing by the present model.
#[derive(Debug, Clone, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rematch {
    /// Do it; otherwise it is shown only.
    #[serde(default)]
    pub apply: bool,
}

/// Processes to apply together: all or none.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Processes {
    /// The processes.
    pub processes: Vec<ProcessDefinition>,
}

/// A flow with its plan of work, as the process language makes them.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProcessDefinition {
    /// The flow's definition.
    #[schema(schema_with = crate::definition::schema)]
    pub definition: serde_json::Value,
    /// The plan of work.
    #[schema(value_type = Object)]
    pub plan: serde_json::Value,
}

/// Effect of applying the definition of one of several flows.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AppliedFlow {
    /// Flow.
    pub flow: String,
    /// Changes of its definition.
    pub applied: Applied,
}

/// Plan of work of a flow that is a process.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct WorkPlan {
    /// The plan.
    #[schema(value_type = Object)]
    pub plan: serde_json::Value,
}

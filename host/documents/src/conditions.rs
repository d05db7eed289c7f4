//! Conditions over an instance's present state.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::answers::Status;

/// Conditions of a flow over an instance's present state.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Conditions {
    /// Status.
    pub status: Status,
    /// Why it is an exception, or was cancelled; absent for all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The enabled conditions, the final one last.
    pub items: Vec<Condition>,
}

/// An enabled condition, evaluated over an instance's present state.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Condition {
    /// The trigger's name, or its transition's; `final` for the final condition.
    pub trigger: String,
    /// The condition, as it was written.
    pub condition: String,
    /// True for the final condition.
    pub r#final: bool,
    /// True if the state satisfies it; absent where the state cannot be evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
    /// Why the state cannot be evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

//! An instance with what runs, waits and failed, as the database has it at one moment.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::answers::{Attempt, Instance, Job, List, TraceRow};
use crate::conditions::Conditions;
use crate::explain::Why;
use crate::operations::Waiting;

/// Parts of an overview that a request asks for.
#[derive(Debug, Clone, Default, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct OverviewFilter {
    /// Number of the newest rows of the trace, 1 to 500, and why its triggers fired or did not; none of both when
    /// absent.
    #[param(minimum = 1, maximum = 500)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<i64>,
}

/// An instance with what runs, waits and failed: all of one moment.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Overview {
    /// Instance.
    pub instance: Instance,
    /// Conditions over its present state.
    pub conditions: Conditions,
    /// Pending jobs, at most 500; absent for a token that may not read jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<Vec<Job>>,
    /// Reasons why pending jobs are not being run; absent for a token that may not read jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Vec<Waiting>>,
    /// Attempts at its transitions, oldest first; `next` is the cursor for those that did not fit.
    pub attempts: List<Attempt>,
    /// Why its triggers fired or did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
    /// Newest rows of its trace, oldest first; with `next`, some are left out at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<List<TraceRow>>,
}

//! A fired transition that waits for, or is in the hands of, a worker.

use std::time::Duration;

use crate::{FlowId, LeaseToken, TriggerId, Wid};
use serde::{Deserialize, Serialize};

/// Identifies a pending transition: the papers' composite key of `job_pool`, within one flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct JobKey {
    /// The flow the instance belongs to (unique in one database).
    pub flow: FlowId,
    /// The instance.
    pub wid: Wid,
    /// The trigger that fired (unique in one database, so that (wid, tgid) is too).
    pub tgid: TriggerId,
}

/// A job as a host holds it: claimed, under a lease, with everything a run needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The job's key.
    pub key: JobKey,
    /// The name of the transition to run (`job_pool.trname`).
    pub transition: String,
    /// The fencing token of this claim: a commit is accepted only while the job still carries it.
    pub token: LeaseToken,
    /// 1 for the first attempt.
    pub attempt: i32,
    /// The trace row of the state that fired it: the same in every attempt.
    pub fired_by: i32,
    /// The time the attempt may take, CPU and waiting together.
    pub timeout: Duration,
    /// The state that fired the transition, by attribute name (`job_pool.payload`), as JSON text.
    pub payload: String,
}

//! The nouns of a WED-flow, shared by every other crate: identities, typed attributes and values, flow
//! definitions, jobs, outcomes, the limits of an attempt, error codes and variables of the environment.
//!
//! Nothing here does I/O. Names are those of the WED-SQL papers (section 2.2, "Data Model") where
//! they have one.

mod attribute;
mod codes;
mod definition;
mod environment;
mod identity;
mod job;
mod limits;
mod outcome;
mod plain;
mod work;

pub use attribute::{AttributeType, Scalar, ScalarType, Value, ValueError, read_moment};
pub use codes::{ERROR_CODES, ErrorCode, PROBLEM_CODES};
pub use definition::{
    AttributeDefinition, FlowDefinition, Numbering, ScheduleDefinition, TransitionDefinition, TriggerDefinition,
};
pub use environment::{VARIABLES, Variable};
pub use identity::{ComponentId, FlowId, HostId, LeaseToken, TenantId, TriggerId, Wid};
pub use job::{Job, JobKey};
pub use limits::Limits;
pub use outcome::{Assignment, Measure, Outcome, Severity, TrapKind};
pub use work::WorkDefinition;

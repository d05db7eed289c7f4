//! The nouns of a WED-flow, shared by every other crate: typed attributes and values, flow
//! definitions, jobs, what a run of a transition came to, and every limit with its unit.
//!
//! Nothing here does I/O. Names are those of the WED-SQL papers (section 2.2, "Data Model") where
//! they have one.

mod attribute;
mod definition;
mod identity;
mod job;
mod limits;
mod outcome;
mod work;

pub use attribute::{AttributeType, Scalar, ScalarType, Value, ValueError};
pub use definition::{
    AttributeDefinition, FlowDefinition, Numbering, TransitionDefinition, TriggerDefinition,
};
pub use identity::{ComponentId, FlowId, HostId, LeaseToken, TenantId, TriggerId, Wid};
pub use job::{Job, JobKey};
pub use limits::Limits;
pub use outcome::{Assignment, Measure, Outcome, Severity, TrapKind};
pub use work::{WorkDefinition, work_plan};

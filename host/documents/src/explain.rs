//! Why something fired or did not, and what would happen if.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use wedflow_model::Wid;

use crate::answers::Status;

/// Question why an instance's triggers fired or did not.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WhyFilter {
    /// Only this trigger: its name or its transition's; `final` for the final condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// The state of this row of the trace; the present state when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i32>,
}

/// Conditions of a flow over a state of an instance, clause by clause.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Why {
    /// Number of the instance.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// Row of the trace whose state it is; the newest one for the present state.
    pub seq: Option<i32>,
    /// True for the present state.
    pub present: bool,
    /// Status in that state.
    pub status: Status,
    /// The state.
    #[schema(value_type = Object)]
    pub state: Map<String, Value>,
    /// Note of that row of the trace: why it is an exception, or who acted.
    pub note: Option<String>,
    /// Reason why no trigger of an instance that is an exception fires, and the commands that mend it; absent
    /// of others, and of past states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exception: Option<String>,
    /// The triggers, at most 200, the final condition last. Their conditions are those of today, of past states too.
    pub triggers: Vec<Explanation>,
}

/// Value of a condition or of one of its clauses over a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Truth {
    /// The condition holds.
    True,
    /// The condition does not hold.
    False,
    /// Null: an attribute that it reads has no value.
    Unknown,
    /// Evaluating it fails.
    Fault,
}

/// Outcome of a trigger in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TriggerOutcome {
    /// The state fired it.
    Fired,
    /// The job is pending.
    Pending,
    /// Disabled.
    Disabled,
    /// The condition does not hold.
    False,
    /// The condition is null.
    Unknown,
    /// Evaluating the condition fails.
    Fault,
    /// The instance has ended, or ends when its pending jobs have.
    Final,
    /// The condition holds, and so does the final one, which fires nothing else.
    Suppressed,
    /// The condition holds, and nothing is pending: it was pending already, was skipped, or time or a change of the
    /// definition made the condition true.
    Holds,
}

/// A trigger's condition over a state.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Explanation {
    /// Name of the trigger, or of its transition; `final` for the final condition.
    pub trigger: String,
    /// The transition; none for the final condition.
    pub transition: Option<String>,
    /// True for the final condition.
    pub r#final: bool,
    /// False if it fires nothing.
    pub enabled: bool,
    /// The condition as Postgres understood it.
    pub condition: String,
    /// Value of the condition.
    pub value: Truth,
    /// Why it cannot be evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Clauses that would have to become true for it to hold; none while it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed: Option<String>,
    /// Outcome; absent in a what-if.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<TriggerOutcome>,
    /// Job, while it is pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<ExplainedJob>,
    /// The clauses, in reading order; the first one is the whole condition.
    pub clauses: Vec<Clause>,
}

/// A part of a condition.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Clause {
    /// Place in the condition: empty for the whole, `1.2` for the second part of the first part.
    pub path: String,
    /// Kind: how its parts are joined; `test` for a clause without parts.
    pub kind: ClauseKind,
    /// Text.
    pub text: String,
    /// Value.
    pub value: Truth,
    /// Why it cannot be evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// True if the whole condition has its value because of this clause.
    pub decides: bool,
    /// Attributes that it reads, with their values; long ones are cut.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub reads: Option<BTreeMap<String, Value>>,
}

/// Kind of a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClauseKind {
    /// All parts must hold.
    And,
    /// Any part must hold.
    Or,
    /// The part must not hold.
    Not,
    /// No parts.
    Test,
}

/// A pending job, in an explanation.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ExplainedJob {
    /// Row of the trace whose state fired it.
    pub fired_by: i32,
    /// Attempts begun.
    pub attempt: i32,
    /// True if a host runs it.
    pub running: bool,
    /// Time from which it may be claimed; none while it waits for something else than time.
    pub due: Option<String>,
    /// Code of the reason why it waits; none while somebody runs it.
    pub waits_for: Option<String>,
    /// Reason in words.
    pub waits_text: Option<String>,
}

/// Values that an instance's attributes are assumed to have.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Assumption {
    /// New values; the other attributes stay.
    #[schema(value_type = Object)]
    pub state: Map<String, Value>,
    /// The pending transition that sets them, or its trigger; absent: set by hand in an exception, by an event
    /// otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition: Option<String>,
}

/// Foreseen outcome of an instance.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct WhatIf {
    /// Number of the instance.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// Assumed writer: a transition, `_EVENT`, or `_ADHOC` for a state set by hand.
    pub r#as: String,
    /// The whole state with the assumed values.
    #[schema(value_type = Object)]
    pub state: Map<String, Value>,
    /// Why the gate would refuse it.
    pub refused: Option<ForeseenRefusal>,
    /// Why it would make the instance an exception.
    pub fault: Option<String>,
    /// Status that it would have.
    pub becomes: Status,
    /// Triggers that would fire.
    pub fires: Vec<ForeseenJob>,
    /// Transitions that would stay pending.
    pub still_pending: Vec<String>,
    /// Those of them whose condition would no longer hold: a host skips them, and where nothing else is pending the
    /// instance becomes an exception.
    #[serde(default)]
    pub stale: Vec<String>,
    /// The conditions over that state.
    pub triggers: Vec<Explanation>,
}

impl WhatIf {
    /// True if the instance would be left with jobs that are skipped, and nothing else.
    pub fn ends_as_exception(&self) -> bool {
        self.becomes == Status::Regular && self.fires.is_empty() && self.stale.len() == self.still_pending.len()
    }
}

/// Refusal that the gate would give.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ForeseenRefusal {
    /// Code.
    pub code: String,
    /// Message.
    pub message: String,
    /// Hint at what mends it.
    pub hint: Option<String>,
}

/// A job that would be fired.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ForeseenJob {
    /// Name of the trigger, or of its transition.
    pub trigger: String,
    /// The transition.
    pub transition: Option<String>,
    /// Expression of the keys that it would reserve first.
    pub reserves: Option<String>,
    /// Resource of these keys.
    pub resource: Option<String>,
    /// Tasks that come before it.
    pub after: Option<String>,
}

/// Act of an operator whose effect is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OperatorAct {
    /// Drop a pending job.
    Skip,
    /// End the instance.
    Cancel,
    /// Undo steps by their compensations.
    Back,
}

impl OperatorAct {
    /// Returns its word.
    pub fn word(self) -> &'static str {
        match self {
            OperatorAct::Skip => "skip",
            OperatorAct::Cancel => "cancel",
            OperatorAct::Back => "back",
        }
    }
}

/// An act that an operator might do.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AssumedAct {
    /// The act.
    pub act: OperatorAct,
    /// The pending transition to skip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition: Option<String>,
    /// The row of the trace to go back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<i32>,
}

/// Effect that an operator's act would have.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ForeseenAct {
    /// Status that the instance would have.
    pub becomes: Status,
    /// Pending transitions that would be dropped.
    pub drops: Vec<String>,
    /// Transitions that would then be pending.
    pub pending: Vec<String>,
    /// Steps that compensations would undo, newest first.
    pub undoes: Vec<UndoneStep>,
}

/// A step that a compensation would undo.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct UndoneStep {
    /// Row of the trace that is undone.
    pub seq: i32,
    /// The compensation.
    pub transition: String,
}

/// A condition that a trigger is assumed to have.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AssumedCondition {
    /// Name of the trigger; `final` for the final condition.
    pub trigger: String,
    /// The condition, in `WHERE` syntax.
    pub when: String,
}

/// The live instances for which another condition has another value.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ConditionPreview {
    /// Name of the trigger.
    pub trigger: String,
    /// The condition as Postgres understood it.
    pub condition: String,
    /// Number of live instances that were looked at, oldest first: at most 10 000, for at most 3 s.
    pub looked_at: i64,
    /// True if these are all.
    pub complete: bool,
    /// Number of those for which the present condition holds.
    pub holds_now: i64,
    /// Number of those for which the assumed one holds.
    pub would_hold: i64,
    /// Number of those for which the two differ.
    pub differ: i64,
    /// Number of those for which one of the two cannot be evaluated.
    pub faults: i64,
    /// The first 100 that differ.
    pub instances: Vec<DifferingInstance>,
}

/// An instance for which two conditions differ.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DifferingInstance {
    /// Number of the instance.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// True if the present condition holds; none: null.
    pub holds_now: Option<bool>,
    /// True if the assumed one holds; none: null.
    pub would_hold: Option<bool>,
}

/// Graph of a flow, derived from its definition and its trace.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Graph {
    /// Number of rows of the trace that the figures of edges are from: the newest ones, at most 2 000.
    pub rows: i64,
    /// The triggers, at most 300, the final condition last.
    pub triggers: Vec<GraphTrigger>,
    /// The edges.
    pub edges: Vec<GraphEdge>,
}

/// A trigger as a node.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct GraphTrigger {
    /// Name of the trigger, or of its transition; `final` for the final condition.
    pub trigger: String,
    /// The transition; none for the final condition.
    pub transition: Option<String>,
    /// True for the final condition.
    pub r#final: bool,
    /// False if it fires nothing.
    pub enabled: bool,
    /// The condition.
    pub condition: String,
    /// Attributes that the condition reads.
    pub reads: Vec<String>,
    /// Attributes among them that only hold it back: it asks that they still be null, or have their default.
    pub guards: Vec<String>,
    /// Attributes that the transition writes: as declared, or else as the trace shows.
    pub writes: Vec<String>,
    /// `component`, `person`, `worker`, `flow NAME` or, for the final condition, `gate`.
    pub performer: String,
    /// The component.
    pub component: Option<String>,
    /// Number of pending jobs.
    pub jobs: i64,
    /// Number of those that a host runs.
    pub running: i64,
    /// Number of exceptions that its transition made.
    pub exceptions: i64,
}

/// An edge between two triggers.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct GraphEdge {
    /// The trigger whose transition writes; none: a new instance.
    pub from: Option<String>,
    /// The trigger whose condition reads.
    pub to: String,
    /// Attributes that the one writes and the other reads.
    pub attributes: Vec<String>,
    /// Number of times that the trace shows the one firing the other.
    pub number: i64,
}

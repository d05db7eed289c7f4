//! The plan of work: what the database keeps of a process besides its flow, for worklists.

use serde::{Deserialize, Serialize};

use crate::syntax::TaskType;
pub use crate::syntax::{Activity as PlannedState, Operator, Unit};

/// A plan of work, as JSON in `wed.work_plan`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The workflow's name as written; instances are named after it (`Manutencao_001`).
    #[serde(rename = "type")]
    pub process_type: String,
    /// The role whose people may start instances; absent: as it was before, and at first anybody; empty: anybody.
    pub creator_role: Option<String>,
    /// The tasks, those of sub-workflows included.
    pub tasks: Vec<PlannedTask>,
    /// The sub-workflows, outermost first.
    pub sub_workflows: Vec<PlannedSubWorkflow>,
    /// The data of an instance's context.
    pub data: Vec<PlannedData>,
    /// The applications that the tasks use.
    pub applications: Vec<PlannedApplication>,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedTask {
    /// The name as written; in a sub-workflow `Sub.Task`.
    pub task: String,
    /// The trigger and the transition.
    pub trigger: String,
    /// The model's name.
    pub model: String,
    /// The performer.
    #[serde(rename = "type")]
    pub task_type: TaskType,
    /// The application's name.
    pub application: Option<String>,
    /// The role whose people are asked; the person in charge when a person's task has none.
    pub role: Option<String>,
    /// Higher first.
    pub priority: i32,
    /// Time from READY to the end.
    pub deadline: Option<Deadline>,
    /// True if it may be locked and taken away.
    pub disconnected: bool,
    /// Attempts after the first, of an automatic task.
    pub retries: u32,
    /// The description for people.
    pub description: Option<String>,
    /// Names of the data that are copied to the task.
    pub inputs: Vec<String>,
    /// Names of the data that come back.
    pub outputs: Vec<String>,
    /// The process of which it starts an instance; of a sub-workflow that is not in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts: Option<String>,
    /// The attribute that holds the activity's state.
    pub state: String,
    /// The dependence rule; null when empty.
    pub depends: Option<Dependence>,
    /// True if a rule names its failure: then a failure is a state like others, else the person in charge decides.
    pub failure_expected: bool,
}

/// A time limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadline {
    /// Number of units.
    pub amount: u32,
    /// The unit.
    pub unit: Unit,
}

/// A dependence rule over tasks and sub-workflows of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Dependence {
    /// `AND (…)` or `OR (…)`.
    Tree {
        /// The operator.
        op: Operator,
        /// The terms.
        of: Vec<Dependence>,
    },
    /// A task's state.
    Term {
        /// The task or sub-workflow.
        task: String,
        /// The state that it has or had.
        state: PlannedState,
    },
}

/// A sub-workflow; its tasks are tasks of the plan, named `Sub.Task`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedSubWorkflow {
    /// The name as written; in another sub-workflow `Outer.Sub`.
    pub name: String,
    /// The workflow that it runs.
    #[serde(rename = "type")]
    pub process_type: String,
    /// The dependence rule; null when empty.
    pub depends: Option<Dependence>,
    /// The data that the workflow defines, as they are where it runs by itself. Here those of the workflow around it
    /// take their place; absent in a plan that was made before they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Vec<PlannedData>>,
}

/// A datum of the instance's context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedData {
    /// The name as written; in a sub-workflow `Sub.Name`.
    pub name: String,
    /// `file`, `query`, `string` or `number`.
    pub kind: String,
    /// The attribute that holds its value.
    pub attribute: String,
    /// Origin of its first value: `{"name"}`, `{"database", "expression"}` or `{"value"}`.
    pub source: serde_json::Value,
}

/// An application.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedApplication {
    /// The name as written.
    pub name: String,
    /// The component of the tenant that is the application.
    pub component: String,
    /// The file's name as written.
    pub file: String,
    /// Size in kilobytes, as written.
    pub size: u64,
    /// The operating system, as written.
    pub os: String,
    /// The processor, as written.
    pub cpu: String,
    /// The installer, as written.
    pub installer: Option<String>,
    /// The hosts, as written, in order of preference.
    pub hosts: Vec<String>,
}

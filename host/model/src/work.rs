//! People's work as a flow's author writes it (`[trigger.work]` in `flow.toml`).

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Work of people: a trigger whose job a person does.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkDefinition {
    /// The task's name; the trigger's when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// `manual`, or `semi_automatic`: a person with an application.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The role whose people do it; anybody of the tenant when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Higher first; 0 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// From arrival until the result is due (Postgres's interval notation).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    /// The calendar by whose working hours the deadline is counted; the clock when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calendar: Option<String>,
    /// True if it may be locked and done without a connection.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub disconnected: bool,
    /// The tenant's component that the person runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// Instructions for the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The attributes that the person sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<String>>,
    /// The attributes that the person sets; those that the trigger writes when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Vec<String>>,
    /// The attribute that becomes `SUCCEEDED` or `FAILED` with the report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// People to whom it is offered besides those with the role.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<String>,
    /// Further roles to which it is offered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// The attribute that names the one person who does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    /// The attribute that names the people and roles to whom it is offered, and nobody else: a text, or a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<String>,
    /// The task of the instance whose last performer does this one too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// The task of the instance whose performers may not do this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_by: Option<String>,
    /// The attribute with a list, for each element of which the task is done, all at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub for_each: Option<String>,
    /// The attribute of type `jsonb` that gets the answers, by element; with `for_each`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collect: Option<String>,
    /// Answers after which the task is done: `all`, `first` or a number; with `for_each`.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "crate::plain::document")]
    pub complete: Option<Json>,
    /// False: no trigger looks at its failure, of which who is in charge decides then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_expected: Option<bool>,
    /// When nobody took it for so long, it is offered to `escalate_to` as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub escalate_after: Option<String>,
    /// The role or person of the escalation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub escalate_to: Option<String>,
    /// A form for the outputs as JSON Schema; generated from their types when absent.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "crate::plain::document")]
    pub form: Option<Json>,
}

//! A flow as its author writes it (`flow.toml`), before the database has checked it.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value as Json};

use crate::{AttributeType, WorkDefinition};

/// A whole flow: attributes, triggers, and which component runs which transition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowDefinition {
    /// The flow's name, unique in its tenant.
    pub name: String,
    /// The flow's purpose, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The WED-attributes, in order.
    #[serde(default, rename = "attribute")]
    pub attributes: Vec<AttributeDefinition>,
    /// The WED-triggers, in order.
    #[serde(default, rename = "trigger")]
    pub triggers: Vec<TriggerDefinition>,
    /// The final WED-condition, in `WHERE` syntax.
    #[serde(default, rename = "final", skip_serializing_if = "Option::is_none")]
    pub final_condition: Option<String>,
    /// The component that runs a transition, or the flow that it starts, by transition name. A transition that is not
    /// listed is left to external workers.
    #[serde(default, rename = "transition", skip_serializing_if = "BTreeMap::is_empty")]
    pub transitions: BTreeMap<String, TransitionDefinition>,
    /// The attribute by which a transition's result sets the order of its instance's tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// The attributes that a start may set; all when absent. Schedules, and transitions that start the flow, set any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Vec<String>>,
    /// All schedules that start instances, by name. Absent: they stay as they are.
    #[serde(default, rename = "schedule", skip_serializing_if = "Option::is_none")]
    pub schedules: Option<Vec<ScheduleDefinition>>,
}

/// A schedule that starts instances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduleDefinition {
    /// Name, unique in the flow.
    pub name: String,
    /// The pattern: minute, hour, day of month, month and weekday; or seconds in front of them.
    pub cron: String,
    /// The time zone, as in the IANA database; UTC when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Times that passed while no host ran: `skip`, `one` (when absent) or `all`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<String>,
    /// While the instance started last is running: `start` (when absent) or `skip`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<String>,
    /// Initial values of the instances.
    #[serde(default, skip_serializing_if = "Map::is_empty", serialize_with = "crate::plain::entries_of")]
    pub state: Map<String, Json>,
}

/// A row of `wed_attr`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttributeDefinition {
    /// The attribute's name (`aname`).
    pub name: String,
    /// The type (`atype`).
    #[serde(default = "text", rename = "type")]
    pub kind: AttributeType,
    /// The default value (`adv`): a number, a truth value, or text in Postgres's input notation; null when absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "input_text")]
    pub default: Option<String>,
    /// True if any session with the right to write the flow may set it without a job's lock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
    /// Numbering of new instances by this attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<Numbering>,
}

/// Kind of a series that gives each new instance its own number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Numbering {
    /// A number whose instance was not committed is given to a later one.
    Gapless,
    /// Numbers come from a sequence, and some may be left out.
    Gaps,
}

/// A row of `wed_trig`: a WED-condition and the WED-transition it fires.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TriggerDefinition {
    /// The trigger's name (`tgname`).
    pub name: String,
    /// The WED-transition to fire (`trname`); empty for a wait that only an event ends.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub transition: String,
    /// The WED-condition (`cpred`), in `WHERE` syntax.
    pub when: String,
    /// The condition's name (`cname`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Time limit of one attempt (`timeout`), in Postgres's interval notation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// The number of attempts that are made before the instance becomes an exception.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<i32>,
    /// Pause before the second attempt; doubled for each further one (Postgres's interval notation).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backoff: Option<String>,
    /// Pause between firing and the first attempt (Postgres's interval notation).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<String>,
    /// Jobs of a higher priority are claimed first; 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// True if the condition must still hold when the job is claimed; true when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recheck: Option<bool>,
    /// False if the trigger fires nothing. When absent, a new trigger is enabled and a known one stays as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The attributes the transition may set; any when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<Vec<String>>,
    /// The transition that undoes a committed step of this trigger, when an operator sends an instance back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compensation: Option<String>,
    /// From firing until the job's end, all attempts together (Postgres's interval notation); then the instance is an
    /// exception. No limit when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    /// The work of a person, when a person does the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Box<WorkDefinition>>,
    /// The keys that the transition reserves: a SQL expression over the attributes that gives one key, an array, or a
    /// document of quantities. Nothing when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserves: Option<String>,
    /// The quantity of each key, a SQL expression that gives a number or an array of them. Exclusive when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantity: Option<String>,
    /// Resource of the keys, shared by the flows of the tenant that declare it; the flow's own when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// End of the reservation: `transition` (when absent), `instance`, or the trigger or transition whose commit
    /// ends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<String>,
    /// True if the quantity is taken from the capacity by the commit that releases it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub consumes: bool,
    /// The triggers or transitions that come first: names with AND, OR and parentheses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The open attribute that the instance waits for, as long as the condition holds. A job like others when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
    /// Time limit of the wait (Postgres's interval notation), behind which the transition is due; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub or_after: Option<String>,
}

/// The performer of a transition: a component, or an instance of another flow, its child.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransitionDefinition {
    /// The name of the tenant's component that exports the transition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<String>,
    /// True if it may read and write the files of its instances, on hosts that have a place for them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub files: bool,
    /// The hosts and ports to which it may speak HTTP (`api.example.com:443`), on hosts that allow them too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub http: Vec<String>,
    /// The flow of the tenant of which an instance is started; the transition ends with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts: Option<String>,
    /// Attributes of the child, each with the attribute of this flow that it gets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, String>,
    /// Attributes of this flow, each with the attribute of the child that it gets when the child is final.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, String>,
    /// Attributes that go in and come back under one name, where the child has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<String>,
    /// The attribute that becomes `SUCCEEDED` when the child is final, and `FAILED` when it is an exception or was
    /// cancelled. Without it the transition waits for an exception to be mended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

impl TransitionDefinition {
    /// Makes the performer that is a component.
    pub fn by_component(component: String) -> Self {
        TransitionDefinition { component: Some(component), ..TransitionDefinition::default() }
    }
}

fn text() -> AttributeType {
    AttributeType { scalar: crate::ScalarType::Text, array: false }
}

/// Reads a default value as Postgres's input function takes it.
fn input_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a default is text, a number, true or false; write others as text: \"…\"")]
    enum Input {
        Text(String),
        Truth(bool),
        Whole(i64),
        Number(f64),
    }
    Ok(Option::<Input>::deserialize(deserializer)?.map(|input| match input {
        Input::Text(text) => text,
        Input::Truth(truth) => truth.to_string(),
        Input::Whole(number) => number.to_string(),
        Input::Number(number) => number.to_string(),
    }))
}

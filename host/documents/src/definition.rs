//! A flow's definition, described for the description of the interface.

use serde_json::{Value, json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Stands for [`wedflow_model::FlowDefinition`] in the description of the interface.
#[derive(Debug, Clone, Copy)]
pub struct Definition;

/// The schema of a definition, by reference.
pub(crate) fn schema() -> RefOr<Schema> {
    RefOr::Ref(utoipa::openapi::Ref::from_schema_name("FlowDefinition"))
}

impl PartialSchema for Definition {
    /// A place for [`definition_schema`], which holds more than the library's types do.
    fn schema() -> RefOr<Schema> {
        RefOr::T(Schema::default())
    }
}

/// The schema of a definition.
pub fn definition_schema() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["name"],
        "description": "A flow's definition: the content of a flow.toml",
        "properties": {
            "name": { "type": "string", "pattern": "^[a-z0-9][a-z0-9_-]{0,62}$", "description": "The flow's name" },
            "description": { "type": "string", "maxLength": 2000 },
            "attribute": { "type": "array", "items": attribute() },
            "trigger": { "type": "array", "items": trigger() },
            "final": text("The final condition"),
            "transition": { "type": "object", "additionalProperties": performer() },
            "order": text("The attribute by which a result sets the order of its instance's tasks"),
            "start": names("The attributes that a start may set; all when absent"),
            "schedule": { "type": "array", "items": schedule(), "description": "All schedules; absent: they stay" },
        },
    })
}

/// The schema of an attribute.
fn attribute() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["name"],
        "properties": {
            "name": text("The attribute's name"),
            "type": text("`text` when absent; see `wed explain flow-toml`"),
            "default": text("The default value in Postgres's notation; null when absent"),
            "open": { "type": "boolean", "description": "Whether events may set it" },
            "number": {
                "type": "string", "enum": ["gapless", "gaps"], "description": "New instances are numbered by it",
            },
        },
    })
}

/// The schema of a trigger.
fn trigger() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["name", "when"],
        "properties": {
            "name": text("The trigger's name"),
            "transition": text("The transition that it fires; none for a wait without `or_after`"),
            "when": text("The condition, in WHERE syntax"),
            "condition": text("The condition's name"),
            "timeout": interval("Time limit of an attempt; 1 minute when absent"),
            "attempts": { "type": "integer", "format": "int32", "minimum": 1, "description": "3 when absent" },
            "backoff": interval("Pause before the second attempt; doubled for each further one; 1 second when absent"),
            "delay": interval("Pause between firing and the first attempt"),
            "priority": { "type": "integer", "format": "int32", "description": "Higher first; 0 when absent" },
            "recheck": { "type": "boolean", "description": "Whether the condition must hold when the job is claimed" },
            "enabled": {
                "type": "boolean",
                "description": "False: it fires nothing; absent: a new trigger is enabled, a known one stays as it is",
            },
            "writes": names("The attributes that the transition may set; any when absent"),
            "compensation": text("The transition that undoes this one"),
            "deadline": interval("From firing until the job's end"),
            "work": work(),
            "reserves": text("The keys that it reserves, as a SQL expression"),
            "quantity": text("The quantity of each key, as a SQL expression"),
            "resource": text("The resource that the keys are of"),
            "holds": text("`transition`, `instance`, or the trigger whose commit ends the reservation"),
            "consumes": { "type": "boolean" },
            "after": text("The triggers that come first"),
            "waits_for": text("The open attribute that it waits for while the condition holds"),
            "or_after": interval("Time limit of the wait, behind which the transition is due"),
        },
    })
}

/// The schema of the work of a person.
fn work() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "description": "The work of a person",
        "properties": {
            "task": text("The task's name; the trigger's when absent"),
            "type": text("`manual`, or `semi_automatic`"),
            "role": text("The role whose people do it; anybody of the tenant when absent"),
            "priority": { "type": "integer", "format": "int32" },
            "deadline": interval("From arrival until the result is due"),
            "calendar": text("The calendar by whose working hours the deadline is counted"),
            "disconnected": { "type": "boolean" },
            "application": text("The tenant's component that the person runs"),
            "description": text("What to do"),
            "inputs": names("The attributes that the person sees"),
            "outputs": names("The attributes that the person sets"),
            "state": text("The attribute that becomes SUCCEEDED or FAILED with the report"),
            "users": names("People to whom it is offered as well as to the role"),
            "groups": names("Further roles to which it is offered"),
            "escalate_after": interval("When nobody took it for so long, it is offered to `escalate_to` too"),
            "escalate_to": text("The role or person of the escalation"),
            "form": { "description": "A form for the outputs as JSON Schema" },
        },
    })
}

/// The schema of what performs a transition.
fn performer() -> Value {
    json!({
        "type": "object", "additionalProperties": false,
        "properties": {
            "component": text("The component that performs it"),
            "files": { "type": "boolean", "description": "Whether it may use the files of its instances" },
            "http": names("The hosts and ports to which it may speak HTTP"),
            "starts": text("The flow of which an instance is started, the child; the transition ends with it"),
            "inputs": exchanged("Attributes of the child, each with the attribute of this flow that it gets"),
            "outputs": exchanged("Attributes of this flow, each with the attribute of the child that it gets"),
            "shares": names("Attributes that go in and come back under one name, where the child has them"),
            "state": text("The attribute that becomes SUCCEEDED or FAILED with the child's end"),
        },
    })
}

/// The schema of a schedule.
fn schedule() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["name", "cron"],
        "properties": {
            "name": text("The schedule's name"),
            "cron": text("Minute, hour, day of month, month and weekday; or seconds in front of them"),
            "zone": text("The time zone; UTC when absent"),
            "missed": { "type": "string", "enum": ["skip", "one", "all"], "description": "`one` when absent" },
            "overlap": { "type": "string", "enum": ["start", "skip"], "description": "`start` when absent" },
            "state": { "type": "object", "description": "Initial values of the instances" },
        },
    })
}

/// The schema of attributes that get values of others.
fn exchanged(description: &str) -> Value {
    json!({ "type": "object", "additionalProperties": { "type": "string" }, "description": description })
}

/// The schema of a text.
fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

/// The schema of an interval.
fn interval(description: &str) -> Value {
    text(&format!("{description}; Postgres's interval notation"))
}

/// The schema of a list of names.
fn names(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

impl ToSchema for Definition {
    fn name() -> std::borrow::Cow<'static, str> {
        "FlowDefinition".into()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use wedflow_model::FlowDefinition;

    use super::*;

    /// A definition with everything that one can hold.
    const WHOLE: &str = r#"
name = "all"
description = "x"
final = "a = 1"
order = "a"
start = ["a"]
[[attribute]]
name = "a"
type = "integer"
default = "0"
open = true
number = "gaps"
[[trigger]]
name = "t"
transition = "x"
when = "a = 0"
condition = "c"
timeout = "1 minute"
attempts = 1
backoff = "1 second"
delay = "1 second"
priority = 1
recheck = false
enabled = false
writes = ["a"]
compensation = "y"
deadline = "1 hour"
reserves = "a"
quantity = "1"
resource = "r"
holds = "instance"
consumes = true
after = "u"
waits_for = "a"
or_after = "1 day"
[trigger.work]
task = "t"
type = "manual"
role = "r"
priority = 1
deadline = "1 day"
calendar = "c"
disconnected = true
application = "p"
description = "d"
inputs = ["a"]
outputs = ["a"]
state = "a"
users = ["u"]
groups = ["g"]
escalate_after = "1 day"
escalate_to = "r"
form = {}
[transition.x]
component = "x"
files = true
http = ["example.com:443"]
starts = "other"
inputs = { a = "a" }
outputs = { a = "a" }
shares = ["a"]
state = "a"
[[schedule]]
name = "s"
cron = "@daily"
"#;

    fn names(object: &serde_json::Value) -> BTreeSet<&str> {
        let object = object.as_object().into_iter().flatten();
        object.map(|(name, _)| name.as_str()).collect()
    }

    #[test]
    fn the_schema_names_what_a_definition_may_hold() {
        let schema = definition_schema();
        let whole: FlowDefinition = toml::from_str(WHOLE).expect("a definition");
        let whole = serde_json::to_value(whole).expect("JSON");
        let properties = |of: &str| schema.pointer(of).cloned().unwrap_or_default();
        for (described, there) in [
            ("/properties", &whole),
            ("/properties/attribute/items/properties", &whole["attribute"][0]),
            ("/properties/trigger/items/properties", &whole["trigger"][0]),
            ("/properties/trigger/items/properties/work/properties", &whole["trigger"][0]["work"]),
            ("/properties/transition/additionalProperties/properties", &whole["transition"]["x"]),
        ] {
            assert_eq!(names(&properties(described)), names(there), "{described}");
        }
    }
}

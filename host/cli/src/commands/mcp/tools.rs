//! Tools of an assistant. Their arguments are types, from which the protocol's schemas are made.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use wedflow_client::{Expected, Request};
use wedflow_documents::{
    AssumedCondition, GoBack, Instance, InstanceFilter, Job, Reason, SetState, Status, TraceRow, WhyFilter,
};
use wedflow_model::{FlowDefinition, Wid};

use super::Fault;
use super::parts::{document, entries, part};
use super::resources;
use crate::arguments::InstanceName;
use crate::door::Door;

/// Instance as an assistant names it: a number, or a text that the commands take too.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Named {
    Number(i32),
    #[schemars(with = "String")]
    Name(InstanceName),
}

impl Named {
    async fn wid(&self, door: &Door, flow: &str) -> Result<Wid, Fault> {
        match self {
            Named::Number(wid) => Ok(Wid::new(*wid)),
            Named::Name(name) => Ok(door.wid(flow, name).await?),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Flows {
    /// Part of a long answer; 1 when absent.
    part: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Find {
    /// The flow's name.
    flow: String,
    /// Only those of this status: regular, final or exception.
    status: Option<String>,
    /// Only those whose state fulfils this condition, in the grammar of triggers: qty > 3 AND item = 'tea'.
    condition: Option<String>,
    /// Only those with a pending job of this transition.
    transition: Option<String>,
    /// The cursor that the answer before named.
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Explain {
    /// The flow's name.
    flow: String,
    /// The instance's number, or key: and its business key.
    wid: Named,
    /// Only this trigger or transition; final for the final condition.
    trigger: Option<String>,
    /// The state of this row of the trace; the present one when absent.
    seq: Option<i32>,
    /// Part of a long answer; 1 when absent.
    part: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Waits {
    /// The flow's name.
    flow: String,
    /// The instance's number, or key: and its business key; all pending jobs of the flow when absent.
    wid: Option<Named>,
    /// The cursor that the answer before named.
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Trace {
    /// The flow's name.
    flow: String,
    /// The instance's number, or key: and its business key.
    wid: Named,
    /// The cursor that the answer before named.
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Check {
    /// The flow's name.
    flow: String,
    /// The trigger whose condition it would be; final for the final condition.
    trigger: String,
    /// The condition, as after WHERE.
    condition: String,
    /// Part of a long answer; 1 when absent.
    part: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfFlow {
    /// The flow's name.
    flow: String,
    /// Part of a long answer; 1 when absent.
    part: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Define {
    /// The definition in TOML, as in a flow.toml, or in JSON.
    definition: String,
    /// Part of a long answer; 1 when absent.
    part: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Docs {
    /// The page's name, such as first-flow or conditions.
    page: String,
    /// Part of a long answer; 1 when absent.
    part: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Retry {
    /// The flow's name.
    flow: String,
    /// The instance's number, or key: and its business key.
    wid: Named,
    /// Why; kept in the trace and in the audit log.
    reason: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Set {
    /// The flow's name.
    flow: String,
    /// The instance's number, or key: and its business key.
    wid: Named,
    /// New values by attribute; the other attributes stay.
    state: Map<String, Value>,
    /// Why; kept in the trace and in the audit log.
    reason: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Back {
    /// The flow's name.
    flow: String,
    /// The instance's number, or key: and its business key.
    wid: Named,
    /// The row of the trace to go back to.
    seq: i32,
    /// Why; kept in the trace and in the audit log.
    reason: String,
}

/// Returns the tools; those that change something only where that is allowed.
pub(super) fn all(may_write: bool) -> Vec<Tool> {
    let mut tools = vec![
        tool::<Flows>("list_flows", "Lists the flows with their counts."),
        tool::<Find>("find_instances", "Finds instances of a flow, newest first."),
        tool::<Explain>(
            "explain_instance",
            "Explains an instance: state, status, pending work, and why each condition holds or not.",
        ),
        tool::<Waits>("list_waiting", "Lists what an instance waits for and why, or the pending jobs of a flow."),
        tool::<Trace>("read_trace", "Reads the history of an instance, oldest first."),
        tool::<Check>(
            "check_condition",
            "Checks a condition against the live instances of a flow, and says for which it would change. Changes \
             nothing.",
        ),
        tool::<OfFlow>("read_definition", "Reads the definition of a flow in TOML."),
        tool::<Define>(
            "preview_definition",
            "Says what applying a definition would do to a flow and its live instances. Changes nothing.",
        ),
        tool::<Docs>("read_docs", "Reads a page of the documentation."),
    ];
    for tool in &mut tools {
        tool.annotations = Some(ToolAnnotations::new().read_only(true));
    }
    if may_write {
        tools.extend([
            tool::<Define>("apply_definition", "Applies a definition of a flow; preview it before."),
            tool::<Retry>(
                "retry_instance",
                "Retries an instance: an exception fires what its state satisfies, waiting jobs are due now.",
            ),
            tool::<Set>("set_state", "Sets attributes of an exception by hand."),
            tool::<Back>("go_back", "Sends an exception back to an earlier state."),
        ]);
    }
    tools
}

fn tool<T: JsonSchema + 'static>(name: &'static str, about: &'static str) -> Tool {
    Tool::new(name, about, Arc::new(JsonObject::new())).with_input_schema::<T>()
}

/// Reads the arguments of a tool.
fn read<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, Fault> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| Fault::Arguments(error.to_string()))
}

/// Reads a definition in TOML or JSON.
fn definition(text: &str) -> Result<FlowDefinition, Fault> {
    let read = match text.trim_start().starts_with('{') {
        true => serde_json::from_str(text).map_err(|error| error.to_string()),
        false => toml::from_str(text).map_err(|error| error.to_string()),
    };
    read.map_err(|reason| Fault::Arguments(format!("this is no flow definition: {reason}")))
}

/// Calls a tool that [`all`] lists.
pub(super) async fn call(door: &Door, name: &str, arguments: JsonObject) -> Result<String, Fault> {
    match name {
        "list_flows" => document(&door.flows().await?, read::<Flows>(arguments)?.part),
        "find_instances" => find(door, read(arguments)?).await,
        "explain_instance" => explain(door, read(arguments)?).await,
        "list_waiting" => list_waiting(door, read(arguments)?).await,
        "read_trace" => {
            let Trace { flow, wid, cursor } = read(arguments)?;
            let wid = wid.wid(door, &flow).await?.to_string();
            let request = Request::get(&["flows", &flow, "instances", &wid, "trace"]);
            entries::<TraceRow>(door, &request, cursor).await
        }
        "check_condition" => {
            let check: Check = read(arguments)?;
            let assumed = AssumedCondition { trigger: check.trigger, when: check.condition };
            let preview = door.what_if_condition(&check.flow, &assumed).await?;
            document(&preview, check.part)
        }
        "read_definition" => {
            let OfFlow { flow, part: wanted } = read(arguments)?;
            part(&resources::definition(door, &flow).await?, wanted)
        }
        "preview_definition" => {
            let define: Define = read(arguments)?;
            let preview = door.preview(&definition(&define.definition)?).await?;
            document(&preview, define.part)
        }
        "read_docs" => {
            let Docs { page, part: wanted } = read(arguments)?;
            part(&resources::docs(&page)?, wanted)
        }
        _ => change(door, name, arguments).await,
    }
}

async fn find(door: &Door, find: Find) -> Result<String, Fault> {
    let status: Option<Status> = match find.status {
        None => None,
        Some(status) => {
            Some(serde_json::from_value(status.into()).map_err(|error| Fault::Arguments(error.to_string()))?)
        }
    };
    let filter =
        InstanceFilter { status, r#where: find.condition, transition: find.transition, ..InstanceFilter::default() };
    let request = Request::get(&["flows", &find.flow, "instances"]).query(&filter);
    entries::<Instance>(door, &request, find.cursor).await
}

async fn explain(door: &Door, explain: Explain) -> Result<String, Fault> {
    let wid = explain.wid.wid(door, &explain.flow).await?;
    let which = WhyFilter { trigger: explain.trigger, seq: explain.seq };
    let instance = door.instance(&explain.flow, wid).await?;
    let why = door.why(&explain.flow, wid, &which).await?;
    let answer = json!({ "pending": instance.pending, "changed": instance.changed, "why": why });
    document(&answer, explain.part)
}

async fn list_waiting(door: &Door, waits: Waits) -> Result<String, Fault> {
    match waits.wid {
        Some(wid) => {
            let wid = wid.wid(door, &waits.flow).await?;
            let waiting = door.waiting(&waits.flow, wid).await?;
            document(&json!({ "items": waiting }), None)
        }
        None => {
            let request = Request::get(&["flows", &waits.flow, "jobs"]);
            entries::<Job>(door, &request, waits.cursor).await
        }
    }
}

/// Calls a tool that changes something.
async fn change(door: &Door, name: &str, arguments: JsonObject) -> Result<String, Fault> {
    match name {
        "apply_definition" => {
            let define: Define = read(arguments)?;
            let definition = definition(&define.definition)?;
            let applied = door.apply(&definition, &Expected::Anything).await?;
            document(&applied, define.part)
        }
        "retry_instance" => {
            let Retry { flow, wid, reason } = read(arguments)?;
            let wid = wid.wid(door, &flow).await?;
            let retried = door.retry(&flow, wid, &Reason { reason }).await?;
            document(&retried, None)
        }
        "set_state" => {
            let set: Set = read(arguments)?;
            let state = SetState { state: set.state, reason: set.reason };
            let wid = set.wid.wid(door, &set.flow).await?;
            let set = door.set_state(&set.flow, wid, &state).await?;
            document(&set, None)
        }
        "go_back" => {
            let back: Back = read(arguments)?;
            let to = GoBack { to: back.seq, reason: back.reason };
            let wid = back.wid.wid(door, &back.flow).await?;
            let going = door.go_back(&back.flow, wid, &to).await?;
            document(&going, None)
        }
        _ => Err(Fault::Arguments(format!("there is no tool {name}"))),
    }
}

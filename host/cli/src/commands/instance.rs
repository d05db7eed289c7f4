//! `wed instance`: start instances and look at them.

use serde_json::{Map, Value as Json, json};
use wedflow_documents::{IfRunning, Instance, InstanceFilter, Start, Status, TraceRow};
use wedflow_model::{AttributeType, ScalarType, Wid};

use crate::answer::shown;
use crate::arguments::{InstanceCommand, Matching};
use crate::commands::instance_batch;
use crate::commands::instance_show::show;
use crate::commands::operate;
use crate::commands::operate_waiting::Reasons;
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Time between two looks at why nothing happens to a watched instance.
const LOOK_AGAIN: std::time::Duration = std::time::Duration::from_millis(500);

pub(crate) async fn run(command: &InstanceCommand, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    match command {
        InstanceCommand::Start { flow, values, state, wait, key, if_running, once } => {
            let asked = Start {
                state: initial_values(door, flow, values, state.as_deref()).await?,
                key: key.clone(),
                if_running: (*if_running).into(),
            };
            start(flow, &asked, once.as_deref(), *wait, door, terminal).await
        }
        InstanceCommand::List { flow, matching, key, limit } => {
            let attributes = attributes_of(door, flow).await?;
            let filter = InstanceFilter { key: key.clone(), ..filter_of(flow, &attributes, matching)? };
            let instances = door.instances(flow, &filter, Some(*limit)).await?;
            list(&instances, &names_of(&attributes), terminal);
            Ok(())
        }
        InstanceCommand::Show { flow, wid } => show(door, flow, door.wid(flow, wid).await?, terminal).await,
        InstanceCommand::Trace { flow, wid } => {
            let trace = door.trace(flow, door.wid(flow, wid).await?, None, None).await?;
            let order = names_of(&attributes_of(door, flow).await?);
            terminal.answer(&trace, || terminal.trace(&trace, &order));
            Ok(())
        }
        InstanceCommand::Operate(command) => operate::instance(command, door, terminal).await,
        InstanceCommand::Batch(batch) => instance_batch::run(batch, door, terminal).await,
        InstanceCommand::Watch { flow, wid } => watch(door, flow, door.wid(flow, wid).await?, terminal).await,
    }
}

/// Starts an instance, or uses the running one with its key.
async fn start(
    flow: &str,
    asked: &Start,
    once: Option<&str>,
    wait: bool,
    door: &Door,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let started = door.start(flow, asked, once).await?;
    let wid = started.wid;
    let said = match (started.existing, asked.if_running) {
        (true, IfRunning::Send) => {
            format!("Instance {wid} of {flow} runs under this key, and has the values.")
        }
        (true, _) => format!("Instance {wid} of {flow} runs under this key already."),
        (false, _) => format!("Instance {wid} of {flow} is started."),
    };
    if wait {
        terminal.say(&said);
        return watch(door, flow, wid, terminal).await;
    }
    terminal.answer(&json!({ "flow": flow, "wid": wid }), || {
        terminal.line(&said);
        terminal.say(&format!("Follow it: wed instance watch {flow} {wid}"));
    });
    Ok(())
}

/// Returns the filter of instances that are meant.
fn filter_of(
    flow: &str,
    attributes: &[(String, AttributeType)],
    matching: &Matching,
) -> Result<InstanceFilter, Problem> {
    let values = held_values(flow, attributes, &matching.holding)?;
    Ok(InstanceFilter {
        status: matching.status.map(Into::into),
        state: (!values.is_empty()).then(|| Json::from(values).to_string()),
        r#where: matching.condition.clone(),
        transition: matching.transition.clone(),
        changed_since: matching.changed_since.clone(),
        started_before: matching.started_before.clone(),
        ..InstanceFilter::default()
    })
}

/// Reads what attributes instances are to hold.
pub(crate) fn held_values(
    flow: &str,
    attributes: &[(String, AttributeType)],
    words: &[String],
) -> Result<Map<String, Json>, Problem> {
    let values = values_of(attributes, words, None)?;
    let known = names_of(attributes);
    match values.keys().find(|name| !known.contains(name)) {
        None => Ok(values),
        Some(name) => Err(Problem::usage(format!("flow \"{flow}\" has no attribute \"{name}\""))
            .hint(format!("It has: {}.", known.join(", ")))),
    }
}

/// Lists instances, the newest first.
fn list(instances: &[Instance], order: &[String], terminal: &Terminal) {
    terminal.answer(&instances, || {
        terminal.table(
            &["wid", "status", "state", "pending", "changed"],
            instances.iter().map(|instance| {
                vec![
                    instance.wid.to_string(),
                    instance.status.to_string(),
                    state_line(&instance.state, order),
                    instance.pending.join(", "),
                    instance.changed.clone(),
                ]
            }),
        );
    });
}

/// Prints rows as they come; ends when the instance is final, or an exception.
async fn watch(door: &Door, flow: &str, wid: Wid, terminal: &Terminal) -> Result<(), Problem> {
    let mut events = door.watch(flow, wid, 0);
    let mut all: Vec<TraceRow> = Vec::new();
    let mut reasons = Reasons::new();
    while all.last().is_none_or(|row| row.status == Status::Regular) {
        let heard = {
            // Not dropped while it waits: it may be opening the stream.
            let mut next = std::pin::pin!(events.next());
            loop {
                match tokio::time::timeout(LOOK_AGAIN, &mut next).await {
                    Ok(heard) => break heard?,
                    Err(_) => reasons.say(door, flow, wid, terminal).await?,
                }
            }
        };
        let Some(event) = heard else { break };
        let row: TraceRow = serde_json::from_str(&event.data)
            .map_err(|source| Problem::new("the server's event cannot be read").because(source))?;
        reasons.moved();
        if terminal.is_json() {
            terminal.document_line(&row);
        } else {
            let note = row.note.as_ref().map(|note| format!(": {note}"));
            terminal.say(&format!(
                "{:>4} {} {}{}",
                row.seq,
                row.transition.as_deref().unwrap_or("(start)"),
                row.status,
                note.unwrap_or_default(),
            ));
        }
        all.push(row);
    }
    if !terminal.is_json() {
        terminal.trace(&all, &names_of(&attributes_of(door, flow).await?));
    }
    if all.last().is_some_and(|row| row.status == Status::Exception) {
        return Err(Problem::new(format!("instance {wid} is an exception")).hint(format!(
            "`wed instance show {flow} {wid}` says why. Mend what failed, then `wed instance retry {flow} {wid}`."
        )));
    }
    Ok(())
}

/// Initial values from `name=value` words and a JSON object; words take the attribute's type.
pub(crate) async fn initial_values(
    door: &Door,
    flow: &str,
    words: &[String],
    state: Option<&str>,
) -> Result<Map<String, Json>, Problem> {
    let attributes = match words.is_empty() {
        true => Vec::new(),
        false => attributes_of(door, flow).await?,
    };
    values_of(&attributes, words, state)
}

fn values_of(
    attributes: &[(String, AttributeType)],
    words: &[String],
    state: Option<&str>,
) -> Result<Map<String, Json>, Problem> {
    let mut values = match state {
        None => Map::new(),
        Some(text) => serde_json::from_str(text).map_err(|source| {
            Problem::usage("--state is no JSON object").because(source).hint("For example: --state '{\"qty\": 3}'")
        })?,
    };
    for word in words {
        let (name, text) = word.split_once('=').ok_or_else(|| {
            Problem::usage(format!("`{word}` is not of the form ATTRIBUTE=VALUE"))
                .hint("Write an attribute, `=` and its value: customer=ann")
        })?;
        let kind = attributes.iter().find(|(known, _)| known == name);
        let value = match kind.is_some_and(|(_, kind)| is_text_like(kind)) {
            // Only a text can be the word itself.
            true if text == "null" && kind.is_some_and(|(_, kind)| kind.scalar != ScalarType::Text) => Json::Null,
            true => Json::from(text),
            false => serde_json::from_str(text).unwrap_or_else(|_| Json::from(text)),
        };
        values.insert(name.to_owned(), value);
    }
    Ok(values)
}

/// Returns true for a type whose values are written without the notation of JSON.
fn is_text_like(kind: &AttributeType) -> bool {
    !kind.array
        && !matches!(
            kind.scalar,
            ScalarType::Integer
                | ScalarType::Bigint
                | ScalarType::Numeric
                | ScalarType::Float
                | ScalarType::Boolean
                | ScalarType::Jsonb
        )
}

/// The attributes of a flow with their types, in its order.
pub(crate) async fn attributes_of(door: &Door, flow: &str) -> Result<Vec<(String, AttributeType)>, Problem> {
    let (flow, _) = door.flow(flow).await?;
    let attributes = flow.attributes.into_iter().map(|attribute| {
        let kind = attribute.r#type.parse::<AttributeType>();
        kind.map(|kind| (attribute.name, kind))
    });
    attributes
        .collect::<Result<_, _>>()
        .map_err(|error| Problem::new("a type of the flow's is not known here").because(error))
}

/// The names of attributes.
pub(crate) fn names_of(attributes: &[(String, AttributeType)]) -> Vec<String> {
    attributes.iter().map(|(name, _)| name.clone()).collect()
}

/// A state's attributes in the flow's order, then those that the flow has no more.
pub(crate) fn in_order<'a>(state: &'a Json, order: &'a [String]) -> impl Iterator<Item = (&'a String, &'a Json)> {
    let known = order.iter().filter_map(move |name| Some((name, state.get(name)?)));
    let all = state.as_object().into_iter().flatten();
    known.chain(all.filter(move |(name, _)| !order.contains(name)))
}

pub(crate) fn state_line(state: &Json, order: &[String]) -> String {
    in_order(state, order).map(|(name, value)| format!("{name}={}", shown(value))).collect::<Vec<_>>().join(" ")
}

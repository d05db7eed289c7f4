//! `wed instance`: start instances and look at them.

use std::time::Duration;

use serde_json::{Map, Value as Json, json};
use wedflow_model::{ScalarType, Wid};
use wedflow_store::{Flow, Store, TraceRow, WantedInstances};

use crate::answer::shown;
use crate::arguments::InstanceCommand;
use crate::commands::instance_show::show;
use crate::commands::operate;
use crate::commands::operate_waiting::Reasons;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Between two looks at a trace that is being watched.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

pub(crate) async fn run(
    command: &InstanceCommand,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    match command {
        InstanceCommand::Start {
            flow,
            values,
            state,
            wait,
            key,
        } => {
            let flow = store.flow(tenant, flow).await?;
            let values = initial_values(store, &flow, values, state.as_deref()).await?;
            let wid = match key {
                Some(key) => store.start_with_key(&flow, &values, key).await?,
                None => store.start_instance(&flow, &values).await?,
            };
            if *wait {
                terminal.say(&format!("Instance {wid} of {} is started.", flow.name));
                return watch(store, &flow, wid, terminal).await;
            }
            terminal.answer(&json!({ "flow": flow.name, "wid": wid }), || {
                terminal.line(&format!("Instance {wid} of {} is started.", flow.name));
                terminal.say(&format!(
                    "Follow it: wed instance watch {} {wid}",
                    flow.name
                ));
            });
            Ok(())
        }
        InstanceCommand::List {
            flow,
            status,
            holding,
            limit,
        } => {
            let flow = store.flow(tenant, flow).await?;
            let values = held_values(store, &flow, holding).await?;
            let wanted = WantedInstances {
                status: status.map(|status| status.letter()),
                state: (!values.is_empty()).then_some(&values),
                ..WantedInstances::default()
            };
            list(&flow, &wanted, *limit, store, terminal).await
        }
        InstanceCommand::Show { flow, wid } => {
            show(store, &store.flow(tenant, flow).await?, *wid, terminal).await
        }
        InstanceCommand::Trace { flow, wid } => {
            let flow = store.flow(tenant, flow).await?;
            store.instance(&flow, *wid).await?;
            let trace = store.trace(flow.flow_id, *wid, 1).await?;
            let order = attributes_of(store, &flow).await?;
            terminal.answer(&trace, || terminal.trace(&trace, &order));
            Ok(())
        }
        InstanceCommand::Operate(command) => {
            operate::instance(command, tenant, store, terminal).await
        }
        InstanceCommand::Watch { flow, wid } => {
            let flow = store.flow(tenant, flow).await?;
            store.instance(&flow, *wid).await?;
            watch(store, &flow, *wid, terminal).await
        }
    }
}

/// Reads what attributes instances are to hold.
async fn held_values(
    store: &Store,
    flow: &Flow,
    words: &[String],
) -> Result<Map<String, Json>, Problem> {
    let values = initial_values(store, flow, words, None).await?;
    let known = attributes_of(store, flow).await?;
    match values.keys().find(|name| !known.contains(name)) {
        None => Ok(values),
        Some(name) => Err(Problem::usage(format!(
            "flow \"{}\" has no attribute \"{name}\"",
            flow.name
        ))
        .hint(format!("It has: {}.", known.join(", ")))),
    }
}

/// Lists instances, the newest first.
async fn list(
    flow: &Flow,
    wanted: &WantedInstances<'_>,
    limit: i64,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let instances = store.instances_before(flow, wanted, None, limit).await?;
    let order = attributes_of(store, flow).await?;
    terminal.answer(&instances, || {
        terminal.table(
            &["wid", "status", "state", "pending", "changed"],
            instances.iter().map(|instance| {
                vec![
                    instance.wid.to_string(),
                    status_word(&instance.status).to_owned(),
                    state_line(&instance.state, &order),
                    instance.pending.join(", "),
                    instance.changed.clone(),
                ]
            }),
        );
    });
    Ok(())
}

/// Prints rows as they come; ends when the instance is final, or an exception that nobody serves.
async fn watch(store: &Store, flow: &Flow, wid: Wid, terminal: &Terminal) -> Result<(), Problem> {
    let mut next = 1;
    let mut all: Vec<TraceRow> = Vec::new();
    let mut reasons = Reasons::new();
    loop {
        for row in store.trace(flow.flow_id, wid, next).await? {
            next = row.seq + 1;
            reasons.moved();
            if terminal.is_json() {
                terminal.document_line(&row);
            } else {
                terminal.say(&format!(
                    "{:>4} {} {}{}",
                    row.seq,
                    row.trw.as_deref().unwrap_or("(start)"),
                    status_word(&row.status),
                    row.note
                        .as_deref()
                        .map(|note| format!(": {note}"))
                        .unwrap_or_default(),
                ));
            }
            all.push(row);
        }
        if all.last().is_some_and(|row| row.status != "R") {
            if !terminal.is_json() {
                terminal.trace(&all, &attributes_of(store, flow).await?);
            }
            if all.last().is_some_and(|row| row.status == "E") {
                return Err(Problem::new(format!("instance {wid} is an exception")).hint(format!(
                    "`wed instance show {} {wid}` says why. Mend what failed, then `wed instance retry {} {wid}`.",
                    flow.name, flow.name
                )));
            }
            return Ok(());
        }
        reasons.say(store, flow, wid, terminal).await?;
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Initial values from `name=value` words and a JSON object; words take the attribute's type.
pub(crate) async fn initial_values(
    store: &Store,
    flow: &Flow,
    words: &[String],
    state: Option<&str>,
) -> Result<Map<String, Json>, Problem> {
    let mut values = match state {
        None => Map::new(),
        Some(text) => serde_json::from_str(text).map_err(|source| {
            Problem::usage("--state is no JSON object")
                .because(source)
                .hint("For example: --state '{\"qty\": 3}'")
        })?,
    };
    let shape = store.flow_shape(flow.flow_id).await?;
    for word in words {
        let (name, text) = word.split_once('=').ok_or_else(|| {
            Problem::usage(format!("`{word}` is not of the form ATTRIBUTE=VALUE"))
                .hint("Write an attribute, `=` and its value: customer=ann")
        })?;
        let kind = shape
            .attributes
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, kind)| kind);
        let text_like = kind.is_some_and(|kind| {
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
        });
        let value = if text_like {
            Json::from(text)
        } else {
            serde_json::from_str(text).unwrap_or_else(|_| Json::from(text))
        };
        values.insert(name.to_owned(), value);
    }
    Ok(values)
}

/// A status letter in a word.
pub(crate) fn status_word(status: &str) -> &'static str {
    match status {
        "F" => "final",
        "E" => "exception",
        _ => "regular",
    }
}

/// The names of a flow's attributes, in its order.
pub(crate) async fn attributes_of(store: &Store, flow: &Flow) -> Result<Vec<String>, Problem> {
    let shape = store.flow_shape(flow.flow_id).await?;
    Ok(shape.attributes.into_iter().map(|(name, _)| name).collect())
}

/// A state's attributes in the flow's order, then those that the flow has no more.
pub(crate) fn in_order<'a>(
    state: &'a Json,
    order: &'a [String],
) -> impl Iterator<Item = (&'a String, &'a Json)> {
    let known = order
        .iter()
        .filter_map(move |name| Some((name, state.get(name)?)));
    let all = state.as_object().into_iter().flatten();
    known.chain(all.filter(move |(name, _)| !order.contains(name)))
}

pub(crate) fn state_line(state: &Json, order: &[String]) -> String {
    in_order(state, order)
        .map(|(name, value)| format!("{name}={}", shown(value)))
        .collect::<Vec<_>>()
        .join(" ")
}

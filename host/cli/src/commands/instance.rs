//! `wed instance`: start instances and look at them.

use std::time::Duration;

use serde_json::{Map, Value as Json, json};
use wedflow_model::{ScalarType, Wid};
use wedflow_store::{Flow, Store, TraceRow};

use crate::arguments::InstanceCommand;
use crate::commands::operate;
use crate::problem::Problem;
use crate::terminal::{Terminal, shown};

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
        } => {
            let flow = store.flow(tenant, flow).await?;
            let values = initial_values(store, &flow, values, state.as_deref()).await?;
            let wid = store.start_instance(&flow, &values).await?;
            if *wait {
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
            limit,
        } => {
            let flow = store.flow(tenant, flow).await?;
            let instances = store
                .instances(&flow, status.map(|status| status.letter()), None, *limit)
                .await?;
            terminal.answer(&instances, || {
                terminal.table(
                    &["wid", "status", "state", "pending", "changed"],
                    instances.iter().map(|instance| {
                        vec![
                            instance.wid.to_string(),
                            status_word(&instance.status).to_owned(),
                            state_line(&instance.state),
                            instance.pending.join(", "),
                            instance.changed.clone(),
                        ]
                    }),
                );
            });
            Ok(())
        }
        InstanceCommand::Show { flow, wid } => {
            show(store, &store.flow(tenant, flow).await?, *wid, terminal).await
        }
        InstanceCommand::Trace { flow, wid } => {
            let flow = store.flow(tenant, flow).await?;
            store.instance(&flow, *wid).await?;
            let trace = store.trace(flow.flow_id, *wid, 1).await?;
            terminal.answer(&trace, || terminal.trace(&trace));
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

async fn show(store: &Store, flow: &Flow, wid: Wid, terminal: &Terminal) -> Result<(), Problem> {
    let instance = store.instance(flow, wid).await?;
    let jobs = store.jobs(flow.flow_id, wid).await?;
    let attempts = store.attempts(flow.flow_id, wid).await?;
    let logs = store.logs(flow.flow_id, wid).await?;
    terminal.answer(
        &json!({ "instance": instance, "jobs": jobs, "attempts": attempts, "logs": logs }),
        || {
            terminal.line(&format!(
                "Instance {wid} of {}: {}, started {}",
                flow.name,
                status_word(&instance.status),
                instance.started
            ));
            terminal.table(
                &["attribute", "value"],
                instance
                    .state
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(name, value)| vec![name.clone(), shown(value)]),
            );
            if !jobs.is_empty() {
                terminal.line("Pending:");
                terminal.table(
                    &[
                        "transition",
                        "attempts",
                        "due",
                        "in the hands of",
                        "waits for",
                    ],
                    jobs.iter().map(|job| {
                        vec![
                            job.trname.clone(),
                            job.attempt.to_string(),
                            job.due.clone(),
                            job.lckid.clone().unwrap_or_default(),
                            job.waits_for.clone().unwrap_or_default(),
                        ]
                    }),
                );
            }
            if !attempts.is_empty() {
                terminal.line("Attempts that changed nothing:");
                terminal.table(
                    &["transition", "attempt", "outcome", "message", "at"],
                    attempts.iter().map(|attempt| {
                        vec![
                            attempt.trname.clone(),
                            attempt.attempt.to_string(),
                            attempt.outcome.clone(),
                            attempt.message.clone(),
                            attempt.tstmp.clone(),
                        ]
                    }),
                );
            }
            if !logs.is_empty() {
                terminal.line("What its transitions logged:");
                terminal.table(
                    &["trigger", "attempt", "severity", "message", "fields"],
                    logs.iter().map(|line| {
                        vec![
                            line.tgid.to_string(),
                            line.attempt.to_string(),
                            line.severity.clone(),
                            line.message.clone(),
                            state_line(&line.fields),
                        ]
                    }),
                );
            }
        },
    );
    Ok(())
}

/// Prints rows as they come; ends when the instance is final, or an exception that nobody serves.
async fn watch(store: &Store, flow: &Flow, wid: Wid, terminal: &Terminal) -> Result<(), Problem> {
    let mut next = 1;
    let mut all: Vec<TraceRow> = Vec::new();
    loop {
        for row in store.trace(flow.flow_id, wid, next).await? {
            next = row.seq + 1;
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
                terminal.trace(&all);
            }
            if all.last().is_some_and(|row| row.status == "E") {
                return Err(Problem::new(format!("instance {wid} is an exception")).hint(format!(
                    "`wed instance show {} {wid}` says why. Mend the flow, then `wed flow rematch {}`.",
                    flow.name, flow.name
                )));
            }
            return Ok(());
        }
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
                .hint("For example: wed instance start orders customer=ann qty=3")
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
        _ => "running",
    }
}

fn state_line(state: &Json) -> String {
    state
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| format!("{name}={}", shown(value)))
        .collect::<Vec<_>>()
        .join(" ")
}

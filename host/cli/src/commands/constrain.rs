//! `wed flow reservations`, `wed flow resource` and `wed flow order`: what instances wait for each other for.

use serde_json::json;
use wedflow_store::{Flow, Store};

use crate::arguments::{OrderCommand, ResourceCommand};
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Most rows that are listed.
const LISTED_MAX: i64 = 1_000;

/// Lists what of a flow's definition cannot work.
pub(crate) async fn lint(flow: &Flow, store: &Store, terminal: &Terminal) -> Result<(), Problem> {
    let found = store.lint(flow).await?;
    terminal.answer(&found, || {
        for one in &found {
            let certain = if one.certain { "" } else { " (perhaps)" };
            terminal.line(&format!(
                "{}: {}{certain}: {}",
                one.place, one.code, one.text
            ));
            if let Some(state) = &one.state {
                terminal.line(&format!("  for example {state}"));
            }
            terminal.line(&format!("  {}", one.hint));
        }
        if found.is_empty() {
            terminal.line("Nothing was found.");
        }
    });
    Ok(())
}

/// Lists what instances hold and wait for.
pub(crate) async fn reservations(
    flow: &Flow,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let rows = store.reservations(flow, LISTED_MAX).await?;
    terminal.answer(&rows, || {
        terminal.table(
            &[
                "wid",
                "transition",
                "resource",
                "key",
                "amount",
                "state",
                "since",
            ],
            rows.iter().map(|row| {
                vec![
                    row.wid.to_string(),
                    row.transition.clone(),
                    row.resource.clone().unwrap_or_default(),
                    row.key.clone(),
                    row.amount.clone().unwrap_or_default(),
                    match &row.waits_for {
                        None if row.held => "held".to_owned(),
                        None => "later".to_owned(),
                        Some(what) => format!("waits for {what}"),
                    },
                    row.asked_at.clone(),
                ]
            }),
        );
    });
    Ok(())
}

/// Lists or sets what there is.
pub(crate) async fn resource(
    command: &ResourceCommand,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    match command {
        ResourceCommand::List { flow } => {
            let flow = store.flow(tenant, flow).await?;
            let rows = store.resources(&flow, LISTED_MAX).await?;
            terminal.answer(&rows, || {
                terminal.table(
                    &["resource", "key", "capacity", "minimum", "held"],
                    rows.iter().map(|row| {
                        vec![
                            row.resource.clone().unwrap_or_default(),
                            row.key.clone(),
                            row.capacity.clone(),
                            row.minimum.clone(),
                            row.held.clone(),
                        ]
                    }),
                );
            });
        }
        ResourceCommand::Set {
            flow,
            key,
            capacity,
            minimum,
            resource,
        } => {
            let flow = store.flow(tenant, flow).await?;
            store
                .set_resource(&flow, resource.as_deref(), key, capacity, minimum)
                .await?;
            terminal.answer(
                &json!({ "key": key, "capacity": capacity, "minimum": minimum }),
                || terminal.line(&format!("There is {capacity} of {key}.")),
            );
        }
    }
    Ok(())
}

/// Lists, adds or drops an order of tasks.
pub(crate) async fn order(
    command: &OrderCommand,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    match command {
        OrderCommand::List { flow } => {
            let flow = store.flow(tenant, flow).await?;
            let rows = store.task_orders(&flow, LISTED_MAX).await?;
            terminal.answer(&rows, || {
                terminal.table(
                    &["trigger", "after", "wid", "by"],
                    rows.iter().map(|row| {
                        vec![
                            row.trigger.clone(),
                            row.after.clone(),
                            row.wid.map(|wid| wid.to_string()).unwrap_or_default(),
                            row.actor.clone(),
                        ]
                    }),
                );
            });
        }
        OrderCommand::Add {
            flow,
            trigger,
            after,
            instance,
        } => {
            let flow = store.flow(tenant, flow).await?;
            store.add_order(&flow, trigger, after, *instance).await?;
            terminal.answer(&json!({ "trigger": trigger, "after": after }), || {
                terminal.line(&format!("{trigger} comes after {after}."));
            });
        }
        OrderCommand::Drop {
            flow,
            trigger,
            after,
            instance,
        } => {
            let flow = store.flow(tenant, flow).await?;
            if !store.drop_order(&flow, trigger, after, *instance).await? {
                return Err(Problem::new(format!(
                    "flow {} has no order of \"{trigger}\" after \"{after}\"",
                    flow.name
                ))
                .exit(3)
                .hint(format!(
                    "`wed flow order list {}` shows those that were added.",
                    flow.name
                )));
            }
            terminal.answer(&json!({ "dropped": true }), || terminal.line("Dropped."));
        }
    }
    Ok(())
}

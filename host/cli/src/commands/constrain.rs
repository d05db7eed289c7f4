//! `wed flow reservations`, `wed flow resource` and `wed flow order`: what instances wait for each other for.

use serde_json::json;
use wedflow_documents::{SetResource, TaskOrder};
use wedflow_model::Wid;

use crate::arguments::{OrderCommand, ResourceCommand};
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Lists what of a flow's definition cannot work.
pub(crate) async fn lint(flow: &str, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let found = door.lint(flow).await?;
    terminal.answer(&found, || {
        for one in &found {
            let certain = if one.certain { "" } else { " (perhaps)" };
            terminal.line(&format!("{}: {}{certain}: {}", one.place, one.code, one.text));
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
pub(crate) async fn reservations(flow: &str, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let rows = door.reservations(flow).await?;
    terminal.answer(&rows, || {
        terminal.table(
            &["wid", "transition", "resource", "key", "amount", "state", "since"],
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
pub(crate) async fn resource(command: &ResourceCommand, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    match command {
        ResourceCommand::List { flow } => {
            let rows = door.resources(flow).await?;
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
        ResourceCommand::Set { flow, key, capacity, minimum, resource } => {
            let stock = SetResource {
                resource: resource.clone(),
                key: key.clone(),
                capacity: capacity.clone(),
                minimum: Some(minimum.clone()),
            };
            door.set_resource(flow, &stock).await?;
            terminal.answer(&json!({ "key": key, "capacity": capacity, "minimum": minimum }), || {
                terminal.line(&format!("There is {capacity} of {key}."))
            });
        }
    }
    Ok(())
}

/// Lists, adds or drops an order of tasks.
pub(crate) async fn order(command: &OrderCommand, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    match command {
        OrderCommand::List { flow } => {
            let rows = door.task_orders(flow).await?;
            terminal.answer(&rows, || {
                terminal.table(
                    &["trigger", "after", "wid", "by"],
                    rows.iter().map(|row| {
                        vec![
                            row.trigger.clone(),
                            row.after.clone(),
                            row.wid.map(|wid| wid.to_string()).unwrap_or_default(),
                            row.actor.clone().unwrap_or_default(),
                        ]
                    }),
                );
            });
        }
        OrderCommand::Add { flow, trigger, after, instance } => {
            let wid = door.wid_if_named(flow, instance.as_ref()).await?;
            let order = task_order(trigger, after, wid);
            door.add_task_order(flow, &order).await?;
            terminal.answer(&json!({ "trigger": trigger, "after": after }), || {
                terminal.line(&format!("{trigger} comes after {after}."));
            });
        }
        OrderCommand::Delete { flow, trigger, after, instance } => {
            let wid = door.wid_if_named(flow, instance.as_ref()).await?;
            let order = task_order(trigger, after, wid);
            door.delete_task_order(flow, &order).await?;
            terminal.answer(&json!({ "deleted": true }), || terminal.line("Deleted."));
        }
    }
    Ok(())
}

fn task_order(trigger: &str, after: &str, wid: Option<Wid>) -> TaskOrder {
    TaskOrder { trigger: trigger.to_owned(), after: after.to_owned(), wid, actor: None }
}

//! Operators' commands: retry, cancel, pause, resume, skip and set instances; pause and roll back flows; schedules.

use serde_json::{Map, Value as Json, json};
use wedflow_model::Wid;
use wedflow_store::{Applied, Flow, Matching, NewSchedule, PauseScope, Store};

use crate::answer::counted;
use crate::arguments::{InstanceTarget, OperateFlow, OperateInstance, ScheduleCommand};
use crate::commands::constrain;
use crate::commands::instance::{initial_values, status_word};
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Most exceptions that one `wed flow retry` takes.
const RETRIED_MAX: i32 = 10_000;
/// Most instances that one backfill starts.
const BACKFILLED_MAX: usize = 10_000;
/// Most definitions that `wed flow history` lists.
const VERSIONS_MAX: i64 = 100;

/// Runs an operator's command on an instance.
pub(crate) async fn instance(
    command: &OperateInstance,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    match command {
        OperateInstance::Retry { flow, wid, reason } => {
            let flow = store.flow(tenant, flow).await?;
            let fired = store.retry_instance(&flow, *wid, reason).await?;
            terminal.answer(&json!({ "wid": wid, "transitions": fired }), || {
                terminal.line(&format!(
                    "Retried instance {wid} of {}: {}.",
                    flow.name,
                    fired.join(", ")
                ));
            });
        }
        OperateInstance::Cancel(target) => {
            let flow = store.flow(tenant, &target.flow).await?;
            let wid = target.wid;
            store.cancel_instance(&flow, wid, &target.reason).await?;
            terminal.answer(&json!({ "wid": wid, "status": "final" }), || {
                terminal.line(&format!("Cancelled instance {wid} of {}.", flow.name));
            });
        }
        OperateInstance::Pause(target) => {
            let flow = store.flow(tenant, &target.flow).await?;
            let scope = PauseScope::Instance(tenant, &flow, target.wid);
            pause(store, scope, Some(&target.reason), terminal).await?;
        }
        OperateInstance::Resume { flow, wid } => {
            let flow = store.flow(tenant, flow).await?;
            let scope = PauseScope::Instance(tenant, &flow, *wid);
            pause(store, scope, None, terminal).await?;
        }
        OperateInstance::Skip { target, transition } => {
            let flow = store.flow(tenant, &target.flow).await?;
            let (wid, reason) = (target.wid, &target.reason);
            let status = store.skip_job(&flow, wid, transition, reason).await?;
            said_status(wid, &flow, &status, "Skipped a job of", terminal);
        }
        OperateInstance::Back { target, to } => {
            go_back(target, *to, tenant, store, terminal).await?
        }
        OperateInstance::Event {
            flow,
            wid,
            values,
            state,
            key,
        } => {
            let flow = store.flow(tenant, flow).await?;
            let values = initial_values(store, &flow, values, state.as_deref()).await?;
            send_event(&flow, *wid, &values, key.as_deref(), store, terminal).await?;
        }
        OperateInstance::Set {
            target,
            values,
            state,
        } => {
            let flow = store.flow(tenant, &target.flow).await?;
            let values = initial_values(store, &flow, values, state.as_deref()).await?;
            let (wid, reason) = (target.wid, &target.reason);
            let status = store.set_state(&flow, wid, &values, reason).await?;
            said_status(wid, &flow, &status, "Set the state of", terminal);
        }
    }
    Ok(())
}

/// Sends an event to an instance, once for a key.
async fn send_event(
    flow: &Flow,
    wid: Wid,
    values: &Map<String, Json>,
    key: Option<&str>,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let sent = store.send_event(flow, wid, values, key).await?;
    terminal.answer(&json!({ "wid": wid, "sent": sent }), || {
        terminal.line(match sent {
            true => "Sent.",
            false => "It was sent before.",
        });
    });
    Ok(())
}

/// Sends an instance back to a state.
async fn go_back(
    target: &InstanceTarget,
    to: i32,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let flow = store.flow(tenant, &target.flow).await?;
    let (wid, reason) = (target.wid, &target.reason);
    let steps = store.go_back(&flow, wid, to, reason).await?;
    terminal.answer(&json!({ "wid": wid, "to": to, "steps": steps }), || {
        terminal.line(&format!(
            "Instance {wid} of {} goes back to {to}: {} to undo.",
            flow.name,
            counted(steps, "step")
        ));
    });
    Ok(())
}

fn said_status(wid: Wid, flow: &Flow, status: &str, what: &str, terminal: &Terminal) {
    let word = status_word(status);
    terminal.answer(&json!({ "wid": wid, "status": word }), || {
        terminal.line(&format!("{what} instance {wid} of {}: {word}.", flow.name));
    });
}

/// Pauses with a reason, resumes without.
async fn pause(
    store: &Store,
    scope: PauseScope<'_>,
    reason: Option<&str>,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let changed = store
        .set_pause(scope, reason.is_some(), reason.unwrap_or_default())
        .await?;
    let paused = reason.is_some();
    terminal.answer(&json!({ "paused": paused, "changed": changed }), || {
        terminal.line(match (paused, changed) {
            (true, true) => "Paused.",
            (true, false) => "Already paused.",
            (false, true) => "Resumed.",
            (false, false) => "Not paused.",
        });
    });
    Ok(())
}

/// Pauses a tenant; `wed tenant resume` resumes it.
pub(crate) async fn pause_tenant(
    store: &Store,
    tenant: &str,
    reason: &str,
    terminal: &Terminal,
) -> Result<(), Problem> {
    pause(store, PauseScope::Tenant(tenant), Some(reason), terminal).await
}

/// Runs an operator's command on a flow.
pub(crate) async fn flow(
    command: &OperateFlow,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    match command {
        OperateFlow::Retry {
            flow,
            transition,
            message,
            since,
            reason,
            yes,
        } => {
            let flow = store.flow(tenant, flow).await?;
            let matching = Matching {
                transition: transition.clone(),
                message: message.clone(),
                since: since.clone(),
            };
            retry_matching(store, &flow, &matching, reason, *yes, terminal).await
        }
        OperateFlow::Pause {
            flow,
            trigger,
            reason,
        } => {
            let flow = store.flow(tenant, flow).await?;
            let scope = scope(tenant, &flow, trigger.as_deref());
            pause(store, scope, Some(reason), terminal).await
        }
        OperateFlow::Resume { flow, trigger } => {
            let flow = store.flow(tenant, flow).await?;
            let scope = scope(tenant, &flow, trigger.as_deref());
            pause(store, scope, None, terminal).await
        }
        OperateFlow::Pauses => list_pauses(tenant, store, terminal).await,
        OperateFlow::History { flow } => list_versions(flow, tenant, store, terminal).await,
        OperateFlow::Diff { flow, old, new } => {
            let flow = store.flow(tenant, flow).await?;
            diff(store, &flow, *old, *new, terminal).await
        }
        OperateFlow::Rollback { flow, version, yes } => {
            let flow = store.flow(tenant, flow).await?;
            rollback(store, tenant, &flow, *version, *yes, terminal).await
        }
        OperateFlow::Schedule(command) => schedule(command, tenant, store, terminal).await,
        OperateFlow::Lint { flow } => {
            constrain::lint(&store.flow(tenant, flow).await?, store, terminal).await
        }
        OperateFlow::Reservations { flow } => {
            constrain::reservations(&store.flow(tenant, flow).await?, store, terminal).await
        }
        OperateFlow::Resource(command) => {
            constrain::resource(command, tenant, store, terminal).await
        }
        OperateFlow::Order(command) => constrain::order(command, tenant, store, terminal).await,
    }
}

/// Lists what is paused.
async fn list_pauses(tenant: &str, store: &Store, terminal: &Terminal) -> Result<(), Problem> {
    let pauses = store.pauses(tenant).await?;
    terminal.answer(&pauses, || {
        terminal.table(
            &["flow", "trigger", "wid", "since", "by", "reason"],
            pauses.iter().map(|pause| {
                vec![
                    pause.flow.clone().unwrap_or_default(),
                    pause.trigger.clone().unwrap_or_default(),
                    pause.wid.map(|wid| wid.to_string()).unwrap_or_default(),
                    pause.since.clone(),
                    pause.actor.clone(),
                    pause.reason.clone(),
                ]
            }),
        );
    });
    Ok(())
}

/// Lists the versions of a flow, the newest first.
async fn list_versions(
    flow: &str,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let flow = store.flow(tenant, flow).await?;
    let versions = store.flow_versions(flow.flow_id, VERSIONS_MAX).await?;
    terminal.answer(&versions, || {
        terminal.table(
            &["version", "applied", "by"],
            versions.iter().map(|version| {
                vec![
                    version.version.to_string(),
                    version.applied_at.clone(),
                    version.actor.clone(),
                ]
            }),
        );
    });
    Ok(())
}

fn scope<'a>(tenant: &'a str, flow: &'a Flow, trigger: Option<&'a str>) -> PauseScope<'a> {
    match trigger {
        Some(trigger) => PauseScope::Trigger(tenant, flow, trigger),
        None => PauseScope::Flow(tenant, flow),
    }
}

async fn retry_matching(
    store: &Store,
    flow: &Flow,
    matching: &Matching,
    reason: &str,
    yes: bool,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let found = store
        .matching_exceptions(flow, matching, RETRIED_MAX)
        .await?;
    let (mut retried, mut refused) = (0, Vec::new());
    if yes {
        // Each in its own transaction: one that cannot proceed delays no other.
        for (wid, ..) in &found {
            match store.retry_instance(flow, *wid, reason).await {
                Ok(_) => retried += 1,
                Err(error) => refused.push((*wid, error.to_string())),
            }
        }
    }
    let instances: Vec<Json> = found
        .iter()
        .map(|(wid, transition, message)| {
            json!({ "wid": wid, "transition": transition, "message": message })
        })
        .collect();
    terminal.answer(
        &json!({ "applied": yes, "matching": found.len(), "retried": retried, "refused": refused,
            "instances": instances }),
        || {
            let verb = if found.len() == 1 { "matches" } else { "match" };
            terminal.line(&format!("{} {verb}.", counted(found.len(), "exception")));
            if yes {
                terminal.line(&format!("Retried {retried}; refused {}.", refused.len()));
                for (wid, why) in &refused {
                    terminal.line(&format!("  {wid}: {why}"));
                }
            } else {
                terminal.table(
                    &["wid", "transition", "message"],
                    found.iter().map(|(wid, transition, message)| {
                        vec![
                            wid.to_string(),
                            transition.clone().unwrap_or_default(),
                            message.clone().unwrap_or_default(),
                        ]
                    }),
                );
                terminal.say("Nothing was retried. To retry them: the same with --yes");
            }
        },
    );
    Ok(())
}

fn text_of(definition: &wedflow_model::FlowDefinition) -> Result<String, Problem> {
    toml::to_string(definition)
        .map_err(|source| Problem::new("the definition cannot be written as TOML").because(source))
}

async fn diff(
    store: &Store,
    flow: &Flow,
    old: Option<i32>,
    new: Option<i32>,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let versions = store.flow_versions(flow.flow_id, VERSIONS_MAX).await?;
    let missing = || {
        Problem::new("there is no such version")
            .exit(3)
            .hint(format!("`wed flow history {}` lists them.", flow.name))
    };
    let pick = |wanted: Option<i32>, at: usize| match wanted {
        Some(number) => versions.iter().find(|version| version.version == number),
        None => versions.get(at),
    };
    let old = pick(old, 1).ok_or_else(missing)?;
    let new = pick(new, 0).ok_or_else(missing)?;
    let lines =
        wedflow_worker::definition::differing(&text_of(&old.read()?)?, &text_of(&new.read()?)?);
    terminal.answer(
        &json!({ "old": old.version, "new": new.version, "lines": lines }),
        || {
            terminal.line(&format!("Version {} to {}:", old.version, new.version));
            for line in &lines {
                terminal.line(line);
            }
        },
    );
    Ok(())
}

async fn rollback(
    store: &Store,
    tenant: &str,
    flow: &Flow,
    version: Option<i32>,
    yes: bool,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let versions = store.flow_versions(flow.flow_id, VERSIONS_MAX).await?;
    let chosen = match version {
        Some(number) => versions.iter().find(|version| version.version == number),
        None => versions.get(1),
    }
    .ok_or_else(|| {
        Problem::new("there is no such version")
            .exit(3)
            .hint(format!("`wed flow history {}` lists them.", flow.name))
    })?;
    let definition = chosen.read()?;
    let (mut changes, rows) =
        wedflow_worker::definition::preview(store, tenant, &definition).await?;
    if yes {
        changes = wedflow_worker::definition::apply(store, tenant, &definition).await?;
    }
    terminal.answer(
        &json!({ "flow": flow.name, "applied": yes, "version": chosen.version, "changes": changes,
            "matching": rows.len(), "instances": instances_of(&rows) }),
        || match yes {
            true => terminal.line(&format!(
                "Flow {} is as in version {}.",
                flow.name, chosen.version
            )),
            false => {
                print_preview(&changes, &rows, terminal);
                terminal.say("To do it: the same with --yes");
            }
        },
    );
    Ok(())
}

/// Instances that a re-match touches: number, transitions that are fired, status.
pub(crate) type Touched = (Wid, Vec<String>, String);

/// Instances that a re-match touches, as a document.
pub(crate) fn instances_of(rows: &[Touched]) -> Vec<Json> {
    rows.iter()
        .map(|(wid, fires, becomes)| json!({ "wid": wid, "fires": fires, "becomes": status_word(becomes) }))
        .collect()
}

/// Prints what applying a definition would do, and which live instances would fire what.
pub(crate) async fn preview(
    store: &Store,
    tenant: &str,
    definition: &wedflow_model::FlowDefinition,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let (applied, rows) = wedflow_worker::definition::preview(store, tenant, definition).await?;
    terminal.answer(
        &json!({ "flow": definition.name, "dry_run": true, "would_apply": applied, "matching": rows.len(),
            "instances": instances_of(&rows) }),
        || print_preview(&applied, &rows, terminal),
    );
    Ok(())
}

/// Prints the changes that a definition would make, and the live instances that would fire something.
fn print_preview(applied: &Applied, rows: &[Touched], terminal: &Terminal) {
    terminal.line("Nothing was changed. This would be:");
    for (what, names) in [
        ("attributes added", &applied.attributes_added),
        ("attributes changed", &applied.attributes_changed),
        ("settings changed", &applied.settings_changed),
        ("triggers added", &applied.triggers_added),
        ("triggers changed", &applied.triggers_changed),
        ("triggers removed", &applied.triggers_removed),
        ("components not uploaded", &applied.components_missing),
    ] {
        if !names.is_empty() {
            terminal.line(&format!("  {what}: {}", names.join(", ")));
        }
    }
    terminal.line(&format!(
        "A re-match would then touch {}{}",
        counted(rows.len(), "live instance"),
        if rows.is_empty() { "." } else { ":" }
    ));
    if !rows.is_empty() {
        print_touched("would fire", rows, terminal);
    }
}

/// Prints the instances that a re-match touches.
pub(crate) fn print_touched(fires: &str, rows: &[Touched], terminal: &Terminal) {
    terminal.table(
        &["wid", fires, "status"],
        rows.iter().map(|(wid, fires, becomes)| {
            vec![
                wid.to_string(),
                fires.join(", "),
                status_word(becomes).to_owned(),
            ]
        }),
    );
}

async fn schedule(
    command: &ScheduleCommand,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let next = wedflow_worker::schedule::next;
    match command {
        ScheduleCommand::Set {
            flow,
            name,
            cron,
            zone,
            missed,
            overlap,
            values,
        } => {
            let flow = store.flow(tenant, flow).await?;
            let state: Map<String, Json> = initial_values(store, &flow, values, None).await?;
            let schedule = NewSchedule {
                name,
                cron,
                zone,
                state: &state,
                missed,
                overlap,
            };
            store.put_schedule(&flow, &schedule, next).await?;
            list_schedules(store, &flow, terminal).await
        }
        ScheduleCommand::List { flow } => {
            list_schedules(store, &store.flow(tenant, flow).await?, terminal).await
        }
        ScheduleCommand::Pause { flow, name } => {
            let flow = store.flow(tenant, flow).await?;
            store.pause_schedule(&flow, name, true).await?;
            list_schedules(store, &flow, terminal).await
        }
        ScheduleCommand::Resume { flow, name } => {
            let flow = store.flow(tenant, flow).await?;
            store.pause_schedule(&flow, name, false).await?;
            list_schedules(store, &flow, terminal).await
        }
        ScheduleCommand::Remove { flow, name } => {
            let flow = store.flow(tenant, flow).await?;
            store.remove_schedule(&flow, name).await?;
            list_schedules(store, &flow, terminal).await
        }
        ScheduleCommand::Backfill {
            flow,
            name,
            from,
            until,
        } => {
            let flow = store.flow(tenant, flow).await?;
            let wids = store
                .backfill_schedule(&flow, name, from, until, BACKFILLED_MAX, next)
                .await?;
            terminal.answer(&json!({ "started": wids }), || {
                terminal.line(&format!("Started {}.", counted(wids.len(), "instance")));
            });
            Ok(())
        }
    }
}

async fn list_schedules(store: &Store, flow: &Flow, terminal: &Terminal) -> Result<(), Problem> {
    let schedules = store.schedules(flow.flow_id).await?;
    terminal.answer(&schedules, || {
        terminal.table(
            &[
                "schedule", "cron", "zone", "next", "last", "instance", "error",
            ],
            schedules.iter().map(|schedule| {
                vec![
                    schedule.name.clone(),
                    schedule.cron.clone(),
                    schedule.zone.clone(),
                    match schedule.paused {
                        true => "(paused)".to_owned(),
                        false => schedule.next_at.clone().unwrap_or_default(),
                    },
                    schedule.last_at.clone().unwrap_or_default(),
                    schedule
                        .last_wid
                        .map(|wid| wid.to_string())
                        .unwrap_or_default(),
                    schedule.last_error.clone().unwrap_or_default(),
                ]
            }),
        );
    });
    Ok(())
}

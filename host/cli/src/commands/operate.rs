//! Operators' commands: retry, cancel, pause, resume, skip and set instances; pause and roll back flows; schedules.

use serde_json::{Map, Value as Json, json};
use wedflow_model::Wid;
use wedflow_store::{Flow, Matching, NewSchedule, PauseScope, PausedThing, RetriedMatching, Store};

use crate::answer::counted;
use crate::arguments::{InstanceTarget, OperateFlow, OperateInstance, ScheduleCommand};
use crate::commands::instance::{initial_values, status_word};
use crate::commands::{changes, constrain};
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Most exceptions that one `wed flow retry` takes.
const RETRIED_MAX: i32 = 10_000;
/// Most other pauses that a command names which resumed nothing.
const OTHER_PAUSES_MAX: usize = 5;
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
    if !paused && !changed {
        for (command, thing) in other_pauses(store, scope).await? {
            terminal.say(&format!(
                "{command} resumes what {} paused: {}",
                thing.actor, thing.reason
            ));
        }
    }
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

/// Lists other pauses of the tenant and of the scope's flow, each with the command that takes it back.
async fn other_pauses(
    store: &Store,
    scope: PauseScope<'_>,
) -> Result<Vec<(String, PausedThing)>, Problem> {
    let (tenant, flow, wid) = match scope {
        PauseScope::Tenant(tenant) => (tenant, None, None),
        PauseScope::Flow(tenant, flow) | PauseScope::Trigger(tenant, flow, _) => {
            (tenant, Some(&flow.name), None)
        }
        PauseScope::Instance(tenant, flow, wid) => (tenant, Some(&flow.name), Some(wid)),
    };
    let is_here = |one: &PausedThing| {
        let of_flow = flow.is_none() || one.flow.is_none() || one.flow.as_ref() == flow;
        of_flow && (wid.is_none() || one.wid.is_none() || one.wid == wid)
    };
    let paused = store.pauses(tenant).await?.into_iter().filter(is_here);
    let with_command = paused.map(|one| {
        let command = match (&one.flow, &one.trigger, one.wid) {
            (Some(flow), _, Some(wid)) => format!("`wed instance resume {flow} {wid}`"),
            (Some(flow), Some(trigger), None) => {
                format!("`wed flow resume {flow} --trigger {trigger:?}`")
            }
            (Some(flow), None, None) => format!("`wed flow resume {flow}`"),
            (None, ..) => format!("`wed tenant resume {tenant}`"),
        };
        (command, one)
    });
    Ok(with_command.take(OTHER_PAUSES_MAX).collect())
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
            rollback(store, &flow, *version, *yes, terminal).await
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
    let RetriedMatching {
        matching: number,
        found,
        retried,
        refused,
    } = store
        .retry_matching(flow, matching, RETRIED_MAX, reason, !yes)
        .await?;
    let instances: Vec<Json> = found
        .iter()
        .map(|(wid, transition, message)| {
            json!({ "wid": wid, "transition": transition, "message": message })
        })
        .collect();
    let told: Vec<Json> = (refused.iter())
        .map(|(wid, reason)| json!({ "wid": wid, "reason": reason }))
        .collect();
    terminal.answer(
        &json!({ "applied": yes, "matching": number, "retried": retried, "refused": told,
            "instances": instances }),
        || {
            let verb = if number == 1 { "matches" } else { "match" };
            terminal.line(&format!("{} {verb}.", counted(number, "exception")));
            if i64::try_from(found.len()).is_ok_and(|listed| listed < number) {
                terminal.say(&format!(
                    "At most {RETRIED_MAX} at a time: run it again for the others."
                ));
            }
            if yes {
                terminal.line(&format!(
                    "Retried {}; refused {}.",
                    retried.len(),
                    refused.len()
                ));
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
                if !refused.is_empty() {
                    terminal.line(&format!("{} would be refused:", refused.len()));
                }
            }
            for (wid, why) in &refused {
                terminal.line(&format!("  {wid}: {why}"));
            }
            if !yes {
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
    flow: &Flow,
    version: Option<i32>,
    yes: bool,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let rolled_back = store.roll_back(flow.flow_id, version, !yes).await?;
    let (version, rows) = (rolled_back.version, &rolled_back.instances);
    terminal.answer(
        &json!({ "flow": flow.name, "applied": yes, "version": version, "changes": rolled_back.applied,
            "matching": rows.len(), "instances": changes::instances_of(rows) }),
        || match yes {
            true => terminal.line(&format!("Flow {} is as in version {version}.", flow.name)),
            false => {
                changes::print_preview(&rolled_back.applied, rows, terminal);
                terminal.say("To do it: the same with --yes");
            }
        },
    );
    Ok(())
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

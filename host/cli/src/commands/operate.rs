//! Operators' commands: retry, cancel, pause, resume, skip and set instances; pause and roll back flows; schedules.

use serde_json::json;
use wedflow_documents::{
    Backfill, Between, GoBack, Operated, Pause, PausedThing, PutSchedule, Reason, RetryMatching, RollBack, Sent,
    SetState, Skip,
};
use wedflow_model::Wid;

use crate::answer::counted;
use crate::arguments::{InstanceTarget, OperateFlow, OperateInstance, ScheduleCommand};
use crate::commands::instance::initial_values;
use crate::commands::{changes, constrain, flow_hook};
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Most other pauses that a command names which resumed nothing.
const OTHER_PAUSES_MAX: usize = 5;

/// Runs an operator's command on an instance.
pub(crate) async fn instance(command: &OperateInstance, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    match command {
        OperateInstance::Retry { flow, wid, reason } => {
            let wid = door.wid(flow, wid).await?;
            let retried = door.retry(flow, wid, &because(reason)).await?;
            terminal.answer(&retried, || {
                let fired = retried.transitions.join(", ");
                terminal.line(&format!("Retried instance {wid} of {flow}: {fired}."));
            });
        }
        OperateInstance::Cancel(InstanceTarget { flow, wid, reason }) => {
            let wid = door.wid(flow, wid).await?;
            let cancelled = door.cancel(flow, wid, &because(reason)).await?;
            terminal.answer(&cancelled, || {
                terminal.line(&format!("Cancelled instance {wid} of {flow}."));
            });
        }
        OperateInstance::Pause(InstanceTarget { flow, wid, reason }) => {
            let scope = Scope::Instance(flow, door.wid(flow, wid).await?);
            set_pause(door, scope, Some(reason), terminal).await?;
        }
        OperateInstance::Resume { flow, wid } => {
            let scope = Scope::Instance(flow, door.wid(flow, wid).await?);
            set_pause(door, scope, None, terminal).await?;
        }
        OperateInstance::Skip { target, transition } => {
            let skip = Skip { transition: transition.clone(), reason: target.reason.clone() };
            let wid = door.wid(&target.flow, &target.wid).await?;
            let skipped = door.skip(&target.flow, wid, &skip).await?;
            said_status(&target.flow, &skipped, "Skipped a job of", terminal);
        }
        OperateInstance::Back { target, to } => go_back(target, *to, door, terminal).await?,
        OperateInstance::Event { flow, wid, values, state, key } => {
            let values = initial_values(door, flow, values, state.as_deref()).await?;
            let wid = door.wid(flow, wid).await?;
            let sent = door.send_event(flow, wid, &values, key.as_deref()).await?;
            said_sent(&sent, terminal);
        }
        OperateInstance::Set { target, values, state } => {
            let set = SetState {
                state: initial_values(door, &target.flow, values, state.as_deref()).await?,
                reason: target.reason.clone(),
            };
            let wid = door.wid(&target.flow, &target.wid).await?;
            let set = door.set_state(&target.flow, wid, &set).await?;
            said_status(&target.flow, &set, "Set the state of", terminal);
        }
    }
    Ok(())
}

fn said_sent(sent: &Sent, terminal: &Terminal) {
    terminal.answer(sent, || {
        terminal.line(match sent.sent {
            true => "Sent.",
            false => "It was sent before.",
        });
    });
}

fn because(reason: &str) -> Reason {
    Reason { reason: reason.to_owned() }
}

/// Sends an instance back to a state.
async fn go_back(target: &InstanceTarget, to: i32, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let flow = &target.flow;
    let wid = door.wid(flow, &target.wid).await?;
    let asked = GoBack { to, reason: target.reason.clone() };
    let steps = door.go_back(flow, wid, &asked).await?.steps;
    terminal.answer(&json!({ "wid": wid, "to": to, "steps": steps }), || {
        terminal.line(&format!("Instance {wid} of {flow} goes back to {to}: {} to undo.", counted(steps, "step")));
    });
    Ok(())
}

fn said_status(flow: &str, operated: &Operated, what: &str, terminal: &Terminal) {
    terminal.answer(operated, || {
        let Operated { wid, status } = operated;
        terminal.line(&format!("{what} instance {wid} of {flow}: {status}."));
    });
}

/// Extent of a pause.
#[derive(Debug, Clone, Copy)]
enum Scope<'a> {
    Flow(&'a str, Option<&'a str>),
    Instance(&'a str, Wid),
}

/// Pauses with a reason, resumes without.
async fn set_pause(door: &Door, scope: Scope<'_>, reason: Option<&str>, terminal: &Terminal) -> Result<(), Problem> {
    let (pause, why) = (reason.is_some(), reason.unwrap_or_default());
    let paused = match scope {
        Scope::Instance(flow, wid) => door.pause_instance(flow, wid, pause, &because(why)).await?,
        Scope::Flow(flow, trigger) => {
            let scope = Pause { trigger: trigger.map(str::to_owned), reason: why.to_owned() };
            door.pause_flow(flow, pause, &scope).await?
        }
    };
    if !paused.paused && !paused.changed {
        for (command, thing) in other_pauses(door, scope).await? {
            terminal.say(&format!("{command} resumes what {} paused: {}", thing.actor, thing.reason));
        }
    }
    terminal.answer(&paused, || terminal.line(said_pause(paused.paused, paused.changed)));
    Ok(())
}

/// Says what became of a pause.
pub(crate) fn said_pause(paused: bool, changed: bool) -> &'static str {
    match (paused, changed) {
        (true, true) => "Paused.",
        (true, false) => "Already paused.",
        (false, true) => "Resumed.",
        (false, false) => "Not paused.",
    }
}

/// Lists other pauses of the tenant and of the scope's flow, each with the command that takes it back.
async fn other_pauses(door: &Door, scope: Scope<'_>) -> Result<Vec<(String, PausedThing)>, Problem> {
    let (flow, wid) = match scope {
        Scope::Flow(flow, _) => (flow, None),
        Scope::Instance(flow, wid) => (flow, Some(wid)),
    };
    let is_here = |one: &PausedThing| {
        let of_flow = one.flow.as_deref().is_none_or(|paused| paused == flow);
        of_flow && (wid.is_none() || one.wid.is_none() || one.wid == wid)
    };
    let paused = door.pauses().await?.into_iter().filter(is_here);
    let with_command = paused.map(|one| {
        let command = match (&one.flow, &one.trigger, one.wid) {
            (Some(flow), _, Some(wid)) => format!("`wed instance resume {flow} {wid}`"),
            (Some(flow), Some(trigger), None) => {
                format!("`wed flow resume {flow} --trigger {trigger:?}`")
            }
            (Some(flow), None, None) => format!("`wed flow resume {flow}`"),
            (None, ..) => format!("`wed tenant resume {}`", door.tenant),
        };
        (command, one)
    });
    Ok(with_command.take(OTHER_PAUSES_MAX).collect())
}

/// Runs an operator's command on a flow.
pub(crate) async fn flow(command: &OperateFlow, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    match command {
        OperateFlow::Retry { flow, transition, message, since, reason, yes } => {
            let matching = RetryMatching {
                transition: transition.clone(),
                message: message.clone(),
                since: since.clone(),
                reason: reason.clone(),
                apply: *yes,
            };
            retry_matching(flow, &matching, door, terminal).await
        }
        OperateFlow::Pause { flow, trigger, reason } => {
            let scope = Scope::Flow(flow, trigger.as_deref());
            set_pause(door, scope, Some(reason), terminal).await
        }
        OperateFlow::Resume { flow, trigger } => {
            set_pause(door, Scope::Flow(flow, trigger.as_deref()), None, terminal).await
        }
        OperateFlow::Pauses => list_pauses(door, terminal).await,
        OperateFlow::History { flow } => list_versions(flow, door, terminal).await,
        OperateFlow::Diff { flow, old, new } => {
            let between = Between { old: *old, new: *new };
            diff(flow, &between, door, terminal).await
        }
        OperateFlow::Rollback { flow, version, yes } => {
            let asked = RollBack { version: *version, apply: *yes };
            rollback(flow, &asked, door, terminal).await
        }
        OperateFlow::Schedule(command) => schedule(command, door, terminal).await,
        OperateFlow::Hook(command) => flow_hook::run(command, door, terminal).await,
        OperateFlow::Lint { flow } => constrain::lint(flow, door, terminal).await,
        OperateFlow::Reservations { flow } => constrain::reservations(flow, door, terminal).await,
        OperateFlow::Resource(command) => constrain::resource(command, door, terminal).await,
        OperateFlow::Order(command) => constrain::order(command, door, terminal).await,
    }
}

/// Lists what is paused.
async fn list_pauses(door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let pauses = door.pauses().await?;
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
async fn list_versions(flow: &str, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let versions = door.versions(flow).await?;
    terminal.answer(&versions, || {
        terminal.table(
            &["version", "applied", "by"],
            versions
                .iter()
                .map(|version| vec![version.version.to_string(), version.applied_at.clone(), version.actor.clone()]),
        );
    });
    Ok(())
}

/// Retries exceptions that match, or counts and lists them.
async fn retry_matching(flow: &str, asked: &RetryMatching, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let found = door.retry_matching(flow, asked).await?;
    terminal.answer(&found, || {
        let verb = if found.matching == 1 { "matches" } else { "match" };
        terminal.line(&format!("{} {verb}.", counted(found.matching, "exception")));
        let listed = found.instances.len();
        if i64::try_from(listed).is_ok_and(|listed| listed < found.matching) {
            terminal.say(&format!("At most {listed} at a time: run it again for the others."));
        }
        if found.applied {
            terminal.line(&format!("Retried {}; refused {}.", found.retried.len(), found.refused.len()));
        } else if found.matching > 0 {
            terminal.table(
                &["wid", "transition", "message"],
                found.instances.iter().map(|one| {
                    vec![
                        one.wid.to_string(),
                        one.transition.clone().unwrap_or_default(),
                        one.message.clone().unwrap_or_default(),
                    ]
                }),
            );
            if !found.refused.is_empty() {
                terminal.line(&format!("{} would be refused:", found.refused.len()));
            }
        }
        for one in &found.refused {
            terminal.line(&format!("  {}: {}", one.wid, one.reason));
        }
        if !found.applied && found.matching > 0 {
            terminal.say("Nothing was retried. To retry them: the same with --yes");
        }
    });
    Ok(())
}

/// Compares two versions of a flow.
async fn diff(flow: &str, between: &Between, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let difference = match door.diff(flow, between).await {
        Err(error) if error.code() == Some("not_found") && between.old.is_none() && between.new.is_none() => {
            // The flow itself may be the one that is missing.
            let version = door.flow(flow).await?.0.version;
            return Err(Problem::new(format!(
                "flow {flow} has one version, {version}: there is none to compare it with"
            ))
            .code("not_found")
            .exit(3)
            .hint("Each change that `wed flow apply` makes is the next version."));
        }
        difference => difference?,
    };
    terminal.answer(&difference, || {
        terminal.line(&format!("Version {} to {}:", difference.old, difference.new));
        for line in &difference.lines {
            terminal.line(line);
        }
        if difference.left_out > 0 {
            let more = counted(difference.left_out, "more line");
            terminal.say(&format!("Left out: {more}."));
        }
    });
    Ok(())
}

/// Applies an earlier version again, or shows what that would do.
async fn rollback(flow: &str, asked: &RollBack, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let rolled_back = door.roll_back(flow, asked).await?;
    let (version, rows) = (rolled_back.version, &rolled_back.instances);
    let mut document = json!(rolled_back);
    document["flow"] = flow.into();
    terminal.answer(&document, || match asked.apply {
        true => terminal.line(&format!("Flow {flow} is as in version {version}.")),
        false => {
            changes::print_preview(&rolled_back.changes, rows, terminal);
            terminal.say("To do it: the same with --yes");
        }
    });
    Ok(())
}

/// Makes, lists, changes or removes schedules.
async fn schedule(command: &ScheduleCommand, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let flow = match command {
        ScheduleCommand::Set { flow, name, cron, zone, missed, overlap, values } => {
            let schedule = PutSchedule {
                cron: cron.clone(),
                zone: Some(zone.clone()),
                state: initial_values(door, flow, values, None).await?,
                missed: Some(missed.clone()),
                overlap: Some(overlap.clone()),
                paused: None,
            };
            door.put_schedule(flow, name, &schedule).await?;
            flow
        }
        ScheduleCommand::List { flow } => flow,
        ScheduleCommand::Pause { flow, name } => {
            door.pause_schedule(flow, name, true).await?;
            flow
        }
        ScheduleCommand::Resume { flow, name } => {
            door.pause_schedule(flow, name, false).await?;
            flow
        }
        ScheduleCommand::Delete { flow, name } => {
            door.delete_schedule(flow, name).await?;
            flow
        }
        ScheduleCommand::Backfill { flow, name, from, until } => {
            let span = Backfill { from: from.clone(), until: until.clone() };
            let started = door.backfill(flow, name, &span).await?;
            terminal.answer(&started, || {
                let count = counted(started.started.len(), "instance");
                terminal.line(&format!("Started {count}."));
            });
            return Ok(());
        }
    };
    list_schedules(door, flow, terminal).await
}

async fn list_schedules(door: &Door, flow: &str, terminal: &Terminal) -> Result<(), Problem> {
    let schedules = door.schedules(flow).await?;
    terminal.answer(&schedules, || {
        terminal.table(
            &["schedule", "cron", "zone", "next", "last", "instance", "error"],
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
                    schedule.last_wid.map(|wid| wid.to_string()).unwrap_or_default(),
                    schedule.last_error.clone().unwrap_or_default(),
                ]
            }),
        );
    });
    Ok(())
}

//! `wed instance show`: an instance's state, what it waits for, and what failed.

use serde_json::json;
use wedflow_documents::{Attempt, Condition, Instance, Job, Overview, Status, Waiting};
use wedflow_model::Wid;

use crate::answer::shown;
use crate::commands::instance::{attributes_of, in_order, names_of, state_line};
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Shows an instance.
pub(crate) async fn show(door: &Door, flow: &str, wid: Wid, terminal: &Terminal) -> Result<(), Problem> {
    let Overview { instance, mut conditions, jobs, waiting, attempts, .. } = door.overview(flow, wid, None).await?;
    let (jobs, waiting) = (jobs.unwrap_or_default(), waiting.unwrap_or_default());
    let all = attempts.items;
    let order = names_of(&attributes_of(door, flow).await?);
    if instance.status != Status::Exception {
        conditions.items.clear();
    }
    let attempts: Vec<&Attempt> = all.iter().filter(|one| one.seq.is_none()).collect();
    let logs: Vec<_> = (all.iter())
        .flat_map(|attempt| attempt.logs.iter().map(move |line| (attempt, line)))
        .map(|(attempt, line)| {
            json!({ "transition": attempt.transition, "attempt": attempt.attempt, "severity": line.severity,
                "message": line.message, "fields": line.fields, "at": attempt.at })
        })
        .collect();
    let document = json!({ "instance": instance, "reason": conditions.reason, "conditions": conditions.items,
        "jobs": jobs, "waiting": waiting, "attempts": attempts, "logs": logs });
    terminal.answer(&document, || {
        terminal.line(&format!("Instance {wid} of {flow}: {}, started {}", instance.status, instance.started));
        terminal.table(
            &["attribute", "value"],
            in_order(&instance.state, &order).map(|(name, value)| vec![name.clone(), shown(value)]),
        );
        let reason = conditions.reason.as_deref();
        if instance.status == Status::Exception {
            print_exception(flow, &instance, reason, &conditions.items, terminal);
        } else if let Some(reason) = reason {
            terminal.line(&format!("It was cancelled by {reason}"));
        }
        print_relatives(&instance, terminal);
        print_jobs(&jobs, &waiting, terminal);
        print_attempts(&attempts, terminal);
        print_logs(&all, terminal);
    });
    Ok(())
}

/// Prints why an instance is an exception, and what its present state satisfies.
fn print_exception(
    flow: &str,
    instance: &Instance,
    reason: Option<&str>,
    conditions: &[Condition],
    terminal: &Terminal,
) {
    if let Some(reason) = reason {
        terminal.line(&format!("It is an exception: {reason}"));
    }
    if let Some(way_back) = &instance.way_back {
        terminal.line(&format!("It is {way_back}."));
        return;
    }
    let wid = instance.wid;
    let fault = conditions.iter().find_map(|one| one.fault.as_deref());
    let held: Vec<&str> =
        conditions.iter().filter(|one| one.holds == Some(true)).map(|one| one.trigger.as_str()).collect();
    let retry = format!("wed instance retry {flow} {wid}");
    if let Some(fault) = fault {
        terminal.line(&format!("Its state cannot be evaluated: {fault}"));
    } else if held.is_empty() {
        terminal.line("Nothing is fired, because its state satisfies no condition:");
        terminal.table(
            &["trigger", "condition that does not hold"],
            conditions.iter().map(|one| vec![one.trigger.clone(), one.condition.clone()]),
        );
    } else {
        terminal.line(&format!("Its state satisfies {}.", held.join(", ")));
        terminal.say(&format!("To fire what it satisfies: {retry}"));
        return;
    }
    terminal.say(&format!("Set another state with `wed instance set {flow} {wid}`, or change the flow; then: {retry}"));
}

/// Prints the instance that started this one, and those that it started.
fn print_relatives(instance: &Instance, terminal: &Terminal) {
    if !instance.relatives.is_empty() {
        terminal.line("Started by it, or it by:");
        terminal.table(
            &["role", "flow", "instance", "transition", "state"],
            instance.relatives.iter().map(|one| {
                vec![
                    one.role.clone(),
                    one.flow.clone(),
                    one.wid.to_string(),
                    one.transition.clone().unwrap_or_default(),
                    one.state.clone(),
                ]
            }),
        );
    }
}

/// Prints the pending jobs of an instance, and what each waits for.
fn print_jobs(jobs: &[Job], waiting: &[Waiting], terminal: &Terminal) {
    if jobs.is_empty() {
        return;
    }
    terminal.line("Pending:");
    terminal.table(
        &["transition", "attempts", "due", "running", "waits for"],
        jobs.iter().map(|job| {
            vec![
                job.transition.clone(),
                format!("{} of {}", job.attempt, job.attempts),
                job.due.clone().unwrap_or_default(),
                if job.running { "yes" } else { "" }.to_owned(),
                job.waits_for.clone().unwrap_or_default(),
            ]
        }),
    );
    for job in waiting {
        terminal.say(&format!("{}: {}. {}", job.transition, job.text, job.hint));
    }
}

/// Prints the attempts that changed nothing.
fn print_attempts(attempts: &[&Attempt], terminal: &Terminal) {
    if attempts.is_empty() {
        return;
    }
    terminal.line("Attempts that changed nothing:");
    terminal.table(
        &["transition", "attempt", "outcome", "message", "at"],
        attempts.iter().map(|attempt| {
            vec![
                attempt.transition.clone(),
                attempt.attempt.to_string(),
                attempt.outcome_in_words().to_owned(),
                attempt.message.clone().unwrap_or_default(),
                attempt.at.clone(),
            ]
        }),
    );
}

/// Prints what transitions logged.
fn print_logs(attempts: &[Attempt], terminal: &Terminal) {
    if attempts.iter().all(|attempt| attempt.logs.is_empty()) {
        return;
    }
    terminal.line("What its transitions logged:");
    terminal.table(
        &["transition", "attempt", "severity", "message", "fields"],
        attempts.iter().flat_map(|attempt| {
            attempt.logs.iter().map(|line| {
                vec![
                    attempt.transition.clone(),
                    attempt.attempt.to_string(),
                    line.severity.clone(),
                    line.message.clone(),
                    state_line(&line.fields, &[]),
                ]
            })
        }),
    );
}

//! `wed instance show`: an instance's state, what it waits for, and what failed.

use serde_json::json;
use wedflow_model::Wid;
use wedflow_store::{AttemptRow, Condition, Flow, JobRow, LogRow, Store, Waiting};

use crate::answer::shown;
use crate::commands::instance::{attributes_of, in_order, state_line, status_word};
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Shows an instance.
pub(crate) async fn show(
    store: &Store,
    flow: &Flow,
    wid: Wid,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let instance = store.instance(flow, wid).await?;
    let jobs = store.jobs(flow.flow_id, wid).await?;
    let waiting = store.waiting(flow.flow_id, wid).await?;
    let attempts = store.attempts(flow.flow_id, wid).await?;
    let logs = store.logs(flow.flow_id, wid).await?;
    let order = attributes_of(store, flow).await?;
    let reason = store.reason_of_status(flow, wid, &instance.status).await?;
    let conditions = match instance.status.as_str() {
        "E" => store.conditions(flow, wid).await?,
        _ => Vec::new(),
    };
    let document = json!({ "instance": instance, "reason": reason, "conditions": conditions, "jobs": jobs,
        "waiting": waiting, "attempts": attempts, "logs": logs });
    terminal.answer(&document, || {
        terminal.line(&format!(
            "Instance {wid} of {}: {}, started {}",
            flow.name,
            status_word(&instance.status),
            instance.started
        ));
        terminal.table(
            &["attribute", "value"],
            in_order(&instance.state, &order).map(|(name, value)| vec![name.clone(), shown(value)]),
        );
        if instance.status == "E" {
            print_exception(flow, wid, reason.as_deref(), &conditions, terminal);
        } else if let Some(reason) = &reason {
            terminal.line(&format!("It was cancelled by {reason}"));
        }
        print_jobs(&jobs, &waiting, terminal);
        print_attempts(&attempts, terminal);
        print_logs(&logs, terminal);
    });
    Ok(())
}

/// Prints why an instance is an exception, and what its present state satisfies.
fn print_exception(
    flow: &Flow,
    wid: Wid,
    reason: Option<&str>,
    conditions: &[Condition],
    terminal: &Terminal,
) {
    if let Some(reason) = reason {
        terminal.line(&format!("It is an exception: {reason}"));
    }
    let fault = conditions.iter().find_map(|one| one.fault.as_deref());
    let held: Vec<&str> = conditions
        .iter()
        .filter(|one| one.holds == Some(true))
        .map(|one| one.trigger.as_str())
        .collect();
    let retry = format!("wed instance retry {} {wid}", flow.name);
    if let Some(fault) = fault {
        terminal.line(&format!("Its state cannot be evaluated: {fault}"));
    } else if held.is_empty() {
        terminal.line("Nothing is fired, because its state satisfies no condition:");
        terminal.table(
            &["trigger", "condition that does not hold"],
            conditions
                .iter()
                .map(|one| vec![one.trigger.clone(), one.condition.clone()]),
        );
    } else {
        terminal.line(&format!("Its state satisfies {}.", held.join(", ")));
        terminal.say(&format!("To fire what it satisfies: {retry}"));
        return;
    }
    terminal.say(&format!(
        "Set another state with `wed instance set {} {wid}`, or change the flow; then: {retry}",
        flow.name
    ));
}

/// Prints the pending jobs of an instance, and what each waits for.
fn print_jobs(jobs: &[JobRow], waiting: &[Waiting], terminal: &Terminal) {
    if jobs.is_empty() {
        return;
    }
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
                job.due.clone().unwrap_or_default(),
                job.lckid.clone().unwrap_or_default(),
                job.waits_for.clone().unwrap_or_default(),
            ]
        }),
    );
    for job in waiting {
        terminal.say(&format!("{}: {}. {}", job.transition, job.text, job.hint));
    }
}

/// Prints the attempts that changed nothing.
fn print_attempts(attempts: &[AttemptRow], terminal: &Terminal) {
    if attempts.is_empty() {
        return;
    }
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

/// Prints what transitions logged.
fn print_logs(logs: &[LogRow], terminal: &Terminal) {
    if logs.is_empty() {
        return;
    }
    terminal.line("What its transitions logged:");
    terminal.table(
        &["transition", "attempt", "severity", "message", "fields"],
        logs.iter().map(|line| {
            vec![
                line.trname.clone().unwrap_or_default(),
                line.attempt.to_string(),
                line.severity.clone(),
                line.message.clone(),
                state_line(&line.fields, &[]),
            ]
        }),
    );
}

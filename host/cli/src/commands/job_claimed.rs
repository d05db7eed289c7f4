//! `wed job claim`, `extend`, `complete`, `fail`: a worker over HTTP by hand.

use serde_json::{Map, Value as Json};
use wedflow_documents::{ClaimJobs, CompleteJob, ExtendLease, FailJob, LeasedJob};
use wedflow_model::LeaseToken;

use crate::arguments::{JobCommand, LeasedArguments};
use crate::commands::instance::initial_values;
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(command: &JobCommand, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    match command {
        JobCommand::Claim { flow, transitions, worker, jobs, seconds, wait } => {
            let claim = ClaimJobs {
                worker: worker.clone(),
                transitions: transitions.clone(),
                jobs: Some(*jobs),
                seconds: *seconds,
                wait: Some(*wait),
            };
            let leased = door.claim_jobs(flow, &claim).await?;
            terminal.answer(&leased, || print(&leased, terminal));
            Ok(())
        }
        JobCommand::Extend { job, seconds, progress } => {
            extend(job, *seconds, progress.as_deref(), door, terminal).await
        }
        JobCommand::Complete { job, values, state, set } => {
            let state = match set {
                Some(_) => None,
                None => Some(initial_values(door, &job.flow, values, state.as_deref()).await?),
            };
            let complete = CompleteJob { lease: LeaseToken::new(job.lease), state, clause: set.clone() };
            finish(job, &complete, door, terminal).await
        }
        JobCommand::Fail { job, message, last, after } => {
            let fail =
                FailJob { lease: LeaseToken::new(job.lease), message: message.clone(), retry: !last, after: *after };
            give_up(job, &fail, door, terminal).await
        }
        // Dealt with where jobs are listed.
        JobCommand::List { .. } | JobCommand::Logs { .. } => Ok(()),
    }
}

async fn extend(
    job: &LeasedArguments,
    seconds: Option<i32>,
    progress: Option<&str>,
    door: &Door,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let extend = ExtendLease { lease: LeaseToken::new(job.lease), seconds, progress: progress.map(read).transpose()? };
    let wid = door.wid(&job.flow, &job.wid).await?;
    let extended = door.extend_lease(&job.flow, (wid, job.trigger.as_str()), &extend);
    let extended = extended.await?;
    terminal.answer(&extended, || {
        terminal.line(&format!("The lease ends at {}.", extended.lease_ends));
    });
    Ok(())
}

/// Reads a JSON object.
fn read(text: &str) -> Result<Map<String, Json>, Problem> {
    serde_json::from_str(text).map_err(|source| {
        Problem::usage("--progress is no JSON object").because(source).hint("For example: --progress '{\"page\": 3}'")
    })
}

async fn finish(
    job: &LeasedArguments,
    complete: &CompleteJob,
    door: &Door,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let wid = door.wid(&job.flow, &job.wid).await?;
    let done = door.complete_job(&job.flow, (wid, job.trigger.as_str()), complete);
    let done = done.await?;
    terminal.answer(&done, || {
        let (wid, seq, status) = (done.wid, done.seq, done.status);
        terminal.line(&format!("Instance {wid} has state {seq} and is {status}."));
    });
    Ok(())
}

async fn give_up(job: &LeasedArguments, fail: &FailJob, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let wid = door.wid(&job.flow, &job.wid).await?;
    let failed = door.fail_job(&job.flow, (wid, job.trigger.as_str()), fail);
    let failed = failed.await?;
    terminal.answer(&failed, || {
        terminal.line(&match &failed.again_at {
            Some(at) => format!("The next attempt is due at {at}."),
            None => format!("Instance {} is {}.", failed.wid, failed.status),
        });
    });
    Ok(())
}

/// Lists claimed jobs.
fn print(leased: &[LeasedJob], terminal: &Terminal) {
    let head = ["wid", "trigger", "transition", "lease", "ends", "attempt", "state"];
    let row = |job: &LeasedJob| {
        vec![
            job.wid.to_string(),
            job.trigger.clone(),
            job.transition.clone(),
            job.lease.to_string(),
            job.lease_ends.clone(),
            format!("{} of {}", job.attempt, job.attempts),
            job.state.to_string(),
        ]
    };
    terminal.table(&head, leased.iter().map(row));
}

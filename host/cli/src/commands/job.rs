//! `wed job`: pending jobs, and what attempts came to and logged.

use std::collections::HashSet;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use serde_json::{Value as Json, json};
use wedflow_documents::{Attempt, Job, Status};
use wedflow_model::Wid;

use crate::answer::{self, shown};
use crate::arguments::{JobCommand, LevelArgument};
use crate::calls;
use crate::commands::job_claimed;
use crate::commands::operate_waiting::Reasons;
use crate::door::Door;
use crate::problem::Problem;
use crate::shadow::name_of;
use crate::terminal::Terminal;

/// Time between two looks at attempts that are being followed.
const LOOK_AGAIN: Duration = Duration::from_millis(300);

pub(crate) async fn run(command: &JobCommand, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    match command {
        JobCommand::List { flow, wid, limit } => {
            let wid = door.wid_if_named(flow, wid.as_ref()).await?;
            let jobs = door.jobs(flow, wid, Some(*limit)).await?;
            terminal.answer(&jobs, || print_jobs(&jobs, terminal));
            Ok(())
        }
        JobCommand::Logs { flow, wid, transition, follow, level } => {
            let wanted =
                Wanted { flow, wid: door.wid(flow, wid).await?, transition: transition.as_deref(), level: *level };
            logs(&wanted, *follow, door, terminal).await
        }
        claimed => job_claimed::run(claimed, door, terminal).await,
    }
}

/// Lists jobs.
fn print_jobs(jobs: &[Job], terminal: &Terminal) {
    let head = ["wid", "transition", "trigger", "attempts", "due", "done by", "waits for"];
    let done_by = |job: &Job| match &job.component {
        _ if job.running => "a host".to_owned(),
        Some(component) => format!("component {component}"),
        None if job.waits_for.as_deref() == Some("no_component") => "a component that is missing".to_owned(),
        None if job.waits_for.as_deref() == Some("event") => "an event".to_owned(),
        None if matches!(job.waits_for.as_deref(), Some("person" | "nobody")) => "people".to_owned(),
        None => "external workers".to_owned(),
    };
    let row = |job: &Job| {
        vec![
            job.wid.to_string(),
            job.transition.clone(),
            job.trigger.clone(),
            format!("{} of {}", job.attempt, job.attempts),
            job.due.clone().unwrap_or_default(),
            done_by(job),
            job.waits_for.clone().unwrap_or_default(),
        ]
    };
    terminal.table(&head, jobs.iter().map(row));
}

/// Selection of attempts and log lines.
struct Wanted<'a> {
    flow: &'a str,
    wid: Wid,
    transition: Option<&'a str>,
    level: LevelArgument,
}

async fn logs(wanted: &Wanted<'_>, follow: bool, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let (flow, wid) = (wanted.flow, wanted.wid);
    let mut known: HashSet<(Option<i32>, Option<i64>)> = HashSet::new();
    let mut documents = Vec::new();
    let mut reasons = Reasons::new();
    loop {
        // The status first: what is written before the instance is final is then seen below.
        let ended = door.instance(flow, wid).await?.status == Status::Final;
        for mut attempt in door.attempts(flow, wid).await? {
            let is_other = wanted.transition.is_some_and(|one| one != attempt.transition);
            if is_other || !known.insert((attempt.seq, attempt.number)) {
                continue;
            }
            reasons.moved();
            attempt.logs.retain(|line| wanted.level.admits(&line.severity));
            let id = name_of(flow, wid, attempt.seq, attempt.number);
            if !terminal.is_json() {
                print(&id, &attempt, terminal);
                continue;
            }
            let mut document = json!(attempt);
            document["id"] = Json::from(id);
            match follow {
                true => terminal.document_line(&document),
                false => documents.push(document),
            }
        }
        if !follow || ended {
            break;
        }
        (reasons.say(door, flow, wid, terminal)).await?;
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    if terminal.is_json() && !follow {
        terminal.document(&documents);
    } else if known.is_empty() {
        terminal.say("no attempt at it is on record");
    }
    Ok(())
}

fn print(id: &str, attempt: &Attempt, terminal: &Terminal) {
    let bold = Style::new().bold();
    let dim = Style::new().dimmed();
    let style = match (attempt.seq, attempt.has_failed()) {
        (Some(_), _) => calls::colour(AnsiColor::Green),
        (None, true) => calls::colour(AnsiColor::Red),
        (None, false) => calls::colour(AnsiColor::Yellow),
    };
    let used = match (attempt.fuel, attempt.memory_bytes, attempt.elapsed_us) {
        (Some(fuel), Some(memory), Some(elapsed)) => format!(
            "{} fuel, {}, {}",
            answer::thousands(fuel.unsigned_abs()),
            answer::bytes(memory.unsigned_abs()),
            answer::duration(Duration::from_micros(elapsed.unsigned_abs()))
        ),
        _ => String::new(),
    };
    terminal.line(&format!(
        "{bold}{id}{bold:#}  {}, attempt {}  {style}{}{style:#}  {dim}{used}  {}{}{dim:#}",
        attempt.transition,
        attempt.attempt,
        attempt.outcome_in_words(),
        component_of(attempt),
        attempt.at,
    ));
    for line in &attempt.logs {
        let fields: Vec<(String, String)> =
            line.fields.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), shown(value))).collect();
        let fields: Vec<(&str, &str)> = fields.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        terminal.line(&format!("  {}", calls::log_line(&line.severity, &line.message, &fields)));
    }
    if let Some(message) = &attempt.message {
        for line in message.lines() {
            terminal.line(&format!("  {line}"));
        }
    }
}

fn component_of(attempt: &Attempt) -> String {
    match (&attempt.component, attempt.version) {
        (Some(component), Some(version)) => format!("{component} v{version}  "),
        _ => String::new(),
    }
}

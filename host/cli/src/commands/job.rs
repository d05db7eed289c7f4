//! `wed job`: pending jobs, and what attempts came to and logged.

use std::collections::HashSet;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use serde_json::{Value as Json, json};
use wedflow_model::Wid;
use wedflow_store::{AttemptLog, Flow, MadeAttempt, Store};

use crate::answer::{self, shown};
use crate::arguments::{JobCommand, LevelArgument};
use crate::calls;
use crate::commands::operate_waiting::Reasons;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Between two looks at attempts that are being followed.
const LOOK_AGAIN: Duration = Duration::from_millis(300);

pub(crate) async fn run(
    command: &JobCommand,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    match command {
        JobCommand::List { flow, wid, limit } => {
            let flow = store.flow(tenant, flow).await?;
            if let Some(wid) = wid {
                store.instance(&flow, *wid).await?;
            }
            let jobs = store.pending_jobs(flow.flow_id, *wid, *limit).await?;
            terminal.answer(&jobs, || {
                terminal.table(
                    &[
                        "wid",
                        "transition",
                        "trigger",
                        "attempts",
                        "due",
                        "done by",
                        "waits for",
                    ],
                    jobs.iter().map(|job| {
                        vec![
                            job.wid.to_string(),
                            job.trname.clone(),
                            job.trigger.clone(),
                            format!("{} of {}", job.attempt, job.attempts),
                            job.due.clone().unwrap_or_default(),
                            match (&job.lckid, &job.component) {
                                (Some(host), _) => host.clone(),
                                (None, Some(component)) => format!("component {component}"),
                                (None, None)
                                    if job.waits_for.as_deref() == Some("no_component") =>
                                {
                                    "a component that is missing".to_owned()
                                }
                                (None, None) => "external workers".to_owned(),
                            },
                            job.waits_for.clone().unwrap_or_default(),
                        ]
                    }),
                );
            });
            Ok(())
        }
        JobCommand::Logs {
            flow,
            wid,
            transition,
            follow,
            level,
        } => {
            let flow = store.flow(tenant, flow).await?;
            store.instance(&flow, *wid).await?;
            let wanted = Wanted {
                flow: &flow,
                wid: *wid,
                transition: transition.as_deref(),
                level: *level,
            };
            logs(&wanted, *follow, store, terminal).await
        }
    }
}

/// Selection of attempts and log lines.
struct Wanted<'a> {
    flow: &'a Flow,
    wid: Wid,
    transition: Option<&'a str>,
    level: LevelArgument,
}

async fn logs(
    wanted: &Wanted<'_>,
    follow: bool,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let mut known: HashSet<(Option<i32>, Option<i64>)> = HashSet::new();
    let mut documents = Vec::new();
    let mut reasons = Reasons::new();
    loop {
        // The status first: what is written before the instance is final is then seen below.
        let ended = store.instance(wanted.flow, wanted.wid).await?.status == "F";
        let attempts = store.made_attempts(wanted.flow.flow_id, wanted.wid).await?;
        let lines = store.attempt_logs(wanted.flow.flow_id, wanted.wid).await?;
        for attempt in attempts {
            if wanted
                .transition
                .is_some_and(|transition| transition != attempt.trname)
                || !known.insert((attempt.seq, attempt.attempt_id))
            {
                continue;
            }
            reasons.moved();
            let own: Vec<&AttemptLog> = lines
                .iter()
                .filter(|line| line.is_of(&attempt) && wanted.level.admits(&line.severity))
                .collect();
            let id = identifier(wanted.flow, wanted.wid, &attempt);
            if terminal.is_json() {
                let mut document = json!(attempt);
                document["id"] = Json::from(id);
                document["logs"] = json!(own);
                if follow {
                    terminal.document_line(&document);
                } else {
                    documents.push(document);
                }
            } else {
                print(&id, &attempt, &own, terminal);
            }
        }
        if !follow || ended {
            break;
        }
        (reasons.say(store, wanted.flow, wanted.wid, terminal)).await?;
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    if terminal.is_json() && !follow {
        terminal.document(&documents);
    } else if known.is_empty() {
        terminal.say("no attempt at it is on record");
    }
    Ok(())
}

fn print(id: &str, attempt: &MadeAttempt, lines: &[&AttemptLog], terminal: &Terminal) {
    let bold = Style::new().bold();
    let dim = Style::new().dimmed();
    let style = if attempt.seq.is_some() {
        calls::colour(AnsiColor::Green)
    } else {
        calls::colour(AnsiColor::Red)
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
        attempt.trname,
        attempt.attempt,
        if attempt.seq.is_some() {
            "committed"
        } else {
            &attempt.outcome
        },
        component_of(attempt),
        attempt.tstmp,
    ));
    for line in lines {
        let fields: Vec<(String, String)> = line
            .fields
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.clone(), shown(value)))
            .collect();
        let fields: Vec<(&str, &str)> = fields
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        terminal.line(&format!(
            "  {}",
            calls::log_line(&line.severity, &line.message, &fields)
        ));
    }
    if let Some(message) = &attempt.message {
        for line in message.lines() {
            terminal.line(&format!("  {line}"));
        }
    }
}

fn component_of(attempt: &MadeAttempt) -> String {
    match (&attempt.component, attempt.version) {
        (Some(component), Some(version)) => format!("{component} v{version}  "),
        _ => String::new(),
    }
}

/// Names an attempt: `orders/17#4` wrote state 4, `orders/17#a98` changed nothing.
pub(crate) fn identifier(flow: &Flow, wid: Wid, attempt: &MadeAttempt) -> String {
    match (attempt.seq, attempt.attempt_id) {
        (Some(seq), _) => format!("{}/{wid}#{seq}", flow.name),
        (None, Some(number)) => format!("{}/{wid}#a{number}", flow.name),
        (None, None) => format!("{}/{wid}", flow.name),
    }
}

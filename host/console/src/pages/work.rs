//! Pending jobs and schedules of all flows.

use maud::{Markup, html};
use wedflow_documents::{FlowSummary, Job, JobFilter, List, Schedule};

use super::{Query, flow_address, instance_address, more_of, table, waits};
use crate::ROOT;
use crate::frame::{Answer, hidden, onward, page};
use crate::session::{Sent, Session};
use crate::shown::{about, part, prose, time};

/// Jobs of a flow that are listed.
const JOBS_MAX: i64 = 50;
/// Flows whose jobs are listed on one page.
const FLOWS_MAX: usize = 8;

/// Pending jobs, and what each waits for.
pub(crate) async fn jobs(session: Session, query: Query) -> Answer {
    let failed = session.failed();
    let mut flows = session.client.flows().await.map_err(&failed)?;
    flows.retain(|flow| flow.jobs > 0 && query.given("flow").is_none_or(|name| name == flow.name));
    let cursor = query.given("flow").and(query.given("cursor"));
    let mut found: Vec<(&FlowSummary, List<Job>)> = Vec::new();
    for flow in flows.iter().take(FLOWS_MAX) {
        let part = JobFilter { cursor: cursor.map(str::to_owned), limit: Some(JOBS_MAX), ..JobFilter::default() };
        found.push((flow, session.part(&["flows", &flow.name, "jobs"], &part).await?));
    }
    let say = |text| session.language.say(text);
    let body = html! {
        h1 { (say("Pending jobs")) }
        @if found.is_empty() { p class="box" { (say("No job is pending.")) } }
        @for (flow, jobs) in &found {
            @let total = about(flow.jobs, flow.estimated);
            h2 { a href=(flow_address(&flow.name)) { (flow.name) } " (" (total) ")" }
            (job_table(&session, &flow.name, &jobs.items))
            (more_of(&session, jobs, Some(total), &format!("?flow={}&", part(&flow.name))))
        }
        @if flows.len() > FLOWS_MAX {
            h2 { (say("Other flows")) }
            p { @for flow in flows.iter().skip(FLOWS_MAX) {
                a href=(format!("{ROOT}/jobs?flow={}", part(&flow.name))) { (flow.name) }
                " (" (about(flow.jobs, flow.estimated)) ") "
            } }
        }
    };
    Ok(page(&session, say("Pending jobs"), &body))
}

fn job_table(session: &Session, flow: &str, jobs: &[Job]) -> Markup {
    let say = |text| session.language.say(text);
    let heads = [say("Instance"), say("Trigger"), say("Attempts"), say("Due (UTC)"), say("Waits for")];
    table(
        &format!("{} {flow}", say("Pending jobs")),
        &heads,
        &html! {
            @for job in jobs {
                tr {
                    th scope="row" { a href=(instance_address(flow, job.wid)) { (job.wid) } }
                    td { (job.trigger) }
                    td class="number" { (job.attempt) }
                    td { @if let Some(due) = &job.due { (time(due)) } }
                    td {
                        @if job.running { span class="badge" { (say("runs")) } }
                        @if let Some(code) = &job.waits_for { (waits(session.language, code, None)) }
                    }
                }
            }
        },
    )
}

/// Schedules of all flows.
pub(crate) async fn schedules(session: Session) -> Answer {
    let failed = session.failed();
    let flows = session.client.flows().await.map_err(&failed)?;
    let mut found: Vec<(String, Schedule)> = Vec::new();
    for flow in &flows {
        let schedules = session.client.schedules(&flow.name).await.map_err(&failed)?;
        found.extend(schedules.into_iter().map(|one| (flow.name.clone(), one)));
    }
    let say = |text| session.language.say(text);
    let heads = [say("Schedule"), say("Pattern"), say("Next (UTC)"), say("Last (UTC)"), say("State"), say("Change")];
    let body = html! {
        h1 { (say("Schedules")) }
        @if found.is_empty() { p class="box" { (prose(say("There is no schedule. `wed schedule set` makes one."))) } }
        @else {
            (table(say("Schedules"), &heads, &html! {
                @for (flow, one) in &found { (schedule_row(&session, flow, one)) }
            }))
        }
    };
    Ok(page(&session, say("Schedules"), &body))
}

fn schedule_row(session: &Session, flow: &str, one: &Schedule) -> Markup {
    let say = |text| session.language.say(text);
    html! {
        tr {
            th scope="row" { a href=(flow_address(flow)) { (flow) } " / " (one.name) }
            td { code { (one.cron) } " " (one.zone) }
            td { @if let Some(at) = &one.next_at { (time(at)) } }
            td {
                @if let Some(at) = &one.last_at { (time(at)) " " }
                @if let Some(wid) = one.last_wid { a href=(instance_address(flow, wid)) { (wid) } }
            }
            td {
                @if one.paused { span class="badge pending" { (say("paused")) } } @else { (say("runs")) }
                @if let Some(error) = &one.last_error { p class="alert" { (error) } }
            }
            td {
                @if session.may("jobs:write") {
                    form method="post" action=(format!("{ROOT}/schedules/do")) {
                        (hidden(session))
                        input type="hidden" name="flow" value=(flow);
                        input type="hidden" name="schedule" value=(one.name);
                        @if one.paused { button name="act" value="resume" { (say("Resume")) " " (one.name) } }
                        @else { button name="act" value="pause" { (say("Pause")) " " (one.name) } }
                    }
                }
            }
        }
    }
}

/// Pauses or resumes a schedule.
pub(crate) async fn pause_schedule(session: Session, sent: Sent) -> Answer {
    let pause = sent.text("act") == "pause";
    let (flow, schedule) = (sent.text("flow"), sent.text("schedule"));
    session.client.pause_schedule(flow, schedule, pause).await.map_err(session.failed())?;
    let message = match pause {
        true => session.language.say("The schedule is paused."),
        false => session.language.say("The schedule runs again."),
    };
    Ok(onward(&format!("{ROOT}/schedules"), message))
}

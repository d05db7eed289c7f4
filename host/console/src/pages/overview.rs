//! The overview: what needs somebody first, then how much runs.

use std::collections::BTreeMap;

use axum::http::HeaderMap;
use maud::{Markup, html};
use wedflow_client::ClientError;
use wedflow_documents::{FlowSummary, InstanceFilter, PausedThing, Status};

use super::{flow_address, instance_address, last_hour, reason, table, waits};
use crate::ROOT;
use crate::document::part;
use crate::frame::{Answer, page};
use crate::session::Session;
use crate::shown::{about, number, prose, time};

/// Flows whose exceptions and waiting jobs are looked at: those with most of them.
const FLOWS_MAX: usize = 6;
/// Newest exceptions of a flow that are listed.
const EXCEPTIONS_MAX: i64 = 3;
/// Jobs of a flow whose reasons are counted: a reason is looked for by itself.
const JOBS_MAX: i64 = 16;

/// The overview.
pub(crate) async fn overview(session: Session) -> Answer {
    let address = live_address();
    let content = session.renewed(&address, content(&session)).await;
    let content = content.map_err(session.failed())?;
    let say = |text| session.language.say(text);
    let body = html! {
        h1 { (say("Overview")) }
        div data-live=(address) aria-live="off" { (content) }
        h2 { a href=(format!("{ROOT}/last-hour")) { (say("Last hour")) } }
        div data-live=(last_hour::live_address()) aria-live="off" {}
    };
    Ok(page(&session, say("Overview"), &body))
}

/// The part of the overview that is kept current.
pub(crate) async fn live(session: Session, headers: HeaderMap) -> Answer {
    let content = session.shared(&live_address(), content(&session)).await;
    let content = content.map_err(session.failed())?;
    Ok(part(&headers, &content))
}

/// Address of the part that is kept current.
fn live_address() -> String {
    format!("{ROOT}/live")
}

async fn content(session: &Session) -> Result<Markup, ClientError> {
    let mut flows = session.client.flows().await?;
    flows.sort_by_key(|flow| (-flow.exception, -flow.jobs));
    let pauses = session.client.pauses().await.unwrap_or_default();
    let exceptions = exceptions(session, &flows).await?;
    let waiting = waiting(session, &flows).await;
    let say = |text| session.language.say(text);
    let alarms = alarms(session).await;
    let is_quiet = exceptions.is_none() && waiting.is_none() && pauses.is_empty() && alarms.is_none();
    Ok(html! {
        (sums(session, &flows))
        h2 { (say("What needs somebody")) }
        @if is_quiet { p class="box" { (say("Nothing does: no exception, nothing waits, nothing is paused.")) } }
        @if let Some(alarms) = &alarms { (alarms) }
        @if let Some(exceptions) = &exceptions { (exceptions) }
        @if let Some(waiting) = &waiting { (waiting) }
        @if !pauses.is_empty() { (paused(session, &pauses)) }
        h2 { (say("Flows")) }
        (super::flows::flow_table(session, &flows))
    })
}

/// Figures of all flows together.
fn sums(session: &Session, flows: &[FlowSummary]) -> Markup {
    let is_estimated = flows.iter().any(|flow| flow.estimated);
    let sum = |of: fn(&FlowSummary) -> i64| about(flows.iter().map(of).sum(), is_estimated);
    let exceptions: i64 = flows.iter().map(|flow| flow.exception).sum();
    let say = |text| session.language.say(text);
    html! {
        ul class="cards" {
            li class=(if exceptions > 0 { "bad" } else { "" }) {
                a href=(format!("{ROOT}/exceptions")) { strong { (number(exceptions)) } (say("exceptions")) }
            }
            li { a href=(format!("{ROOT}/jobs")) { strong { (sum(|flow| flow.jobs)) } (say("pending jobs")) } }
            li { strong { (sum(|flow| flow.regular)) } (say("running instances")) }
            li { strong { (sum(|flow| flow.r#final)) } (say("ended instances")) }
        }
    }
}

/// Hosts that are gone, and messages of webhooks that were given up.
async fn alarms(session: &Session) -> Option<Markup> {
    // None for a person without the right to see hosts.
    let hosts = session.client.hosts().await.ok();
    let webhooks = session.client.webhooks().await.unwrap_or_default();
    let dead: i64 = webhooks.iter().map(|one| one.dead).sum();
    let gone = hosts.iter().flatten().filter(|host| !host.running).count();
    let has_none = hosts.as_ref().is_some_and(|hosts| hosts.iter().all(|host| !host.running));
    let say = |text| session.language.say(text);
    let content = html! {
        @if has_none { p class="note" { (prose(say("No host is running: start one with `wed serve`."))) } }
        @else if gone > 0 {
            p class="note" { a href=(format!("{ROOT}/hosts")) { (gone) " " (say("hosts are gone; others take their jobs over.")) } }
        }
        @if dead > 0 {
            p class="note" {
                a href=(format!("{ROOT}/webhooks")) { (number(dead)) " " (say("messages of webhooks were given up.")) }
            }
        }
    };
    (!content.0.is_empty()).then_some(content)
}

/// The newest exceptions of the flows that have most.
async fn exceptions(session: &Session, flows: &[FlowSummary]) -> Result<Option<Markup>, ClientError> {
    let mut rows = Vec::new();
    for flow in flows.iter().filter(|flow| flow.exception > 0).take(FLOWS_MAX) {
        let filter = InstanceFilter { status: Some(Status::Exception), ..InstanceFilter::default() };
        for one in session.client.instances(&flow.name, &filter, Some(EXCEPTIONS_MAX)).await? {
            rows.push((flow.name.clone(), one));
        }
    }
    if rows.is_empty() {
        return Ok(None);
    }
    let say = |text| session.language.say(text);
    let lines = html! {
        @for (flow, one) in &rows {
            tr {
                th scope="row" { a href=(instance_address(flow, one.wid)) { (flow) " " (one.wid) } }
                td { (reason(session.language, one)) }
                td { (time(&one.changed)) }
            }
        }
    };
    let heads = [say("Instance"), say("Reason"), say("Since (UTC)")];
    let total = flows.iter().map(|flow| flow.exception).sum();
    Ok(Some(html! {
        h3 { (say("Exceptions")) }
        (table(say("Exceptions"), &heads, &lines))
        p { a href=(format!("{ROOT}/exceptions")) { (say("All exceptions")) } " (" (number(total)) ")" }
    }))
}

/// Reasons why pending jobs wait, with the number of jobs that were seen to.
async fn waiting(session: &Session, flows: &[FlowSummary]) -> Option<Markup> {
    let mut reasons: BTreeMap<(String, String), usize> = BTreeMap::new();
    for flow in flows.iter().filter(|flow| flow.jobs > 0).take(FLOWS_MAX) {
        for job in session.client.jobs(&flow.name, None, Some(JOBS_MAX)).await.ok()? {
            if let Some(code) = job.waits_for {
                *reasons.entry((flow.name.clone(), code)).or_default() += 1;
            }
        }
    }
    if reasons.is_empty() {
        return None;
    }
    let say = |text| session.language.say(text);
    let lines = html! {
        @for ((flow, code), count) in &reasons {
            tr {
                th scope="row" { a href=(format!("{ROOT}/jobs?flow={}", crate::shown::part(flow))) { (flow) } }
                td { (waits(session.language, code, None)) }
                td class="number" { (count) @if i64::try_from(*count).is_ok_and(|count| count >= JOBS_MAX) { "+" } }
            }
        }
    };
    Some(html! {
        h3 { (say("Jobs that wait")) }
        (table(say("Jobs that wait"), &[say("Flow"), say("For what"), say("Jobs")], &lines))
        p { a href=(format!("{ROOT}/jobs")) { (say("All pending jobs")) } }
    })
}

/// Table of what an operator paused.
fn paused(session: &Session, pauses: &[PausedThing]) -> Markup {
    let say = |text| session.language.say(text);
    let lines = html! {
        @for one in pauses {
            tr {
                th scope="row" {
                    @match (&one.flow, &one.wid) {
                        (Some(flow), Some(wid)) => a href=(instance_address(flow, wid)) { (flow) " " (wid) },
                        (Some(flow), None) => a href=(flow_address(flow)) { (flow) },
                        _ => (say("The tenant")),
                    }
                    @if let Some(trigger) = &one.trigger { " " (trigger) }
                }
                td { (one.actor) }
                td { (one.reason) }
                td { (time(&one.since)) }
            }
        }
    };
    let heads = [say("Paused"), say("By"), say("Reason"), say("Since (UTC)")];
    html! {
        h3 { (say("Paused")) }
        (table(say("Paused"), &heads, &lines))
    }
}

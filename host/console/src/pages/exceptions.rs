//! Exceptions: of all flows, and of one, where those that match are counted and retried.

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use wedflow_documents::{FlowDetail, Instance, InstanceFilter, List, RetriedMatching, RetryMatching, Status};

use super::flow::detail;
use super::{Query, flow_address, instance_address, more, more_of, reason, table};
use crate::failure::Failure;
use crate::frame::{Answer, hidden, page};
use crate::session::{Sent, Session};
use crate::shown::{number, time};

/// Exceptions of a flow on the page of all.
const EXCEPTIONS_MAX: i64 = 10;
/// Exceptions on the page of one flow.
const PAGE: i64 = 50;
/// Exceptions that match, and are listed.
const MATCHING_MAX: usize = 50;
/// Exceptions that match, cannot be retried, and are listed with the reason.
const REFUSED_MAX: usize = 20;

/// Exceptions of all flows, the newest of each.
pub(crate) async fn all(session: Session) -> Answer {
    let failed = session.failed();
    let flows = session.client.flows().await.map_err(&failed)?;
    let mut found = Vec::new();
    for flow in flows.iter().filter(|flow| flow.exception > 0) {
        let list = exceptions(&session, &flow.name, None, EXCEPTIONS_MAX).await?;
        found.push((flow, list));
    }
    let say = |text| session.language.say(text);
    let body = html! {
        h1 { (say("Exceptions")) }
        @if found.is_empty() { p class="box" { (say("There is no exception.")) } }
        @for (flow, list) in &found {
            @let address = format!("{}/exceptions", flow_address(&flow.name));
            h2 { a href=(address) { (flow.name) } " (" (number(flow.exception)) ")" }
            (exception_table(&session, &flow.name, &list.items))
            (more_of(&session, list, Some(number(flow.exception)), &format!("{address}?")))
        }
    };
    Ok(page(&session, say("Exceptions"), &body))
}

/// The page of a flow's exceptions.
pub(crate) async fn of_flow(session: Session, Path(flow): Path<String>, query: Query) -> Answer {
    let detail = detail(&session, &flow).await?;
    let list = exceptions(&session, &flow, query.owned("cursor"), PAGE).await?;
    let say = |text| session.language.say(text);
    let content = html! {
        @if list.items.is_empty() { p class="box" { (say("There is no exception.")) } }
        @else {
            (exception_table(&session, &flow, &list.items))
            (more_of(&session, &list, Some(number(detail.exception)), "?"))
        }
        @if session.may("jobs:write") { (retry_form(&session, &detail, &RetryMatching::default(), None)) }
    };
    Ok(tab(&session, &detail, &content))
}

fn tab(session: &Session, detail: &FlowDetail, content: &Markup) -> Response {
    super::flow::of_flow(session, detail, "/exceptions", content)
}

async fn exceptions(
    session: &Session,
    flow: &str,
    cursor: Option<String>,
    limit: i64,
) -> Result<List<Instance>, Failure> {
    let filter =
        InstanceFilter { status: Some(Status::Exception), cursor, limit: Some(limit), ..InstanceFilter::default() };
    session.part(&["flows", flow, "instances"], &filter).await
}

fn exception_table(session: &Session, flow: &str, instances: &[Instance]) -> Markup {
    let say = |text| session.language.say(text);
    let heads = [say("Instance"), say("Reason"), say("Since (UTC)")];
    table(
        &format!("{} {flow}", say("Exceptions")),
        &heads,
        &html! {
            @for one in instances {
                tr {
                    th scope="row" { a href=(instance_address(flow, one.wid)) { (one.wid) } }
                    td { (reason(session.language, one)) }
                    td { (time(&one.changed)) }
                }
            }
        },
    )
}

/// Counts the exceptions that match a form, or retries them.
pub(crate) async fn retry(session: Session, Path(flow): Path<String>, sent: Sent) -> Answer {
    let matching = RetryMatching {
        transition: sent.given("transition"),
        message: sent.given("message"),
        since: sent.given("since"),
        reason: sent.text("reason").to_owned(),
        apply: sent.text("act") == "retry",
    };
    let answer = session.client.retry_matching(&flow, &matching).await.map_err(session.failed())?;
    let detail = detail(&session, &flow).await?;
    let content = retry_form(&session, &detail, &matching, Some(&answer));
    Ok(tab(&session, &detail, &content))
}

/// The form that counts exceptions first, and then retries them.
fn retry_form(session: &Session, flow: &FlowDetail, asked: &RetryMatching, answer: Option<&RetriedMatching>) -> Markup {
    let say = |text| session.language.say(text);
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let transitions: Vec<&str> = flow.triggers.iter().filter_map(|one| one.transition.as_deref()).collect();
    html! {
        h2 { (say("Retry those that match")) }
        form class="line" method="post" action=(format!("{}/exceptions", flow_address(&flow.name))) {
            (hidden(session))
            label {
                (say("Made by the failure of"))
                select name="transition" {
                    option value="" { (say("any transition")) }
                    @for one in &transitions { option selected[asked.transition.as_deref() == Some(one)] { (one) } }
                }
            }
            label { (say("Reason contains")) input name="message" value=(text(&asked.message)); }
            label {
                (say("Since, or for how long"))
                input name="since" value=(text(&asked.since)) placeholder="2 hours";
            }
            label { (say("Reason, for the trace and the audit log")) input name="reason" value=(asked.reason); }
            button class="strong" name="act" value="count" { (say("Count them")) }
            @if let Some(answer) = answer.filter(|answer| !answer.applied && answer.matching > 0) {
                button name="act" value="retry" { (say("Retry")) " " (number(answer.matching.min(1_000))) }
            }
        }
        @if let Some(answer) = answer { (matching(session, flow, answer)) }
    }
}

/// The exceptions that match, and what became of them, or would.
fn matching(session: &Session, flow: &FlowDetail, answer: &RetriedMatching) -> Markup {
    let say = |text| session.language.say(text);
    html! {
        section aria-live="polite" {
            p class="said" {
                (number(answer.matching)) " " (say("match.")) " "
                @if answer.applied { (answer.retried.len()) " " (say("were retried.")) " " }
                @if !answer.refused.is_empty() { (answer.refused.len()) " " (say("cannot be retried:")) }
                @if answer.refused.is_empty() && !answer.applied { (say("Nothing was changed yet.")) }
            }
            @for one in answer.refused.iter().take(REFUSED_MAX) {
                p { a href=(instance_address(&flow.name, one.wid)) { (one.wid) } ": " (one.reason) }
            }
            @if answer.refused.len() > REFUSED_MAX {
                (more(session, REFUSED_MAX, Some(answer.refused.len().to_string()), None))
            }
            (table(say("Exceptions"), &[say("Instance"), say("Transition"), say("Reason")], &html! {
                @for one in answer.instances.iter().take(MATCHING_MAX) {
                    tr {
                        th scope="row" { a href=(instance_address(&flow.name, one.wid)) { (one.wid) } }
                        td { (one.transition.as_deref().unwrap_or_default()) }
                        td { (one.message.as_deref().unwrap_or_default()) }
                    }
                }
            }))
            @if answer.instances.len() > MATCHING_MAX {
                (more(session, MATCHING_MAX, Some(number(answer.matching)), None))
            }
        }
    }
}

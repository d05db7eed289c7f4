//! An instance: its state, why it is as it is, its timeline, its jobs, and what can be done.

use std::collections::BTreeMap;

use axum::extract::Path;
use axum::http::HeaderMap;
use maud::{Markup, html};
use wedflow_client::ClientError;
use wedflow_documents::{Explanation, Instance, Status, TraceRow, TriggerOutcome, Truth, Why, WhyFilter};
use wedflow_model::Wid;

use super::reservations::reservation_table;
use super::timeline::{failed_attempts, timeline};
use super::why::{explanation, truth};
use super::{Query, badge, flow_address, instance_address, reason, table, waits};
use crate::document::part;
use crate::frame::{Answer, page, proof_of};
use crate::session::Session;
use crate::shown::{cut, time, value};
use crate::words::told;

/// Newest states of the timeline that a page shows.
const STATES_MAX: i32 = 100;
/// Conditions that the banner of an exception names.
const NAMED_MAX: usize = 3;
/// Form of the live part. Its proof stands outside the part, which other sessions share.
const FORM: &str = "mend";

/// An instance.
pub(crate) async fn instance(session: Session, Path((flow, wid)): Path<(String, Wid)>, query: Query) -> Answer {
    if let Some(before) = query.given("before").and_then(|seq| seq.parse().ok()) {
        return older(&session, &flow, wid, before).await;
    }
    let address = instance_address(&flow, wid);
    let live = live_address(&address);
    let content = session.renewed(&live, content(&session, &flow, wid)).await;
    let content = content.map_err(session.failed())?;
    let title = format!("{flow} {wid}");
    let body = html! {
        (trail(&session, &flow, None))
        h1 { (title) }
        div data-live=(live) { (content) }
        (proof_of(&session, FORM))
        div data-live=(format!("{address}/reservations")) data-once {
            p { a href=(format!("{}/settings", flow_address(&flow))) { (session.language.say("Reservations")) } }
        }
    };
    Ok(page(&session, &title, &body))
}

/// Links to what an instance, or a page below its own, belongs to.
pub(crate) fn trail(session: &Session, flow: &str, wid: Option<Wid>) -> Markup {
    html! {
        p class="soft" {
            a href=(flow_address(flow)) { (flow) } " / "
            @match wid {
                Some(wid) => a href=(instance_address(flow, wid)) { (wid) },
                None => a href=(format!("{}/instances", flow_address(flow))) { (session.language.say("Instances")) },
            }
        }
    }
}

/// The states of an instance that came before one of its timeline.
async fn older(session: &Session, flow: &str, wid: Wid, before: i32) -> Answer {
    let after = before.saturating_sub(STATES_MAX + 1).max(0);
    let rows = session.client.trace(flow, wid, Some(after), Some(STATES_MAX.into())).await;
    let mut rows = rows.map_err(session.failed())?;
    rows.retain(|row| row.seq < before);
    let attempts = session.client.attempts(flow, wid).await.map_err(session.failed())?;
    let title = format!("{flow} {wid}");
    let address = instance_address(flow, wid);
    let body = html! {
        (trail(session, flow, Some(wid)))
        h1 { (title) }
        h2 { (session.language.say("Timeline")) }
        (link_to_older(session, &address, &rows))
        (timeline(session, &address, &rows, &attempts))
    };
    Ok(page(session, &title, &body))
}

/// Leads to the states before those of a timeline, if there are any.
fn link_to_older(session: &Session, address: &str, rows: &[TraceRow]) -> Markup {
    html! {
        @if let Some(first) = rows.first().map(|row| row.seq).filter(|first| *first > 1) {
            p { a class="button" href=(format!("{address}?before={first}")) { (session.language.say("Older states")) } }
        }
    }
}

/// The part of an instance's page that is kept current.
pub(crate) async fn live(session: Session, Path((flow, wid)): Path<(String, Wid)>, headers: HeaderMap) -> Answer {
    let live = live_address(&instance_address(&flow, wid));
    let content = session.shared(&live, content(&session, &flow, wid)).await;
    let content = content.map_err(session.failed())?;
    Ok(part(&headers, &content))
}

/// Address of the part that is kept current, of an instance at an address.
fn live_address(address: &str) -> String {
    format!("{address}/live")
}

/// The part of an instance's page with what it has reserved, which is looked for among all of the flow.
pub(crate) async fn reservations(
    session: Session,
    Path((flow, wid)): Path<(String, Wid)>,
    headers: HeaderMap,
) -> Answer {
    let reserved = session.client.reservations(&flow).await;
    let mut reserved = reserved.map_err(session.failed())?;
    reserved.retain(|one| one.wid == wid);
    let content = html! {
        @if !reserved.is_empty() {
            h2 { (session.language.say("Reservations")) }
            (reservation_table(&session, &flow, &reserved, 0))
        }
    };
    Ok(part(&headers, &content))
}

async fn content(session: &Session, flow: &str, wid: Wid) -> Result<Markup, ClientError> {
    let client = &session.client;
    let shown = client.overview(flow, wid, Some(STATES_MAX.into())).await?;
    let (instance, attempts) = (shown.instance, shown.attempts.items);
    let waiting = shown.waiting.unwrap_or_default();
    let rows = shown.trace.map(|trace| trace.items).unwrap_or_default();
    let why = match shown.why {
        Some(why) => why,
        None => client.why(flow, wid, &WhyFilter::default()).await?,
    };
    let is_paused = session.may("jobs:write")
        && client
            .pauses()
            .await
            .unwrap_or_default()
            .iter()
            .any(|one| one.flow.as_deref() == Some(flow) && one.wid == Some(wid));
    let work = client.work_of_instance(flow, wid).await.unwrap_or_default();
    let state: BTreeMap<_, _> = instance.state.as_object().into_iter().flatten().collect();
    let say = |text| session.language.say(text);
    let address = instance_address(flow, wid);
    Ok(html! {
        p {
            (badge(session.language, instance.status)) " "
            span class="soft" { (say("started")) " " (time(&instance.started)) " · " (say("in this status since")) " "
                (time(&instance.changed)) }
        }
        @if instance.status == Status::Exception { (banner(session, &instance, &why)) }
        @if let Some(way_back) = &instance.way_back { p class="note" { (told(session.language, way_back)) } }
        (relatives(session, &instance))
        div class="split" {
            div {
                (conditions(session, &instance, &why, &address))
                @for one in &waiting {
                    p class="note" {
                        strong { (one.transition) } ": " (waits(session.language, &one.code, Some(&one.text))) ". "
                        (told(session.language, &one.hint))
                    }
                }
                h2 { (say("Timeline")) }
                (link_to_older(session, &address, &rows))
                (timeline(session, &address, &rows, &attempts))
                (failed_attempts(session, &attempts))
                (super::item::work_of_instance(session, &work))
            }
            div {
                h2 { (say("State")) " "
                    span class="soft" aria-live="polite" data-moment=(say("present")) data-past=(say("after step")) {
                        (say("present"))
                    }
                }
                (table(say("State"), &[say("Attribute"), say("Value")], &html! {
                    @for (name, one) in &state {
                        tr { th scope="row" { (name) } td data-value-of=(name) { (value(one)) } }
                    }
                }))
                @if instance.status != Status::Final {
                    p { a class="button" href=(format!("{address}/what-if")) { (say("What if?")) } }
                }
                @if session.may("jobs:write") { (acts(session, &instance, &why, &address, is_paused)) }
            }
        }
    })
}

/// Says what keeps an exception from firing anything: conditions that fail, else those that do not hold, with what they
/// lack; then how it became one.
fn banner(session: &Session, instance: &Instance, why: &Why) -> Markup {
    let say = |text| session.language.say(text);
    let able = || why.triggers.iter().filter(|one| one.enabled && !one.r#final);
    let failing = able().find_map(|one| Some((&one.trigger, one.fault.as_ref()?)));
    let lacking: Vec<_> = able().filter(|one| one.value != Truth::True).collect();
    let is_blocked = lacking.len() == able().count() && failing.is_none();
    html! {
        div class="alert" {
            @if let Some((trigger, fault)) = failing {
                p { strong { (trigger) } ": " (say("its condition fails:")) " " span lang="en" { (fault) } }
            } @else if is_blocked {
                p { (say("Nothing can fire.")) }
                @for one in lacking.iter().take(NAMED_MAX) {
                    p { strong { (one.trigger) } " " (say("would fire if:")) " " code { (cut(&lack_of(one))) } }
                }
            }
            @if instance.reason.is_some() { p { (say("Last step:")) " " (reason(session.language, instance)) } }
            @else if failing.is_none() && !is_blocked { p { (reason(session.language, instance)) } }
        }
    }
}

/// Names what a condition lacks to hold: as it was worked out, or else the clauses that decide.
fn lack_of(one: &Explanation) -> String {
    let deciding = one.clauses.iter().filter(|clause| clause.decides && clause.reads.is_some());
    let deciding = || deciding.map(|clause| clause.text.as_str()).collect::<Vec<_>>().join(", ");
    one.needed.clone().unwrap_or_else(deciding)
}

/// The instance that started this one, and those that it started.
fn relatives(session: &Session, instance: &Instance) -> Markup {
    let say = |text| session.language.say(text);
    html! {
        @for one in &instance.relatives {
            p {
                @if one.role == "parent" { (say("Started by")) } @else { (say("Started")) }
                " " a href=(instance_address(&one.flow, one.wid)) { (one.flow) " " (one.wid) }
                @if let Some(transition) = &one.transition { " · " (transition) }
                @if one.role == "child" { " · " (say(child_state(&one.state))) }
            }
        }
    }
}

/// Says how a child is, as its parent sees it.
fn child_state(state: &str) -> &'static str {
    match state {
        "running" | "called" => "it runs",
        "left" | "cancelled" => "it was cancelled",
        _ => "it has ended",
    }
}

/// The conditions that explain the present state: all of an exception, else those that are pending or do not hold.
fn conditions(session: &Session, instance: &Instance, why: &Why, address: &str) -> Markup {
    let say = |text| session.language.say(text);
    if instance.status == Status::Final {
        return html! {
            h2 { (say("Why")) }
            p { (say("The instance has ended.")) " " a href=(format!("{address}/why")) { (say("All conditions")) } }
        };
    }
    let holding: Vec<&Explanation> = why.triggers.iter().filter(|one| one.value == Truth::True).collect();
    let is_stuck = instance.status == Status::Exception;
    let pending = |one: &&Explanation| one.outcome == Some(TriggerOutcome::Pending);
    html! {
        h2 { (say("Why")) }
        @if is_stuck && holding.is_empty() {
            p { (say("No condition holds, so nothing fires. These clauses decide:")) }
            @for one in &why.triggers { (short(session, one)) }
        } @else if is_stuck {
            p { (say("Its state satisfies these conditions; a retry fires them:")) }
            @for one in &holding { (explanation(session, one)) }
        } @else {
            @for one in why.triggers.iter().filter(pending) { (explanation(session, one)) }
        }
        p { a href=(format!("{address}/why")) { (say("All conditions")) } }
    }
}

/// A condition that does not hold, by the clauses that decide.
fn short(session: &Session, one: &Explanation) -> Markup {
    let deciding = one.clauses.iter().filter(|clause| clause.decides && clause.reads.is_some());
    html! {
        section class="box" {
            div class="row" { h3 { (one.trigger) } (truth(session.language, one.value)) }
            @if let Some(fault) = &one.fault { p class="alert" { (fault) } }
            @if let Some(needed) = &one.needed {
                p { (session.language.say("It would hold if:")) " " code { (cut(needed)) } }
            }
            ul class="tree" {
                @for clause in deciding {
                    li { div class="row" {
                        (truth(session.language, clause.value))
                        span class="clause" { (clause.text) }
                        span class="because" {
                            @for (name, read) in clause.reads.iter().flatten() { (name) " = " (value(read)) " " }
                        }
                    } }
                }
            }
        }
    }
}

/// Form with all that an operator may do.
fn acts(session: &Session, instance: &Instance, why: &Why, address: &str, is_paused: bool) -> Markup {
    let say = |text| session.language.say(text);
    if instance.status == Status::Final {
        return html! {};
    }
    let is_exception = instance.status == Status::Exception;
    let fires: Vec<&str> = (why.triggers.iter())
        .filter(|one| one.value == Truth::True && one.enabled && !one.r#final)
        .map(|one| one.trigger.as_str())
        .collect();
    html! {
        h2 { (say("Mend")) }
        form id=(FORM) method="post" action=(format!("{address}/do")) class="box" {
            label class="whole" { (say("Reason, for the trace and the audit log")) input name="reason"; }
            p class="soft" {
                @if !is_exception { (say("A retry makes waiting jobs due now.")) }
                @else if fires.is_empty() {
                    (say("A retry would fire nothing: set another state first, or change the flow."))
                }
                @else { (say("A retry would fire:")) " " (fires.join(", ")) }
            }
            div class="row" {
                button class=[(!fires.is_empty()).then_some("strong")] name="act" value="retry" { (say("Retry")) }
                @if is_exception {
                    button class=[fires.is_empty().then_some("strong")] formaction=(format!("{address}/what-if")) {
                        (say("Set its state"))
                    }
                } @else {
                    @if is_paused { button name="act" value="resume" { (say("Resume")) } }
                    @else { button name="act" value="pause" { (say("Pause")) } }
                }
                button class="bad" name="act" value="cancel"
                    data-ask=(say("Cancel this instance? Its pending jobs are dropped, and it is final.")) {
                    (say("Cancel this instance"))
                }
                button name="act" value="preview-cancel" { (say("What would cancelling do?")) }
            }
            @if !is_exception && !instance.pending.is_empty() { (skip_field(session, &instance.pending)) }
            @if is_exception { (back_field(session, why)) }
        }
    }
}

fn skip_field(session: &Session, pending: &[String]) -> Markup {
    let say = |text| session.language.say(text);
    html! {
        p class="row" {
            label {
                (say("Pending transition"))
                select name="transition" { @for one in pending { option { (one) } } }
            }
            button class="bad" name="act" value="skip" data-ask=(say("Drop this job without running it?")) {
                (say("Skip it"))
            }
            button name="act" value="preview-skip" { (say("What would skipping do?")) }
        }
    }
}

fn back_field(session: &Session, why: &Why) -> Markup {
    let say = |text| session.language.say(text);
    html! {
        p class="row" {
            label {
                (say("Back to state"))
                input name="to" type="number" min="1" max=(why.seq.unwrap_or(1)) value="1" size="6";
            }
            button name="act" value="back" data-ask=(say("Run the compensations of the steps after this state?")) {
                (say("Go back"))
            }
            button name="act" value="preview-back" { (say("What would going back do?")) }
        }
    }
}

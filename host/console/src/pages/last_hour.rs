//! The last hour of each flow: attempts by outcome, how long jobs waited, how long the oldest is due.

use std::fmt::Write;

use axum::http::HeaderMap;
use maud::{Markup, html};
use wedflow_documents::{FlowHour, LastHour};

use super::{flow_address, more, table};
use crate::ROOT;
use crate::document::part;
use crate::frame::{Answer, page};
use crate::session::Session;
use crate::shown::{about, microseconds, seconds};

/// Flows that are shown: those with most attempts.
const FLOWS_MAX: usize = 20;
/// Height of a drawing, and width of a minute in it; pixels.
const HEIGHT: i64 = 36;
const MINUTE_WIDTH: usize = 3;
/// Minutes of a drawing.
const MINUTES: usize = 60;
/// Outcome of attempts that were committed.
const COMMITTED: &str = "committed";

/// The page of the last hour.
pub(crate) async fn page_of_it(session: Session) -> Answer {
    let address = live_address();
    let content = session.renewed(&address, content(&session)).await?;
    let title = session.language.say("Last hour");
    let body = html! {
        h1 { (title) }
        div data-live=(address) { (content) }
    };
    Ok(page(&session, title, &body))
}

/// The part of it that is kept current.
pub(crate) async fn live(session: Session, headers: HeaderMap) -> Answer {
    let content = session.shared(&live_address(), content(&session)).await?;
    Ok(part(&headers, &content))
}

/// Address of the part that is kept current.
pub(crate) fn live_address() -> String {
    format!("{ROOT}/last-hour/live")
}

async fn content(session: &Session) -> Result<Markup, crate::failure::Failure> {
    let mut hour = session.client.last_hour().await.map_err(session.failed())?;
    hour.flows.sort_by_key(|flow| -attempts(flow, |_| true));
    let say = |text| session.language.say(text);
    if hour.flows.is_empty() {
        return Ok(html! { p class="box" { (say("Nothing was tried in the last hour, and nothing is due.")) } });
    }
    let heads = [
        say("Flow"),
        say("Attempts by minute"),
        say("Committed"),
        say("Failed"),
        say("Wait before the run (median)"),
        say("Oldest job is due for"),
    ];
    let lines = html! {
        @for flow in hour.flows.iter().take(FLOWS_MAX) { (row(session, &hour, flow)) }
    };
    Ok(html! {
        (table(say("Last hour"), &heads, &lines))
        @if hour.flows.len() > FLOWS_MAX {
            (more(session, FLOWS_MAX, Some(hour.flows.len().to_string()), None))
        }
        @if hour.sampled { p class="soft" { (say("There were many attempts: the figures come from a sample.")) } }
    })
}

/// Number of a flow's attempts whose outcome is as asked.
fn attempts(flow: &FlowHour, is_meant: impl Fn(&str) -> bool) -> i64 {
    let meant = flow.attempts.iter().filter(|(outcome, _)| is_meant(outcome));
    meant.flat_map(|(_, minutes)| minutes.iter().flatten()).sum()
}

fn row(session: &Session, hour: &LastHour, flow: &FlowHour) -> Markup {
    let say = |text| session.language.say(text);
    let committed = attempts(flow, |outcome| outcome == COMMITTED);
    let failed = attempts(flow, |outcome| outcome != COMMITTED);
    let waits: Vec<i64> = flow.wait_us.iter().flatten().copied().collect();
    html! {
        tr {
            th scope="row" { a href=(flow_address(&flow.flow)) { (flow.flow) } }
            td { (bars(say("Attempts by minute"), flow)) }
            td class="number" { (about(committed, hour.sampled)) }
            td {
                (about(failed, hour.sampled))
                @for outcome in flow.attempts.keys().filter(|outcome| *outcome != COMMITTED) {
                    br; span class="soft" { (outcome) " " (about(attempts(flow, |one| one == outcome), hour.sampled)) }
                }
            }
            td {
                @if let Some(median) = median(&waits) {
                    (line(say("Wait before the run (median)"), &flow.wait_us)) " " (microseconds(median))
                } @else { "–" }
            }
            td { @match flow.oldest_s { Some(oldest) => (seconds(oldest)), None => "–" } }
        }
    }
}

fn median(numbers: &[i64]) -> Option<i64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

/// Bars of the attempts in each minute: those that failed stand on those that were committed.
fn bars(name: &str, flow: &FlowHour) -> Markup {
    let of_minute = |at: usize, is_committed: bool| -> i64 {
        let meant = flow.attempts.iter().filter(|(outcome, _)| (*outcome == COMMITTED) == is_committed);
        meant.filter_map(|(_, minutes)| minutes.get(at).copied().flatten()).sum()
    };
    let most = (0..MINUTES).map(|at| of_minute(at, true) + of_minute(at, false)).max().unwrap_or_default();
    let (mut committed, mut failed) = (String::new(), String::new());
    for at in 0..MINUTES {
        let good = height(of_minute(at, true), most);
        let bad = height(of_minute(at, false), most);
        bar(&mut committed, at, HEIGHT, good);
        bar(&mut failed, at, HEIGHT - good, bad.min(HEIGHT - good));
    }
    let label = format!("{name}: {} – {most}", 0);
    drawing(&label, &html! { path class="good" d=(committed) {} path class="bad" d=(failed) {} })
}

/// Height of a number, at least a pixel.
fn height(number: i64, most: i64) -> i64 {
    match number {
        0 => 0,
        _ => (number * HEIGHT / most.max(1)).max(1),
    }
}

/// Adds a bar to a path.
fn bar(path: &mut String, at: usize, foot: i64, height: i64) {
    if height > 0 {
        let (left, width) = (at * MINUTE_WIDTH, MINUTE_WIDTH - 1);
        // Writing to a text cannot fail.
        let _ = write!(path, "M{left} {foot}v-{height}h{width}v{height}z");
    }
}

/// A line through the numbers of the minutes that have one.
fn line(name: &str, minutes: &[Option<i64>]) -> Markup {
    let most = minutes.iter().flatten().max().copied().unwrap_or_default();
    let mut path = String::new();
    for (at, number) in minutes.iter().enumerate() {
        if let Some(number) = number {
            let letter = if path.is_empty() { 'M' } else { 'L' };
            let (x, y) = (at * MINUTE_WIDTH + 1, HEIGHT - height(*number, most));
            let _ = write!(path, "{letter}{x} {y}");
        }
    }
    let label = format!("{name}: {} – {}", microseconds(0), microseconds(most));
    drawing(&label, &html! { path class="line" d=(path) {} })
}

fn drawing(label: &str, content: &Markup) -> Markup {
    let width = MINUTES * MINUTE_WIDTH;
    html! {
        svg class="spark" role="img" aria-label=(label) width=(width) height=(HEIGHT)
            viewBox=(format!("0 -1 {width} {}", HEIGHT + 2)) {
            title { (label) }
            (content)
        }
    }
}

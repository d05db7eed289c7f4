//! The timeline of an instance: each state with what it changed, and each attempt with its receipt and its logs.

use maud::{Markup, html};
use serde_json::{Map, Value};
use wedflow_documents::{Attempt, Status, TraceRow};

use super::{badge, status_code};
use crate::session::Session;
use crate::shown::{bytes, cut, microseconds, number, time, value};
use crate::words::Language;

/// Job of an instance that is an exception, as the trace names it.
const EXCEPTION: &str = "_EXCPT";
/// Failed attempts that are shown at once; the older ones are folded.
const ATTEMPTS_MAX: usize = 20;

/// The states of an instance, newest last, with the differences between them.
pub(crate) fn timeline(session: &Session, address: &str, rows: &[TraceRow], attempts: &[Attempt]) -> Markup {
    let say = |text| session.language.say(text);
    let empty = Map::new();
    html! {
        @if rows.len() > 2 {
            label class="scripted" {
                (say("States, up to"))
                input type="range" min="1" max=(rows.len()) value=(rows.len()) data-slides="[data-step]" autocomplete="off";
            }
        }
        ol class="steps" {
            @for (at, row) in rows.iter().enumerate() {
                @let before = at.checked_sub(1).and_then(|at| rows.get(at));
                li class=(status_code(row.status)) data-step=(row.seq) {
                    div class="row" {
                        strong { (row.seq) ". " (step_name(session.language, row.transition.as_deref())) }
                        @if row.status != Status::Regular { (badge(session.language, row.status)) }
                        (time(&row.at))
                        span class="soft" { (row.writer) }
                        a href=(format!("{address}/why?seq={}", row.seq)) { (say("why")) }
                    }
                    (changes(session, before.and_then(|row| row.state.as_object()).unwrap_or(&empty),
                        row.state.as_object().unwrap_or(&empty), before.is_none()))
                    @let fired = fired(row);
                    @if !fired.is_empty() { p { (say("fired")) " " (fired.join(", ")) } }
                    @if let Some(note) = row.note.as_ref().filter(|note| **note != row.writer) {
                        p class="note" { (cut(note)) }
                    }
                    @for attempt in attempts.iter().filter(|attempt| attempt.seq == Some(row.seq)) {
                        (receipt(session, attempt))
                    }
                }
            }
        }
    }
}

/// The transitions that a state fired.
fn fired(row: &TraceRow) -> Vec<&str> {
    let names = row.fired.iter().map(String::as_str);
    names.filter(|name| *name != EXCEPTION).collect()
}

/// Names what made a state: a transition, or in words what the gate or an operator did.
fn step_name(language: Language, transition: Option<&str>) -> &str {
    match transition {
        None => language.say("started"),
        Some("_EVENT") => language.say("an event"),
        Some("_CLOCK") => language.say("its time came"),
        Some("_RETRY") => language.say("retried"),
        Some("_ADHOC") => language.say("state set by hand"),
        Some("_BACK") => language.say("went back"),
        Some("_CANCEL") => language.say("cancelled"),
        Some("_DEADLINE") => language.say("deadline passed"),
        Some("_SKIP") => language.say("a job was skipped"),
        Some("_ABORT") => language.say("attempts used up"),
        Some("_REMATCH") => language.say("conditions changed"),
        Some("_WAIT") => language.say("a wait ended"),
        Some(EXCEPTION) => language.say("recovered"),
        Some(name) => name,
    }
}

/// Changes of a state: each attribute with its value before and after. Of the first one, what is not null.
fn changes(session: &Session, before: &Map<String, Value>, after: &Map<String, Value>, is_first: bool) -> Markup {
    let changed = |(name, value): &(&String, &Value)| match is_first {
        true => !value.is_null(),
        false => before.get(*name) != Some(*value),
    };
    let changed: Vec<_> = after.iter().filter(changed).collect();
    html! {
        ul class="changes" {
            @for (name, now) in &changed {
                li data-change=(name) {
                    (name) ": "
                    @if !is_first { del { (value(before.get(*name).unwrap_or(&Value::Null))) } " → " }
                    span data-now { (value(now)) }
                }
            }
            @if changed.is_empty() { li class="soft" { (session.language.say("nothing changed")) } }
        }
    }
}

/// The receipt of an attempt: what it used, and what it logged.
fn receipt(session: &Session, attempt: &Attempt) -> Markup {
    let say = |text| session.language.say(text);
    let is_used = attempt.fuel.is_some() || attempt.elapsed_us.is_some();
    html! {
        @if is_used || !attempt.logs.is_empty() {
            details {
                summary class="soft" {
                    (say("receipt"))
                    @if let Some(us) = attempt.elapsed_us { " · " (microseconds(us)) }
                    @if !attempt.logs.is_empty() { " · " (attempt.logs.len()) " " (say("lines logged")) }
                }
                p class="soft" {
                    @if let Some(component) = &attempt.component {
                        (component) @if let Some(version) = attempt.version { "@" (version) } " · "
                    }
                    (say("attempt")) " " (attempt.attempt)
                    @if let Some(fuel) = attempt.fuel { " · " (number(fuel)) " " (say("fuel")) }
                    @if let Some(memory) = attempt.memory_bytes { " · " (bytes(memory)) }
                }
                (logs(attempt))
            }
        }
    }
}

/// Lines that an attempt logged.
fn logs(attempt: &Attempt) -> Markup {
    html! {
        ul class="logs" {
            @for line in &attempt.logs {
                li class=(line.severity) {
                    (line.severity) " " (cut(&line.message))
                    @if line.fields.as_object().is_some_and(|fields| !fields.is_empty()) {
                        " " (cut(&line.fields.to_string()))
                    }
                }
            }
        }
    }
}

/// Attempts that changed nothing, newest first.
pub(crate) fn failed_attempts(session: &Session, attempts: &[Attempt]) -> Markup {
    let say = |text| session.language.say(text);
    let failed: Vec<_> = attempts.iter().filter(|attempt| attempt.seq.is_none()).rev().collect();
    html! {
        @if !failed.is_empty() {
            h2 { (say("Attempts that changed nothing")) }
            @let (newest, older) = failed.split_at(failed.len().min(ATTEMPTS_MAX));
            (failures(session, newest))
            @if !older.is_empty() {
                details { summary { (say("Older ones:")) " " (older.len()) } (failures(session, older)) }
            }
        }
    }
}

fn failures(session: &Session, attempts: &[&Attempt]) -> Markup {
    html! {
        ul class="steps" {
            @for attempt in attempts {
                li class="exception" {
                    div class="row" {
                        strong { (attempt.transition) }
                        span class=(if attempt.has_failed() { "badge false" } else { "badge unknown" }) {
                            (attempt.outcome_in_words())
                        }
                        (time(&attempt.at))
                        span class="soft" { (session.language.say("attempt")) " " (attempt.attempt) }
                    }
                    @if let Some(message) = &attempt.message { p { (cut(message)) } }
                    (receipt(session, attempt))
                }
            }
        }
    }
}

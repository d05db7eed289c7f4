//! Why something fired or did not: conditions clause by clause.

use axum::extract::Path;
use maud::{Markup, html};
use serde_json::Value;
use wedflow_documents::{Clause, ClauseKind, Explanation, TriggerOutcome, Truth, WhyFilter};
use wedflow_model::Wid;

use super::instance::trail;
use super::{Query, badge, instance_address, waits};
use crate::frame::{Answer, page};
use crate::session::Session;
use crate::shown::{time, value};
use crate::words::{Language, told};

/// The conditions of a flow over a state of an instance.
pub(crate) async fn why(session: Session, Path((flow, wid)): Path<(String, Wid)>, query: Query) -> Answer {
    let which =
        WhyFilter { trigger: query.owned("trigger"), seq: query.given("seq").and_then(|text| text.parse().ok()) };
    let why = session.client.why(&flow, wid, &which).await.map_err(session.failed())?;
    let say = |text| session.language.say(text);
    let address = instance_address(&flow, wid);
    let title = format!("{} {} {wid}", say("Why:"), flow);
    let body = html! {
        (trail(&session, &flow, Some(wid)))
        h1 { (title) " " (badge(session.language, why.status)) }
        p class="soft" {
            @if why.present { (say("The present state.")) }
            @else { (say("State")) " " (why.seq.unwrap_or_default()) ". " (say("The conditions are those of today.")) }
        }
        @if let Some(note) = &why.note { p class="note" { (told(session.language, note)) } }
        @if let Some(exception) = &why.exception { p class="alert" { (told(session.language, exception)) } }
        nav class="line" aria-label=(say("States")) {
            @if let Some(seq) = why.seq {
                @if seq > 1 { a class="button" href=(format!("?seq={}", seq - 1)) { "← " (say("state before")) } " " }
                @if !why.present { a class="button" href=(format!("{address}/why")) { (say("present state")) } }
            }
        }
        h2 { (say("Conditions")) }
        @for one in &why.triggers { (explanation(&session, one)) }
    };
    Ok(page(&session, &title, &body))
}

/// A trigger's condition over a state, as a tree of clauses.
pub(crate) fn explanation(session: &Session, one: &Explanation) -> Markup {
    let language = session.language;
    let is_open = one.value != Truth::True || one.clauses.len() > 1;
    html! {
        section class="box" {
            div class="row" {
                h3 { (one.trigger) }
                (truth(language, one.value))
                @if let Some(outcome) = one.outcome { (outcome_words(language, outcome)) }
            }
            @if let Some(fault) = &one.fault { p class="alert" { (fault) } }
            @if let Some(job) = &one.job {
                p class="note" {
                    @match (&job.waits_text, &job.waits_for, job.running) {
                        (_, _, true) => (language.say("A host runs it.")),
                        (text, Some(code), _) => {
                            (language.say("It waits:")) " " (waits(language, code, text.as_deref()))
                        }
                        _ => (language.say("It is due, or a worker is at it.")),
                    }
                    " · " (language.say("attempt")) " " (job.attempt)
                    @if let Some(due) = &job.due { " · " (language.say("due")) " " (time(due)) }
                }
            }
            @if let Some(needed) = &one.needed {
                p { (language.say("It would hold if:")) " " code { (crate::shown::cut(needed)) } }
            }
            details open[is_open] {
                summary { span class="clause" { (one.condition) } }
                (tree(language, &one.clauses))
            }
        }
    }
}

/// The clauses below the whole, each within the one that it is a part of.
fn tree(language: Language, clauses: &[Clause]) -> Markup {
    html! { ul class="tree" { (branch(language, clauses, "")) } }
}

/// The clause at a path, with its parts.
fn branch(language: Language, clauses: &[Clause], path: &str) -> Markup {
    let Some(clause) = clauses.iter().find(|one| one.path == path) else {
        return html! {};
    };
    let parts = clauses.iter().filter(|one| match one.path.rsplit_once('.') {
        Some((above, _)) => above == path,
        None => path.is_empty() && !one.path.is_empty(),
    });
    let words = match clause.kind {
        ClauseKind::And => Some(language.say("all of")),
        ClauseKind::Or => Some(language.say("any of")),
        ClauseKind::Not => Some(language.say("not")),
        ClauseKind::Test => None,
    };
    html! {
        li class=[clause.decides.then_some("decides")] {
            div class="row" {
                (truth(language, clause.value))
                @match words {
                    Some(words) => em { (words) },
                    None => span class="clause" { (clause.text) },
                }
                @if clause.decides { span class="badge" { (language.say("decides")) } }
                @if let (Some(reads), true) = (&clause.reads, words.is_none()) {
                    span class="because" {
                        @for (at, (name, read)) in reads.iter().enumerate() {
                            @if at > 0 { ", " }
                            (name) " = " (value(read))
                        }
                        @if clause.value == Truth::Unknown { (unknown(language, reads.iter())) }
                    }
                }
                @if let Some(fault) = &clause.fault { span class="because" { (fault) } }
            }
            @if words.is_some() { ul { @for one in parts { (branch(language, clauses, &one.path)) } } }
        }
    }
}

/// Says which attribute makes a clause unknown.
fn unknown<'a>(language: Language, mut reads: impl Iterator<Item = (&'a String, &'a Value)>) -> Markup {
    html! {
        @if let Some((name, _)) = reads.find(|(_, value)| value.is_null()) {
            ": " (language.say("unknown, because it has no value:")) " " (name)
        }
    }
}

/// A truth value as a badge.
pub(crate) fn truth(language: Language, value: Truth) -> Markup {
    let (class, word) = match value {
        Truth::True => ("badge true", language.say("true")),
        Truth::False => ("badge false", language.say("false")),
        Truth::Unknown => ("badge unknown", language.say("unknown")),
        Truth::Fault => ("badge fault", language.say("fails")),
    };
    html! { span class=(class) { (word) } }
}

/// Words for the outcome of a trigger.
fn outcome_words(language: Language, outcome: TriggerOutcome) -> Markup {
    let words = match outcome {
        TriggerOutcome::Fired => language.say("this state fired it"),
        TriggerOutcome::Pending => language.say("it is pending"),
        TriggerOutcome::Disabled => language.say("it is disabled"),
        TriggerOutcome::False | TriggerOutcome::Unknown => language.say("so it does not fire"),
        TriggerOutcome::Fault => language.say("so the instance becomes an exception"),
        TriggerOutcome::Final => language.say("the instance ends, or has ended"),
        TriggerOutcome::Suppressed => language.say("the final condition holds too, and nothing else fires"),
        TriggerOutcome::Holds => language.say("it holds, and nothing is pending: a retry or a re-match fires it"),
    };
    html! { span class="soft" { (words) } }
}

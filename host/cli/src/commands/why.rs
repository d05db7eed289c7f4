//! `wed why`: why an instance's triggers fired or did not, and what would happen if. `wed flow graph`, `wed flow
//! what-if`.

use serde_json::Value;
use wedflow_documents::{
    AssumedCondition, Assumption, Clause, ClauseKind, Explanation, TriggerOutcome, Truth, WhatIf, WhyFilter,
};
use wedflow_picture::Place;

use crate::answer::shown;
use crate::arguments::{GraphArguments, WhatIfArguments, WhyArguments};
use crate::commands::instance::initial_values;
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(asked: &WhyArguments, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    if !asked.what_if.is_empty() {
        return what_if(asked, door, terminal).await;
    }
    let which = WhyFilter { trigger: asked.trigger.clone(), seq: asked.seq };
    let wid = door.wid(&asked.flow, &asked.wid).await?;
    let why = door.why(&asked.flow, wid, &which).await?;
    terminal.answer(&why, || {
        let when = match (why.present, why.seq) {
            (false, Some(seq)) => format!("in its state {seq}; the conditions are those of today"),
            _ => "in its present state".to_owned(),
        };
        terminal.line(&format!("Instance {} of {}, {when}", why.wid, asked.flow));
        if let Some(note) = &why.note {
            terminal.line(&format!("Note of that state: {note}"));
        }
        if let Some(exception) = &why.exception {
            terminal.line(&format!("No trigger fires: {exception}."));
        }
        print_explanations(&why.triggers, terminal);
    });
    Ok(())
}

/// Prints what would become of an instance.
async fn what_if(asked: &WhyArguments, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let assumed = Assumption {
        state: initial_values(door, &asked.flow, &asked.what_if, None).await?,
        transition: asked.by.clone(),
    };
    let wid = door.wid(&asked.flow, &asked.wid).await?;
    let answer = door.what_if(&asked.flow, wid, &assumed).await?;
    terminal.answer(&answer, || {
        print_foreseen(&answer, terminal);
        let wanted = |one: &&Explanation| asked.trigger.as_ref().is_none_or(|name| *name == one.trigger);
        let wanted: Vec<_> = answer.triggers.iter().filter(wanted).cloned().collect();
        print_explanations(&wanted, terminal);
    });
    Ok(())
}

fn print_foreseen(answer: &WhatIf, terminal: &Terminal) {
    let by = match answer.r#as.as_str() {
        "_EVENT" => "an event",
        "_ADHOC" => "a person by hand",
        transition => transition,
    };
    if let Some(refused) = &answer.refused {
        terminal.line(&format!("Set by {by} it would be refused: {} ({})", refused.message, refused.code));
    }
    if let Some(fault) = &answer.fault {
        terminal.line(&format!("It would be an exception: {fault}"));
    }
    let becomes = format!("{:?}", answer.becomes).to_lowercase();
    let fires: Vec<&str> = answer.fires.iter().map(|one| one.trigger.as_str()).collect();
    let fires = if fires.is_empty() { "nothing".to_owned() } else { fires.join(", ") };
    terminal.line(&format!("Set by {by}, instance {} would be {becomes} and fire {fires}.", answer.wid));
    if !answer.still_pending.is_empty() {
        terminal.line(&format!("Still pending: {}.", answer.still_pending.join(", ")));
    }
    if !answer.stale.is_empty() {
        let then =
            if answer.ends_as_exception() { "; nothing else is left, so it then becomes an exception" } else { "" };
        let stale = answer.stale.join(", ");
        terminal.line(&format!("Their condition would no longer hold, so they will be skipped: {stale}{then}."));
    }
}

/// Prints triggers with their conditions, clause by clause.
fn print_explanations(triggers: &[Explanation], terminal: &Terminal) {
    for one in triggers {
        terminal.line("");
        let outcome = one.outcome.map_or(String::new(), |outcome| format!("; {}", outcome_words(outcome)));
        terminal.line(&format!("{}: {}{outcome}", one.trigger, word(one.value)));
        if let Some(fault) = &one.fault {
            terminal.line(&format!("  {fault}"));
        }
        if let Some(needed) = &one.needed {
            terminal.line(&format!("  it would hold if: {needed}"));
        }
        for clause in &one.clauses {
            print_clause(clause, terminal);
        }
        if let Some(job) = &one.job {
            let waits = job.waits_text.as_deref().or(job.waits_for.as_deref());
            let state = if job.running { "a host runs it" } else { waits.unwrap_or("it is due") };
            terminal.line(&format!("  Its job: {state}; attempt {}", job.attempt));
        }
    }
}

/// Prints a clause: indented by its depth, marked where it decides.
fn print_clause(clause: &Clause, terminal: &Terminal) {
    let depth = if clause.path.is_empty() { 0 } else { clause.path.split('.').count() };
    let text = match clause.kind {
        ClauseKind::And => "all of",
        ClauseKind::Or => "any of",
        ClauseKind::Not => "not",
        ClauseKind::Test => &clause.text,
    };
    let mark = if clause.decides { "*" } else { " " };
    let indent = "  ".repeat(depth);
    terminal.line(&format!("  {mark} {:<8}{indent}{text}{}", word(clause.value), because(clause)));
}

/// Returns the values that a clause reads, and why it is unknown or fails.
fn because(clause: &Clause) -> String {
    if clause.kind != ClauseKind::Test {
        return String::new();
    }
    let reads: Vec<String> =
        (clause.reads.iter().flatten()).map(|(name, value)| format!("{name} is {}", shown(value))).collect();
    let null = clause.reads.iter().flatten().find(|(_, value)| **value == Value::Null);
    let reason = match (clause.value, null, &clause.fault) {
        (Truth::Unknown, Some((name, _)), _) => format!("; unknown because {name} is null"),
        (_, _, Some(fault)) => format!("; {fault}"),
        _ => String::new(),
    };
    if reads.is_empty() && reason.is_empty() { String::new() } else { format!("   ({}{reason})", reads.join(", ")) }
}

fn word(value: Truth) -> &'static str {
    match value {
        Truth::True => "true",
        Truth::False => "false",
        Truth::Unknown => "unknown",
        Truth::Fault => "fails",
    }
}

fn outcome_words(outcome: TriggerOutcome) -> &'static str {
    match outcome {
        TriggerOutcome::Fired => "this state fired it",
        TriggerOutcome::Pending => "it is pending",
        TriggerOutcome::Disabled => "it is disabled",
        TriggerOutcome::False | TriggerOutcome::Unknown => "it does not fire",
        TriggerOutcome::Fault => "the instance becomes an exception",
        TriggerOutcome::Final => "the instance ends, or has ended",
        TriggerOutcome::Suppressed => "the final condition holds too, and nothing else fires",
        TriggerOutcome::Holds => "nothing is pending; a retry or a re-match fires it",
    }
}

/// Prints the graph of a flow: SVG, Graphviz's language, or a document.
pub(crate) async fn graph(asked: &GraphArguments, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let graph = door.graph(&asked.name).await?;
    terminal.answer(&graph, || {
        let text = match asked.dot {
            true => wedflow_picture::dot(&asked.name, &graph),
            false => wedflow_picture::svg(&asked.name, &graph, Place::File),
        };
        terminal.verbatim(text.trim_end());
    });
    Ok(())
}

/// Prints the live instances for which another condition has another value.
pub(crate) async fn condition(asked: &WhatIfArguments, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let assumed = AssumedCondition { trigger: asked.trigger.clone(), when: asked.condition.clone() };
    let found = door.what_if_condition(&asked.name, &assumed).await?;
    let value = |holds: Option<bool>| holds.map_or("unknown".to_owned(), |holds| holds.to_string());
    terminal.answer(&found, || {
        let more = if found.complete { "" } else { "; there are more" };
        terminal.line(&format!(
            "{} live instances looked at{more}: {} satisfy the present condition of {}, {} would satisfy this one, \
             {} differ, {} cannot be evaluated.",
            found.looked_at, found.holds_now, found.trigger, found.would_hold, found.differ, found.faults
        ));
        if !found.instances.is_empty() {
            let rows = found
                .instances
                .iter()
                .map(|one| vec![one.wid.to_string(), value(one.holds_now), value(one.would_hold)]);
            terminal.table(&["wid", "holds now", "would hold"], rows);
        }
    });
    Ok(())
}

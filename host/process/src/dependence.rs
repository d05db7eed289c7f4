//! Finds tasks that never run: they wait for each other, for such, or for two ends of one task.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::Diagnostic;
use crate::plan::Operator;
use crate::syntax::{Activity, Block, Rule, Workflow};

/// Warns of each task of a workflow that never runs.
pub(crate) fn dead_tasks(workflow: &Workflow) -> Vec<Diagnostic> {
    let rules: BTreeMap<&str, &Block> = workflow.activities().map(|block| (block.name.text.as_str(), block)).collect();
    let live = live_tasks(&rules);
    let mut diagnostics = Vec::new();
    let mut named: BTreeSet<&str> = BTreeSet::new();
    for block in workflow.activities() {
        let name = block.name.text.as_str();
        if live.contains_key(name) || named.contains(name) {
            continue;
        }
        let cycle = cycle_from(name, &rules, &live);
        match cycle {
            Some(cycle) if cycle.contains(&name) => {
                named.extend(&cycle);
                diagnostics.push(mutual(block, &cycle));
            }
            _ => diagnostics.push(waiting(block, &live)),
        }
    }
    diagnostics
}

type Certain<'a> = BTreeSet<(&'a str, Activity)>;

/// Computes the tasks that can become READY, with the terms that are certain to hold by then. Tasks that wait for
/// each other never come in.
fn live_tasks<'a>(rules: &BTreeMap<&'a str, &'a Block>) -> BTreeMap<&'a str, Certain<'a>> {
    let mut live: BTreeMap<&str, Certain<'a>> = BTreeMap::new();
    loop {
        let mut grown = false;
        for (name, block) in rules {
            if live.contains_key(name) {
                continue;
            }
            let certain = match block.depends() {
                None => Some(Certain::new()),
                Some(rule) => certain_terms(rule, &live),
            };
            if let Some(certain) = certain {
                live.insert(name, certain);
                grown = true;
            }
        }
        if !grown {
            return live;
        }
    }
}

/// Computes the terms that hold whenever the rule does; none if the rule never holds.
fn certain_terms<'a>(rule: &'a Rule, live: &BTreeMap<&'a str, Certain<'a>>) -> Option<Certain<'a>> {
    match rule {
        Rule::Term { task, state, .. } => {
            let name = task.text.as_str();
            let mut certain = live.get(name)?.clone();
            certain.insert((name, *state));
            possible(&certain).then_some(certain)
        }
        Rule::Tree { operator: Operator::And, terms, .. } => {
            let mut certain = Certain::new();
            for term in terms {
                certain.extend(certain_terms(term, live)?);
            }
            possible(&certain).then_some(certain)
        }
        Rule::Tree { terms, .. } => terms
            .iter()
            .filter_map(|term| certain_terms(term, live))
            .reduce(|one, other| one.intersection(&other).copied().collect()),
    }
}

/// Returns false if a task had to end well and to fail.
fn possible(certain: &Certain<'_>) -> bool {
    !certain.iter().any(|(task, state)| *state == Activity::Succeeded && certain.contains(&(*task, Activity::Failed)))
}

/// Follows the first term that blocks, from task to task, until one comes again; the cycle begins with that one.
fn cycle_from<'a>(
    name: &'a str,
    rules: &BTreeMap<&'a str, &'a Block>,
    live: &BTreeMap<&'a str, Certain<'a>>,
) -> Option<Vec<&'a str>> {
    let mut path = vec![name];
    loop {
        let rule = rules.get(path.last()?)?.depends()?;
        let next = blocking_task(rule, live)?;
        if let Some(at) = path.iter().position(|one| *one == next) {
            return Some(path.split_off(at));
        }
        path.push(rules.get_key_value(next)?.0);
    }
}

fn blocking_task<'a>(rule: &'a Rule, live: &BTreeMap<&'a str, Certain<'a>>) -> Option<&'a str> {
    match rule {
        Rule::Term { task, .. } => (!live.contains_key(task.text.as_str())).then_some(&task.text),
        Rule::Tree { terms, .. } => {
            terms.iter().filter(|term| certain_terms(term, live).is_none()).find_map(|term| blocking_task(term, live))
        }
    }
}

fn mutual(block: &Block, cycle: &[&str]) -> Diagnostic {
    let from = cycle.iter().position(|one| *one == block.name.text).unwrap_or(0);
    let (end, begin) = cycle.split_at(from);
    let mut around: Vec<&str> = begin.iter().chain(end).copied().collect();
    around.push(&block.name.text);
    let message = if cycle.len() == 1 {
        format!("{} waits for itself and never runs", block.name)
    } else {
        format!("these wait for each other and never run: {}", around.join(" -> "))
    };
    Diagnostic::warning(block.name.span.clone(), message).hint(
        "A process is complete when nothing is READY or RUNNING: take one of the dependences out if they are to run.",
    )
}

fn waiting(block: &Block, live: &BTreeMap<&str, Certain<'_>>) -> Diagnostic {
    let reason = match block.depends().and_then(|rule| blocking_task(rule, live)) {
        Some(other) => format!("it waits for {other}, which never runs"),
        None => "its rule asks for two ends of one task, SUCCEEDED and FAILED".to_owned(),
    };
    Diagnostic::warning(block.name.span.clone(), format!("{} never runs: {reason}", block.name))
}

//! Checks of a document that the grammar does not make: names that are missing or used twice, clauses without effect.

use std::collections::{BTreeMap, BTreeSet};

use crate::dependence::dead_tasks;
use crate::diagnostic::{Diagnostic, nearest};
use crate::syntax::{Block, BlockKind, Document, Name, TaskType, Workflow};

/// Definitions of a source, and of a workflow.
const DEFINITIONS_MAX: usize = 500;

/// Checks a document.
pub fn check(document: &Document) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let largest = document.workflows().map(|one| one.blocks.len()).max();
    if document.items.len().max(largest.unwrap_or(0)) > DEFINITIONS_MAX {
        let message = format!("a source, and a workflow, has {DEFINITIONS_MAX} definitions at most");
        return vec![Diagnostic::error(0..0, message).hint("Divide it.")];
    }
    duplicates("workflow", document.workflows().map(|one| &one.name), &mut found);
    duplicates("task model", document.models().map(|one| &one.name), &mut found);
    duplicates("application", document.applications().map(|one| &one.name), &mut found);
    for model in document.models() {
        check_model(document, model, &mut found);
    }
    for workflow in document.workflows() {
        duplicates("datum", workflow.data().map(|one| &one.name), &mut found);
        duplicates("task", workflow.activities().map(|one| &one.name), &mut found);
        for block in workflow.activities() {
            check_activity(document, workflow, block, &mut found);
        }
        missing_models(document, workflow, &mut found);
        for block in workflow.data() {
            found.extend(writing_query(block));
        }
        if workflow.activities().next().is_none() {
            let message = format!("WORKFLOW {} has no task", workflow.name);
            found.push(
                Diagnostic::warning(workflow.name.span.clone(), message)
                    .hint("An instance of it is final at once. Write TASK Name: Model { … } in it."),
            );
        }
        if !found.iter().any(Diagnostic::is_error) {
            found.extend(dead_tasks(workflow));
        }
    }
    recursion(document, &mut found);
    if document.workflows().next().is_none() && document.items.is_empty() {
        found.push(
            Diagnostic::error(0..0, "the source defines nothing")
                .hint("It holds WORKFLOW, TASK (a model) and APPLICATION; see `wed explain process-language`."),
        );
    }
    found.sort_by_key(|one| one.span.start);
    found
}

/// Refuses a query that is no question: a statement of another kind, or one with a part that writes.
fn writing_query(block: &Block) -> Option<Diagnostic> {
    let words = words_of(block.expression()?);
    let first = words.first().map_or("", String::as_str);
    let asks = ["select", "with", "values", "table"].contains(&first);
    let writes = words.windows(2).find_map(|pair| match (pair[0].as_str(), pair[1].as_str()) {
        ("insert" | "merge", "into") | ("delete", "from") => Some(pair[0].to_uppercase()),
        ("update", word) if word != "of" && words.iter().any(|one| one == "set") => Some("UPDATE".to_owned()),
        _ => None,
    });
    let why = match (first, asks, writes) {
        ("", ..) => "is empty".to_owned(),
        (first, false, _) => format!("begins with {}", first.to_uppercase()),
        (_, true, Some(word)) => format!("holds {word}"),
        _ => return None,
    };
    let message = format!("the EXPRESSION of QUERY {} {why}", block.name);
    Some(
        Diagnostic::error(block.name.span.clone(), message)
            .hint("A query reads: write SELECT, WITH … SELECT, VALUES or TABLE. Let a task write."),
    )
}

/// Lists the words of a statement in small letters, without what stands in quotes and comments.
fn words_of(sql: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let mut letters = sql.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter.is_alphanumeric() || letter == '_' {
            word.extend(letter.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        match (letter, letters.peek()) {
            ('\'' | '"', _) => {
                let _inside = letters.by_ref().take_while(|one| *one != letter).count();
            }
            ('-', Some('-')) => {
                let _comment = letters.by_ref().take_while(|one| *one != '\n').count();
            }
            ('/', Some('*')) => {
                let mut before = ' ';
                let is_inside = |one: &char| !(std::mem::replace(&mut before, *one) == '*' && *one == '/');
                let _comment = letters.by_ref().skip(1).take_while(is_inside).count();
            }
            _ => {}
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Warns of each role of a document that is none of the known ones.
pub fn unknown_roles(document: &Document, known: &[String]) -> Vec<Diagnostic> {
    let known: BTreeSet<&str> = known.iter().map(String::as_str).collect();
    let mut told = BTreeSet::new();
    document
        .workflows()
        .flat_map(Workflow::activities)
        .filter_map(Block::role)
        .filter(|role| !known.contains(role.text.as_str()) && told.insert(role.text.as_str()))
        .map(|role| {
            Diagnostic::warning(role.span.clone(), format!("there is no role {role}: nobody is asked to do this task"))
                .hint(match nearest(&role.text, known.iter().copied()) {
                    Some(near) => format!("Perhaps {near} is meant."),
                    None => "Make the role and give it people.".to_owned(),
                })
        })
        .collect()
}

fn duplicates<'a>(what: &str, names: impl Iterator<Item = &'a Name>, found: &mut Vec<Diagnostic>) {
    let mut known = BTreeSet::new();
    for name in names {
        if !known.insert(name.text.as_str()) {
            found.push(
                Diagnostic::error(name.span.clone(), format!("there are two definitions of {what} {name}"))
                    .hint("Give one of them another name."),
            );
        }
    }
}

fn unknown<'a>(what: &str, name: &Name, known: impl Iterator<Item = &'a Name>) -> Diagnostic {
    let known: Vec<&str> = known.map(|one| one.text.as_str()).collect();
    let diagnostic = Diagnostic::error(name.span.clone(), format!("there is no {what} {name}"));
    match nearest(&name.text, known.iter().copied()) {
        Some(near) => diagnostic.hint(format!("Perhaps {near} is meant.")),
        None if known.is_empty() => diagnostic.hint(format!("The source defines no {what}.")),
        None => {
            diagnostic.hint(format!("There are: {}.", known.iter().take(12).copied().collect::<Vec<_>>().join(", ")))
        }
    }
}

fn check_model(document: &Document, model: &Block, found: &mut Vec<Diagnostic>) {
    if let Some(application) = model.application()
        && !document.applications().any(|one| one.name.text == application.text)
    {
        let names = document.applications().map(|one| &one.name);
        found.push(unknown("application", application, names));
    }
    let mut warn = |message: String| {
        found.push(Diagnostic::warning(model.name.span.clone(), message));
    };
    let name = &model.name;
    match (model.task_type(), model.application()) {
        (None, _) => warn(format!(
            "TASK {name} has an empty TYPE: it is SEMI_AUTOMATIC with an application, else MANUAL, where a task has a \
             ROLE; AUTOMATIC where it has none"
        )),
        (Some(TaskType::Manual), Some(_)) => {
            warn(format!("TASK {name} is MANUAL: its APPLICATION is not used"));
        }
        (Some(TaskType::Automatic), None) => {
            warn(format!("TASK {name} is AUTOMATIC and has no APPLICATION: it is left to SQL clients"))
        }
        (Some(TaskType::SemiAutomatic), None) => {
            warn(format!("TASK {name} is SEMI_AUTOMATIC and has no APPLICATION: people do it as if it were MANUAL"))
        }
        _ => {}
    }
    let automatic = model.task_type() == Some(TaskType::Automatic);
    if model.retries().is_some_and(|retries| retries > 0) && !automatic {
        warn(format!("TASK {name} is not AUTOMATIC: its RETRIES are not used"));
    }
    if automatic && model.disconnected() == Some(true) {
        warn(format!("TASK {name} is AUTOMATIC: its DISCONNECTED_OPERATION is not used"));
    }
}

fn check_activity(document: &Document, workflow: &Workflow, block: &Block, found: &mut Vec<Diagnostic>) {
    if let Some(rule) = block.depends() {
        rule.each_term(&mut |task, _| {
            if !workflow.activities().any(|one| one.name.text == task.text) {
                let what = format!("task of WORKFLOW {}", workflow.name);
                let names = workflow.activities().map(|one| &one.name);
                found.push(unknown(what.as_str(), task, names));
            }
        });
    }
    let contexts = [block.in_context(), block.out_context()];
    for names in contexts.into_iter().flatten() {
        let mut known = BTreeSet::new();
        for name in names {
            if !workflow.data().any(|one| one.name.text == name.text) {
                let what = format!("datum of WORKFLOW {}", workflow.name);
                found.push(unknown(&what, name, workflow.data().map(|one| &one.name)));
            } else if !known.insert(name.text.as_str()) {
                let message = format!("{name} is named twice");
                found.push(Diagnostic::error(name.span.clone(), message));
            }
        }
    }
    match (block.kind, &block.of) {
        (BlockKind::SubWorkflow, Some(of)) if document.workflow(&of.text).is_none() => {
            let names = document.workflows().map(|one| one.name.text.as_str());
            found.push(match nearest(&of.text, names) {
                Some(_) => unknown("workflow", of, document.workflows().map(|one| &one.name)),
                None => Diagnostic::warning(
                    of.span.clone(),
                    format!("{of} is not in the source: {} starts an instance of that process", block.name),
                )
                .hint("It is a child of its own, with the data that both name alike."),
            });
        }
        (BlockKind::Task, Some(of)) => {
            let model = document.models().find(|one| one.name.text == of.text);
            check_role(block, model.and_then(Block::task_type), found);
        }
        _ => {}
    }
}

fn check_role(block: &Block, task_type: Option<TaskType>, found: &mut Vec<Diagnostic>) {
    let name = &block.name;
    match (task_type, block.role()) {
        (Some(TaskType::Automatic), Some(role)) => found
            .push(Diagnostic::warning(role.span.clone(), format!("TASK {name} is AUTOMATIC: its ROLE is not used"))),
        (Some(TaskType::Manual | TaskType::SemiAutomatic), None) => {
            found.push(Diagnostic::warning(
                name.span.clone(),
                format!("TASK {name} is for people and has no ROLE: the person in charge is asked"),
            ));
        }
        _ => {}
    }
}

/// Warns once of each model that tasks name and the source does not define.
fn missing_models(document: &Document, workflow: &Workflow, found: &mut Vec<Diagnostic>) {
    let mut missing: BTreeMap<&str, (&Name, Vec<&Block>)> = BTreeMap::new();
    for block in workflow.activities().filter(|one| one.kind == BlockKind::Task) {
        if let Some(of) = &block.of
            && !document.models().any(|one| one.name.text == of.text)
        {
            let entry = missing.entry(of.text.as_str());
            entry.or_insert_with(|| (of, Vec::new())).1.push(block);
        }
    }
    for (model, (name, tasks)) in missing {
        let taken: Vec<String> = tasks
            .iter()
            .map(|task| match task.role() {
                Some(_) => format!("{} is taken as MANUAL", task.name),
                None => format!("{} is taken as AUTOMATIC", task.name),
            })
            .collect();
        let near = nearest(model, document.models().map(|one| one.name.text.as_str()));
        found.push(
            Diagnostic::warning(
                name.span.clone(),
                format!("the task model {model} needs to be supplied: {}", taken.join(", ")),
            )
            .hint(match near {
                Some(near) => format!("Perhaps {near} is meant; else add TASK {model} {{ … }}."),
                None => {
                    format!("Add TASK {model} {{ TYPE …; PRIORITY …; DISCONNECTED_OPERATION …; }}.")
                }
            }),
        );
    }
}

/// Reports workflows that contain themselves as sub-workflows.
fn recursion(document: &Document, found: &mut Vec<Diagnostic>) {
    let mut told: BTreeSet<&str> = BTreeSet::new();
    for workflow in document.workflows() {
        let mut path = vec![workflow.name.text.as_str()];
        let mut done = BTreeSet::new();
        if let Some(cycle) = contained(document, workflow, &mut path, &mut done)
            && !cycle.iter().any(|one| told.contains(one))
        {
            told.extend(&cycle);
            let around = format!("{} -> {}", cycle.join(" -> "), workflow.name);
            found.push(
                Diagnostic::error(workflow.name.span.clone(), format!("the workflow contains itself: {around}"))
                    .hint("A sub-workflow runs within its workflow's instance; take one of them out."),
            );
        }
    }
}

/// Finds a way from the path's first workflow back to it.
fn contained<'a>(
    document: &'a Document,
    workflow: &'a Workflow,
    path: &mut Vec<&'a str>,
    done: &mut BTreeSet<&'a str>,
) -> Option<Vec<&'a str>> {
    for block in workflow.activities().filter(|one| one.kind == BlockKind::SubWorkflow) {
        let Some(sub) = block.of.as_ref().and_then(|of| document.workflow(&of.text)) else {
            continue;
        };
        if sub.name.text == path[0] {
            return Some(path.clone());
        }
        if done.insert(&sub.name.text) {
            path.push(&sub.name.text);
            if let Some(cycle) = contained(document, sub, path, done) {
                return Some(cycle);
            }
            path.pop();
        }
    }
    None
}

//! The text of a flow or of processes, read: what is wrong with it, what it defines, how it is drawn.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};
use wedflow_documents::{Graph, GraphEdge, GraphTrigger};
use wedflow_model::FlowDefinition;
use wedflow_process::{Change, Diagnostic, Document, Plan, Sketched, wsql};

/// Most triggers that are drawn.
const DRAWN_MAX: usize = 100;
/// Most time for a comparison; what is not matched by then counts as changed.
const COMPARISON_TIME_MAX: Duration = Duration::from_millis(500);
/// Lines that stay the same and are shown around a difference.
const AROUND: usize = 2;

/// Language of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The process language.
    Process,
    /// WSQL.
    Statements,
}

impl Form {
    /// Finds the language of a word in a form.
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "wsql" => Form::Statements,
            _ => Form::Process,
        }
    }

    /// Returns the word for it in a form.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Form::Process => "pdl",
            Form::Statements => "wsql",
        }
    }
}

/// A flow that a text defines.
pub(crate) struct Draft {
    /// The definition.
    pub(crate) definition: FlowDefinition,
    /// The plan of work, of a process.
    pub(crate) plan: Option<Plan>,
    /// The picture; none of a flow that is too large for one.
    pub(crate) graph: Option<Graph>,
    /// Name of its workflow in the text; empty where the text has one flow alone.
    pub(crate) workflow: String,
    /// Tasks that can be changed, in the order of the text.
    pub(crate) tasks: Vec<String>,
}

/// A text that was read.
pub(crate) struct Reading {
    /// Errors and warnings.
    pub(crate) found: Vec<Diagnostic>,
    /// The flows; of a text with errors none.
    pub(crate) drafts: Vec<Draft>,
}

impl Reading {
    /// Reads a text.
    pub(crate) fn of(form: Form, text: &str) -> Self {
        match form {
            Form::Process => processes(text),
            Form::Statements => statements(text),
        }
    }

    /// Returns true if it can be applied.
    pub(crate) fn is_whole(&self) -> bool {
        !self.drafts.is_empty() && !self.found.iter().any(Diagnostic::is_error)
    }

    /// Prints it in one way, without comments: for a comparison.
    pub(crate) fn printed(&self) -> String {
        let plans: Vec<Plan> = self.drafts.iter().filter_map(|one| one.plan.clone()).collect();
        match plans.is_empty() {
            false => wedflow_process::raise(&plans),
            true => (self.drafts.iter()).map(|one| wsql::write(&one.definition)).collect(),
        }
    }
}

/// Changes a task of a text.
pub(crate) fn change(form: Form, text: &str, (workflow, task): (&str, &str), how: &Change) -> Result<String, String> {
    match form {
        Form::Process => wedflow_process::change(text, workflow, task, how),
        Form::Statements => wsql::change(text, task, how),
    }
}

fn processes(text: &str) -> Reading {
    let parsed = wedflow_process::parse(text);
    let mut found = parsed.diagnostics.clone();
    if !parsed.has_errors() {
        found.extend(wedflow_process::check(&parsed.document));
    }
    let lowered = match found.iter().any(Diagnostic::is_error) {
        true => Vec::new(),
        false => wedflow_process::lower(&parsed.document).unwrap_or_else(|errors| {
            found.extend(errors);
            Vec::new()
        }),
    };
    let drafts = lowered.into_iter().map(|process| {
        let workflow = process.plan.process_type.clone();
        let rules = rules(text, &parsed.document, &workflow);
        let tasks: Vec<String> = rules.keys().cloned().collect();
        Draft {
            graph: graph(&process.definition, |sketched| shown_task(&process.plan, &rules, sketched)),
            tasks: in_order(&parsed.document, &workflow, tasks),
            definition: process.definition,
            plan: Some(process.plan),
            workflow,
        }
    });
    Reading { drafts: drafts.collect(), found }
}

fn statements(text: &str) -> Reading {
    let parsed = wsql::parse(text);
    let (flows, more) = wsql::lower(&parsed.statements, None);
    let mut found = parsed.diagnostics;
    found.extend(more);
    let has_errors = found.iter().any(Diagnostic::is_error);
    let flows = flows.into_iter().filter(|_| !has_errors);
    let drafts = flows.map(|definition| Draft {
        graph: graph(&definition, |sketched| {
            let is_final = sketched.trigger == "final";
            let when = (definition.triggers.iter()).find(|one| one.name == sketched.trigger);
            let when = when.map_or(definition.final_condition.as_ref(), |one| Some(&one.when));
            Some(Shown {
                name: sketched.trigger.clone(),
                when: when.cloned().unwrap_or_default(),
                is_task: !is_final,
                is_final,
            })
        }),
        tasks: (definition.triggers.iter()).map(|one| one.name.clone()).collect(),
        definition,
        plan: None,
        workflow: String::new(),
    });
    Reading { drafts: drafts.collect(), found }
}

/// The rule of each task of a workflow, as it is written.
fn rules(text: &str, document: &Document, workflow: &str) -> BTreeMap<String, String> {
    let workflow = document.workflow(workflow);
    let activities = workflow.into_iter().flat_map(|one| one.activities());
    activities
        .map(|task| {
            let rule =
                task.clauses.iter().find(|one| matches!(one.value, wedflow_process::ClauseValue::Depends(Some(_))));
            let rule = rule.and_then(|one| text.get(one.span.clone()));
            let rule = rule.map_or("", |rule| rule.trim_start_matches("DEPENDS"));
            let rule = rule.trim_end_matches(';').split_whitespace();
            (task.name.text.clone(), rule.collect::<Vec<_>>().join(" "))
        })
        .collect()
}

/// Sorts names of tasks as the text has them.
fn in_order(document: &Document, workflow: &str, mut tasks: Vec<String>) -> Vec<String> {
    let workflow = document.workflow(workflow);
    let order: Vec<&str> =
        (workflow.into_iter().flat_map(|one| one.activities())).map(|task| task.name.text.as_str()).collect();
    tasks.sort_by_key(|task| order.iter().position(|one| one == task));
    tasks
}

/// A trigger as it is drawn.
struct Shown {
    name: String,
    when: String,
    is_task: bool,
    is_final: bool,
}

/// A task of a process; the final condition is not drawn, for the language has none.
fn shown_task(plan: &Plan, rules: &BTreeMap<String, String>, sketched: &Sketched) -> Option<Shown> {
    let task = (plan.tasks.iter()).find(|one| one.trigger == sketched.trigger)?;
    let rule = rules.get(&task.task);
    Some(Shown {
        name: task.task.clone(),
        when: rule.cloned().unwrap_or_default(),
        is_task: rule.is_some(),
        is_final: false,
    })
}

/// The graph of a definition, by its text alone.
fn graph(flow: &FlowDefinition, shown: impl Fn(&Sketched) -> Option<Shown>) -> Option<Graph> {
    let all = wedflow_process::sketch(flow);
    if all.len() > DRAWN_MAX {
        return None;
    }
    let nodes: Vec<(Shown, Sketched)> = (all.into_iter()).filter_map(|one| Some((shown(&one)?, one))).collect();
    let mut edges = Vec::new();
    for (from, writer) in &nodes {
        for (to, reader) in &nodes {
            let read: BTreeSet<&String> = reader.reads.difference(&reader.guards).collect();
            let both = writer.writes.iter().filter(|name| read.contains(name));
            let attributes: Vec<String> = both.cloned().collect();
            if !attributes.is_empty() {
                edges.push(GraphEdge { from: Some(from.name.clone()), to: to.name.clone(), attributes, number: 0 });
            }
        }
    }
    let listed = |names: BTreeSet<String>| names.into_iter().collect();
    let triggers = nodes.into_iter().map(|(shown, sketched)| GraphTrigger {
        trigger: shown.name.clone(),
        transition: shown.is_task.then_some(shown.name),
        r#final: shown.is_final,
        enabled: true,
        condition: shown.when,
        reads: listed(sketched.reads),
        guards: listed(sketched.guards),
        writes: listed(sketched.writes),
        performer: String::new(),
        component: None,
        jobs: 0,
        running: 0,
        exceptions: 0,
    });
    Some(Graph { rows: 0, triggers: triggers.collect(), edges })
}

/// A line of a difference.
pub(crate) enum Line<'a> {
    /// Line in both texts.
    Same(&'a str),
    /// Line in the old text alone.
    Old(&'a str),
    /// Line in the new text alone.
    New(&'a str),
    /// Lines that are the same are left out.
    Gap,
}

/// Compares two texts line by line.
pub(crate) fn difference<'a>(old: &'a str, new: &'a str) -> Vec<Line<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let until = Instant::now() + COMPARISON_TIME_MAX;
    let mut lines = Vec::new();
    let parts = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(until));
    for part in &parts {
        let (before, after) = (&old[part.old_range()], &new[part.new_range()]);
        match part.tag() {
            DiffTag::Equal if before.len() > 2 * AROUND => {
                let (first, last) = (&before[..AROUND], &before[before.len() - AROUND..]);
                lines.extend(first.iter().map(|&line| Line::Same(line)));
                lines.push(Line::Gap);
                lines.extend(last.iter().map(|&line| Line::Same(line)));
            }
            DiffTag::Equal => lines.extend(before.iter().map(|&line| Line::Same(line))),
            _ => {
                lines.extend(before.iter().map(|&line| Line::Old(line)));
                lines.extend(after.iter().map(|&line| Line::New(line)));
            }
        }
    }
    match parts.iter().all(|part| part.tag() == DiffTag::Equal) {
        true => Vec::new(),
        false => lines,
    }
}

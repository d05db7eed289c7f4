//! Makes flow definitions of statements.

use std::collections::{BTreeMap, BTreeSet};

use wedflow_model::FlowDefinition;

use super::syntax::{NewTrigger, Statement, StatementKind};
use crate::diagnostic::{Diagnostic, nearest};
use crate::syntax::Name;

/// A definition in the making, with the names that its statements may use.
#[derive(Debug, Clone, PartialEq)]
pub struct Lowering {
    /// The definition so far.
    pub definition: FlowDefinition,
    /// Predicates of named conditions.
    conditions: BTreeMap<String, String>,
    /// Conditions that were declared, with their places, and that no trigger names yet.
    unused: BTreeMap<String, Name>,
    transitions: BTreeSet<String>,
    /// Errors and warnings, in the order of the statements.
    pub diagnostics: Vec<Diagnostic>,
}

/// Makes the flows of a source. Statements before the first `CREATE WED-FLOW` or `USE` are about the flow `name`.
pub fn lower(statements: &[Statement], name: Option<&str>) -> (Vec<FlowDefinition>, Vec<Diagnostic>) {
    let mut flows = Vec::new();
    let mut diagnostics = Vec::new();
    let mut current = name.map(|name| Lowering::new(empty(name)));
    let finish = |done: Option<Lowering>, flows: &mut Vec<FlowDefinition>, diagnostics: &mut Vec<Diagnostic>| {
        let Some(done) = done else { return };
        let (flow, found) = done.finish();
        diagnostics.extend(found);
        let is_empty = flow.attributes.is_empty() && flow.triggers.is_empty();
        if !is_empty || flow.final_condition.is_some() || Some(flow.name.as_str()) != name {
            flows.push(flow);
        }
    };
    for statement in statements {
        match (&statement.kind, &mut current) {
            (StatementKind::CreateFlow { name, description, order, start }, _) => {
                finish(current.take(), &mut flows, &mut diagnostics);
                if flows.iter().any(|flow| flow.name == name.text) {
                    diagnostics.push(twice("flow", name));
                }
                let mut flow = empty(&name.text);
                flow.description.clone_from(description);
                flow.order = order.as_ref().map(|order| order.text.clone());
                flow.start.clone_from(start);
                current = Some(Lowering::new(flow));
            }
            (StatementKind::Frame, _) => {}
            (_, Some(lowering)) => lowering.add(statement),
            (_, None) => diagnostics.push(
                Diagnostic::error(statement.span.clone(), "the statement is about no flow")
                    .hint("Begin with CREATE WED-FLOW name;"),
            ),
        }
    }
    finish(current, &mut flows, &mut diagnostics);
    diagnostics.sort_by_key(|one| one.span.start);
    (flows, diagnostics)
}

fn empty(name: &str) -> FlowDefinition {
    FlowDefinition {
        name: name.to_owned(),
        description: String::new(),
        attributes: Vec::new(),
        triggers: Vec::new(),
        final_condition: None,
        transitions: BTreeMap::new(),
        order: None,
        start: None,
        schedules: None,
    }
}

fn twice(noun: &str, name: &Name) -> Diagnostic {
    Diagnostic::error(name.span.clone(), format!("there is a {noun} {name} already"))
}

/// Makes the error of a name that is not known.
fn unknown<'a>(noun: &str, name: &Name, known: impl Iterator<Item = &'a str>) -> Diagnostic {
    let error = Diagnostic::error(name.span.clone(), format!("there is no {noun} {name}"));
    match nearest(&name.text, known) {
        Some(near) => error.hint(format!("Perhaps {near} is meant.")),
        None => error,
    }
}

impl Lowering {
    /// Begins with a definition, whose named conditions may be used.
    pub fn new(definition: FlowDefinition) -> Self {
        let mut conditions = BTreeMap::new();
        for trigger in &definition.triggers {
            if let Some(name) = &trigger.condition {
                conditions.entry(name.clone()).or_insert_with(|| trigger.when.clone());
            }
        }
        Lowering {
            transitions: definition.transitions.keys().cloned().collect(),
            definition,
            conditions,
            unused: BTreeMap::new(),
            diagnostics: Vec::new(),
        }
    }

    /// Adds a statement; errors are among [`Lowering::diagnostics`].
    pub fn add(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::CreateAttribute(name, attribute) => {
                if self.definition.attributes.iter().any(|one| one.name == name.text) {
                    self.diagnostics.push(twice("attribute", name));
                } else {
                    self.definition.attributes.push((**attribute).clone());
                }
            }
            StatementKind::CreateCondition(name, when) => {
                match self.conditions.insert(name.text.clone(), when.clone()) {
                    Some(_) => self.diagnostics.push(twice("condition", name)),
                    None => {
                        self.unused.insert(name.text.clone(), name.clone());
                    }
                }
            }
            StatementKind::CreateFinal(when) => {
                if self.definition.final_condition.replace(when.clone()).is_some() {
                    let message = "there is a final condition already";
                    let error = Diagnostic::error(statement.span.clone(), message);
                    self.diagnostics.push(error.hint("Combine them with OR."));
                }
            }
            StatementKind::CreateTransition(name, binding) => {
                if !self.transitions.insert(name.text.clone()) {
                    self.diagnostics.push(twice("transition", name));
                }
                if let Some(binding) = binding {
                    self.definition.transitions.insert(name.text.clone(), binding.clone());
                }
            }
            StatementKind::CreateTrigger(new) => self.add_trigger(new),
            StatementKind::Enable(name, enabled) => self.enable(name, *enabled),
            StatementKind::Use(_)
            | StatementKind::CreateFlow { .. }
            | StatementKind::CreateInstance(_)
            | StatementKind::List(_) => self.diagnostics.push(
                Diagnostic::error(statement.span.clone(), "the statement is no part of a definition")
                    .hint("`wed sql` runs it."),
            ),
            StatementKind::Frame => {}
        }
    }

    fn enable(&mut self, name: &Name, enabled: bool) {
        let mut triggers = self.definition.triggers.iter_mut();
        if let Some(trigger) = triggers.find(|one| one.name == name.text) {
            trigger.enabled = Some(enabled);
            return;
        }
        let known = self.definition.triggers.iter().map(|one| one.name.as_str());
        self.diagnostics.push(unknown("trigger", name, known));
    }

    fn add_trigger(&mut self, new: &NewTrigger) {
        let mut trigger = new.definition.clone();
        if self.definition.triggers.iter().any(|one| one.name == trigger.name) {
            self.diagnostics.push(twice("trigger", &new.name));
            return;
        }
        trigger.condition = new.on.as_ref().map(|on| on.text.clone());
        match (&new.on, &new.when) {
            (_, Some(when)) => trigger.when.clone_from(when),
            (Some(on), None) => match self.conditions.get(&on.text) {
                Some(when) => trigger.when.clone_from(when),
                None => {
                    let known = self.conditions.keys().map(String::as_str);
                    self.diagnostics.push(unknown("condition", on, known));
                }
            },
            (None, None) => {}
        }
        if let Some(name) = &trigger.condition {
            self.unused.remove(name);
            self.conditions.entry(name.clone()).or_insert_with(|| trigger.when.clone());
        }
        for name in &new.writes {
            let known = || self.definition.attributes.iter().map(|one| one.name.as_str());
            if !known().any(|one| one == name.text) && nearest(&name.text, known()).is_some() {
                let mut warning = unknown("attribute", name, known());
                warning.severity = crate::diagnostic::Severity::Warning;
                self.diagnostics.push(warning);
            }
        }
        let known = || self.transitions.iter().map(String::as_str);
        if !trigger.transition.is_empty()
            && !self.transitions.contains(&trigger.transition)
            && nearest(&trigger.transition, known()).is_some()
        {
            let mut warning = unknown("transition", &new.fire, known());
            warning.severity = crate::diagnostic::Severity::Warning;
            self.diagnostics.push(warning);
        }
        self.definition.triggers.push(trigger);
    }

    /// Returns the definition, and warnings about what has no effect with the other diagnostics.
    pub fn finish(self) -> (FlowDefinition, Vec<Diagnostic>) {
        let unused = self.unused.into_values().map(|name| {
            let message = format!("condition {name} fires nothing: no trigger names it");
            Diagnostic::warning(name.span.clone(), message)
        });
        (self.definition, self.diagnostics.into_iter().chain(unused).collect())
    }
}

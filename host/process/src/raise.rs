//! Raising: a source of plans of work, the other way round from lowering.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::format::format;
use crate::parser::parse;
use crate::plan::{Dependence, Plan, PlannedApplication, PlannedData, PlannedTask, Unit};
use crate::syntax::TaskType;

/// Writes the source of processes. What it writes lowers to the same flows and plans; comments are not in a plan.
pub fn raise(plans: &[Plan]) -> String {
    let mut source = String::new();
    let mut written: BTreeSet<&str> = plans.iter().map(|plan| plan.process_type.as_str()).collect();
    for plan in plans {
        View { plan, prefix: String::new(), data: None }.write(&plan.process_type, &mut source);
    }
    for plan in plans {
        for sub in &plan.sub_workflows {
            // A sub-workflow that is no process here is known by its tasks alone.
            if written.insert(&sub.process_type) {
                let view = View { plan, prefix: format!("{}.", sub.name), data: sub.data.as_deref() };
                view.write(&sub.process_type, &mut source);
            }
        }
    }
    let mut models: BTreeMap<&str, Vec<&PlannedTask>> = BTreeMap::new();
    let mut applications: BTreeMap<&str, &PlannedApplication> = BTreeMap::new();
    for plan in plans {
        for task in plan.tasks.iter().filter(|task| task.starts.is_none()) {
            models.entry(&task.model).or_default().push(task);
        }
        applications.extend(plan.applications.iter().map(|one| (one.name.as_str(), one)));
    }
    for (name, tasks) in models {
        write_model(name, &tasks, &mut source);
    }
    for application in applications.values() {
        write_application(application, &mut source);
    }
    format(&parse(&source).document)
}

/// A workflow within a plan: its tasks have names that begin with the prefix.
struct View<'p> {
    plan: &'p Plan,
    prefix: String,
    /// The data that it defines, where they can be distinguished from those of the enclosing workflow.
    data: Option<&'p [PlannedData]>,
}

impl View<'_> {
    /// The name within this workflow, where it is one of its own and not of a workflow in it.
    fn own<'n>(&self, path: &'n str) -> Option<&'n str> {
        let name = path.strip_prefix(self.prefix.as_str())?;
        (!name.contains('.')).then_some(name)
    }

    fn write(&self, name: &str, source: &mut String) {
        source.push_str(&format!("WORKFLOW {name} {{\n"));
        for datum in self.data.into_iter().flatten() {
            write_datum(&datum.name, &datum.kind, &datum.source, source);
        }
        let used: BTreeSet<&String> = self
            .plan
            .tasks
            .iter()
            .filter(|task| task.task.starts_with(self.prefix.as_str()))
            .flat_map(|task| task.inputs.iter().chain(&task.outputs))
            .collect();
        for datum in &self.plan.data {
            // A datum of a workflow around this one is shared by tasks here.
            let outer = !datum.name.starts_with(self.prefix.as_str()) && used.contains(&datum.name);
            if self.data.is_none() && (outer || self.own(&datum.name).is_some()) {
                write_datum(last(&datum.name), &datum.kind, &datum.source, source);
            }
        }
        for task in &self.plan.tasks {
            if let Some(name) = self.own(&task.task) {
                self.write_task(name, task, source);
            }
        }
        for sub in &self.plan.sub_workflows {
            if let Some(name) = self.own(&sub.name) {
                self.write_sub(name, &sub.process_type, sub.depends.as_ref(), source);
            }
        }
        source.push_str("}\n");
    }

    fn write_task(&self, name: &str, task: &PlannedTask, source: &mut String) {
        if let Some(process) = &task.starts {
            self.write_sub(name, process, task.depends.as_ref(), source);
            return;
        }
        source.push_str(&format!("TASK {name}: {} {{\n", task.model));
        self.write_depends(task.depends.as_ref(), source);
        for (word, names) in [("IN_CONTEXT", &task.inputs), ("OUT_CONTEXT", &task.outputs)] {
            if !names.is_empty() {
                let names: Vec<&str> = names.iter().map(|path| last(path)).collect();
                source.push_str(&format!("{word} {};\n", names.join(", ")));
            }
        }
        if let Some(role) = &task.role {
            source.push_str(&format!("ROLE {role};\n"));
        }
        if let Some(text) = &task.description {
            source.push_str(&format!("DESCRIPTION {};\n", quoted(text)));
        }
        source.push_str("}\n");
    }

    fn write_sub(&self, name: &str, process: &str, rule: Option<&Dependence>, source: &mut String) {
        source.push_str(&format!("SUB-WORKFLOW {name}: {process} {{\n"));
        self.write_depends(rule, source);
        source.push_str("}\n");
    }

    fn write_depends(&self, rule: Option<&Dependence>, source: &mut String) {
        if let Some(rule) = rule {
            source.push_str(&format!("DEPENDS {};\n", self.rule(rule)));
        }
    }

    fn rule(&self, rule: &Dependence) -> String {
        match rule {
            Dependence::Term { task, state } => format!("{} -> {}", last(task), state.keyword()),
            Dependence::Tree { op, of } => {
                let terms: Vec<String> = of.iter().map(|term| self.rule(term)).collect();
                format!("{} ({})", op.keyword(), terms.join(", "))
            }
        }
    }
}

/// The last part of a path `Sub.Name`: rules and contexts name their siblings.
fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

fn write_datum(name: &str, kind: &str, from: &Json, source: &mut String) {
    let text = |key: &str| from[key].as_str();
    let clauses = match kind {
        "file" => vec![("NAME", text("name").map(quoted))],
        "query" => vec![("DATABASE", text("database").map(quoted)), ("EXPRESSION", text("expression").map(quoted))],
        "number" => vec![("VALUE", text("value").map(str::to_owned))],
        _ => vec![("VALUE", text("value").map(quoted))],
    };
    let clauses: Vec<String> =
        clauses.into_iter().filter_map(|(word, value)| Some(format!("{word} {};", value?))).collect();
    source.push_str(&format!("{} {name} {{ {} }}\n", kind.to_uppercase(), clauses.join(" ")));
}

/// Writes a model by the tasks that it makes. Where they differ in type, the type is left to their roles, as it was.
fn write_model(name: &str, tasks: &[&PlannedTask], source: &mut String) {
    let Some(first) = tasks.first() else { return };
    let same = tasks.iter().all(|task| task.task_type == first.task_type);
    let kind = if same { format!(" {}", first.task_type.keyword()) } else { String::new() };
    source.push_str(&format!("TASK {name} {{ TYPE{kind};\n"));
    if let Some(application) = tasks.iter().find_map(|task| task.application.as_ref()) {
        source.push_str(&format!("APPLICATION {application};\n"));
    }
    source.push_str(&format!("PRIORITY {};\n", first.priority));
    if let Some(deadline) = &first.deadline {
        let unit = match deadline.unit {
            Unit::Hours => "HOURS",
            Unit::Days => "DAYS",
        };
        source.push_str(&format!("DEADLINE {} {unit};\n", deadline.amount));
    }
    let disconnected = tasks.iter().any(|task| task.disconnected);
    let word = if disconnected { "TRUE" } else { "FALSE" };
    source.push_str(&format!("DISCONNECTED_OPERATION {word};\n"));
    let automatic = tasks.iter().filter(|task| task.task_type == TaskType::Automatic);
    match automatic.map(|task| task.retries).max() {
        Some(retries) if retries > 0 => source.push_str(&format!("RETRIES {retries};\n}}\n")),
        _ => source.push_str("}\n"),
    }
}

fn write_application(application: &PlannedApplication, source: &mut String) {
    let PlannedApplication { name, file, size, os, cpu, installer, hosts, .. } = application;
    let (file, os, cpu) = (quoted(file), quoted(os), quoted(cpu));
    source.push_str(&format!("APPLICATION {name} {{ FILENAME {file}; SIZE {size}; OS {os}; CPU {cpu};\n"));
    if let Some(installer) = installer {
        source.push_str(&format!("INSTALLER {};\n", quoted(installer)));
    }
    let hosts: Vec<String> = hosts.iter().map(|host| quoted(host)).collect();
    source.push_str(&format!("HOSTS {};\n}}\n", hosts.join(", ")));
}

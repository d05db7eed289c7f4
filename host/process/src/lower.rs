//! Lowering: a flow and a plan of work of each workflow.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use wedflow_model::{
    AttributeDefinition, AttributeType, FlowDefinition, ScalarType, TransitionDefinition, TriggerDefinition,
};

use crate::check::check;
use crate::diagnostic::Diagnostic;
use crate::naming::{NAME_BYTES_MAX, attribute, kebab, snake};
use crate::network::{CONDITION_BYTES_MAX, MEMBERS_MAX, Member, Network};
use crate::plan::{Deadline, Plan, PlannedApplication, PlannedData, PlannedSubWorkflow, PlannedTask, Unit};
use crate::syntax::{Block, BlockKind, Document, Name, TaskType, Workflow};

/// States of a task, in the order in which it has them.
const STATES: [&str; 5] = ["NOT_READY", "READY", "RUNNING", "SUCCEEDED", "FAILED"];
/// Time limit of an attempt at a task.
const TIMEOUT: &str = "1 hour";

/// A workflow as a flow, and what worklists need to know of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    /// The flow.
    pub definition: FlowDefinition,
    /// The plan of work.
    pub plan: Plan,
}

/// Makes a flow and a plan of each workflow, in order.
///
/// # Errors
/// The errors of [`check`], and those of names and conditions that a flow cannot have.
pub fn lower(document: &Document) -> Result<Vec<Process>, Vec<Diagnostic>> {
    let mut errors: Vec<Diagnostic> = check(document);
    errors.retain(Diagnostic::is_error);
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut processes = Vec::new();
    let mut names = BTreeMap::new();
    for workflow in document.workflows() {
        let name = snake(&workflow.name.text);
        claim(&mut names, "flow", &name, &workflow.name, &mut errors);
        if !name.is_ascii() {
            let message = format!("the name {} has letters other than a to z", workflow.name);
            errors.push(Diagnostic::error(workflow.name.span.clone(), message));
        }
        match process(document, workflow, name) {
            Ok(process) => processes.push(process),
            Err(mut more) => errors.append(&mut more),
        }
    }
    if errors.is_empty() { Ok(processes) } else { Err(errors) }
}

fn process(document: &Document, workflow: &Workflow, name: String) -> Result<Process, Vec<Diagnostic>> {
    let at = &workflow.name;
    let network = Network::of(document, workflow, |path| format!("{}_state", snaked(path)))
        .ok_or_else(|| too_large(at, &format!("it has more than {MEMBERS_MAX} tasks")))?;
    let data = data_of(workflow, &network);
    check_names(workflow, &network, &data)?;
    let mut definition = FlowDefinition {
        name,
        description: format!("Process {}", workflow.name),
        attributes: Vec::new(),
        triggers: Vec::new(),
        final_condition: None,
        transitions: BTreeMap::new(),
        order: None,
        start: None,
        schedules: None,
    };
    let long = |part: &str| too_large(at, &format!("{part} is longer than {CONDITION_BYTES_MAX} bytes"));
    definition.final_condition = Some(network.complete(None).ok_or_else(|| long("its final condition"))?);
    for datum in data.values() {
        definition.attributes.push(data_attribute(datum));
    }
    let mut tasks = Vec::new();
    for (place, member) in network.members.iter().enumerate() {
        let Some(state) = &member.state else { continue };
        definition.attributes.push(state_attribute(state));
        let condition = network.at_work(place);
        let condition = condition.ok_or_else(|| long(&format!("the rule of {}", member.path)))?;
        let task = planned_task(document, &network, place, state, &data);
        definition.triggers.push(trigger(&task, condition, &data));
        if let Some(performer) = performer(&task, &data) {
            definition.transitions.insert(task.trigger.clone(), performer);
        }
        tasks.push(task);
    }
    Ok(Process {
        plan: Plan {
            process_type: workflow.name.text.clone(),
            creator_role: None,
            applications: applications(document, &tasks),
            sub_workflows: sub_workflows(document, &network),
            data: data.into_values().map(|datum| datum.planned).collect(),
            tasks,
        },
        definition,
    })
}

/// Makes what performs a task without a person: its application, or an instance of another process, which shares the
/// data that it names alike.
fn performer(task: &PlannedTask, data: &BTreeMap<String, Datum<'_>>) -> Option<TransitionDefinition> {
    if let Some(process) = &task.starts {
        return Some(TransitionDefinition {
            starts: Some(snake(process)),
            shares: data.values().map(|one| one.planned.attribute.clone()).collect(),
            state: Some(task.state.clone()),
            ..TransitionDefinition::default()
        });
    }
    let application = task.application.as_ref();
    application
        .filter(|_| task.task_type == TaskType::Automatic)
        .map(|one| TransitionDefinition::by_component(kebab(one)))
}

fn too_large(at: &Name, why: &str) -> Vec<Diagnostic> {
    vec![
        Diagnostic::error(at.span.clone(), format!("WORKFLOW {at} is too large: {why}"))
            .hint("Divide it into workflows that are started one after the other."),
    ]
}

/// Writes a path `Sub.Task` as part of an attribute's name.
fn snaked(path: &str) -> String {
    path.split('.').map(snake).collect::<Vec<_>>().join("_")
}

/// A datum with its definition.
struct Datum<'d> {
    block: &'d Block,
    planned: PlannedData,
}

/// Data by path. A sub-workflow's datum is that of the workflow around it, where that has one of the same kind and
/// name; else its own.
fn data_of<'d>(workflow: &'d Workflow, network: &Network<'d>) -> BTreeMap<String, Datum<'d>> {
    let mut data = BTreeMap::new();
    for block in workflow.data() {
        data.insert(block.name.text.clone(), datum(block, block.name.text.clone()));
    }
    for member in network.members.iter().filter(|one| one.parent.is_some()) {
        for block in member.workflow.data() {
            let path = data_path(network, member, &block.name.text);
            data.entry(path.clone()).or_insert_with(|| datum(block, path));
        }
    }
    data
}

/// Finds the path of a datum that a member names: the outermost around it with that kind and name.
fn data_path(network: &Network<'_>, member: &Member<'_>, name: &str) -> String {
    let kind_in = |workflow: &Workflow| {
        let found = workflow.data().find(|block| block.name.text == name);
        found.map(|block| block.kind)
    };
    let kind = kind_in(member.workflow);
    let (mut around, mut path) = (member.parent, own_path(network, member.parent, name));
    while let Some(parent) = around {
        let outer = &network.members[parent];
        if kind_in(outer.workflow) != kind {
            break;
        }
        around = outer.parent;
        path = own_path(network, around, name);
    }
    path
}

fn own_path(network: &Network<'_>, parent: Option<usize>, name: &str) -> String {
    match parent {
        Some(parent) => format!("{}.{name}", network.members[parent].path),
        None => name.to_owned(),
    }
}

fn datum(block: &Block, path: String) -> Datum<'_> {
    let (kind, source) = match block.kind {
        BlockKind::File => ("file", json!({ "name": block.file_name() })),
        BlockKind::Query => ("query", json!({ "database": block.database(), "expression": block.expression() })),
        BlockKind::Number => ("number", json!({ "value": block.value() })),
        _ => ("string", json!({ "value": block.value() })),
    };
    let words: Vec<String> = path.split('.').map(str::to_owned).collect();
    let attribute = match words.as_slice() {
        [one] => attribute(one),
        _ => snaked(&path),
    };
    Datum { block, planned: PlannedData { name: path, kind: kind.to_owned(), attribute, source } }
}

fn check_names(
    workflow: &Workflow,
    network: &Network<'_>,
    data: &BTreeMap<String, Datum<'_>>,
) -> Result<(), Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let mut attributes = BTreeMap::new();
    let mut triggers = BTreeMap::new();
    for datum in data.values() {
        let (name, at) = (&datum.planned.attribute, &datum.block.name);
        claim(&mut attributes, "attribute", name, at, &mut errors);
    }
    for member in &network.members {
        if let Some(state) = &member.state {
            let at = &member.block.name;
            claim(&mut attributes, "attribute", state, at, &mut errors);
            claim(&mut triggers, "trigger", &snaked(&member.path), at, &mut errors);
        }
    }
    if errors.is_empty() {
        return Ok(());
    }
    let hint = format!("In the flow of WORKFLOW {}.", workflow.name);
    for error in &mut errors {
        error.hint.get_or_insert_with(|| hint.clone());
    }
    Err(errors)
}

/// Takes a name for a thing of a flow; an error if another has it or it is too long.
fn claim(taken: &mut BTreeMap<String, String>, what: &str, name: &str, of: &Name, errors: &mut Vec<Diagnostic>) {
    if name.len() > NAME_BYTES_MAX {
        let message = format!("{of} is too long: its {what} {name} has {} bytes", name.len());
        errors.push(Diagnostic::error(of.span.clone(), message).hint(format!("At most {NAME_BYTES_MAX} bytes.")));
    }
    if let Some(other) = taken.insert(name.to_owned(), of.text.clone()) {
        let message = format!("{other} and {of} are both the {what} {name}");
        errors.push(
            Diagnostic::error(of.span.clone(), message)
                .hint("Capitals, hyphens and underscores only separate words there; rename one."),
        );
    }
}

fn data_attribute(datum: &Datum<'_>) -> AttributeDefinition {
    let scalar = match datum.block.kind {
        BlockKind::Query => ScalarType::Jsonb,
        BlockKind::Number => ScalarType::Numeric,
        _ => ScalarType::Text,
    };
    AttributeDefinition {
        name: datum.planned.attribute.clone(),
        kind: AttributeType { scalar, array: false },
        default: datum.block.value().map(str::to_owned),
        open: false,
        number: None,
    }
}

fn state_attribute(name: &str) -> AttributeDefinition {
    AttributeDefinition {
        name: name.to_owned(),
        kind: AttributeType { scalar: ScalarType::Enum(STATES.map(str::to_owned).to_vec()), array: false },
        default: Some(STATES[0].to_owned()),
        open: false,
        number: None,
    }
}

fn planned_task(
    document: &Document,
    network: &Network<'_>,
    place: usize,
    state: &str,
    data: &BTreeMap<String, Datum<'_>>,
) -> PlannedTask {
    let member = &network.members[place];
    let block = member.block;
    let model_name = block.of.as_ref().map_or("", |of| of.text.as_str());
    let model = document.models().find(|one| one.name.text == model_name);
    let application = model.and_then(Block::application);
    let written = model.and_then(Block::task_type);
    let task_type = written.unwrap_or(match (block.role(), application) {
        (None, _) => TaskType::Automatic,
        (Some(_), Some(_)) => TaskType::SemiAutomatic,
        (Some(_), None) => TaskType::Manual,
    });
    let starts = (block.of.as_ref()).filter(|_| block.kind == BlockKind::SubWorkflow).map(|of| of.text.clone());
    let automatic = task_type == TaskType::Automatic;
    let names = |context: Option<&[Name]>| -> Vec<String> {
        let names = context.unwrap_or_default().iter();
        names.map(|name| data_path(network, member, &name.text)).filter(|path| data.contains_key(path)).collect()
    };
    PlannedTask {
        task: member.path.clone(),
        trigger: snaked(&member.path),
        model: model_name.to_owned(),
        task_type,
        application: application.filter(|_| task_type != TaskType::Manual).map(|name| name.text.clone()),
        role: block.role().filter(|_| !automatic).map(|name| name.text.clone()),
        priority: model.and_then(Block::priority).unwrap_or(0),
        deadline: model
            .and_then(Block::deadline)
            .map(|(amount, unit)| Deadline { amount, unit: unit.unwrap_or(Unit::Hours) }),
        disconnected: !automatic && model.and_then(Block::disconnected).unwrap_or(false),
        retries: model.and_then(Block::retries).filter(|_| automatic).unwrap_or(0),
        description: block.description().map(str::to_owned),
        inputs: names(block.in_context()),
        outputs: names(block.out_context()),
        starts,
        state: state.to_owned(),
        depends: network.dependence(place),
        failure_expected: network.failure_expected(place),
    }
}

fn trigger(task: &PlannedTask, when: String, data: &BTreeMap<String, Datum<'_>>) -> TriggerDefinition {
    let outputs = task.outputs.iter().filter_map(|path| data.get(path));
    let outputs = outputs.map(|datum| datum.planned.attribute.clone());
    // A child gives back what it shares.
    let shared = data.values().filter(|_| task.starts.is_some());
    let outputs = outputs.chain(shared.map(|datum| datum.planned.attribute.clone()));
    let automatic = task.task_type == TaskType::Automatic;
    TriggerDefinition {
        name: task.trigger.clone(),
        transition: task.trigger.clone(),
        when,
        condition: None,
        timeout: Some(TIMEOUT.to_owned()),
        attempts: automatic.then(|| i32::try_from(task.retries + 1).unwrap_or(i32::MAX)),
        backoff: None,
        delay: None,
        priority: Some(task.priority),
        recheck: None,
        enabled: None,
        writes: Some(std::iter::once(task.state.clone()).chain(outputs).collect()),
        compensation: None,
        // The plan of work says it.
        work: None,
        reserves: None,
        quantity: None,
        resource: None,
        holds: None,
        consumes: false,
        after: None,
        waits_for: None,
        or_after: None,
        // A person's deadline is watched by the worklists: who is in charge decides what becomes of the task.
        deadline: task.deadline.as_ref().filter(|_| automatic).map(|deadline| match deadline.unit {
            Unit::Hours => format!("{} hours", deadline.amount),
            Unit::Days => format!("{} days", deadline.amount),
        }),
    }
}

fn applications(document: &Document, tasks: &[PlannedTask]) -> Vec<PlannedApplication> {
    let used: BTreeSet<&str> = tasks.iter().filter_map(|task| task.application.as_deref()).collect();
    document
        .applications()
        .filter(|block| used.contains(block.name.text.as_str()))
        .map(|block| PlannedApplication {
            name: block.name.text.clone(),
            component: kebab(&block.name.text),
            file: block.file_name().unwrap_or_default().to_owned(),
            size: block.size().unwrap_or(0),
            os: block.os().unwrap_or_default().to_owned(),
            cpu: block.cpu().unwrap_or_default().to_owned(),
            installer: block.installer().map(str::to_owned),
            hosts: block.hosts().unwrap_or_default().to_vec(),
        })
        .collect()
}

fn sub_workflows(document: &Document, network: &Network<'_>) -> Vec<PlannedSubWorkflow> {
    let subs = network.members.iter().enumerate();
    subs.filter(|(_, member)| member.state.is_none())
        .map(|(place, member)| {
            let of = member.block.of.as_ref();
            let process_type = of.map_or_else(String::new, |of| of.text.clone());
            let own = document.workflow(&process_type).map(|workflow| {
                let blocks = workflow.data().map(|block| (&block.name.text, block));
                // By name, as the data of a plan are.
                let blocks: BTreeMap<_, _> = blocks.collect();
                let planned = |(name, block): (&String, &Block)| datum(block, name.clone()).planned;
                blocks.into_iter().map(planned).collect()
            });
            PlannedSubWorkflow {
                name: member.path.clone(),
                depends: network.dependence(place),
                data: own,
                process_type,
            }
        })
        .collect()
}

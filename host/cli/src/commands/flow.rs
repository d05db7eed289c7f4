//! `wed flow`: definitions.

use std::path::Path;

use serde_json::{Value as Json, json};
use wedflow_client::Expected;
use wedflow_documents::Trigger;
use wedflow_model::FlowDefinition;
use wedflow_store::Store;

use crate::answer::counted;
use crate::arguments::FlowCommand;
use crate::commands::{changes, flow_events, operate, process, setting, statements, why};
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(command: &FlowCommand, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    match command {
        FlowCommand::Create { name, description } => create(name, description, door, terminal).await,
        FlowCommand::Operate(command) => operate::flow(command, door, terminal).await,
        FlowCommand::Apply { file, dry_run, yes, creator_role } => {
            let how = (*dry_run, *yes, creator_role.as_deref());
            apply_file(file, how, door, terminal).await
        }
        FlowCommand::Fmt(fmt) => process::fmt(fmt, terminal),
        FlowCommand::Check(check) => process::check(check, terminal),
        FlowCommand::Graph(graph) => why::graph(graph, door, terminal).await,
        FlowCommand::WhatIf(assumed) => why::condition(assumed, door, terminal).await,
        FlowCommand::List => list(door, terminal).await,
        FlowCommand::Events { name, after, follow: true, .. } => {
            flow_events::follow(name.as_deref(), after.as_deref(), door, terminal).await
        }
        FlowCommand::Events { name, after, limit, .. } => {
            let (name, after) = (name.as_deref(), after.as_deref());
            flow_events::list(name, after, *limit, door, terminal).await
        }
        FlowCommand::Show { name, form } if form.pdl => process::show(name, door, terminal).await,
        FlowCommand::Show { name, form } => match form.form() {
            Some(form) => statements::show(name, form, door, terminal).await,
            None => show(name, door, terminal).await,
        },
        FlowCommand::Url { .. } => Err(Problem::usage("`wed flow url` needs the database")),
        FlowCommand::Bind { flow, transition, component } => {
            bind(flow, transition, Some(component), door, terminal).await
        }
        FlowCommand::Unbind { flow, transition } => bind(flow, transition, None, door, terminal).await,
        FlowCommand::Config(command) => setting::config(command, door, terminal).await,
        FlowCommand::Secret(command) => setting::secret(command, door, terminal).await,
        FlowCommand::Rematch { name, apply } => rematch(name, *apply, door, terminal).await,
        FlowCommand::Delete { name, yes } => remove(name, *yes, door, terminal).await,
    }
}

/// Applies a definition of any form, or shows what that would do.
async fn apply_file(
    file: &Path,
    (dry_run, yes, creator_role): (bool, bool, Option<&str>),
    door: &Door,
    terminal: &Terminal,
) -> Result<(), Problem> {
    if process::is_source(file) {
        return process::apply(file, dry_run, creator_role, door, terminal).await;
    }
    if creator_role.is_some() {
        return Err(Problem::usage("a flow.toml has no creator role").hint("--creator-role is for processes, x.pdl."));
    }
    let definition = match statements::is_source(file) {
        true => statements::read_definition(file, terminal)?,
        false => read_definition(file)?,
    };
    match dry_run {
        true => changes::preview(door, &definition, terminal).await,
        false => apply(&definition, yes, door, terminal).await,
    }
}

/// Makes an empty flow.
async fn create(name: &str, description: &str, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let definition: FlowDefinition = serde_json::from_value(json!({ "name": name, "description": description }))
        .map_err(|source| Problem::usage("no flow can be like this").because(source))?;
    match door.apply(&definition, &Expected::Nothing).await {
        Err(error) if error.code() == Some("stale") => {
            return Err(Problem::new(format!("there is a flow \"{name}\" already"))
                .code("23505")
                .exit(4)
                .hint("Choose another name, or change that one with `wed flow apply`."));
        }
        other => other?,
    };
    terminal.answer(&json!({ "flow": name }), || {
        terminal.line(&format!("Flow {name} is made."));
        terminal.say(&format!(
            "Define it in SQL:   psql \"$(wed flow url {name})\"\nor from a file:     wed flow apply flow.toml"
        ));
    });
    Ok(())
}

/// Prints the URL under which a flow's own role works in SQL.
pub(crate) async fn url(name: &str, tenant: &str, store: &Store, terminal: &Terminal) -> Result<(), Problem> {
    let url = store.flow_url(tenant, name).await?;
    terminal.answer(&json!({ "flow": name, "url": url }), || terminal.line(&url));
    Ok(())
}

/// Lists the flows of a tenant.
async fn list(door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let flows = door.flows().await?;
    terminal.answer(&flows, || {
        terminal.table(
            &["flow", "regular", "final", "exceptions", "jobs", "description"],
            flows.iter().map(|flow| {
                let about = if flow.estimated { "~" } else { "" };
                vec![
                    flow.name.clone(),
                    format!("{about}{}", flow.regular),
                    format!("{about}{}", flow.r#final),
                    flow.exception.to_string(),
                    format!("{about}{}", flow.jobs),
                    flow.description.clone(),
                ]
            }),
        );
    });
    Ok(())
}

/// Leaves a transition to a component, or to external workers: a change of the flow's definition.
async fn bind(
    flow: &str,
    transition: &str,
    component: Option<&str>,
    door: &Door,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let (found, tag) = door.flow(flow).await?;
    if let Some(component) = component {
        // One that is missing is a mistake here, though not in a definition.
        let listed = door.components(Some(component)).await;
        listed.map_err(|error| match error.code() {
            Some("not_found") => Problem::from(error)
                .hint("`wed component push FILE.wasm` uploads one; `wed component list` shows those there are."),
            _ => Problem::from(error),
        })?;
    }
    let mut definition = found.definition;
    let is_bound = !definition["transition"][transition].is_null();
    let is_of = |trigger: &Trigger| trigger.transition.as_deref() == Some(transition);
    if component.is_none() && !is_bound && !found.triggers.iter().any(is_of) {
        return Err(Problem::new(format!("flow {flow} has no transition \"{transition}\""))
            .exit(3)
            .hint(format!("`wed flow show {flow}` lists them.")));
    }
    match component {
        Some(component) => definition["transition"][transition]["component"] = component.into(),
        None => {
            // Of a flow that binds nothing, the definition has no `transition`.
            let bound = definition.get_mut("transition").and_then(Json::as_object_mut);
            bound.map(|bound| bound.remove(transition));
        }
    }
    let definition: FlowDefinition = serde_json::from_value(definition)
        .map_err(|source| Problem::new("the flow's definition cannot be read").because(source))?;
    let applied = door.apply(&definition, &Expected::Tag(tag)).await?;
    for warning in &applied.warnings {
        terminal.say(&format!("warning: {warning}"));
    }
    terminal.answer(&json!({ "flow": flow, "transition": transition, "component": component }), || {
        let to = match component {
            Some(component) => format!("component {component}"),
            None => "external workers".to_owned(),
        };
        terminal.line(&format!("{transition} of {flow} is left to {to}."));
    });
    Ok(())
}

/// Evaluates the conditions of instances anew, or shows what that would fire.
async fn rematch(name: &str, apply: bool, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let rematch = door.rematch(name, apply).await?;
    let mut document = json!(rematch);
    document["flow"] = name.into();
    terminal.answer(&document, || {
        let fires = if apply { "fired" } else { "would fire" };
        changes::print_touched(fires, &rematch.instances, terminal);
        if !apply && !rematch.instances.is_empty() {
            terminal.say(&format!("Nothing was changed. To do it: wed flow rematch {name} --apply"));
        }
    });
    Ok(())
}

/// Removes a flow with its instances, after asking.
async fn remove(name: &str, yes: bool, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let (flow, _) = door.flow(name).await?;
    let instances = counted(flow.regular + flow.r#final + flow.exception, "instance");
    if !yes && !terminal.confirmed(&format!("Remove flow {name} with {instances} and their history?"))? {
        return Err(Problem::new("nothing was removed"));
    }
    door.delete_flow(name).await?;
    terminal.answer(&json!({ "flow": name, "deleted": true }), || {
        terminal.line(&format!("Flow {name} is gone."));
    });
    Ok(())
}

/// Applies a definition. At a terminal, shows the changes of a flow that there is first, and asks.
async fn apply(definition: &FlowDefinition, yes: bool, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    if !yes && terminal.has_screen() && changes::asked(door, definition, terminal).await? {
        return Err(Problem::new("nothing was changed"));
    }
    let applied = door.apply(definition, &Expected::Anything).await?;
    terminal.answer(&json!({ "flow": definition.name, "applied": applied }), || {
        changes::say_applied(&definition.name, &applied, terminal)
    });
    Ok(())
}

/// Shows a flow's attributes and triggers.
async fn show(name: &str, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let (flow, _) = door.flow(name).await?;
    let (definition, triggers) = (&flow.definition, &flow.triggers);
    terminal.answer(&flow, || {
        terminal.line(&format!(
            "{} {}\n{} regular, {} final, {}, {}",
            flow.name,
            flow.description,
            flow.regular,
            flow.r#final,
            counted(flow.exception, "exception"),
            counted(flow.jobs, "pending job")
        ));
        let attributes = definition["attribute"].as_array().into_iter().flatten();
        terminal.table(
            &["attribute", "type", "default", "set by events"],
            attributes.map(|attribute| {
                let open = attribute["open"].as_bool().unwrap_or(false);
                vec![
                    word(&attribute["name"]),
                    word(&attribute["type"]),
                    word(&attribute["default"]),
                    if open { "yes" } else { "" }.to_owned(),
                ]
            }),
        );
        terminal.table(
            &["trigger", "when", "fires", "by", "timeout", "attempts", "delay", "deadline", "undone by", "writes"],
            triggers.iter().map(|trigger| shown_trigger(trigger, definition)),
        );
    });
    Ok(())
}

/// A trigger as a row: what is listed of it, and what its definition says.
fn shown_trigger(trigger: &Trigger, definition: &Json) -> Vec<String> {
    let name = trigger.name.clone().unwrap_or_default();
    let defined = definition["trigger"].as_array().into_iter().flatten();
    let defined = defined.into_iter().find(|one| one["name"] == name.as_str());
    let said = |key: &str| {
        let defined = defined.filter(|_| !trigger.r#final);
        defined.map_or_else(String::new, |defined| word(&defined[key]))
    };
    vec![
        name.clone(),
        trigger.when.clone(),
        match (&trigger.transition, trigger.r#final, trigger.enabled) {
            (_, true, _) => "(final)".to_owned(),
            (Some(name), _, true) => name.clone(),
            (Some(name), _, false) => format!("{name} (disabled)"),
            (None, ..) => String::new(),
        },
        match (&trigger.component, trigger.r#final) {
            (Some(component), _) => format!("component {component}"),
            (None, true) => String::new(),
            (None, false) => match trigger.transition.as_deref() {
                None => "an event".to_owned(),
                Some(name) => match definition["transition"][name]["starts"].as_str() {
                    Some(starts) => format!("flow {starts}"),
                    None => "external workers".to_owned(),
                },
            },
        },
        span(&said("timeout")),
        said("attempts"),
        span(&said("delay")),
        span(&said("deadline")),
        said("compensation"),
        said("writes"),
    ]
}

/// A value of a definition for people.
fn word(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        Json::Array(items) => items.iter().map(word).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// An interval of Postgres for people: `10m` for `PT10M`.
fn span(text: &str) -> String {
    match text.parse::<jiff::Span>() {
        Ok(span) => format!("{span:#}"),
        Err(_) => text.to_owned(),
    }
}

/// Reads a flow.toml.
pub(crate) fn read_definition(file: &Path) -> Result<FlowDefinition, Problem> {
    let shown = file.display();
    let bytes = std::fs::read(file).map_err(|source| {
        Problem::new(format!("{shown} cannot be read")).exit(3).because(source).hint(process::NO_FILE_HINT)
    })?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Problem::usage(format!("{shown} is not in UTF-8")).hint("Save it as UTF-8; some editors write UTF-16.")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    toml::from_str(text).map_err(|source| {
        let hint = lone_table(text).unwrap_or_else(|| {
            "It holds name, [[attribute]], [[trigger]], final and [transition.NAME]; see `wed explain flow-toml`."
                .to_owned()
        });
        Problem::usage(format!("{shown} is no flow definition")).because(source).hint(hint)
    })
}

/// Advice on a table that is to be one of several, and lacks its second brackets.
fn lone_table(text: &str) -> Option<String> {
    let lines = text.lines().map(str::trim);
    let lone = lines.enumerate().find_map(|(at, line)| match line {
        "[attribute]" | "[trigger]" => Some((at + 1, line)),
        _ => None,
    });
    lone.map(|(line, header)| format!("Write [{header}] in line {line}: there may be several."))
}

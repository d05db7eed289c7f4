//! `wed flow`: definitions.

use std::path::Path;

use serde_json::{Value as Json, json};
use wedflow_model::FlowDefinition;
use wedflow_store::{Store, Trigger};

use crate::answer::counted;
use crate::arguments::FlowCommand;
use crate::commands::{changes, operate, process, setting};
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(
    command: &FlowCommand,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    match command {
        FlowCommand::Create { name, description } => {
            let flow_id = store.create_flow(tenant, name, description).await?;
            terminal.answer(&json!({ "flow": name, "flow_id": flow_id }), || {
                terminal.line(&format!("Flow {name} is made."));
                terminal.say(&format!(
                    "Define it in SQL:   psql \"$(wed flow url {name})\"\nor from a file:     wed flow apply flow.toml"
                ));
            });
            Ok(())
        }
        FlowCommand::Operate(command) => operate::flow(command, tenant, store, terminal).await,
        FlowCommand::Apply {
            file,
            dry_run,
            creator_role,
        } if process::is_source(file) => {
            process::apply(
                file,
                *dry_run,
                creator_role.as_deref(),
                tenant,
                store,
                terminal,
            )
            .await
        }
        FlowCommand::Fmt(fmt) => process::fmt(fmt, terminal),
        FlowCommand::Check(check) => process::check(check, terminal),
        FlowCommand::Apply {
            creator_role: Some(_),
            ..
        } => Err(Problem::usage("a flow.toml has no creator role")
            .hint("--creator-role is for processes, x.pdl.")),
        FlowCommand::Apply { file, dry_run, .. } => {
            apply(file, *dry_run, tenant, store, terminal).await
        }
        FlowCommand::List => list(tenant, store, terminal).await,
        FlowCommand::Show { name, pdl: true } => process::show(name, tenant, store, terminal).await,
        FlowCommand::Show { name, .. } => show(tenant, name, store, terminal).await,
        FlowCommand::Url { name } => {
            let url = store.flow_url(tenant, name).await?;
            terminal.answer(&json!({ "flow": name, "url": url }), || terminal.line(&url));
            Ok(())
        }
        FlowCommand::Bind {
            flow,
            transition,
            component,
        } => bind(flow, transition, component, tenant, store, terminal).await,
        FlowCommand::Unbind { flow, transition } => {
            unbind(flow, transition, tenant, store, terminal).await
        }
        FlowCommand::Config(command) => setting::config(command, tenant, store, terminal).await,
        FlowCommand::Secret(command) => setting::secret(command, tenant, store, terminal).await,
        FlowCommand::Rematch { name, apply } => {
            rematch(name, *apply, tenant, store, terminal).await
        }
        FlowCommand::Drop { name, yes } => remove(name, *yes, tenant, store, terminal).await,
    }
}

/// Lists the flows of a tenant.
async fn list(tenant: &str, store: &Store, terminal: &Terminal) -> Result<(), Problem> {
    let flows = store.flows(tenant).await?;
    terminal.answer(&flows, || {
        terminal.table(
            &[
                "flow",
                "regular",
                "final",
                "exceptions",
                "jobs",
                "description",
            ],
            flows.iter().map(|flow| {
                vec![
                    flow.name.clone(),
                    flow.regular.to_string(),
                    flow.r#final.to_string(),
                    flow.exception.to_string(),
                    flow.jobs.to_string(),
                    flow.description.clone(),
                ]
            }),
        );
    });
    Ok(())
}

/// Leaves a transition to a component.
async fn bind(
    flow: &str,
    transition: &str,
    component: &str,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    if store.components(tenant, Some(component)).await?.is_empty() {
        return Err(Problem::new(format!("there is no component \"{component}\"")).exit(3)
                .hint("`wed component push FILE.wasm` uploads one; `wed component list` shows those there are."));
    }
    let flow = store.flow(tenant, flow).await?;
    store
        .bind(flow.flow_id, transition, Some(component))
        .await?;
    for warning in store.flow_warnings(flow.flow_id).await? {
        terminal.say(&format!("warning: {warning}"));
    }
    terminal.answer(
        &json!({ "flow": flow.name, "transition": transition, "component": component }),
        || {
            terminal.line(&format!(
                "{transition} of {} is left to component {component}.",
                flow.name
            ))
        },
    );
    Ok(())
}

/// Leaves a transition to external workers.
async fn unbind(
    flow: &str,
    transition: &str,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let flow = store.flow(tenant, flow).await?;
    let triggers = store.triggers(&flow).await?;
    let is_of = |trigger: &Trigger| trigger.trname.as_deref() == Some(transition);
    if !store.is_bound(flow.flow_id, transition).await? && !triggers.iter().any(is_of) {
        return Err(Problem::new(format!(
            "flow {} has no transition \"{transition}\"",
            flow.name
        ))
        .exit(3)
        .hint(format!("`wed flow show {}` lists them.", flow.name)));
    }
    store.bind(flow.flow_id, transition, None).await?;
    terminal.answer(
        &json!({ "flow": flow.name, "transition": transition, "component": null }),
        || {
            terminal.line(&format!(
                "{transition} of {} is left to external workers.",
                flow.name
            ))
        },
    );
    Ok(())
}

/// Evaluates the conditions of instances anew, or shows what that would fire.
async fn rematch(
    name: &str,
    apply: bool,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let flow = store.flow(tenant, name).await?;
    let rows = store.rematch(flow.flow_id, !apply).await?;
    let document = json!({ "flow": flow.name, "applied": apply, "matching": rows.len(),
        "instances": changes::instances_of(&rows) });
    terminal.answer(&document, || {
        let fires = if apply { "fired" } else { "would fire" };
        changes::print_touched(fires, &rows, terminal);
        if !apply && !rows.is_empty() {
            terminal.say(&format!(
                "Nothing was changed. To do it: wed flow rematch {name} --apply"
            ));
        }
    });
    Ok(())
}

/// Removes a flow with its instances, after asking.
async fn remove(
    name: &str,
    yes: bool,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let flow = store.counted_flow(tenant, name).await?;
    let instances = flow.regular + flow.r#final + flow.exception;
    if !yes
        && !terminal.confirmed(&format!(
            "Remove flow {name} with {} and their history?",
            counted(instances, "instance")
        ))?
    {
        return Err(Problem::new("nothing was removed"));
    }
    store.drop_flow(tenant, name).await?;
    terminal.answer(&json!({ "flow": name, "dropped": true }), || {
        terminal.line(&format!("Flow {name} is gone."));
    });
    Ok(())
}

/// Applies a definition, or shows what that would change.
async fn apply(
    file: &Path,
    dry_run: bool,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let definition = read_definition(file)?;
    if dry_run {
        return changes::preview(store, tenant, &definition, terminal).await;
    }
    let applied = wedflow_worker::definition::apply(store, tenant, &definition).await?;
    terminal.answer(
        &json!({ "flow": definition.name, "applied": applied }),
        || changes::say_applied(&definition.name, &applied, terminal),
    );
    Ok(())
}

async fn show(tenant: &str, name: &str, store: &Store, terminal: &Terminal) -> Result<(), Problem> {
    let flow = store.counted_flow(tenant, name).await?;
    let shape = store.flow_shape(flow.flow_id).await?;
    let triggers = store.triggers(&flow).await?;
    let (definition, _) = store.definition(flow.flow_id).await?;
    let attributes: Vec<_> = shape
        .attributes
        .iter()
        .map(|(name, kind)| json!({ "name": name, "type": kind }))
        .collect();
    terminal.answer(
        &json!({ "flow": flow, "attributes": attributes, "triggers": triggers, "definition": definition }),
        || {
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
                &[
                    "trigger", "when", "fires", "by", "timeout", "attempts", "delay", "deadline", "undone by", "writes",
                ],
                triggers.iter().map(|trigger| shown_trigger(trigger, &definition)),
            );
        },
    );
    Ok(())
}

/// A trigger as a row: what is listed of it, and what its definition says.
fn shown_trigger(trigger: &Trigger, definition: &Json) -> Vec<String> {
    let name = trigger.tgname.clone().filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| trigger.tgid.to_string());
    let defined = definition["trigger"].as_array().into_iter().flatten();
    let defined = defined.into_iter().find(|one| one["name"] == name.as_str());
    let said = |key: &str| {
        let defined = defined.filter(|_| !trigger.cfinal);
        defined.map_or_else(String::new, |defined| word(&defined[key]))
    };
    vec![
        name.clone(),
        trigger.cpred.clone(),
        match (&trigger.trname, trigger.cfinal, trigger.enabled) {
            (_, true, _) => "(final)".to_owned(),
            (Some(name), _, true) => name.clone(),
            (Some(name), _, false) => format!("{name} (disabled)"),
            (None, ..) => String::new(),
        },
        match (&trigger.component, trigger.cfinal) {
            (Some(component), _) => format!("component {component}"),
            (None, true) => String::new(),
            (None, false) => "external workers".to_owned(),
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
    let text = std::fs::read_to_string(file).map_err(|source| {
        Problem::new(format!("{} cannot be read", file.display()))
            .exit(3)
            .because(source)
    })?;
    toml::from_str(&text).map_err(|source| {
        Problem::usage(format!("{} is no flow definition", file.display()))
            .because(source)
            .hint(
                "It holds name, [[attribute]], [[trigger]], final and [transition.NAME]; see \
             docs/reference/flow-toml.md.",
            )
    })
}

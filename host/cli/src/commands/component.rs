//! `wed component`: upload and look.

use std::io::Read;
use std::path::Path;

use serde_json::json;
use wedflow_model::Limits;
use wedflow_store::Store;
use wedflow_worker::{StoredAs, Upload};

use crate::arguments::ComponentCommand;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// `wed component encode`, for which no database is needed.
pub(crate) fn encode(module: &Path, output: &Path, terminal: &Terminal) -> Result<(), Problem> {
    let bytes = std::fs::read(module).map_err(|source| {
        Problem::new(format!("{} cannot be read", module.display()))
            .because(source)
            .exit(3)
    })?;
    let component = wedflow_authoring::encode(&bytes)
        .map_err(|error| Problem::new(format!("{}: {error}", module.display())).exit(4))?;
    std::fs::write(output, &component).map_err(|source| {
        Problem::new(format!("{} cannot be written", output.display())).because(source)
    })?;
    terminal.answer(
        &json!({ "component": output, "bytes": component.len() }),
        || terminal.line(&format!("{}: {} bytes", output.display(), component.len())),
    );
    Ok(())
}

pub(crate) async fn run(
    command: &ComponentCommand,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    match command {
        ComponentCommand::Push {
            files,
            name,
            flow,
            transition,
        } => {
            if name.is_some() && files.len() > 1 {
                return Err(
                    Problem::usage("--name names one component").hint("Push the files one by one.")
                );
            }
            let mut pushed = Vec::new();
            for file in files {
                let upload = push(file, name.as_deref(), tenant, store, terminal).await?;
                if let Some(flow) = flow {
                    bind(&upload, flow, transition, tenant, store).await?;
                }
                for warning in store.component_warnings(tenant, &upload.name).await? {
                    terminal.say(&format!("warning: {warning}"));
                }
                pushed.push(upload);
            }
            let document: Vec<_> = pushed
                .iter()
                .map(|upload| {
                    json!({ "component": upload.name, "version": upload.version, "digest": upload.digest,
                            "transitions": upload.transitions })
                })
                .collect();
            terminal.answer(&document, || {
                for upload in &pushed {
                    terminal.line(&format!(
                        "Component {} version {} performs {}.",
                        upload.name,
                        upload.version,
                        upload.transitions.join(", ")
                    ));
                }
            });
            Ok(())
        }
        ComponentCommand::Encode { module, output } => encode(module, output, terminal),
        ComponentCommand::List => list(tenant, store, terminal).await,
        ComponentCommand::Activate { name, version } => {
            activated(store, tenant, name, Some(*version), terminal).await
        }
        ComponentCommand::Rollback { name } => activated(store, tenant, name, None, terminal).await,
        ComponentCommand::Gc { keep } => collect(*keep, tenant, store, terminal).await,
        ComponentCommand::Show { name } => show(name, tenant, store, terminal).await,
    }
}

/// Lists every version of the components of a tenant.
async fn list(tenant: &str, store: &Store, terminal: &Terminal) -> Result<(), Problem> {
    let components = store.components(tenant, None).await?;
    terminal.answer(&components, || {
        terminal.table(
            &[
                "component",
                "version",
                "in use",
                "size",
                "transitions",
                "flows",
                "uploaded",
            ],
            components.iter().map(|component| {
                vec![
                    component.name.clone(),
                    component.version.to_string(),
                    if component.active { "yes" } else { "" }.to_owned(),
                    format!("{} kB", (component.size + 999) / 1000),
                    transitions(&component.manifest).len().to_string(),
                    flows_of(&component.used_by).to_string(),
                    component.created_at.clone(),
                ]
            }),
        );
    });
    Ok(())
}

/// Number of flows among transitions that are bound, `flow/transition` each.
fn flows_of(used_by: &[String]) -> usize {
    let flows = used_by.iter().filter_map(|one| one.split('/').next());
    flows.collect::<std::collections::BTreeSet<_>>().len()
}

/// Removes old versions that no flow uses.
async fn collect(
    keep: i32,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let removed = store.collect_components(tenant, keep).await?;
    let document: Vec<_> = removed
        .iter()
        .map(|(name, version)| json!({ "component": name, "version": version }))
        .collect();
    terminal.answer(&json!({ "removed": document }), || {
        if removed.is_empty() {
            terminal.line("Nothing to remove.");
        }
        for (name, version) in &removed {
            terminal.line(&format!("Removed {name} version {version}."));
        }
    });
    Ok(())
}

/// Shows the newest version of a component: its transitions, and who uses it.
async fn show(name: &str, tenant: &str, store: &Store, terminal: &Terminal) -> Result<(), Problem> {
    let versions = store.components(tenant, Some(name)).await?;
    let Some(newest) = versions.first() else {
        return Err(Problem::new(format!("there is no component \"{name}\""))
            .exit(3)
            .hint("`wed component list` shows the components there are."));
    };
    terminal.answer(&versions, || {
        let made_with = match newest.manifest["sdk"].as_str() {
            None | Some("") => String::new(),
            Some(sdk) => format!(", made with the SDK {sdk}"),
        };
        terminal.line(&format!(
            "{} version {}{made_with}, sha256 {}",
            newest.name, newest.version, newest.digest
        ));
        terminal.table(
            &["transition", "reads", "writes", "suggests", "description"],
            newest.manifest["transitions"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|declaration| {
                    vec![
                        declaration["transition"]
                            .as_str()
                            .unwrap_or_default()
                            .to_owned(),
                        attribute_list(&declaration["reads"], "everything"),
                        attribute_list(&declaration["writes"], "anything (SET clause)"),
                        suggestions(declaration),
                        declaration["description"]
                            .as_str()
                            .unwrap_or_default()
                            .to_owned(),
                    ]
                }),
        );
        if !newest.used_by.is_empty() {
            terminal.line(&format!("Used by {}", newest.used_by.join(", ")));
        }
    });
    Ok(())
}

async fn activated(
    store: &Store,
    tenant: &str,
    name: &str,
    version: Option<i32>,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let version = store.activate_component(tenant, name, version).await?;
    terminal.answer(&json!({ "component": name, "version": version }), || {
        terminal.line(&format!("Component {name} version {version} is in use."));
    });
    Ok(())
}

/// Reads a component's file, but no more of it than is accepted.
fn read(file: &Path) -> Result<Vec<u8>, Problem> {
    let limit = Limits::default().component_bytes;
    let unreadable = |source| {
        Problem::new(format!("{} cannot be read", file.display()))
            .exit(3)
            .because(source)
    };
    let opened = std::fs::File::open(file).map_err(unreadable)?;
    let mut bytes = Vec::new();
    // A pipe or a device may never end.
    opened
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > limit {
        return Err(Problem::new(format!(
            "{} is refused: it has more than {limit} bytes",
            file.display()
        ))
        .exit(4)
        .hint("Strip debug information (Rust: `strip = true`) and build for size."));
    }
    Ok(bytes)
}

/// Checks, compiles and stores one file.
pub(crate) async fn push(
    file: &Path,
    name: Option<&str>,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<Upload, Problem> {
    let bytes = read(file)?;
    let of_file = file
        .file_stem()
        .map(|stem| stem.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    let name = name.map_or(
        StoredAs::ItsOwn {
            otherwise: &of_file,
        },
        StoredAs::Name,
    );
    let spinner = terminal.spinner(&format!("checking and compiling {}", file.display()));
    let upload = wedflow_worker::upload(store, tenant, name, &bytes).await;
    spinner.finish_and_clear();
    upload.map_err(|error| match error {
        wedflow_worker::UploadError::Store(error) => Problem::from(error),
        refused => {
            // A refusal says what is wrong, then how to mend it.
            let text = refused.to_string();
            let (what, mend) = text.rsplit_once("; ").unwrap_or((
                &text,
                "Build it for wasm32-wasip2 against wed:flow@0.1.0; see docs/reference/transitions.md.",
            ));
            Problem::new(format!("{} is refused: {what}", file.display()))
                .exit(4)
                .hint(mend)
        }
    })
}

async fn bind(
    upload: &Upload,
    flow: &str,
    only: &[String],
    tenant: &str,
    store: &Store,
) -> Result<(), Problem> {
    let flow = store.flow(tenant, flow).await?;
    for wanted in only {
        if !upload.transitions.contains(wanted) {
            return Err(Problem::new(format!(
                "component {} does not declare transition \"{wanted}\"",
                upload.name
            ))
            .exit(4)
            .hint(format!("It declares: {}.", upload.transitions.join(", "))));
        }
    }
    let chosen = if only.is_empty() {
        &upload.transitions
    } else {
        only
    };
    for transition in chosen {
        store
            .bind(flow.flow_id, transition, Some(&upload.name))
            .await?;
    }
    Ok(())
}

fn transitions(manifest: &serde_json::Value) -> Vec<String> {
    manifest["transitions"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|declaration| declaration["transition"].as_str().map(str::to_owned))
        .collect()
}

/// Describes what a transition's author suggests to the flow's owner, and the limits that it keeps to.
fn suggestions(declaration: &serde_json::Value) -> String {
    let mut parts = Vec::new();
    if let Some(condition) = declaration["condition"].as_str() {
        parts.push(format!("when {condition}"));
    }
    for (key, what, unit) in [
        ("timeout", "timeout", " ms"),
        ("fuel", "fuel", ""),
        ("memory", "memory", " bytes"),
    ] {
        if let Some(value) = declaration[key].as_u64() {
            parts.push(format!("{what} {value}{unit}"));
        }
    }
    parts.join("; ")
}

fn attribute_list(list: &serde_json::Value, when_absent: &str) -> String {
    match list.as_array() {
        None => when_absent.to_owned(),
        Some(list) => list
            .iter()
            .map(|attribute| {
                format!(
                    "{} {}",
                    attribute["name"].as_str().unwrap_or_default(),
                    attribute["kind"].as_str().unwrap_or_default()
                )
            })
            .collect::<Vec<_>>()
            .join(", "),
    }
}

//! `wed component`: upload and look.

use std::io::Read;
use std::path::Path;

use serde_json::json;
use wedflow_client::{ClientError, Expected};
use wedflow_documents::{UploadTerms, Uploaded};
use wedflow_model::Limits;

use crate::arguments::{ComponentCommand, PushArguments};
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// `wed component encode`, for which no database is needed.
pub(crate) fn encode(module: &Path, output: &Path, terminal: &Terminal) -> Result<(), Problem> {
    let bytes = std::fs::read(module)
        .map_err(|source| Problem::new(format!("{} cannot be read", module.display())).because(source).exit(3))?;
    let component = wedflow_authoring::encode(&bytes)
        .map_err(|error| Problem::new(format!("{}: {error}", module.display())).exit(4))?;
    std::fs::write(output, &component)
        .map_err(|source| Problem::new(format!("{} cannot be written", output.display())).because(source))?;
    terminal.answer(&json!({ "component": output, "bytes": component.len() }), || {
        terminal.line(&format!("{}: {} bytes", output.display(), component.len()))
    });
    Ok(())
}

pub(crate) async fn run(command: &ComponentCommand, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    match command {
        ComponentCommand::Push(arguments) => push_all(arguments, door, terminal).await,
        ComponentCommand::Encode { module, output } => encode(module, output, terminal),
        ComponentCommand::List => list(door, terminal).await,
        ComponentCommand::Activate { name, version } => activate(door, name, Some(*version), terminal).await,
        ComponentCommand::Rollback { name } => activate(door, name, None, terminal).await,
        ComponentCommand::Gc { keep } => collect(*keep, door, terminal).await,
        ComponentCommand::Show { name } => show(name, door, terminal).await,
    }
}

/// Uploads files: all, or none when one of them is refused.
async fn push_all(arguments: &PushArguments, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let files = &arguments.files;
    if arguments.name.is_some() && files.len() > 1 {
        return Err(Problem::usage("--name names one component").hint("Push the files one by one."));
    }
    let name = arguments.name.as_deref();
    let check = UploadTerms { check: true, ..UploadTerms::default() };
    if files.len() > 1 {
        for file in files {
            push(file, name, &check, door, terminal).await?;
        }
    }
    let terms = UploadTerms { activate: arguments.activate, ..UploadTerms::default() };
    let mut pushed = Vec::new();
    for file in files {
        let upload = push(file, name, &terms, door, terminal).await?;
        let warnings = match &arguments.flow {
            Some(flow) => bind(&upload, flow, &arguments.transition, door).await?,
            None => upload.warnings.clone(),
        };
        for warning in warnings {
            terminal.say(&format!("warning: {warning}"));
        }
        pushed.push(upload);
    }
    let document: Vec<_> = (pushed.iter())
        .map(|one| {
            json!({ "component": one.name, "version": one.version, "digest": one.digest,
                "transitions": one.transitions, "active": one.active, "warnings": one.warnings })
        })
        .collect();
    terminal.answer(&document, || {
        for one in &pushed {
            say_pushed(one, terminal);
        }
    });
    Ok(())
}

/// Says what became of a component that was uploaded.
fn say_pushed(upload: &Uploaded, terminal: &Terminal) {
    let (name, version) = (&upload.name, upload.version);
    let transitions = upload.transitions.join(", ");
    if upload.active {
        terminal.line(&format!("Component {name} version {version} performs {transitions}."));
        return;
    }
    terminal.line(&format!(
        "Component {name} version {version} is stored, and not in use: a flow that fits the version before would not \
         fit it. What does not fit is named above."
    ));
    terminal.say(&format!(
        "Mend the component and push it again, or change the flow and then: wed component activate {name} {version}"
    ));
}

/// Lists every version of the components of a tenant.
async fn list(door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let components = door.components(None).await?;
    terminal.answer(&components, || {
        terminal.table(
            &["component", "version", "in use", "size", "transitions", "flows", "uploaded"],
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
async fn collect(keep: i32, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let removed = door.collect_components(Some(keep)).await?;
    let document: Vec<_> = removed.iter().map(|one| json!({ "component": one.name, "version": one.version })).collect();
    terminal.answer(&json!({ "removed": document }), || {
        if removed.is_empty() {
            terminal.line("Nothing to remove.");
        }
        for one in &removed {
            terminal.line(&format!("Removed {} version {}.", one.name, one.version));
        }
    });
    Ok(())
}

/// Shows the newest version of a component: its transitions, and who uses it.
async fn show(name: &str, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let versions = door.components(Some(name)).await?;
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
        terminal.line(&format!("{} version {}{made_with}, sha256 {}", newest.name, newest.version, newest.digest));
        terminal.table(
            &["transition", "reads", "writes", "suggests", "description"],
            newest.manifest["transitions"].as_array().into_iter().flatten().map(|declaration| {
                vec![
                    declaration["transition"].as_str().unwrap_or_default().to_owned(),
                    attribute_list(&declaration["reads"], "everything"),
                    attribute_list(&declaration["writes"], "anything (SET clause)"),
                    suggestions(declaration),
                    declaration["description"].as_str().unwrap_or_default().to_owned(),
                ]
            }),
        );
        if !newest.used_by.is_empty() {
            terminal.line(&format!("Used by {}", newest.used_by.join(", ")));
        }
    });
    Ok(())
}

/// Puts a version into use; the one before the present when none is given.
async fn activate(door: &Door, name: &str, version: Option<i32>, terminal: &Terminal) -> Result<(), Problem> {
    let version = door.activate(name, version).await?.version;
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
            .hint("Name the .wasm file that `wed build` made, or build it first.")
    };
    let opened = std::fs::File::open(file).map_err(unreadable)?;
    let mut bytes = Vec::new();
    // A pipe or a device may never end.
    opened.take(limit + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limit {
        return Err(Problem::new(format!("{} is refused: it has more than {limit} bytes", file.display()))
            .exit(4)
            .hint("Strip debug information (Rust: `strip = true`) and build for size."));
    }
    Ok(bytes)
}

/// Lets the server check, compile and store one file.
pub(crate) async fn push(
    file: &Path,
    name: Option<&str>,
    terms: &UploadTerms,
    door: &Door,
    terminal: &Terminal,
) -> Result<Uploaded, Problem> {
    let bytes = read(file)?;
    let of_file = file.file_stem();
    let terms = UploadTerms { otherwise: of_file.map(|stem| stem.to_string_lossy().to_lowercase()), ..terms.clone() };
    let spinner = terminal.spinner(&format!("checking and compiling {}", file.display()));
    let upload = door.upload(name, &terms, bytes).await;
    spinner.finish_and_clear();
    match upload {
        Err(ClientError::Refused(problem)) if problem.code == "component_refused" => {
            // A refusal says what is wrong, then how to mend it.
            let (what, mend) = problem.detail.rsplit_once("; ").unwrap_or((
                &problem.detail,
                "Build it for wasm32-wasip2 against wed:flow@0.1.0; see `wed explain transitions`.",
            ));
            Err(Problem::new(format!("{} is refused: {what}", file.display())).exit(4).hint(mend))
        }
        upload => Ok(upload?),
    }
}

/// Leaves transitions of a flow to a component; returns what of them does not fit.
async fn bind(upload: &Uploaded, flow: &str, only: &[String], door: &Door) -> Result<Vec<String>, Problem> {
    for wanted in only {
        if !upload.transitions.contains(wanted) {
            return Err(Problem::new(format!("component {} does not declare transition \"{wanted}\"", upload.name))
                .exit(4)
                .hint(format!("It declares: {}.", upload.transitions.join(", "))));
        }
    }
    let chosen = match only {
        [] => &upload.transitions,
        only => only,
    };
    let (found, tag) = door.flow(flow).await?;
    let mut definition = found.definition;
    for transition in chosen {
        definition["transition"][transition]["component"] = upload.name.as_str().into();
    }
    let definition = serde_json::from_value(definition)
        .map_err(|source| Problem::new("the flow's definition cannot be read").because(source))?;
    let applied = door.apply(&definition, &Expected::Tag(tag)).await?;
    Ok(applied.warnings)
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
    for (key, what, unit) in [("timeout", "timeout", " ms"), ("fuel", "fuel", ""), ("memory", "memory", " bytes")] {
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

//! `wed flow apply`, `fmt` and `check` of processes: sources in the process language, x.pdl.

use std::io::Read;
use std::path::Path;

use serde_json::{Value as Json, json};
use wedflow_documents::ProcessDefinition;
use wedflow_process::{Diagnostic, Parsed, Plan, Process, SOURCE_BYTES_MAX, lower, parse, raise, unknown_roles};

use crate::arguments::{CheckArguments, FmtArguments};
use crate::commands::changes;
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Hint for a file that cannot be read.
pub(crate) const NO_FILE_HINT: &str =
    "Name a flow.toml, x.pdl, x.wsql or x.sql that is there; `wed new` makes a project.";
/// Page of the grammar.
const PAGE: &str = "process-language";

/// Returns true if a file is a source of the process language.
pub(crate) fn is_source(file: &Path) -> bool {
    file.extension().is_some_and(|end| end.eq_ignore_ascii_case("pdl"))
}

/// A source that was read and lowered.
struct Reading {
    name: String,
    source: String,
    parsed: Parsed,
    warnings: Vec<Diagnostic>,
}

impl Reading {
    fn of(file: &Path) -> Result<Self, Problem> {
        Reading::of_text(file.display().to_string(), read(file)?)
    }

    fn of_text(name: String, source: String) -> Result<Self, Problem> {
        let parsed = parse(&source);
        let mut warnings = parsed.diagnostics.clone();
        if !parsed.has_errors() {
            warnings.extend(wedflow_process::check(&parsed.document));
        }
        let errors: Vec<Diagnostic> = warnings.iter().filter(|one| one.is_error()).cloned().collect();
        warnings.retain(|one| !one.is_error());
        if !errors.is_empty() {
            return Err(refused(&name, &source, &errors, PAGE));
        }
        Ok(Reading { name, source, parsed, warnings })
    }

    fn processes(&self) -> Result<Vec<Process>, Problem> {
        lower(&self.parsed.document).map_err(|errors| refused(&self.name, &self.source, &errors, PAGE))
    }

    fn warn(&self, terminal: &Terminal) {
        for warning in &self.warnings {
            terminal.say(&warning.render(&self.name, &self.source));
        }
    }

    fn warnings(&self) -> Vec<Json> {
        self.warnings.iter().map(|one| document(one, &self.source)).collect()
    }
}

fn document(one: &Diagnostic, source: &str) -> Json {
    let place = one.position(source);
    json!({
        "line": place.line, "column": place.column, "message": one.message, "found": one.found,
        "expected": one.expected, "hint": one.hint,
    })
}

/// Makes the problem of a source with errors; `page` has the grammar.
pub(crate) fn refused(name: &str, source: &str, errors: &[Diagnostic], page: &str) -> Problem {
    let count = match errors {
        [_] => "an error".to_owned(),
        more => format!("{} errors", more.len()),
    };
    Problem::usage(format!("{name} has {count}"))
        .code("process")
        .details(errors.iter().map(|one| one.render(name, source)))
        .hint(format!("`wed explain {page}` has the grammar."))
}

/// Reads a source; `-` is standard input.
pub(crate) fn read(file: &Path) -> Result<String, Problem> {
    let unreadable = |source: std::io::Error| {
        Problem::new(format!("{} cannot be read", file.display())).exit(3).because(source).hint(NO_FILE_HINT)
    };
    let mut bytes = Vec::new();
    // One byte more than a source may have: so that one that is too long is distinguished from one that is not.
    let most = SOURCE_BYTES_MAX as u64 + 1;
    if file == Path::new("-") {
        std::io::stdin().take(most).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|open| open.take(most).read_to_end(&mut bytes))
    }
    .map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|error| {
        Problem::usage(format!("{} is not UTF-8 at byte {}", file.display(), error.utf8_error().valid_up_to()))
            .hint("Convert it: iconv -f latin1 -t utf-8 FILE.")
    })
}

/// Makes flows of a source's workflows, with their plans of work.
pub(crate) async fn apply(
    file: &Path,
    dry_run: bool,
    creator_role: Option<&str>,
    door: &Door,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let mut reading = Reading::of(file)?;
    let mut processes = reading.processes()?;
    if processes.is_empty() {
        return Err(Problem::usage(format!("{} has no WORKFLOW", reading.name))
            .hint("A source with task models and applications only makes no flow."));
    }
    let roles = door.people_roles().await?.into_iter();
    let roles: Vec<String> = (roles.filter(|role| role.people > 0)).map(|role| role.role).collect();
    reading.warnings.extend(unknown_roles(&reading.parsed.document, &roles));
    reading.warn(terminal);
    for process in &mut processes {
        process.plan.creator_role = creator_role.map(str::to_owned);
    }
    if dry_run {
        for process in &processes {
            changes::preview(door, &process.definition, terminal).await?;
        }
        return Ok(());
    }
    let flows = door.apply_processes(definitions(processes)).await?;
    terminal.answer(&json!({ "flows": flows, "warnings": reading.warnings() }), || {
        for one in &flows {
            changes::say_applied(&one.flow, &one.applied, terminal);
        }
    });
    Ok(())
}

/// Processes as the API takes them.
fn definitions(processes: Vec<Process>) -> Vec<ProcessDefinition> {
    let definition =
        |process: Process| ProcessDefinition { definition: json!(process.definition), plan: json!(process.plan) };
    processes.into_iter().map(definition).collect()
}

/// Makes flows of a source that is part of this program; their names.
pub(crate) async fn apply_text(
    name: &str,
    source: &str,
    door: &Door,
    terminal: &Terminal,
) -> Result<Vec<String>, Problem> {
    let reading = Reading::of_text(name.to_owned(), source.to_owned())?;
    reading.warn(terminal);
    let applied = door.apply_processes(definitions(reading.processes()?)).await?;
    Ok(applied.into_iter().map(|one| one.flow).collect())
}

/// Prints a process as a source.
pub(crate) async fn show(name: &str, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let plan = door.work_plan(name).await?.plan;
    let plan: Plan = serde_json::from_value(plan).map_err(|source| {
        Problem::new(format!("{name} is no process of the process language"))
            .because(source)
            .hint("`wed flow show` prints its attributes and triggers.")
    })?;
    let source = raise(&[plan]);
    terminal.answer(&json!({ "flow": name, "source": source }), || terminal.verbatim(source.trim_end()));
    Ok(())
}

/// Refuses a flow.toml, which is no source of the process language.
fn refuse_toml(file: &Path) -> Result<(), Problem> {
    if file.extension().is_none_or(|extension| extension != "toml") {
        return Ok(());
    }
    let name = file.display();
    Err(Problem::usage(format!("{name} is a definition in TOML, and no source of the process language"))
        .hint(format!("`wed flow apply --dry-run {name}` checks a definition.")))
}

/// Checks a source without a database.
pub(crate) fn check(arguments: &CheckArguments, terminal: &Terminal) -> Result<(), Problem> {
    refuse_toml(&arguments.file)?;
    let reading = Reading::of(&arguments.file)?;
    let processes = reading.processes()?;
    reading.warn(terminal);
    let flows: Vec<Json> =
        processes.iter().map(|process| json!({ "definition": process.definition, "plan": process.plan })).collect();
    terminal.answer(&json!({ "flows": flows, "warnings": reading.warnings() }), || {
        for process in &processes {
            terminal.line(&format!(
                "WORKFLOW {} is flow {}: {} tasks, {} data.",
                process.plan.process_type,
                process.definition.name,
                process.plan.tasks.len(),
                process.plan.data.len()
            ));
        }
    });
    Ok(())
}

/// Prints sources in one way, in their places.
pub(crate) fn fmt(arguments: &FmtArguments, terminal: &Terminal) -> Result<(), Problem> {
    let FmtArguments { files, check } = arguments;
    let check = *check;
    let mut changed = Vec::new();
    for file in files {
        refuse_toml(file)?;
        let source = read(file)?;
        let parsed = parse(&source);
        let name = file.display().to_string();
        if parsed.has_errors() {
            let errors: Vec<_> = parsed.diagnostics.into_iter().filter(Diagnostic::is_error).collect();
            return Err(refused(&name, &source, &errors, PAGE));
        }
        let printed = wedflow_process::format(&parsed.document);
        if file == Path::new("-") && !check {
            terminal.verbatim(printed.trim_end());
            continue;
        }
        if printed == source {
            continue;
        }
        if !check {
            replace(file, &printed)?;
        }
        changed.push(name);
    }
    if files.iter().any(|file| file == Path::new("-")) && !check {
        return Ok(());
    }
    if check && !changed.is_empty() {
        return Err(Problem::new(format!("not formatted: {}", changed.join(", ")))
            .hint(format!("wed flow fmt {}", changed.join(" "))));
    }
    terminal.answer(&json!({ "changed": changed }), || {
        for name in &changed {
            terminal.line(&format!("Formatted {name}."));
        }
    });
    Ok(())
}

/// Writes a temporary file next to the old one and renames it over the old one, so that no half of it is ever there.
fn replace(file: &Path, text: &str) -> Result<(), Problem> {
    let mut written = file.as_os_str().to_owned();
    written.push(".new");
    std::fs::write(&written, text)
        .and_then(|()| std::fs::rename(&written, file))
        .map_err(|source| Problem::new(format!("{} cannot be written", file.display())).exit(3).because(source))
}

//! `wed new` and `wed build`: projects.

use std::path::{Path, PathBuf};

use serde_json::json;
use wedflow_authoring::{BuildError, Built, Language, NativeTests, Project, ProjectError, languages, new_project};

use crate::answer::{self, quoted};
use crate::arguments::{BuildArguments, NewCommand};
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Lines of a tool's complaint that are shown.
const SHOWN_LINES: usize = 60;

pub(crate) fn new(command: &NewCommand, terminal: &Terminal) -> Result<(), Problem> {
    let NewCommand::Transition { lang, name, dir } = command;
    let language: Language = lang.parse().map_err(project_problem)?;
    let folder = dir.clone().unwrap_or_else(|| PathBuf::from(name));
    let project = new_project(name, language, &folder).map_err(project_problem)?;
    terminal.answer(&json!({ "name": project.name, "language": project.language, "folder": folder }), || {
        terminal.line(&format!("{} holds the transition {name}, in {language}.", folder.display()));
        terminal.say(&format!("Build and test it:   cd {} && wed build && wed test", quoted(&folder)));
    });
    Ok(())
}

pub(crate) fn build_command(arguments: &BuildArguments, terminal: &Terminal) -> Result<(), Problem> {
    let folder = arguments.dir.as_deref().unwrap_or(Path::new("."));
    let project = Project::open(folder).map_err(project_problem)?;
    let built = build(&project, arguments.install, terminal)?;
    terminal.answer(
        &json!({
            "component": built.component,
            "bytes": built.bytes,
            "took_us": u64::try_from(built.took.as_micros()).unwrap_or(u64::MAX),
        }),
        || {
            terminal.line(&format!(
                "{}  {}, built in {}",
                built.component.display(),
                answer::bytes(built.bytes),
                answer::duration(built.took)
            ));
        },
    );
    Ok(())
}

/// Builds a project, with its tool's progress.
pub(crate) fn build(project: &Project, install: bool, terminal: &Terminal) -> Result<Built, Problem> {
    let spinner = terminal.spinner_if_slow(&format!("building {}", project.name));
    let result = wedflow_authoring::build(project, install, &mut |line| {
        let short: String = line.trim().chars().take(100).collect();
        spinner.set_message(format!("building {}: {short}", project.name));
    });
    spinner.finish_and_clear();
    result.map_err(build_problem)
}

/// Runs a project's native tests, with its tool's progress.
pub(crate) fn test_native(project: &Project, terminal: &Terminal) -> Result<NativeTests, Problem> {
    let spinner = terminal.spinner_if_slow(&format!("testing {}", project.name));
    let result = wedflow_authoring::test_native(project, &mut |_| {});
    spinner.finish_and_clear();
    result.map_err(|error| match error {
        BuildError::Failed { .. } => build_problem(error).code("tests_failed"),
        other => build_problem(other),
    })
}

fn build_problem(error: BuildError) -> Problem {
    let message = error.to_string();
    match error {
        BuildError::Missing { how, installable, .. } => {
            let problem = Problem::new(message).code("tool_missing").exit(3);
            if installable { problem.hint(format!("{how} `wed build --install` does it.")) } else { problem.hint(how) }
        }
        BuildError::Failed { output, .. } => {
            let lines: Vec<&str> = output.lines().collect();
            // Errors are at the end.
            let from = lines.len().saturating_sub(SHOWN_LINES);
            Problem::new(message).code("build_failed").details(lines[from..].iter().map(|line| (*line).to_owned()))
        }
        BuildError::System { source, .. } => Problem::new(message).because(source),
        BuildError::NoComponent(_) | BuildError::Encode(_) => Problem::new(message),
    }
}

pub(crate) fn project_problem(error: ProjectError) -> Problem {
    let problem = Problem::usage(error.to_string());
    match &error {
        ProjectError::NoProject(_) => {
            problem.exit(3).hint("`wed new transition --lang rust NAME` makes one; or name a .wasm file.")
        }
        ProjectError::NoTemplate(_) => problem.hint(format!(
            "There are templates for {}.",
            languages().iter().map(|language| language.name()).collect::<Vec<_>>().join(", ")
        )),
        ProjectError::Taken(_) => problem.hint("Name another folder with --dir."),
        ProjectError::Wrong { .. } => problem.hint("It says name = \"…\" and language = \"…\"."),
        _ => problem,
    }
}

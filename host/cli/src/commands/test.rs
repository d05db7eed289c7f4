//! `wed test`: fixtures and random states, with no server and no database.

use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use serde_json::{Value as Json, json};
use wedflow_authoring::{
    Call, Counterexample, Fixture, FixtureError, Project, Searched, Subject, Trial, Watch, Workbench, run_fixture,
    search, write_fixture,
};

use crate::answer::{self, counted};
use crate::arguments::TestArguments;
use crate::calls;
use crate::commands::project::{self, project_problem};
use crate::commands::run::{load, workbench};
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Component under test, and its fixtures.
struct Target {
    project: Option<Project>,
    component: PathBuf,
    fixtures: PathBuf,
}

/// Counts of a test run.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    updated: usize,
    documents: Vec<Json>,
    searches: Vec<Json>,
}

/// Runs a project's native tests.
fn native(arguments: &TestArguments, terminal: &Terminal) -> Result<(), Problem> {
    let folder = arguments.path.as_deref().unwrap_or(Path::new("."));
    let project = Project::open(folder).map_err(project::project_problem)?;
    let tests = project::test_native(&project, terminal)?;
    let took = u64::try_from(tests.took.as_micros()).unwrap_or(u64::MAX);
    terminal.answer(&json!({ "passed": true, "took_us": took, "output": tests.output }), || {
        for line in tests.output.lines().filter(|line| !line.trim().is_empty()) {
            terminal.line(line);
        }
        terminal.line(&format!("The native tests passed, in {}.", crate::answer::duration(tests.took)));
    });
    Ok(())
}

pub(crate) async fn run(arguments: &TestArguments, terminal: &Terminal) -> Result<(), Problem> {
    if arguments.native {
        return native(arguments, terminal);
    }
    let target = target(arguments)?;
    let workbench = workbench()?;
    if arguments.watch {
        return watch(arguments, &target, &workbench, terminal).await;
    }
    let tally = once(arguments, &target, &workbench, terminal).await?;
    if terminal.is_json() {
        terminal.document(&json!({
            "component": target.component,
            "passed": tally.passed,
            "failed": tally.failed,
            "updated": tally.updated,
            "fixtures": tally.documents,
            "properties": tally.searches,
        }));
    }
    tally.all_passed()
}

/// Runs the fixtures of a project whose component was built.
pub(crate) async fn test_built(project: &Project, terminal: &Terminal) -> Result<(), Problem> {
    let arguments = TestArguments { path: Some(project.folder.clone()), ..TestArguments::default() };
    let tally = once(&arguments, &target(&arguments)?, &workbench()?, terminal).await?;
    tally.all_passed()
}

impl Tally {
    /// Succeeds only if nothing failed.
    fn all_passed(&self) -> Result<(), Problem> {
        if self.failed == 0 {
            return Ok(());
        }
        let all = self.failed + self.passed;
        Err(Problem::new(format!("{} of {all} failed", self.failed))
            .code("tests_failed")
            .hint("`wed test --update` takes what is for what is expected, where that is right."))
    }
}

fn target(arguments: &TestArguments) -> Result<Target, Problem> {
    let path = arguments.path.as_deref().unwrap_or(Path::new("."));
    let mut target = if path.extension().is_some_and(|end| end == "wasm") {
        let folder = path.parent().unwrap_or(Path::new(""));
        let near = [folder.join("fixtures"), folder.join("../fixtures")];
        Target {
            project: None,
            component: path.to_owned(),
            fixtures: near.into_iter().find(|folder| folder.is_dir()).unwrap_or_else(|| PathBuf::from("fixtures")),
        }
    } else {
        let project = Project::open(path).map_err(project_problem)?;
        Target { component: project.component(), fixtures: project.fixtures(), project: Some(project) }
    };
    if let Some(fixtures) = &arguments.fixtures {
        target.fixtures.clone_from(fixtures);
    }
    Ok(target)
}

/// Tests, and tests again at every change, until it is stopped.
async fn watch(
    arguments: &TestArguments,
    target: &Target,
    workbench: &Workbench,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let folder = match &target.project {
        Some(project) => project.folder.clone(),
        None => target
            .fixtures
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."))
            .to_owned(),
    };
    let unwatched = |reason: String| Problem::new(format!("{} cannot be watched", folder.display())).hint(reason);
    let watch = Watch::new(&folder).map_err(unwatched)?;
    loop {
        let built = match &target.project {
            Some(project) => project::build(project, false, terminal).map(|_| ()),
            None => Ok(()),
        };
        let tested = match built {
            Ok(()) => once(arguments, target, workbench, terminal).await.map(|_| ()),
            Err(problem) => Err(problem),
        };
        if let Err(problem) = tested {
            // Half-written source is no reason to stop watching.
            let _ = terminal.problem(&problem);
        }
        terminal.say(&format!("watching {}; Ctrl-C stops", folder.display()));
        let changed = tokio::task::block_in_place(|| watch.changed());
        if changed.is_empty() {
            return Ok(());
        }
        let names: Vec<_> =
            changed.iter().take(3).map(|file| file.file_name().unwrap_or(file.as_os_str()).to_string_lossy()).collect();
        let more = match changed.len() - names.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        terminal.say(&format!("changed: {}{more}", names.join(", ")));
    }
}

async fn once(
    arguments: &TestArguments,
    target: &Target,
    workbench: &Workbench,
    terminal: &Terminal,
) -> Result<Tally, Problem> {
    let subject = load(workbench, &target.component, terminal).await?;
    let fixtures = Fixture::all_in(&target.fixtures).map_err(fixture_problem)?;
    let chosen: Vec<&Fixture> = fixtures
        .iter()
        .filter(|fixture| arguments.name.is_empty() || arguments.name.iter().any(|name| fixture.name.contains(name)))
        .collect();
    if let Some(project) = &target.project
        && project.is_older_than_sources()
    {
        terminal.say("the component is older than its source; `wed build` makes it anew");
    }
    if chosen.is_empty() && arguments.properties.is_none() {
        return Err(Problem::new(format!("there are no fixtures in {}", target.fixtures.display()))
            .exit(3)
            .hint("Write one (`wed explain authoring`), or try `wed test --properties`."));
    }
    let mut tally = Tally::default();
    let width = chosen.iter().map(|fixture| fixture.name.chars().count()).max().unwrap_or(0);
    for fixture in chosen {
        let trial = run_fixture(workbench, &subject, fixture).await?;
        let to_update = arguments.update && trial.differs();
        if let (true, Some(called)) = (to_update, &trial.called) {
            fixture.expect(called).map_err(fixture_problem)?;
            tally.updated += 1;
        }
        // What a call may use is nothing that an update would take for right.
        if trial.passed() || (to_update && trial.over.is_empty()) {
            tally.passed += 1;
        } else {
            tally.failed += 1;
        }
        tally.documents.push(document(fixture, &trial));
        if !terminal.is_json() {
            print(fixture, &trial, to_update && trial.called.is_some(), width, terminal);
        }
    }
    if let Some(count) = arguments.properties {
        properties(arguments, count, target, workbench, &subject, &mut tally, terminal).await?;
    }
    print_tally(&tally, terminal);
    Ok(tally)
}

/// Prints how many fixtures passed and failed, for people.
fn print_tally(tally: &Tally, terminal: &Terminal) {
    if !terminal.is_json() {
        let style = match tally.failed {
            0 => calls::colour(AnsiColor::Green),
            _ => calls::colour(AnsiColor::Red),
        };
        let updated = match tally.updated {
            0 => String::new(),
            n => format!(", {n} updated"),
        };
        terminal.line(&format!("{style}{} passed, {} failed{updated}{style:#}", tally.passed, tally.failed));
    }
}

fn print(fixture: &Fixture, trial: &Trial, updated: bool, width: usize, terminal: &Terminal) {
    let (word, style) = match (trial.passed(), updated && trial.over.is_empty()) {
        (true, _) => ("ok", calls::colour(AnsiColor::Green)),
        (_, true) => ("new", calls::colour(AnsiColor::Yellow)),
        _ => ("FAIL", calls::colour(AnsiColor::Red)),
    };
    let dim = Style::new().dimmed();
    let used = trial.called.as_ref().map(calls::used).unwrap_or_default();
    terminal.line(&format!("{style}{word:>4}{style:#}  {:<width$}  {dim}{used}{dim:#}", fixture.name));
    for warning in &trial.warnings {
        terminal.line(&format!("      {warning}"));
    }
    if trial.passed() {
        return;
    }
    if trial.unsaid && !updated {
        terminal.line("      nothing is expected yet; it came to:");
        if let Some(called) = &trial.called {
            calls::print_answer(called, terminal);
        }
        terminal.line("      `wed test --update` writes that into the fixture");
    }
    for (differences, before) in [(&trial.differences, "expected"), (&trial.over, "budget")] {
        calls::print_differences(differences, (before, "actual"), "      ", terminal);
    }
    if let Some(called) = trial.called.as_ref().filter(|_| !updated) {
        calls::print_logs(called, "      ", terminal);
    }
}

fn document(fixture: &Fixture, trial: &Trial) -> Json {
    json!({
        "name": fixture.name,
        "file": fixture.path,
        "passed": trial.passed(),
        "differences": trial.differences,
        "over_budget": trial.over,
        "warnings": trial.warnings,
        "call": trial.called.as_ref().map(calls::document),
    })
}

async fn properties(
    arguments: &TestArguments,
    count: usize,
    target: &Target,
    workbench: &Workbench,
    subject: &Subject,
    tally: &mut Tally,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let wanted = match &arguments.transition {
        Some(name) => std::slice::from_ref(subject.transition(Some(name))?),
        None => subject.manifest().transitions.as_slice(),
    };
    for declaration in wanted {
        let base =
            Call { transition: Some(declaration.transition.clone()), types: arguments.types()?, ..Call::default() };
        let spinner = terminal.spinner_if_slow(&format!("random states for {}", declaration.transition));
        let searched = search(workbench, subject, &base, count, arguments.seed).await;
        spinner.finish_and_clear();
        let searched = searched?;
        tally.searches.push(searched_document(&searched));
        match &searched.counterexample {
            None => tally.passed += 1,
            Some(_) => tally.failed += 1,
        }
        if !terminal.is_json() {
            print_search(&searched, arguments, terminal);
        }
        if let Some(found) = &searched.counterexample {
            offer(found, arguments, target, terminal)?;
        }
    }
    Ok(())
}

/// A failing state as a fixture: written when asked for, else how to ask.
fn offer(
    found: &Counterexample,
    arguments: &TestArguments,
    target: &Target,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let path = target.fixtures.join(format!("found-{}.toml", found.called.transition));
    if !arguments.update {
        terminal.say(&format!("      with --update it is saved as {}", path.display()));
        return Ok(());
    }
    write_fixture(&path, "Found by wed test --properties; add the expected result", &found.call, None)
        .map_err(fixture_problem)?;
    terminal.say(&format!("      saved as {}", path.display()));
    Ok(())
}

fn print_search(searched: &Searched, arguments: &TestArguments, terminal: &Terminal) {
    let (word, style) = match searched.counterexample {
        None => ("ok", calls::colour(AnsiColor::Green)),
        Some(_) => ("FAIL", calls::colour(AnsiColor::Red)),
    };
    let dim = Style::new().dimmed();
    let outcomes: Vec<String> = searched.outcomes.iter().map(|(name, count)| format!("{count} {name}")).collect();
    terminal.line(&format!(
        "{style}{word:>4}{style:#}  {}: {} ({})  {dim}at most {} fuel, {}; seed {}{dim:#}",
        searched.transition,
        counted(searched.tried, "random state"),
        outcomes.join(", "),
        answer::thousands(searched.most_fuel),
        answer::bytes(searched.most_memory),
        arguments.seed,
    ));
    if let Some(found) = &searched.counterexample {
        terminal.line("      in this state:");
        for (name, value) in &found.call.state {
            if !value.is_null() {
                terminal.line(&format!("        {name} = {value}"));
            }
        }
        for line in found.wrong.lines() {
            terminal.line(&format!("      {line}"));
        }
        calls::print_logs(&found.called, "      ", terminal);
    }
}

fn searched_document(searched: &Searched) -> Json {
    json!({
        "transition": searched.transition,
        "tried": searched.tried,
        "outcomes": searched.outcomes,
        "most_fuel": searched.most_fuel,
        "most_memory_bytes": searched.most_memory,
        "counterexample": searched.counterexample.as_ref().map(|found| json!({
            "state": found.call.state,
            "wrong": found.wrong,
            "call": calls::document(&found.called),
        })),
    })
}

pub(crate) fn fixture_problem(error: FixtureError) -> Problem {
    match &error {
        FixtureError::File { .. } => Problem::new(error.to_string()).exit(3),
        FixtureError::Wrong { .. } => {
            Problem::usage(error.to_string()).hint("`wed explain authoring` says what a fixture holds.")
        }
    }
}

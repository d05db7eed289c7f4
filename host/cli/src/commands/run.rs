//! `wed run`: one call of a component, with no server and no database.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value as Json};
use wedflow_authoring::{
    AnswersFrom, Call, CallError, DEFAULT_NOW, Subject, Verdict, Workbench, read_duration, read_time, read_types,
};
use wedflow_model::Outcome;

use crate::arguments::RunArguments;
use crate::calls;
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(arguments: &RunArguments, terminal: &Terminal) -> Result<(), Problem> {
    let call = call_of(arguments)?;
    let workbench = workbench()?;
    let subject = load(&workbench, &arguments.component, terminal).await?;
    let called = workbench.call(&subject, &call).await?;
    terminal.answer(&calls::document(&called), || {
        calls::print_answer(&called, terminal);
        calls::print_logs(&called, "  ", terminal);
        terminal.say(&format!("{} used {}", called.transition, calls::used_of(&called)));
    });
    match (&called.verdict, &called.outcome) {
        (Verdict::Refused(_), _) => Err(Problem::new("the server would refuse this answer").code("refused").exit(4)),
        (_, Outcome::Clause(_) | Outcome::Assignments(_) | Outcome::Aborted { .. } | Outcome::Failed { .. }) => Ok(()),
        _ => Err(Problem::new(format!("`{}` ended without an answer", called.transition)).code(called.name())),
    }
}

/// A sandbox on this machine.
pub(crate) fn workbench() -> Result<Workbench, Problem> {
    Ok(Workbench::of_author()?)
}

/// Reads and compiles a component.
pub(crate) async fn load(workbench: &Workbench, file: &Path, terminal: &Terminal) -> Result<Subject, Problem> {
    let bytes = std::fs::read(file).map_err(|source| {
        Problem::new(format!("{} cannot be read", file.display()))
            .exit(3)
            .because(source)
            .hint("`wed build` makes a project's component; `wed new transition` a project.")
    })?;
    let spinner = terminal.spinner_if_slow(&format!("compiling {}", file.display()));
    let subject = workbench.load(&bytes).await;
    spinner.finish_and_clear();
    Ok(subject?)
}

impl From<CallError> for Problem {
    fn from(error: CallError) -> Self {
        match &error {
            CallError::Setup(_) => Problem::new(error.to_string()),
            CallError::Refused(_) => Problem::new(error.to_string()).code("refused").exit(4),
            CallError::Transition { .. } => Problem::usage(error.to_string()).hint("Name it with --transition."),
            CallError::State(_) => Problem::usage(error.to_string())
                .hint("Types that the component leaves open are given as --attrs name:type,…"),
            CallError::Misfit(_) => Problem::usage(error.to_string()),
        }
    }
}

fn call_of(arguments: &RunArguments) -> Result<Call, Problem> {
    let answers = match (&arguments.now, arguments.seed) {
        (None, None) => AnswersFrom::Host,
        (now, seed) => AnswersFrom::Test {
            now: match now {
                Some(text) => read_time(text).map_err(|reason| Problem::usage(format!("--now: {reason}")))?,
                None => DEFAULT_NOW,
            },
            seed: seed.unwrap_or(0),
        },
    };
    Ok(Call {
        transition: arguments.transition.clone(),
        types: match &arguments.attrs {
            Some(text) => read_types(text).map_err(|reason| {
                Problem::usage(format!("--attrs: {reason}")).hint("For example: --attrs 'qty:integer,tags:text[]'")
            })?,
            None => BTreeMap::new(),
        },
        state: state_of(&arguments.state)?,
        attempt: arguments.attempt,
        timeout: arguments
            .timeout
            .as_deref()
            .map(read_duration)
            .transpose()
            .map_err(|reason| Problem::usage(format!("--timeout: {reason}")))?,
        config: pairs(&arguments.config, "--config")?,
        secrets: match &arguments.secret_file {
            Some(file) => secrets_in(file)?,
            None => BTreeMap::new(),
        },
        answers,
        ..Call::default()
    })
}

/// A state from JSON, from a file of it (`@FILE`).
fn state_of(text: &str) -> Result<Map<String, Json>, Problem> {
    let text = match text.strip_prefix('@') {
        Some(file) => std::fs::read_to_string(file)
            .map_err(|source| Problem::new(format!("{file} cannot be read")).exit(3).because(source))?,
        None => text.to_owned(),
    };
    serde_json::from_str(&text).map_err(|source| {
        Problem::usage("--state is no JSON object")
            .because(source)
            .hint("For example: --state '{\"qty\": 3}', or --state @state.json")
    })
}

fn pairs(words: &[String], option: &str) -> Result<BTreeMap<String, String>, Problem> {
    words
        .iter()
        .map(|word| {
            word.split_once('=')
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .ok_or_else(|| Problem::usage(format!("{option} `{word}` is not of the form KEY=VALUE")))
        })
        .collect()
}

/// Secrets from a file, a line of NAME=VALUE for each: not from the command line, which others see.
pub(crate) fn secrets_in(file: &Path) -> Result<BTreeMap<String, String>, Problem> {
    let text = std::fs::read_to_string(file)
        .map_err(|source| Problem::new(format!("{} cannot be read", file.display())).exit(3).because(source))?;
    let lines: Vec<String> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    let mut secrets = BTreeMap::new();
    for (at, line) in (1..).zip(&lines) {
        // The line itself may hold the secret: it is not shown.
        let (name, value) = line
            .split_once('=')
            .ok_or_else(|| Problem::usage(format!("{}: entry {at} is not of the form NAME=VALUE", file.display())))?;
        secrets.insert(name.trim().to_owned(), value.trim().to_owned());
    }
    Ok(secrets)
}

//! Completion of commands in a shell, with the names of flows, triggers and instances; manual pages.

use std::collections::BTreeSet;
use std::future::Future;
use std::path::Path;
use std::time::Duration;

use clap::{Command, CommandFactory};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use wedflow_client::ClientError;
use wedflow_documents::{FlowDetail, InstanceFilter};

use crate::arguments::{Arguments, DEFAULT_TENANT};
use crate::database::running;
use crate::door::{self, Door};
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Variable of the environment by which a shell's script asks for completions.
const VARIABLE: &str = "COMPLETE";

/// Time within which the database must answer; without an answer no name is offered.
const ANSWER_WITHIN: Duration = Duration::from_millis(700);

/// Names of one kind that are offered at most.
const NAMES_MAX: i64 = 100;

/// Commands below `flow` whose argument `name` is an existing flow.
const TAKE_A_FLOW: [&str; 5] = ["show", "url", "rematch", "drop", "lint"];

/// Answers a shell that asks for completions, and ends the process; returns when none asks.
pub(crate) fn answer_shell() {
    CompleteEnv::with_factory(|| with_names(Arguments::command())).var(VARIABLE).complete();
}

/// Prints the script by which a shell completes commands of `wed`.
pub(crate) fn print_script(shell: &str, terminal: &Terminal) -> Result<(), Problem> {
    let shells = Shells::builtins();
    let known: Vec<&str> = shells.names().collect();
    let completer = shells.completer(shell).ok_or_else(|| {
        Problem::usage(format!("there is no completion for {shell}"))
            .hint(format!("There is one for: {}.", known.join(", ")))
    })?;
    let mut script = Vec::new();
    completer
        .write_registration(VARIABLE, "wed", "wed", "wed", &mut script)
        .map_err(|source| Problem::new("the script cannot be written").because(source))?;
    terminal.line(String::from_utf8_lossy(&script).trim_end());
    Ok(())
}

/// Writes a manual page for each command into a folder.
pub(crate) fn write_manual(folder: &Path, terminal: &Terminal) -> Result<(), Problem> {
    let cannot = |source| Problem::new(format!("{} cannot be written", folder.display())).because(source);
    std::fs::create_dir_all(folder).map_err(cannot)?;
    clap_mangen::generate_to(Arguments::command(), folder).map_err(cannot)?;
    terminal.say(&format!("The manual pages are in {}.", folder.display()));
    Ok(())
}

/// Adds the names of things to all arguments that take them.
fn with_names(command: Command) -> Command {
    let parent = command.get_name().to_owned();
    command.mut_subcommands(|child| {
        let of_flow = parent == "flow" && TAKE_A_FLOW.contains(&child.get_name());
        let child = child.mut_args(|argument| match argument.get_id().as_str() {
            "flow" => argument.add(ArgValueCandidates::new(flows)),
            "name" if of_flow => argument.add(ArgValueCandidates::new(flows)),
            "transition" | "trigger" => argument.add(ArgValueCandidates::new(triggers)),
            "wid" => argument.add(ArgValueCandidates::new(instances)),
            "component" => argument.add(ArgValueCandidates::new(components)),
            _ => argument,
        });
        with_names(child)
    })
}

/// Words of the command line that is completed.
fn words() -> Vec<String> {
    let all = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    all.skip_while(|word| word != "--").skip(1).collect()
}

/// Value of an option in the command line that is completed, else of a variable.
fn given(option: &str, variable: &str) -> Option<String> {
    let words = words();
    let from_words =
        words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix(option)?.strip_prefix('=') {
            Some(value) => Some(value.to_owned()),
            None if word == option => words.get(at + 1).cloned(),
            None => None,
        });
    from_words.or_else(|| std::env::var(variable).ok()).filter(|value| !value.is_empty())
}

/// Asks the database, unless it takes too long or none is running; nothing is started or changed by it.
fn ask<A, F>(asked: impl FnOnce(Door) -> F) -> Vec<CompletionCandidate>
where
    F: Future<Output = Result<A, ClientError>>,
    A: IntoIterator<Item = String>,
{
    let answer = || {
        let url = given("--database-url", "DATABASE_URL").or_else(running)?;
        let tenant = given("--tenant", "WEDFLOW_TENANT").unwrap_or_else(|| DEFAULT_TENANT.to_owned());
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().ok()?;
        runtime.block_on(async {
            let asked = async { asked(door::over(&url, &tenant).await.ok()?).await.ok() };
            tokio::time::timeout(ANSWER_WITHIN, asked).await.ok()?
        })
    };
    let names = answer().into_iter().flatten();
    names.map(CompletionCandidate::new).collect()
}

fn flows() -> Vec<CompletionCandidate> {
    ask(|door| async move {
        let flows = door.flows().await?;
        Ok(flows.into_iter().map(|flow| flow.name))
    })
}

fn components() -> Vec<CompletionCandidate> {
    ask(|door| async move {
        let components = door.components(None).await?;
        let names: BTreeSet<String> = components.into_iter().map(|one| one.name).collect();
        Ok(names)
    })
}

/// The flow of the tenant that a word among those typed names.
async fn flow_among_words(door: &Door) -> Option<FlowDetail> {
    for word in words().iter().skip(1).rev() {
        let is_name = !word.is_empty() && !word.starts_with('-');
        if is_name && let Ok((flow, _)) = door.flow(word).await {
            return Some(flow);
        }
    }
    None
}

fn triggers() -> Vec<CompletionCandidate> {
    ask(|door| async move {
        let flow = flow_among_words(&door).await;
        let triggers = flow.into_iter().flat_map(|flow| flow.triggers);
        let names = triggers.flat_map(|trigger| [trigger.name, trigger.transition]);
        let names: BTreeSet<String> = names.flatten().collect();
        Ok(names)
    })
}

fn instances() -> Vec<CompletionCandidate> {
    ask(|door| async move {
        let Some(flow) = flow_among_words(&door).await else {
            return Ok(Vec::new());
        };
        let all = InstanceFilter::default();
        let found = door.instances(&flow.name, &all, Some(NAMES_MAX)).await?;
        let wids = found.into_iter().map(|instance| instance.wid.to_string());
        Ok(wids.collect::<Vec<_>>())
    })
}

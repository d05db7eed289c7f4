//! `wed`: the command line of Wedflow.
//!
//! - `arguments`: what can be asked
//! - `calls`: how a call of a transition looks
//! - `commands`: what is then done, a file for each noun
//! - `completion`: completion in shells, and manual pages
//! - `contexts`: servers by name, with their tokens
//! - `door`: the API that a command speaks to, at a server or in process
//! - `database`: which database is meant, and starting our own
//! - `inbox`: a person's worklist as a full screen
//! - `secret_key`: the key under which secrets are kept
//! - `samples`: the sample transitions in the source's folder
//! - `terminal`: how answers look, for people and as JSON
//! - `table`: tables, by the width of the terminal
//! - `logging`: what an operator reads in the log
//! - `printable`: texts as a terminal may have them
//! - `problem`: how errors look, and their exit codes

mod answer;
mod application;
mod arguments;
mod calls;
mod commands;
mod completion;
mod contexts;
mod database;
mod directory;
mod door;
mod in_force;
mod inbox;
mod logging;
mod printable;
mod problem;
mod samples;
mod secret_key;
mod shadow;
mod table;
mod tenant_file;
mod tenant_files;
mod terminal;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::arguments::{Arguments, DEFAULT_TENANT};
use crate::problem::Problem;
use crate::terminal::Terminal;

fn main() -> ExitCode {
    if let Some(ended) = wedflow_worker::serve_as_child() {
        return ended;
    }
    completion::answer_shell();
    let mut arguments = match Arguments::try_parse_from(split_notation(std::env::args_os())) {
        Ok(arguments) => arguments,
        Err(error) => return misused(with_our_tips(without_dangerous_tips(error))),
    };
    if arguments.tenant.is_empty() && std::env::var_os("WEDFLOW_TENANT").is_some() {
        // A variable that is empty counts as unset.
        DEFAULT_TENANT.clone_into(&mut arguments.tenant);
    }
    // At a server, the tenant is the token's.
    let tenant = match door::place(&arguments) {
        Ok(door::Place::Server(_)) => None,
        _ => Some(arguments.tenant.clone()),
    };
    in_force::force(tenant, options_of(&arguments), command_names());
    let terminal = Terminal::new(arguments.json, arguments.quiet);
    let started = logging::start(arguments.command.is_long_running(), arguments.json);
    let result = started.and_then(|()| runtime()).and_then(|runtime| {
        let result = runtime.block_on(commands::run(arguments, &terminal));
        // Guests still computing must not keep a finished command waiting.
        runtime.shutdown_background();
        result
    });
    match result {
        Ok(()) if terminal.has_lost() => {
            terminal.problem(&Problem::new("the answer could not be written").hint("Is the disk full?"))
        }
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => terminal.problem(&problem),
    }
}

/// Takes an instance as logs and replays print it (`orders/17`, `orders/17#4`) for the two words that commands take.
fn split_notation(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut split = Vec::new();
    let mut takes_instances = false;
    for word in words {
        takes_instances |= word == "instance" || word == "job";
        let text = word.to_string_lossy();
        let parts = text.split_once('/').map(|(flow, rest)| {
            let wid = rest.split('#').next().unwrap_or_default();
            (flow.to_owned(), wid.to_owned())
        });
        match parts {
            Some((flow, wid))
                if takes_instances
                    && !flow.contains(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')
                    && !wid.is_empty()
                    && wid.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                split.extend([flow.into(), wid.into()]);
            }
            _ => split.push(word),
        }
    }
    split
}

/// Words that other programs have for commands, and the commands that do it here.
const OTHER_WORDS: [(&str, &str); 14] = [
    ("apply", "flow apply"),
    ("completion", "completions"),
    ("conditions", "instance show"),
    ("docs", "explain"),
    ("init", "new transition"),
    ("list", "flow list"),
    ("logs", "job logs"),
    ("ps", "status"),
    ("push", "component push"),
    ("start", "instance start"),
    ("top", "status"),
    ("trace", "instance trace"),
    ("version", "--version"),
    ("why", "instance show"),
];

/// Adds a tip to an error about a command that other programs have.
fn with_our_tips(mut error: clap::Error) -> clap::Error {
    use clap::error::{ContextKind, ContextValue};
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let ours = OTHER_WORDS.iter().find(|(theirs, _)| theirs == word);
    if let Some((_, ours)) = ours {
        let tip = ContextValue::Strings(vec![(*ours).to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, tip);
    }
    error
}

/// Commands that no tip names to somebody who mistyped another one.
const DANGEROUS: [&str; 5] = ["drop", "delete", "remove", "revoke", "cancel"];

/// Takes tips out of an error that name a command which removes something.
fn without_dangerous_tips(mut error: clap::Error) -> clap::Error {
    use clap::error::{ContextKind, ContextValue};
    let names = match error.get(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::String(name)) => vec![name.clone()],
        Some(ContextValue::Strings(names)) => names.clone(),
        _ => return error,
    };
    error.remove(ContextKind::SuggestedSubcommand);
    let names: Vec<String> = names.into_iter().filter(|name| !DANGEROUS.contains(&name.as_str())).collect();
    if !names.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(names));
    }
    error
}

/// Words of the command line; characters that are no UTF-8 are replaced.
fn words() -> impl Iterator<Item = String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned())
}

/// Answers to words that are no command: as a document where one is asked for.
fn misused(error: clap::Error) -> ExitCode {
    let json = words().any(|word| word == "--json");
    if !json || !error.use_stderr() {
        error.exit();
    }
    let said = error.to_string();
    let message = said.lines().next().unwrap_or_default();
    let message = message.trim_start_matches("error: ").to_owned();
    let hint = "`wed --help` lists the commands, `wed COMMAND --help` what one takes.";
    Terminal::new(true, false).problem(&Problem::usage(message).hint(hint))
}

/// The options of this call that hold for every command, as a shell takes them.
fn options_of(arguments: &Arguments) -> String {
    let given = in_force::is_given;
    let mut options = String::new();
    if given("--tenant") {
        options.push_str(&format!(" --tenant {}", arguments.tenant));
    }
    if let Some(url) = (arguments.database_url.as_deref()).filter(|_| given("--database-url")) {
        let url = wedflow_store::without_password(url).replace('\'', "'\\''");
        options.push_str(&format!(" --database-url '{url}'"));
    }
    for (option, value) in [("--server", &arguments.server), ("--context", &arguments.context)] {
        if let Some(value) = value.as_ref().filter(|_| given(option)) {
            options.push_str(&format!(" {option} {value}"));
        }
    }
    options
}

fn command_names() -> Vec<String> {
    let command = Arguments::command();
    let names = command.get_subcommands().map(|one| one.get_name().to_owned());
    names.collect()
}

/// Builds the one runtime of the process.
fn runtime() -> Result<tokio::runtime::Runtime, Problem> {
    wedflow_worker::runtime()
        .enable_all()
        .build()
        .map_err(|source| Problem::new("the runtime could not be started").because(source))
}

//! `wed`: the command line of Wedflow.
//!
//! - `arguments`: what can be asked
//! - `calls`: how a call of a transition looks
//! - `commands`: what is then done, a file for each noun
//! - `database`: which database is meant, and starting our own
//! - `secret_key`: the key under which secrets are kept
//! - `samples`: the sample transitions beside the source
//! - `terminal`: how answers look, for people and as JSON
//! - `problem`: how errors look, and their exit codes

mod arguments;
mod calls;
mod commands;
mod database;
mod problem;
mod samples;
mod secret_key;
mod terminal;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::arguments::Arguments;
use crate::problem::Problem;
use crate::terminal::Terminal;

fn main() -> ExitCode {
    if let Some(ended) = wedflow_worker::serve_as_compiler() {
        return ended;
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return misused(&error),
    };
    terminal::force(&arguments.tenant, in_force(&arguments), command_names());
    let terminal = Terminal::new(arguments.json, arguments.quiet);
    start_logging(&arguments);
    let result = runtime().and_then(|runtime| {
        let result = runtime.block_on(commands::run(arguments, &terminal));
        // Guests still computing must not keep a finished command waiting.
        runtime.shutdown_background();
        result
    });
    match result {
        Ok(()) if terminal.has_lost() => terminal
            .problem(&Problem::new("the answer could not be written").hint("Is the disk full?")),
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => terminal.problem(&problem),
    }
}

/// Answers to words that are no command: as a document where one is asked for.
fn misused(error: &clap::Error) -> ExitCode {
    let json = std::env::args().any(|word| word == "--json");
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
fn in_force(arguments: &Arguments) -> String {
    let given = |option: &str| {
        std::env::args().any(|word| word == option || word.starts_with(&format!("{option}=")))
    };
    let mut options = String::new();
    if given("--tenant") {
        options.push_str(&format!(" --tenant {}", arguments.tenant));
    }
    if let Some(url) = (arguments.database_url.as_deref()).filter(|_| given("--database-url")) {
        options.push_str(&format!(" --database-url '{}'", url.replace('\'', "'\\''")));
    }
    options
}

fn command_names() -> Vec<String> {
    let command = Arguments::command();
    let names = command
        .get_subcommands()
        .map(|one| one.get_name().to_owned());
    names.collect()
}

/// One runtime for everything.
fn runtime() -> Result<tokio::runtime::Runtime, Problem> {
    wedflow_worker::runtime()
        .enable_all()
        .build()
        .map_err(|source| Problem::new("the runtime could not be started").because(source))
}

fn start_logging(arguments: &Arguments) {
    use tracing_subscriber::EnvFilter;
    let default = if arguments.command.is_long_running() {
        "info,sqlx=warn"
    } else {
        "warn,sqlx=error"
    };
    let filter = EnvFilter::try_from_env("WEDFLOW_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_writer(std::io::stderr);
    if arguments.json {
        builder.json().init();
    } else {
        builder.with_target(false).init();
    }
}

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

use clap::Parser;

use crate::arguments::Arguments;
use crate::problem::Problem;
use crate::terminal::Terminal;

fn main() -> ExitCode {
    if let Some(ended) = wedflow_engine::serve_as_compiler() {
        return ended;
    }
    let arguments = Arguments::parse();
    let terminal = Terminal::new(arguments.json, arguments.quiet);
    start_logging(&arguments);
    let result = runtime().and_then(|runtime| {
        let result = runtime.block_on(commands::run(arguments, &terminal));
        // Guests still computing must not keep a finished command waiting.
        runtime.shutdown_background();
        result
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => terminal.problem(&problem),
    }
}

/// One runtime for everything.
fn runtime() -> Result<tokio::runtime::Runtime, Problem> {
    wedflow_engine::runtime()
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

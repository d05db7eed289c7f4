//! `wed-bench`: measures a host on throw-away databases, against plain SQL on the same server.
//!
//! - `arguments`: what can be measured, and how
//! - `commit`, `growth`, `steps`, `fairness`, `soak`, `worklist`: one benchmark each
//! - `scenario`: flows and instances to measure, and one measurement
//! - `database`: the throw-away database and bulk loads
//! - `pgbench`: baselines in plain SQL
//! - `processors`: processor time of host and server
//! - `chart`: the curves of `growth`, as SVG
//! - `origin`: commit, machine and date of a figure
//! - `report`: tables for people, documents for machines

mod arguments;
mod chart;
mod commit;
mod database;
mod fairness;
mod growth;
mod origin;
mod pgbench;
mod processors;
mod report;
mod scenario;
mod soak;
mod steps;
mod worklist;

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;
use wedflow_embedded_postgres::{Postgres, PostgresSettings};

use crate::arguments::{Arguments, Benchmark};
use crate::report::Report;

fn main() -> ExitCode {
    // Hosts compile components in a child process of the same program.
    if let Some(ended) = wedflow_worker::serve_as_child() {
        return ended;
    }
    let arguments = Arguments::parse();
    let asked = std::env::var("WEDFLOW_LOG").ok();
    let targets = asked
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| Targets::new().with_default(LevelFilter::WARN).with_target("sqlx", LevelFilter::ERROR));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    tracing_subscriber::registry().with(lines.with_filter(targets)).init();
    match measure(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &Arguments) -> Result<()> {
    let runtime = wedflow_worker::runtime().enable_all().build().context("the runtime could not be started")?;
    let report = Report::new(arguments.json);
    let result = runtime.block_on(async {
        let url = server(arguments).await?;
        match &arguments.benchmark {
            Benchmark::Commit(options) => commit::run(&url, options, &report).await,
            Benchmark::Growth(options) => growth::run(&url, options, &report).await,
            Benchmark::Fairness(options) => fairness::run(&url, options, &report).await,
            Benchmark::Soak(options) => soak::run(&url, options, &report).await,
            Benchmark::Worklist(options) => worklist::run(&url, options, &report).await,
            Benchmark::Steps(options) => steps::run(&url, options, &report).await,
        }
    });
    // A guest that still computes must not delay the end.
    runtime.shutdown_background();
    result
}

/// Returns the URL of a database of the server to measure on: the given one, else the private Postgres.
async fn server(arguments: &Arguments) -> Result<String> {
    if let Some(url) = arguments.database_url.as_deref().filter(|url| !url.is_empty()) {
        return Ok(url.to_owned());
    }
    let private = Postgres::open(PostgresSettings::from_environment()?)?;
    let connection = private.ensure_started(|_| ()).await?;
    Ok(connection.url_of("postgres"))
}

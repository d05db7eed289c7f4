//! `wed bench`: what the host commits in a second, beside what a hand-written worker does; what grows; who waits.

mod fairness;
mod growth;
mod pgbench;
mod scenario;
mod steps;

use serde::Serialize;
use serde_json::json;

use crate::arguments::{Arguments, BenchCommand, CommitArguments};
use crate::database;
use crate::problem::Problem;
use crate::terminal::Terminal;

use pgbench::Pgbench;
use scenario::{Measured, Ready, Scenario};

pub(crate) async fn run(
    arguments: &Arguments,
    command: &BenchCommand,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let url = match &arguments.database_url {
        Some(url) if !url.is_empty() => url.clone(),
        _ => database::start_private(terminal).await?,
    };
    match command {
        BenchCommand::Commit(options) => commit(&url, options, terminal).await,
        BenchCommand::Growth(options) => growth::run(&url, options, terminal).await,
        BenchCommand::Fairness(options) => fairness::run(&url, options, terminal).await,
        BenchCommand::Steps(options) => steps::run(&url, options, terminal).await,
    }
}

/// A measurement of all its rounds.
#[derive(Debug, Clone, Default, Serialize)]
struct Row {
    name: String,
    /// Median over the rounds.
    per_s: f64,
    /// Slowest and fastest round.
    low: f64,
    high: f64,
    /// Host's and server's processor time for one transition, in microseconds, median.
    host_us: Option<f64>,
    server_us: Option<f64>,
    /// Time between two commits of an instance, in microseconds, of the last round.
    p50_us: Option<f64>,
    p99_us: Option<f64>,
}

impl Row {
    fn of(name: &str, rounds: &[Measured]) -> Self {
        let last = rounds.last().copied().unwrap_or_default();
        let rates: Vec<f64> = rounds.iter().map(|round| round.per_s).collect();
        let of = |pick: fn(&Measured) -> Option<f64>| {
            let values: Vec<f64> = rounds.iter().filter_map(pick).collect();
            (!values.is_empty()).then(|| median(&values))
        };
        Row {
            name: name.to_owned(),
            per_s: median(&rates),
            low: rates.iter().copied().fold(f64::INFINITY, f64::min),
            high: rates.iter().copied().fold(0.0, f64::max),
            host_us: of(|round| round.host_us),
            server_us: of(|round| round.server_us),
            p50_us: last.p50_us,
            p99_us: last.p99_us,
        }
    }
}

/// The middle of some values; 0 of none.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

async fn commit(url: &str, options: &CommitArguments, terminal: &Terminal) -> Result<(), Problem> {
    let scenarios = [
        ("clause, 10 triggers", Scenario::default()),
        (
            "clause, 100 triggers",
            Scenario {
                triggers: 100,
                ..Scenario::default()
            },
        ),
        (
            "typed assignments",
            Scenario {
                transition: "advance_typed",
                ..Scenario::default()
            },
        ),
        (
            "many flows",
            Scenario {
                flows: options.flows,
                tenants: (options.flows / 10).max(1),
                instances: 5,
                ..Scenario::default()
            },
        ),
        (
            "one instance at a time",
            Scenario {
                instances: 1,
                ..Scenario::default()
            },
        ),
    ];
    let mut ready: Vec<Ready> = Vec::new();
    for (name, scenario) in &scenarios {
        let spinner = terminal.spinner(&format!("preparing: {name}"));
        let prepared = scenario.prepare(url).await;
        spinner.finish_and_clear();
        match prepared {
            Ok(prepared) => ready.push(prepared),
            Err(problem) => {
                drop_all(ready).await;
                return Err(problem);
            }
        }
    }
    let result = rounds(options, terminal, &scenarios, &ready).await;
    drop_all(ready).await;
    let rows = result?;

    let rate = |name: &str| {
        rows.iter()
            .find(|row| row.name == name)
            .map_or(0.0, |row| row.per_s)
    };
    let ratio = |a: f64, b: f64| {
        if b > 0.0 {
            Some((a / b * 100.0).round() / 100.0)
        } else {
            None
        }
    };
    let ours = rate(scenarios[0].0);
    let (bare, plain) = (
        rate("bare, 8 connections"),
        rate("pgbench -N, 8 connections"),
    );
    let document = json!({
        "transitions_per_s": ours.round(),
        "bare_per_s": (bare > 0.0).then(|| bare.round()),
        "pgbench_n_per_s": (plain > 0.0).then(|| plain.round()),
        "ratio_bare": ratio(ours, bare),
        "ratio_pgbench": ratio(ours, plain),
        "ratio_100_triggers": ratio(rate(scenarios[1].0), ours),
        "ratio_typed": ratio(rate(scenarios[2].0), ours),
        "ratio_many_flows": ratio(rate(scenarios[3].0), ours),
        "flows": options.flows,
        "idle_latency_p50_us": rows.iter().find(|row| row.name == scenarios[4].0).and_then(|row| row.p50_us),
        "idle_latency_p99_us": rows.iter().find(|row| row.name == scenarios[4].0).and_then(|row| row.p99_us),
        "rounds": options.rounds,
        "seconds": options.seconds,
        "rows": rows,
    });
    terminal.answer(&document, || {
        let whole = |value: f64| format!("{value:.0}");
        let some =
            |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.1}"));
        terminal.table(
            &[
                "",
                "per second",
                "low to high",
                "of bare",
                "host µs",
                "server µs",
                "p50 µs",
                "p99 µs",
            ],
            rows.iter().map(|row| {
                vec![
                    row.name.clone(),
                    whole(row.per_s),
                    format!("{:.0} to {:.0}", row.low, row.high),
                    ratio(row.per_s, bare).map_or_else(String::new, |ratio| format!("{ratio:.2}")),
                    some(row.host_us),
                    some(row.server_us),
                    row.p50_us.map_or_else(String::new, whole),
                    row.p99_us.map_or_else(String::new, whole),
                ]
            }),
        );
    });
    Ok(())
}

async fn rounds(
    options: &CommitArguments,
    terminal: &Terminal,
    scenarios: &[(&str, Scenario)],
    ready: &[Ready],
) -> Result<Vec<Row>, Problem> {
    let pgbench = Pgbench::find(ready[0].server().await?);
    if pgbench.is_none() {
        terminal.say(
            "pgbench is not installed (Debian: postgresql-contrib or postgresql-15): no baseline",
        );
    }
    let mut bare = Vec::new();
    let mut plain = Vec::new();
    let mut external = Vec::new();
    let mut ours = vec![Vec::new(); scenarios.len()];
    for round in 1..=options.rounds {
        let spinner = terminal.spinner(&format!("round {round} of {}", options.rounds));
        if let Some(pgbench) = &pgbench {
            let beside = &ready[0].url;
            spinner.set_message(format!("round {round}: bare"));
            bare.push(pgbench.bare(beside, options.seconds, round == 1).await?);
            spinner.set_message(format!("round {round}: pgbench -N"));
            plain.push(pgbench.plain(beside, options.seconds, round == 1).await?);
            spinner.set_message(format!("round {round}: external worker"));
            external.push(
                pgbench
                    .external(&ready[4].flow_url, options.seconds)
                    .await?,
            );
        }
        for (at, (name, _)) in scenarios.iter().enumerate() {
            spinner.set_message(format!("round {round}: {name}"));
            ours[at].push(ready[at].measure(options.seconds).await?);
        }
        spinner.finish_and_clear();
    }
    let mut rows = Vec::new();
    if pgbench.is_some() {
        rows.push(Row::of("bare, 8 connections", &bare));
        rows.push(Row::of("pgbench -N, 8 connections", &plain));
    }
    rows.extend(
        scenarios
            .iter()
            .zip(&ours)
            .map(|((name, _), rounds)| Row::of(name, rounds)),
    );
    if pgbench.is_some() {
        rows.push(Row::of("external SQL worker, 1 connection", &external));
    }
    Ok(rows)
}

async fn drop_all(ready: Vec<Ready>) {
    for ready in ready {
        ready.remove().await;
    }
}

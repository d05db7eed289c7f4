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

/// The rows of `wed bench commit`.
const BARE: &str = "bare, 8 connections";
const PLAIN: &str = "pgbench -N, 8 connections";
const CLAUSE: &str = "clause, 10 triggers";
const MANY_TRIGGERS: &str = "clause, 100 triggers";
const TYPED: &str = "typed assignments";
const MANY_FLOWS: &str = "many flows";
const ALONE: &str = "one instance at a time";
const EXTERNAL: &str = "external SQL worker, 1 connection";

async fn commit(url: &str, options: &CommitArguments, terminal: &Terminal) -> Result<(), Problem> {
    let mut scenarios = vec![
        (CLAUSE, Scenario::default()),
        (
            MANY_TRIGGERS,
            Scenario {
                triggers: 100,
                ..Scenario::default()
            },
        ),
        (
            TYPED,
            Scenario {
                transition: "advance_typed",
                ..Scenario::default()
            },
        ),
        (
            MANY_FLOWS,
            Scenario {
                flows: options.flows,
                tenants: (options.flows / 10).max(1),
                instances: 5,
                ..Scenario::default()
            },
        ),
        (
            ALONE,
            Scenario {
                instances: 1,
                ..Scenario::default()
            },
        ),
    ];
    // The external worker works on an instance of the last.
    scenarios.retain(|(name, _)| {
        options.measures(name) || (*name == ALONE && options.measures(EXTERNAL))
    });
    if scenarios.is_empty() {
        let rows = [CLAUSE, MANY_TRIGGERS, TYPED, MANY_FLOWS, ALONE, EXTERNAL];
        return Err(Problem::new("--only names no row of a host's")
            .exit(2)
            .hint(format!("One or more of: {}.", rows.join("; "))));
    }
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
        if a > 0.0 && b > 0.0 {
            Some((a / b * 100.0).round() / 100.0)
        } else {
            None
        }
    };
    let ours = rate(CLAUSE);
    let (bare, plain) = (rate(BARE), rate(PLAIN));
    let document = json!({
        "transitions_per_s": (ours > 0.0).then(|| ours.round()),
        "bare_per_s": (bare > 0.0).then(|| bare.round()),
        "pgbench_n_per_s": (plain > 0.0).then(|| plain.round()),
        "ratio_bare": ratio(ours, bare),
        "ratio_pgbench": ratio(ours, plain),
        "ratio_100_triggers": ratio(rate(MANY_TRIGGERS), ours),
        "ratio_typed": ratio(rate(TYPED), ours),
        "ratio_many_flows": ratio(rate(MANY_FLOWS), ours),
        "flows": options.flows,
        "idle_latency_p50_us": rows.iter().find(|row| row.name == ALONE).and_then(|row| row.p50_us),
        "idle_latency_p99_us": rows.iter().find(|row| row.name == ALONE).and_then(|row| row.p99_us),
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
    let beside = &ready[0].url;
    let alone = scenarios.iter().position(|(name, _)| *name == ALONE);
    let mut measured: Vec<(&str, Vec<Measured>)> = Vec::new();
    let mut add = |name, found| match measured.iter_mut().find(|(known, _)| *known == name) {
        Some((_, rounds)) => rounds.push(found),
        None => measured.push((name, vec![found])),
    };
    for round in 1..=options.rounds {
        let spinner = terminal.spinner(&format!("round {round} of {}", options.rounds));
        let say = |name: &str| spinner.set_message(format!("round {round}: {name}"));
        if let Some(pgbench) = &pgbench {
            if options.measures(BARE) {
                say(BARE);
                add(
                    BARE,
                    pgbench.bare(beside, options.seconds, round == 1).await?,
                );
            }
            if options.measures(PLAIN) {
                say(PLAIN);
                add(
                    PLAIN,
                    pgbench.plain(beside, options.seconds, round == 1).await?,
                );
            }
        }
        for ((name, _), ready) in scenarios.iter().zip(ready) {
            if options.measures(name) {
                say(name);
                add(name, ready.measure(options.seconds).await?);
            }
        }
        if let (Some(pgbench), Some(alone)) = (&pgbench, alone)
            && options.measures(EXTERNAL)
        {
            say(EXTERNAL);
            let url = &ready[alone].flow_url;
            add(EXTERNAL, pgbench.external(url, options.seconds).await?);
        }
        spinner.finish_and_clear();
    }
    Ok(measured
        .iter()
        .map(|(name, rounds)| Row::of(name, rounds))
        .collect())
}

async fn drop_all(ready: Vec<Ready>) {
    for ready in ready {
        ready.remove().await;
    }
}

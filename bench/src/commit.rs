//! `wed-bench commit`: what a host commits in a second, compared with plain SQL on the same server.

use anyhow::{Result, bail};
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::arguments::CommitArguments;
use crate::origin::Origin;
use crate::pgbench::Pgbench;
use crate::report::{Report, median, table};
use crate::scenario::{Measured, Ready, Reserves, Scenario};

const BARE: &str = "bare, 8 connections";
const PLAIN: &str = "pgbench -N, 8 connections";
const CLAUSE: &str = "clause, 10 triggers";
const CLAUSE_100: &str = "clause, 100 triggers";
const TYPED: &str = "typed assignments";
const FLOWS: &str = "many flows";
const ONE_INSTANCE: &str = "one instance at a time";
const RESERVES_ONE: &str = "reservation in one of ten";
const RESERVES_SAME: &str = "reservation in each, of the same key";
const RESERVES_ANOTHER: &str = "reservation in each, of another key";
const RESERVES_ALL: &str = "reservation of one key by 100 instances";
const EXTERNAL: &str = "external SQL worker, 1 connection";

/// Rows that a host is measured for.
const HOST_ROWS: [&str; 9] =
    [CLAUSE, CLAUSE_100, TYPED, FLOWS, RESERVES_ONE, RESERVES_SAME, RESERVES_ANOTHER, RESERVES_ALL, ONE_INSTANCE];

/// Result of all rounds of one row.
#[derive(Debug, Clone, Serialize)]
struct Row {
    name: String,
    /// Transitions per second: median, slowest and fastest round.
    per_s: f64,
    low: f64,
    high: f64,
    /// Processor time for one transition in microseconds, median.
    host_us: Option<f64>,
    server_us: Option<f64>,
    /// Time between two commits of an instance in microseconds, of the last round.
    p50_us: Option<f64>,
    p99_us: Option<f64>,
    #[serde(flatten)]
    origin: Origin,
}

impl Row {
    fn of(name: &str, rounds: &[Measured], origin: &Origin) -> Self {
        let last = rounds.last().copied().unwrap_or_default();
        let rates: Vec<f64> = rounds.iter().map(|round| round.per_s).collect();
        let median_of = |pick: fn(&Measured) -> Option<f64>| {
            let values: Vec<f64> = rounds.iter().filter_map(pick).collect();
            (!values.is_empty()).then(|| median(&values))
        };
        Row {
            name: name.to_owned(),
            per_s: median(&rates),
            low: rates.iter().copied().fold(f64::INFINITY, f64::min),
            high: rates.iter().copied().fold(0.0, f64::max),
            host_us: median_of(|round| round.host_us),
            server_us: median_of(|round| round.server_us),
            p50_us: last.p50_us,
            p99_us: last.p99_us,
            origin: origin.clone(),
        }
    }
}

/// Rows in the order of their first measurement.
#[derive(Default)]
struct Rows(Vec<(&'static str, Vec<Measured>)>);

impl Rows {
    fn add(&mut self, name: &'static str, found: Measured) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, rounds)) => rounds.push(found),
            None => self.0.push((name, vec![found])),
        }
    }
}

pub(crate) async fn run(url: &str, options: &CommitArguments, report: &Report) -> Result<()> {
    let origin = Origin::now();
    let scenarios = scenarios(options)?;
    let mut ready: Vec<Ready> = Vec::new();
    for (name, scenario) in &scenarios {
        let spinner = report.spinner(&format!("preparing: {name}"));
        let prepared = scenario.prepare(url).await;
        spinner.finish_and_clear();
        match prepared {
            Ok(prepared) => ready.push(prepared),
            Err(error) => {
                drop_all(ready).await;
                return Err(error);
            }
        }
    }
    let result = measure_rounds(options, report, &scenarios, &ready).await;
    drop_all(ready).await;
    let row = |(name, rounds): &(&str, Vec<Measured>)| Row::of(name, rounds, &origin);
    let rows: Vec<Row> = result?.0.iter().map(row).collect();
    report.answer(&document(options, &origin, &rows), || format!("{}\n{}", origin.line(), people(&rows)));
    Ok(())
}

fn scenarios(options: &CommitArguments) -> Result<Vec<(&'static str, Scenario)>> {
    let scenario = |name| {
        let mut scenario = Scenario::default();
        match name {
            CLAUSE_100 => scenario.triggers = 100,
            TYPED => scenario.transition = "advance_typed",
            FLOWS => {
                scenario.flows = options.flows;
                scenario.tenants = (options.flows / 10).max(1);
                scenario.instances = 5;
            }
            RESERVES_ONE => scenario.reserves = Reserves::OneOfTen,
            RESERVES_SAME => scenario.reserves = Reserves::EachTheSame,
            RESERVES_ANOTHER => scenario.reserves = Reserves::EachAnother,
            RESERVES_ALL => {
                scenario.reserves = Reserves::OneForAll;
                scenario.instances = 100;
            }
            ONE_INSTANCE => scenario.instances = 1,
            _ => {}
        }
        (name, scenario)
    };
    // The external worker works on the only instance of the last row.
    let asked = |name: &&str| options.measures(name) || (*name == ONE_INSTANCE && options.measures(EXTERNAL));
    let scenarios: Vec<_> = HOST_ROWS.into_iter().filter(asked).map(scenario).collect();
    if scenarios.is_empty() {
        bail!("--only names no row of a host's; there are: {}; {EXTERNAL}", HOST_ROWS.join("; "));
    }
    Ok(scenarios)
}

/// Measures every row once a round, so that a machine whose speed varies does so for all rows.
async fn measure_rounds(
    options: &CommitArguments,
    report: &Report,
    scenarios: &[(&'static str, Scenario)],
    ready: &[Ready],
) -> Result<Rows> {
    let pgbench = Pgbench::find(ready[0].server().await?);
    if pgbench.is_none() {
        report.say("pgbench is not installed (Debian: postgresql-contrib or postgresql-15): no baseline");
    }
    let one_instance = scenarios.iter().position(|(name, _)| *name == ONE_INSTANCE);
    let (url, seconds) = (&ready[0].database.url, options.seconds);
    let mut rows = Rows::default();
    for round in 1..=options.rounds {
        let spinner = report.spinner(&format!("round {round} of {}", options.rounds));
        let say = |name: &str| spinner.set_message(format!("round {round}: {name}"));
        if let Some(pgbench) = &pgbench {
            if options.measures(BARE) {
                say(BARE);
                rows.add(BARE, pgbench.bare(url, seconds, round == 1).await?);
            }
            if options.measures(PLAIN) {
                say(PLAIN);
                rows.add(PLAIN, pgbench.plain(url, seconds, round == 1).await?);
            }
        }
        for ((name, _), ready) in scenarios.iter().zip(ready) {
            if options.measures(name) {
                say(name);
                rows.add(name, ready.measure(seconds).await?);
            }
        }
        if let (Some(pgbench), Some(at)) = (&pgbench, one_instance)
            && options.measures(EXTERNAL)
        {
            say(EXTERNAL);
            rows.add(EXTERNAL, pgbench.external(&ready[at].flow_url, seconds).await?);
        }
        spinner.finish_and_clear();
    }
    Ok(rows)
}

fn rate(rows: &[Row], name: &str) -> f64 {
    rows.iter().find(|row| row.name == name).map_or(0.0, |row| row.per_s)
}

/// Divides two rates, to two decimals; none unless both were measured.
fn ratio(a: f64, b: f64) -> Option<f64> {
    (a > 0.0 && b > 0.0).then(|| (a / b * 100.0).round() / 100.0)
}

fn document(options: &CommitArguments, origin: &Origin, rows: &[Row]) -> Json {
    let measured = |name| Some(rate(rows, name).round()).filter(|rate| *rate > 0.0);
    let between = |a, b| ratio(rate(rows, a), rate(rows, b));
    let idle = rows.iter().find(|row| row.name == ONE_INSTANCE);
    json!({
        "date": origin.date,
        "commit": origin.commit,
        "machine": origin.machine,
        "cores": origin.cores,
        "load": origin.load,
        "transitions_per_s": measured(CLAUSE),
        "bare_per_s": measured(BARE),
        "pgbench_n_per_s": measured(PLAIN),
        "ratio_bare": between(CLAUSE, BARE),
        "ratio_pgbench": between(CLAUSE, PLAIN),
        "ratio_100_triggers": between(CLAUSE_100, CLAUSE),
        "ratio_typed": between(TYPED, CLAUSE),
        "ratio_many_flows": between(FLOWS, CLAUSE),
        "ratio_reserves_one_of_ten": between(RESERVES_ONE, CLAUSE),
        "ratio_reserves_same": between(RESERVES_SAME, CLAUSE),
        "ratio_reserves_another": between(RESERVES_ANOTHER, CLAUSE),
        "handovers_per_s": measured(RESERVES_ALL),
        "flows": options.flows,
        "idle_latency_p50_us": idle.and_then(|row| row.p50_us),
        "idle_latency_p99_us": idle.and_then(|row| row.p99_us),
        "rounds": options.rounds,
        "seconds": options.seconds,
        "rows": rows,
    })
}

fn people(rows: &[Row]) -> String {
    let whole = |value: f64| format!("{value:.0}");
    let tenths = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.1}"));
    let bare = rate(rows, BARE);
    table(
        &["", "per second", "low to high", "of bare", "host µs", "server µs", "p50 µs", "p99 µs"],
        rows.iter().map(|row| {
            vec![
                row.name.clone(),
                whole(row.per_s),
                format!("{:.0} to {:.0}", row.low, row.high),
                ratio(row.per_s, bare).map_or_else(String::new, |ratio| format!("{ratio:.2}")),
                tenths(row.host_us),
                tenths(row.server_us),
                row.p50_us.map_or_else(String::new, whole),
                row.p99_us.map_or_else(String::new, whole),
            ]
        }),
    )
}

async fn drop_all(ready: Vec<Ready>) {
    for ready in ready {
        ready.remove().await;
    }
}

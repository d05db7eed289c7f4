//! `wed-bench fairness`: how long a quiet tenant's jobs take, alone and while another tenant has very many.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde::Serialize;
use serde_json::{Map, json};
use wedflow_store::Flow;

use crate::arguments::FairnessArguments;
use crate::report::{Report, median, table};
use crate::scenario::{Ready, Scenario};

/// Time between two starts of the quiet tenant.
const PACE: Duration = Duration::from_millis(20);
/// Time that a host runs before it is measured.
const WARM_UP: Duration = Duration::from_secs(2);
/// Maximum wait for the last jobs of the quiet tenant.
const PATIENCE: Duration = Duration::from_secs(60);

/// Kinds of busy tenants: name, transition, timeout.
const BUSY: [(&str, &str, &str); 3] = [
    ("light jobs", "advance", "10 s"),
    ("jobs of some milliseconds", "advance_heavily", "10 s"),
    ("jobs that never end", "advance_never", "1 s"),
];

/// Time of the quiet tenant's jobs, from the commit that fired them to their own; medians over the rounds.
#[derive(Debug, Clone, Serialize)]
struct Row {
    busy: &'static str,
    p50_us: f64,
    p99_us: f64,
    /// The p99 divided by that of the same round without a busy tenant.
    ratio: f64,
    /// Commits of the busy tenant per second.
    busy_per_s: f64,
    /// The same, divided by its commits per second in the same round without the quiet tenant.
    busy_ratio: f64,
}

/// Result of a measurement: p50 and p99 of the quiet tenant's jobs in microseconds, and commits of others.
#[derive(Debug, Clone, Copy)]
struct Waits {
    p50_us: f64,
    p99_us: f64,
    busy_per_s: f64,
    /// Commits of others per second while the quiet tenant starts nothing.
    alone_per_s: f64,
}

pub(crate) async fn run(url: &str, options: &FairnessArguments, report: &Report) -> Result<()> {
    let spinner = report.spinner("preparing");
    let tenants = BUSY.len() + 1;
    let scenario = Scenario { flows: tenants, tenants, instances: 0, ..Scenario::default() };
    let ready = scenario.prepare(url).await?;
    let rows = measure_all(&scenario, &ready, options, |text| spinner.set_message(text)).await;
    spinner.finish_and_clear();
    ready.remove().await;
    let rows = rows?;
    let document = json!({
        "jobs_waiting": options.jobs,
        "starts": options.starts,
        "rounds": options.rounds,
        "rows": rows,
    });
    let head = ["busy tenant", "p50 µs", "p99 µs", "p99 to alone", "its commits/s", "to its rate alone"];
    report.answer(&document, || {
        table(
            &head,
            rows.iter().map(|row| {
                vec![
                    row.busy.to_owned(),
                    format!("{:.0}", row.p50_us),
                    format!("{:.0}", row.p99_us),
                    format!("{:.2}", row.ratio),
                    format!("{:.0}", row.busy_per_s),
                    format!("{:.2}", row.busy_ratio),
                ]
            }),
        )
    });
    Ok(())
}

async fn measure_all(
    scenario: &Scenario,
    ready: &Ready,
    options: &FairnessArguments,
    say: impl Fn(String),
) -> Result<Vec<Row>> {
    let store = &ready.database.store;
    // The quiet tenant's instances end with their first step.
    let mut definition = scenario.definition(0)?;
    definition.final_condition = Some("step = 1".to_owned());
    store.apply("tenant-0", &definition).await?;
    let quiet = store.flow("tenant-0", "ring-0").await?;
    for number in 1..=BUSY.len() {
        fill_busy(scenario, ready, number, options.jobs).await?;
    }
    ready.database.vacuum().await?;
    let mut rounds: Vec<Vec<Waits>> = vec![Vec::new(); BUSY.len() + 1];
    for round in 1..=options.rounds {
        for (at, measured) in rounds.iter_mut().enumerate() {
            say(format!("round {round} of {}: {}", options.rounds, busy_name(at)));
            let tenant = format!("tenant-{at}");
            if at > 0 {
                store.suspend_tenant(&tenant, false).await?;
            }
            let waits = measure(ready, &quiet, options.starts).await;
            if at > 0 {
                store.suspend_tenant(&tenant, true).await?;
            }
            measured.push(waits?);
        }
    }
    Ok((0..rounds.len()).map(|at| row(at, &rounds)).collect())
}

fn busy_name(at: usize) -> &'static str {
    at.checked_sub(1).map_or("none", |at| BUSY[at].0)
}

fn row(at: usize, rounds: &[Vec<Waits>]) -> Row {
    let over = |pick: fn(&Waits) -> f64| median(&rounds[at].iter().map(pick).collect::<Vec<_>>());
    let to_alone = rounds[at].iter().zip(&rounds[0]);
    Row {
        busy: busy_name(at),
        p50_us: over(|waits| waits.p50_us),
        p99_us: over(|waits| waits.p99_us),
        ratio: median(&to_alone.map(|(waits, alone)| waits.p99_us / alone.p99_us.max(1.0)).collect::<Vec<_>>()),
        busy_per_s: over(|waits| waits.busy_per_s),
        busy_ratio: over(|waits| waits.busy_per_s / waits.alone_per_s.max(1.0)),
    }
}

/// Gives busy tenant `number` its waiting jobs and suspends it.
async fn fill_busy(scenario: &Scenario, ready: &Ready, number: usize, jobs: usize) -> Result<()> {
    let (_, transition, timeout) = BUSY[number - 1];
    let store = &ready.database.store;
    let tenant = format!("tenant-{number}");
    let mut definition = scenario.definition(number)?;
    for trigger in &mut definition.triggers {
        trigger.transition = transition.to_owned();
        trigger.timeout = Some(timeout.to_owned());
    }
    if let Some(bound) = definition.transitions.remove("advance") {
        definition.transitions.insert(transition.to_owned(), bound);
    }
    store.apply(&tenant, &definition).await?;
    let busy = store.flow(&tenant, &definition.name).await?;
    // No host runs yet, so that the jobs wait; a suspended tenant could not start them.
    scenario.start(&ready.database, &busy, jobs).await?;
    store.suspend_tenant(&tenant, true).await?;
    Ok(())
}

/// Measures others alone, then starts instances of the quiet tenant at an even pace and waits for their jobs.
async fn measure(ready: &Ready, quiet: &Flow, starts: usize) -> Result<Waits> {
    let database = &ready.database;
    let host = ready.host().await?;
    let state = Map::from_iter([("step".to_owned(), json!(0))]);
    // A host isolates the first attempt of a transition, on threads that the busy tenant's may use: once, before.
    database.start_instances(quiet, std::slice::from_ref(&state)).await?;
    tokio::time::sleep(WARM_UP).await;
    let (before, begun) = (host.committed(), Instant::now());
    tokio::time::sleep(PACE * u32::try_from(starts)?).await;
    let alone_per_s = (host.committed() - before) as f64 / begun.elapsed().as_secs_f64();
    let (before, begun) = (host.committed(), Instant::now());
    let from = database.newest_instance(quiet).await?;
    let mut next = tokio::time::interval(PACE);
    next.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    for _ in 0..starts {
        next.tick().await;
        database.start_instances(quiet, std::slice::from_ref(&state)).await?;
    }
    let until = Instant::now() + PATIENCE;
    let waits = loop {
        let waits = database.first_steps(quiet, from).await?;
        if waits.len() == starts {
            break waits;
        }
        if Instant::now() > until {
            bail!("only {} of {starts} jobs of the quiet tenant were done", waits.len());
        }
        tokio::time::sleep(PACE).await;
    };
    let others = (host.committed() - before).saturating_sub(starts as u64) as f64;
    let busy_per_s = others / begun.elapsed().as_secs_f64();
    host.stop().await;
    let quantile = |part: usize| waits.get(waits.len() * part / 100).copied().unwrap_or(0.0);
    Ok(Waits { p50_us: quantile(50), p99_us: quantile(99), busy_per_s, alone_per_s })
}

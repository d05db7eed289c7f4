//! `wed bench fairness`: how long a quiet tenant's jobs take alone, and beside a tenant with very many.

use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Map, json};
use wedflow_store::Flow;

use super::median;
use super::scenario::{Ready, Scenario};
use crate::arguments::FairnessArguments;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Between two starts of the quiet tenant.
const PACE: Duration = Duration::from_millis(20);
/// How long a host runs before it is measured.
const WARM_UP: Duration = Duration::from_secs(2);
/// How long the last jobs of the quiet tenant are waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// Instances that are started in one statement.
const CHUNK: usize = 10_000;

/// What the busy tenants' jobs are like: the transition, and its timeout.
const BUSY: [(&str, &str, &str); 3] = [
    ("light jobs", "advance", "10 s"),
    ("jobs of some milliseconds", "advance_heavily", "10 s"),
    ("jobs that never end", "advance_never", "1 s"),
];

/// How long the quiet tenant's jobs took, from the commit that fired them to their own: medians over the
/// rounds.
#[derive(Debug, Clone, Serialize)]
struct Row {
    beside: &'static str,
    p50_us: f64,
    p99_us: f64,
    /// The p99 divided by that of the same round without the other tenant.
    ratio: f64,
    /// What the busy tenant had committed in a second.
    busy_per_s: f64,
}

pub(super) async fn run(
    url: &str,
    options: &FairnessArguments,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let spinner = terminal.spinner("preparing");
    let tenants = BUSY.len() + 1;
    let scenario = Scenario {
        flows: tenants,
        tenants,
        instances: 0,
        ..Scenario::default()
    };
    let ready = scenario.prepare(url).await?;
    let rows = measure_all(&scenario, &ready, options, |text| spinner.set_message(text)).await;
    spinner.finish_and_clear();
    ready.remove().await;
    let rows = rows?;
    terminal.answer(
        &json!({ "jobs_waiting": options.jobs, "starts": options.starts, "rounds": options.rounds, "rows": rows }),
        || {
            terminal.table(
                &["beside", "p50 µs", "p99 µs", "p99 to alone", "busy tenant's per second"],
                rows.iter().map(|row| {
                    vec![
                        row.beside.to_owned(),
                        format!("{:.0}", row.p50_us),
                        format!("{:.0}", row.p99_us),
                        format!("{:.2}", row.ratio),
                        format!("{:.0}", row.busy_per_s),
                    ]
                }),
            );
        },
    );
    Ok(())
}

async fn measure_all(
    scenario: &Scenario,
    ready: &Ready,
    options: &FairnessArguments,
    say: impl Fn(String),
) -> Result<Vec<Row>, Problem> {
    let store = &ready.store;
    // The quiet tenant's instances end with their first step.
    let mut definition = scenario.definition(0);
    definition.final_condition = Some("step = 1".to_owned());
    store.apply("tenant-0", &definition).await?;
    let quiet = store.flow("tenant-0", "ring-0").await?;
    for (at, (_, transition, timeout)) in BUSY.iter().enumerate() {
        let tenant = format!("tenant-{}", at + 1);
        let mut definition = scenario.definition(at + 1);
        for trigger in &mut definition.triggers {
            trigger.transition = (*transition).to_owned();
            trigger.timeout = Some((*timeout).to_owned());
        }
        if let Some(bound) = definition.transitions.remove("advance") {
            definition
                .transitions
                .insert((*transition).to_owned(), bound);
        }
        store.apply(&tenant, &definition).await?;
        store.suspend_tenant(&tenant, true).await?;
        let busy = store.flow(&tenant, &definition.name).await?;
        let mut left = options.jobs;
        while left > 0 {
            let states: Vec<Map<_, _>> = (0..left.min(CHUNK)).map(|n| scenario.state(n)).collect();
            store.start_instances(&busy, &states).await?;
            left -= states.len();
        }
    }
    store.vacuum().await?;
    let mut rounds: Vec<Vec<(f64, f64, f64)>> = vec![Vec::new(); BUSY.len() + 1];
    for round in 1..=options.rounds {
        for (at, rounds) in rounds.iter_mut().enumerate() {
            let name = at.checked_sub(1).map_or("nobody", |at| BUSY[at].0);
            say(format!(
                "round {round} of {}: beside {name}",
                options.rounds
            ));
            let tenant = format!("tenant-{at}");
            if at > 0 {
                store.suspend_tenant(&tenant, false).await?;
            }
            let measured = measure(ready, &quiet, options.starts).await;
            if at > 0 {
                store.suspend_tenant(&tenant, true).await?;
            }
            rounds.push(measured?);
        }
    }
    let over = |at: usize, pick: fn(&(f64, f64, f64)) -> f64| {
        median(&rounds[at].iter().map(pick).collect::<Vec<_>>())
    };
    Ok((0..rounds.len())
        .map(|at| Row {
            beside: at.checked_sub(1).map_or("nobody", |at| BUSY[at].0),
            p50_us: over(at, |row| row.0),
            p99_us: over(at, |row| row.1),
            ratio: median(
                &rounds[at]
                    .iter()
                    .zip(&rounds[0])
                    .map(|(row, alone)| row.1 / alone.1.max(1.0))
                    .collect::<Vec<_>>(),
            ),
            busy_per_s: over(at, |row| row.2),
        })
        .collect())
}

/// Starts instances of the quiet tenant at an even pace beside a host that runs: p50 and p99 of their jobs'
/// time, and what else was committed in a second.
async fn measure(ready: &Ready, quiet: &Flow, starts: usize) -> Result<(f64, f64, f64), Problem> {
    let store = &ready.store;
    let host = ready.host().await?;
    tokio::time::sleep(WARM_UP).await;
    let (before, begun) = (host.committed(), Instant::now());
    let from = store.newest_instance(quiet).await?;
    let mut next = tokio::time::interval(PACE);
    next.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let state = Map::from_iter([("step".to_owned(), json!(0))]);
    for _ in 0..starts {
        next.tick().await;
        store
            .start_instances(quiet, std::slice::from_ref(&state))
            .await?;
    }
    let until = Instant::now() + PATIENCE;
    let waits = loop {
        let waits = store.first_steps(quiet, from).await?;
        if waits.len() == starts {
            break waits;
        }
        if Instant::now() > until {
            return Err(Problem::new(format!(
                "only {} of {starts} jobs of the quiet tenant were done",
                waits.len()
            )));
        }
        tokio::time::sleep(PACE).await;
    };
    let others = (host.committed() - before).saturating_sub(starts as u64) as f64;
    let per_s = others / begun.elapsed().as_secs_f64();
    host.stop().await;
    let quantile = |part: usize| waits.get(waits.len() * part / 100).copied().unwrap_or(0.0);
    Ok((quantile(50), quantile(99), per_s))
}

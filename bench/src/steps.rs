//! `wed-bench steps`: three steps of work for many instances, from the start of the first to the end of the last.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;

use crate::arguments::StepsArguments;
use crate::report::Report;
use crate::scenario::{Ready, Scenario};

/// Steps of each instance.
const STEPS: usize = 3;
/// Instances that one statement starts, as the other executors enqueue in one call.
const CHUNK: usize = 500;
/// Time between two looks at the count of commits.
const POLL: Duration = Duration::from_millis(20);

pub(crate) async fn run(url: &str, options: &StepsArguments, report: &Report) -> Result<()> {
    let scenario = Scenario { triggers: STEPS, instances: 0, last: Some(STEPS), ..Scenario::default() };
    let ready = scenario.prepare(url).await?;
    let measured = measure(&scenario, &ready, options.instances).await;
    ready.remove().await;
    let seconds = measured?.as_secs_f64();
    let steps = options.instances * STEPS;
    let per_s = steps as f64 / seconds;
    report.answer(&json!({ "steps": steps, "seconds": seconds, "steps_per_s": per_s.round() }), || {
        format!("{steps} steps in {seconds:.2} s: {per_s:.0} a second")
    });
    Ok(())
}

async fn measure(scenario: &Scenario, ready: &Ready, instances: usize) -> Result<Duration> {
    let host = ready.host().await?;
    let database = &ready.database;
    let flow = database.store.flow("tenant-0", "ring-0").await?;
    // One instance loads the component before the clock starts, as the other executors load their code.
    database.start_instances(&flow, &[scenario.state(0)]).await?;
    while host.committed() < STEPS as u64 {
        tokio::time::sleep(POLL).await;
    }
    let begun = Instant::now();
    for begin in (0..instances).step_by(CHUNK) {
        let count = CHUNK.min(instances - begin);
        let states: Vec<_> = (0..count).map(|_| scenario.state(0)).collect();
        database.start_instances(&flow, &states).await?;
    }
    while host.committed() < ((instances + 1) * STEPS) as u64 {
        tokio::time::sleep(POLL).await;
    }
    let took = begun.elapsed();
    host.stop().await;
    Ok(took)
}

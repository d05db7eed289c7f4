//! `wed bench steps`: three steps of work for many instances, from the start of the first to the end of
//! the last.

use std::time::{Duration, Instant};

use serde_json::json;

use super::scenario::Scenario;
use crate::arguments::StepsArguments;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Steps of each instance.
const STEPS: usize = 3;
/// Instances started in one statement, as others enqueue so many in one call.
const CHUNK: usize = 500;
/// How often it is looked whether all have ended.
const LOOK: Duration = Duration::from_millis(20);

pub(super) async fn run(
    url: &str,
    options: &StepsArguments,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let scenario = Scenario {
        triggers: STEPS,
        instances: 0,
        last: Some(STEPS),
        ..Scenario::default()
    };
    let ready = scenario.prepare(url).await?;
    let measured = measure(&scenario, &ready, options.instances).await;
    ready.remove().await;
    let seconds = measured?.as_secs_f64();
    let steps = options.instances * STEPS;
    let per_s = steps as f64 / seconds;
    terminal.answer(
        &json!({ "steps": steps, "seconds": seconds, "steps_per_s": per_s.round() }),
        || {
            terminal.line(&format!(
                "{steps} steps in {seconds:.2} s: {per_s:.0} a second"
            ))
        },
    );
    Ok(())
}

async fn measure(
    scenario: &Scenario,
    ready: &super::scenario::Ready,
    instances: usize,
) -> Result<Duration, Problem> {
    let host = ready.host().await?;
    let flow = ready.store.flow("tenant-0", "ring-0").await?;
    // One instance beforehand, so that the component is loaded, as the others load their code.
    ready
        .store
        .start_instances(&flow, &[scenario.state(0)])
        .await?;
    while host.committed() < STEPS as u64 {
        tokio::time::sleep(LOOK).await;
    }
    let begun = Instant::now();
    let mut left = instances;
    while left > 0 {
        let chunk = left.min(CHUNK);
        let states: Vec<_> = (0..chunk).map(|_| scenario.state(0)).collect();
        ready.store.start_instances(&flow, &states).await?;
        left -= chunk;
    }
    while host.committed() < ((instances + 1) * STEPS) as u64 {
        tokio::time::sleep(LOOK).await;
    }
    let took = begun.elapsed();
    host.stop().await;
    Ok(took)
}

//! Measures of a host for monitoring: attempts by outcome, durations, batches. Each is a few atomic additions.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use wedflow_model::Measure;

/// Shortest duration that a bucket tells from shorter ones, seconds; each further bucket is four times as long.
const SHORTEST_S: f64 = 0.000_1;

/// Buckets of durations: up to 26 s, and longer.
const DURATIONS: u16 = 10;

/// Buckets of batches: 1 to 512 results, and more.
const BATCHES: u16 = 10;

/// Label of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct OutcomeLabel {
    /// Name of the outcome; the kind of a trap is left out.
    pub outcome: &'static str,
}

/// Measures of a host since it started.
#[derive(Debug, Clone)]
pub struct Measures {
    /// Attempts by outcome.
    pub attempts: Family<OutcomeLabel, Counter>,
    /// Duration of attempts, waiting included, in seconds.
    pub attempt_duration: Histogram,
    /// Fuel that attempts used.
    pub fuel: Counter,
    /// Transitions that were committed.
    pub committed: Counter,
    /// Duration of commits of batches, waiting for locks included, in seconds.
    pub commit_duration: Histogram,
    /// Results in a batch.
    pub batch: Histogram,
}

impl Default for Measures {
    fn default() -> Self {
        let durations = || Histogram::new(exponential_buckets(SHORTEST_S, 4.0, DURATIONS));
        Measures {
            attempts: Family::default(),
            attempt_duration: durations(),
            fuel: Counter::default(),
            committed: Counter::default(),
            commit_duration: durations(),
            batch: Histogram::new(exponential_buckets(1.0, 2.0, BATCHES)),
        }
    }
}

impl Measures {
    /// Counts an attempt that has ended.
    pub(crate) fn note_attempt(&self, outcome: &'static str, measure: &Measure) {
        let outcome = outcome.split(':').next().unwrap_or(outcome);
        self.attempts.get_or_create(&OutcomeLabel { outcome }).inc();
        self.attempt_duration.observe(Duration::from_micros(measure.elapsed_us).as_secs_f64());
        self.fuel.inc_by(measure.fuel);
    }

    /// Counts a batch that was dealt with.
    pub(crate) fn note_commit(&self, took: Duration, results: usize, committed: u64) {
        self.commit_duration.observe(took.as_secs_f64());
        self.batch.observe(u32::try_from(results).map_or(f64::MAX, f64::from));
        self.committed.inc_by(committed);
    }
}

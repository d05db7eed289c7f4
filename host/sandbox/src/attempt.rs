//! The result of an attempt, also as a guest process tells it.

use serde::{Deserialize, Serialize};
use wedflow_capability::files::Draft;
use wedflow_model::{Measure, Outcome};

use crate::answers::Recording;
use crate::log::Logs;

/// Result of an attempt.
#[derive(Debug, Serialize, Deserialize)]
pub struct Attempt {
    /// Outcome.
    pub outcome: Outcome,
    /// Resources used.
    pub measure: Measure,
    /// Log and output of the guest, with its secrets masked.
    pub logs: Logs,
    /// Explanation of the end, for a person: the cause, the limit and its use, and the guest's stack. Empty when it
    /// answered with a change.
    #[serde(skip)]
    pub account: String,
    /// The functions on the guest's stack when it was ended, innermost first; empty when it ended
    /// otherwise.
    pub backtrace: Vec<String>,
    /// Answers to its questions for the time, random numbers and settings.
    pub recording: Recording,
    /// Epochs (1 ms) that ended while it computed: about as many milliseconds.
    pub epochs: u32,
    /// A recording was played back, and the guest asked for more than it holds.
    pub beyond_recording: bool,
    /// Draft of the instance's files, if granted: kept when its result is about to be committed, else dropped.
    #[serde(skip)]
    pub draft: Option<Draft>,
}

impl Attempt {
    /// An attempt of which nothing is known but its outcome.
    pub(crate) fn of(outcome: Outcome) -> Self {
        Attempt {
            outcome,
            measure: Measure::default(),
            logs: Logs::default(),
            account: String::new(),
            backtrace: Vec::new(),
            recording: Recording::default(),
            epochs: 0,
            beyond_recording: false,
            draft: None,
        }
    }
}

//! The job that a transition runs for: flow, instance, trigger, attempt and deadline.

use alloc::string::String;
use core::time::Duration;

use crate::{Timestamp, now};

/// Facts about the job that a transition gets besides the state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The flow's name.
    pub flow: String,
    /// The instance.
    pub wid: i32,
    /// The trigger that fired, by name; its number as text where it has none.
    pub trigger: String,
    /// The transition being performed.
    pub transition: String,
    /// 1 for the first attempt.
    pub attempt: u32,
    /// When the time limit ends.
    pub deadline: Timestamp,
}

impl Job {
    /// Returns how much of the time limit is left; nothing once it is over.
    pub fn remaining(&self) -> Duration {
        self.deadline.since(now())
    }
}

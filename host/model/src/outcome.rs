//! The outcome of one attempt at a transition. Every outcome has a name.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Value;

/// A typed assignment of a transition's result: `attribute = value`, bound as a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// The attribute to set.
    pub attribute: String,
    /// The new value.
    pub value: Value,
}

/// The outcome of a sandboxed run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    /// The transition returned a SQL `SET` clause (without the word `SET`), not yet checked.
    Clause(String),
    /// The transition returned typed assignments.
    Assignments(Vec<Assignment>),
    /// The transition chose to abort (the papers' empty result): nothing is committed, the attempt
    /// counts, and it is tried again as the trigger says.
    Aborted {
        /// Why, in the guest's words.
        reason: String,
        /// Minimum pause before the next attempt; none leaves it to the trigger's backoff.
        after: Option<Duration>,
    },
    /// The transition reported a failure.
    Failed {
        /// The reason, in the guest's words.
        message: String,
        /// True if another attempt may succeed. `false` ends the retries at once.
        retry: bool,
    },
    /// The guest's code trapped.
    Trapped {
        /// The kind of trap.
        kind: TrapKind,
        /// The trap's own text, with a backtrace where the component has names.
        message: String,
    },
    /// The fuel given to the attempt was used up.
    OutOfFuel,
    /// The time given to the attempt was over, whether it was computing or waiting.
    TimedOut,
    /// The guest asked for more memory, tables or instances than it may have.
    OverMemory {
        /// The limit, in bytes (or in entries for a table).
        limit: u64,
        /// The amount that the guest asked for, in the same unit.
        asked: u64,
    },
    /// The result, or what it carries, was larger than allowed.
    OutputTooLarge {
        /// The limit in bytes.
        limit: u64,
        /// The size in bytes.
        size: u64,
    },
    /// The guest called the host more often than allowed.
    HostCallLimit {
        /// The limit in calls.
        limit: u64,
    },
}

/// Why a guest's code trapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrapKind {
    /// The WebAssembly stack was exhausted (runaway recursion).
    StackOverflow,
    /// Memory was read or written outside of its bounds.
    MemoryOutOfBounds,
    /// `unreachable` was executed: what a panic or an `abort()` compiles to.
    Unreachable,
    /// A division by zero, an overflow, or an invalid conversion.
    Arithmetic,
    /// An indirect call through a bad table entry or of a wrong type, or a bad table access.
    IndirectCall,
    /// The guest broke the component model's rules (invalid UTF-8, a bad discriminant, a dead handle).
    Contract,
    /// Any other trap.
    Other,
}

impl Outcome {
    /// Returns the outcome's name, as written in traces, metrics and answers.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Clause(_) | Outcome::Assignments(_) => "returned",
            Outcome::Aborted { .. } => "aborted",
            Outcome::Failed { .. } => "failed",
            Outcome::Trapped { kind, .. } => match kind {
                TrapKind::StackOverflow => "trapped:stack_overflow",
                TrapKind::MemoryOutOfBounds => "trapped:memory_out_of_bounds",
                TrapKind::Unreachable => "trapped:unreachable",
                TrapKind::Arithmetic => "trapped:arithmetic",
                TrapKind::IndirectCall => "trapped:indirect_call",
                TrapKind::Contract => "trapped:contract",
                TrapKind::Other => "trapped:other",
            },
            Outcome::OutOfFuel => "out_of_fuel",
            Outcome::TimedOut => "timed_out",
            Outcome::OverMemory { .. } => "over_memory",
            Outcome::OutputTooLarge { .. } => "output_too_large",
            Outcome::HostCallLimit { .. } => "host_call_limit",
        }
    }

    /// Returns the minimum pause before the next attempt, if the transition asks for one.
    pub fn after(&self) -> Option<Duration> {
        match self {
            Outcome::Aborted { after, .. } => *after,
            _ => None,
        }
    }

    /// All of what the guest answered in one text: equal texts are equal answers, byte for byte.
    pub fn transcript(&self) -> String {
        match self {
            Outcome::Clause(clause) => format!("clause {clause}"),
            Outcome::Assignments(list) => {
                let mut text = String::from("assignments");
                for Assignment { attribute, value } in list {
                    text.push_str(&format!(" {attribute:?}={value:?}"));
                }
                text
            }
            Outcome::Aborted { reason, after } => format!("aborted {after:?} {reason}"),
            Outcome::Failed { message, retry } => format!("failed {retry} {message}"),
            other => other.name().to_owned(),
        }
    }

    /// Returns whether another attempt may be made (the trigger's own limit on attempts still holds).
    pub fn may_retry(&self) -> bool {
        !matches!(self, Outcome::Failed { retry: false, .. })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Clause(clause) => write!(f, "returned SET {clause}"),
            Outcome::Assignments(list) => write!(f, "returned {} assignments", list.len()),
            Outcome::Aborted { reason, .. } => write!(f, "aborted: {reason}"),
            Outcome::Failed { message, .. } => write!(f, "failed: {message}"),
            Outcome::Trapped { message, .. } => write!(f, "{}: {message}", self.name()),
            Outcome::OutOfFuel => f.write_str("used up its fuel"),
            Outcome::TimedOut => f.write_str("did not finish within its timeout"),
            Outcome::OverMemory { limit, asked } => {
                write!(f, "asked for {asked} bytes or entries where {limit} are allowed")
            }
            Outcome::OutputTooLarge { limit, size } => {
                write!(f, "returned {size} bytes where {limit} are allowed")
            }
            Outcome::HostCallLimit { limit } => {
                write!(f, "called the host more than {limit} times")
            }
        }
    }
}

/// Resources that an attempt used, whatever its outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measure {
    /// wasmtime fuel consumed.
    pub fuel: u64,
    /// Wall-clock time of the attempt, in microseconds, waiting included.
    pub elapsed_us: u64,
    /// The most linear memory the guest held at once, in bytes.
    pub memory_bytes: u64,
}

/// The severity of a guest's log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Only of interest while writing the transition.
    Debug,
    /// Normal operation.
    Info,
    /// Oddity that did not stop the transition.
    Warn,
    /// Error that stopped the transition.
    Error,
}

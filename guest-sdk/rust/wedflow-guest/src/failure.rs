//! Failure of a transition: the reason, and whether and when to try again.

use alloc::string::{String, ToString};
use core::error::Error;
use core::time::Duration;

/// Why a transition commits nothing. [`abort!`](crate::abort), [`fail!`](crate::fail) and
/// [`retry!`](crate::retry) return one early.
///
/// Every error converts into [`Failure::fatal`], so `?` works on them: a component only computes on
/// its state, so what went wrong once goes wrong again. Say [`Failure::retry`] where that is not so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The transition chose not to act now; it is invoked again later, as the trigger says.
    Abort {
        /// Why, for a person.
        reason: String,
        /// After which time at the earliest; nothing leaves it to the trigger's backoff.
        after: Option<Duration>,
    },
    /// The transition failed.
    Failed {
        /// The reason, for a person.
        message: String,
        /// True if another attempt may succeed. When false, the instance becomes an exception at
        /// once.
        retry: bool,
    },
}

impl Failure {
    /// Not now: nothing is committed and the transition is tried again as the trigger says.
    pub fn abort(reason: impl Into<String>) -> Self {
        Failure::Abort { reason: reason.into(), after: None }
    }

    /// Not now, but after this time: nothing is committed and the transition is tried again then
    /// instead of after the trigger's backoff. The attempt counts like any other.
    pub fn abort_after(after: Duration, reason: impl Into<String>) -> Self {
        Failure::Abort { reason: reason.into(), after: Some(after) }
    }

    /// A failure that another attempt may mend.
    pub fn retry(message: impl Into<String>) -> Self {
        Failure::Failed { message: message.into(), retry: true }
    }

    /// A failure that no further attempt mends: the instance becomes an exception at once.
    pub fn fatal(message: impl Into<String>) -> Self {
        Failure::Failed { message: message.into(), retry: false }
    }

    /// The reason or the message.
    pub fn message(&self) -> &str {
        match self {
            Failure::Abort { reason, .. } => reason,
            Failure::Failed { message, .. } => message,
        }
    }
}

// `Failure` itself is no `Error`: that would collide with the conversion of `Failure` to itself.
impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::fatal(error.to_string())
    }
}

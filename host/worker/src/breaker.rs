//! Circuit breakers: a tenant's broken or hostile component costs its neighbours the same, however much of it there
//! is. Each transition has a record of faults on this host. Attempts of a transition that is not known yet, or that
//! faulted lately, are isolated (`isolation.rs`). After repeated faults the breaker opens: while other tenants are at
//! work, few attempts of the tenant run at a time, with pauses between them. Attempts that end by themselves mend the
//! record.

use std::sync::atomic::{AtomicU8, Ordering};

use wedflow_model::Outcome;
use wedflow_sandbox::Attempt;

use crate::isolation::Isolation;

/// Points that a fault adds to a record; an attempt that ends by itself takes 1 away.
const POINTS_PER_FAULT: u8 = 3;
/// Points of a transition that has not been attempted on this host.
const POINTS_AT_FIRST: u8 = 3;
/// Points from which on attempts are isolated.
const ISOLATED_FROM_POINTS: u8 = 3;
/// Points from which on the breaker is open: attempts are limited, too.
const OPEN_FROM_POINTS: u8 = 6;
/// Maximum points of a record.
const POINTS_MAX: u8 = 9;
/// Computing from which on a guest that times out is taken for one that does not end, in epochs of 1 ms: about as many
/// milliseconds, and fewer on a busy machine.
const FAULT_FROM_EPOCHS: u32 = 30;

/// Record of a transition's recent attempts on this host, in points.
#[derive(Debug)]
pub(crate) struct Breaker(AtomicU8);

impl Default for Breaker {
    fn default() -> Self {
        Breaker(AtomicU8::new(POINTS_AT_FIRST))
    }
}

/// Meaning of an attempt's end for the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The host ended it, for something that its neighbours may notice.
    Fault,
    /// The attempt ended by itself.
    Own,
    /// The attempt waited until its timeout: no evidence.
    Neither,
}

impl Breaker {
    /// Returns how attempts are isolated, if they are.
    pub(crate) fn isolation(&self) -> Option<Isolation> {
        match self.0.load(Ordering::Relaxed) {
            OPEN_FROM_POINTS.. => Some(Isolation::Faulting),
            ISOLATED_FROM_POINTS.. => Some(Isolation::Unproven),
            _ => None,
        }
    }

    /// Returns true if attempts are limited to a few at a time.
    pub(crate) fn is_open(&self) -> bool {
        self.isolation() == Some(Isolation::Faulting)
    }

    /// Records the end of an attempt. Returns true if it opened the breaker, false if it closed it.
    pub(crate) fn record(&self, attempt: &Attempt) -> Option<bool> {
        self.record_end(End::of(&attempt.outcome, attempt.epochs))
    }

    fn record_end(&self, end: End) -> Option<bool> {
        let before = self.0.load(Ordering::Relaxed);
        let after = match end {
            End::Fault => (before + POINTS_PER_FAULT).min(POINTS_MAX),
            End::Own => before.saturating_sub(1),
            End::Neither => before,
        };
        // Most transitions never fault: nothing is written for them. Two at once may count as one; it is no more
        // than a record.
        if after != before {
            self.0.store(after, Ordering::Relaxed);
        }
        let is_open = after >= OPEN_FROM_POINTS;
        ((before >= OPEN_FROM_POINTS) != is_open).then_some(is_open)
    }
}

impl End {
    /// Returns the end of an attempt that computed for `epochs`.
    fn of(outcome: &Outcome, epochs: u32) -> End {
        match outcome {
            Outcome::Clause(_) | Outcome::Assignments(_) => End::Own,
            Outcome::Aborted { .. } | Outcome::Failed { .. } => End::Own,
            // Not by fuel: compiled code that is interrupted has not written down what it used.
            Outcome::TimedOut if epochs < FAULT_FROM_EPOCHS => End::Neither,
            Outcome::TimedOut
            | Outcome::Trapped { .. }
            | Outcome::OutOfFuel
            | Outcome::OverMemory { .. }
            | Outcome::OutputTooLarge { .. }
            | Outcome::HostCallLimit { .. } => End::Fault,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The record after such ends; `true` is a fault.
    fn after(ends: impl IntoIterator<Item = bool>) -> Breaker {
        let breaker = Breaker::default();
        for fault in ends {
            breaker.record_end(if fault { End::Fault } else { End::Own });
        }
        breaker
    }

    #[test]
    fn unknown_transition_is_isolated_until_an_attempt_ends_by_itself() {
        assert_eq!(after([]).isolation(), Some(Isolation::Unproven));
        assert_eq!(after([false]).isolation(), None);
        assert!(after([true]).is_open());
    }

    #[test]
    fn two_faults_in_a_row_open_it_and_four_ends_of_its_own_close_it() {
        let known = |ends: &[bool]| after([&[false; 3], ends].concat());
        assert_eq!(known(&[true]).isolation(), Some(Isolation::Unproven));
        assert!(known(&[true; 2]).is_open() && known(&[true; 100]).is_open());
        let mended = |ends: usize| known(&[vec![true; 100], vec![false; ends]].concat());
        assert!(mended(3).is_open() && !mended(4).is_open());
        assert!(mended(6).isolation().is_some() && mended(7).isolation().is_none());
    }

    #[test]
    fn rare_faults_leave_it_closed_and_every_third_opens_it() {
        let every = |nth: usize| after((0..300).map(|at| at % nth == nth - 1));
        assert!(!every(5).is_open());
        assert!(every(3).is_open());
        assert!(every(2).is_open());
    }

    #[test]
    fn timeout_counts_as_a_fault_only_after_computing() {
        assert_eq!(End::of(&Outcome::TimedOut, 2), End::Neither);
        assert_eq!(End::of(&Outcome::TimedOut, 900), End::Fault);
        let failed = Outcome::Failed { message: String::new(), retry: true };
        assert_eq!(End::of(&failed, 900), End::Own);
        assert_eq!(End::of(&Outcome::OutOfFuel, 0), End::Fault);
        let breaker = after([true]);
        breaker.record_end(End::Neither);
        assert!(breaker.is_open());
    }
}

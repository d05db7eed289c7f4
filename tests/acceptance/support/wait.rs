//! Waiting for something to become so.

use std::time::{Duration, Instant};

/// A deadline that only a broken product misses, however slow the machine.
pub(crate) const GENEROUS: Duration = Duration::from_secs(120);

/// Looks again and again until `look` finds something; panics, saying what was waited for, when it has
/// not within the generous deadline.
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + GENEROUS;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "waited {GENEROUS:?} for: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

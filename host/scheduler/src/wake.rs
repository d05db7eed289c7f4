//! The state machine behind every waker: whoever is woken is queued once, however often it is woken.

use std::sync::atomic::{AtomicU8, Ordering};

/// Waiting to be woken; on no queue.
const IDLE: u8 = 0;
/// Queued, to be polled.
const QUEUED: u8 = 1;
/// Being polled, or a source whose event has not been taken yet.
const RUNNING: u8 = 2;
/// Woken while `RUNNING`.
const NOTIFIED: u8 = 3;
/// Will never be polled again.
const ENDED: u8 = 4;

/// The state of a token or a source between its wakers (any thread) and the scheduler (one task).
#[derive(Debug)]
pub(crate) struct WakeState(AtomicU8);

impl WakeState {
    /// Makes a state that is queued from the start.
    pub(crate) fn queued() -> Self {
        WakeState(AtomicU8::new(QUEUED))
    }

    /// Notes a wake-up. True when the caller must put it on its queue.
    pub(crate) fn wake(&self) -> bool {
        let mut state = self.0.load(Ordering::Acquire);
        loop {
            // QUEUED and NOTIFIED are written again on purpose: what the waking thread wrote
            // before must be visible to the poll that follows, and only a write releases it.
            let next = match state {
                IDLE => QUEUED,
                RUNNING => NOTIFIED,
                ENDED => return false,
                other => other,
            };
            match self.0.compare_exchange_weak(state, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return state == IDLE,
                Err(now) => state = now,
            }
        }
    }

    /// A poll begins: wake-ups from here on count for the next one.
    pub(crate) fn begin(&self) {
        self.0.swap(RUNNING, Ordering::AcqRel);
    }

    /// The first poll is about to begin and no waker is out yet, so nobody else can look.
    pub(crate) fn begin_fresh(&self) {
        self.0.store(RUNNING, Ordering::Relaxed);
    }

    /// A poll ended without a result. True when a wake-up came during it, and then the caller
    /// must put it on its queue.
    pub(crate) fn suspend(&self) -> bool {
        if self.0.compare_exchange(RUNNING, IDLE, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            return false;
        }
        self.requeue();
        true
    }

    /// Makes the state queued again, whatever it was.
    pub(crate) fn requeue(&self) {
        self.0.swap(QUEUED, Ordering::AcqRel);
    }

    /// Wake-ups do nothing from here on.
    pub(crate) fn end(&self) {
        self.0.store(ENDED, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::WakeState;

    #[test]
    fn is_queued_once_per_poll() {
        let state = WakeState::queued();
        assert!(!state.wake(), "already queued");
        state.begin();
        assert!(!state.wake(), "running: remembered, not queued");
        assert!(state.suspend(), "the wake-up during the poll counts");
        assert!(!state.wake());
        state.begin();
        assert!(!state.suspend());
        assert!(state.wake());
        assert!(!state.wake());
        state.end();
        assert!(!state.wake());
    }
}

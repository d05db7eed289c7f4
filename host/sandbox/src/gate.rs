//! The gate: how guests that compute for long share the threads with everybody else.
//!
//! Guests run on the runtime's own threads. Each yields at every epoch (1 ms), so that timers and
//! other calls get their turn; but many at once would still fill every thread. After
//! [`FREE_YIELDS`] a guest therefore computes only while it holds one of the gate's permits, and
//! hands it on after [`TURN_YIELDS`] more.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wasmtime::UpdateDeadline;

/// Epochs that a guest may compute through before it needs a permit.
const FREE_YIELDS: u32 = 5;

/// Epochs after which a permit is handed on.
const TURN_YIELDS: u32 = 10;

/// Lets only so many guests compute for long at once; the others wait their turn. Clones are the
/// same gate.
#[derive(Debug, Clone)]
pub struct Gate(Arc<Semaphore>);

impl Gate {
    /// A gate for `guests` at once, at least one.
    pub fn new(guests: usize) -> Self {
        Gate(Arc::new(Semaphore::new(
            guests.clamp(1, Semaphore::MAX_PERMITS),
        )))
    }
}

impl Default for Gate {
    /// One guest less than the machine has processors, at least one: so one thread is always free
    /// for short calls, timers, and the database.
    fn default() -> Self {
        let processors = available_parallelism().map_or(1, usize::from);
        Gate::new(processors.saturating_sub(1))
    }
}

/// One guest's dealings with the gate.
pub(crate) struct Turns {
    gate: Gate,
    yields: u32,
    left: u32,
    /// The permit, once one was needed. Shared with the future that waits for it.
    held: Option<Arc<Mutex<Option<OwnedSemaphorePermit>>>>,
}

impl Turns {
    pub(crate) fn new(gate: Gate) -> Self {
        Turns {
            gate,
            yields: 0,
            left: 0,
            held: None,
        }
    }

    /// What a guest does at the end of an epoch.
    pub(crate) fn tick(&mut self) -> UpdateDeadline {
        if self.yields < FREE_YIELDS {
            self.yields += 1;
            return UpdateDeadline::Yield(1);
        }
        if self.left > 0 {
            self.left -= 1;
            return UpdateDeadline::Yield(1);
        }
        self.release();
        self.left = TURN_YIELDS;
        let held = Arc::clone(self.held.get_or_insert_default());
        let gate = Arc::clone(&self.gate.0);
        UpdateDeadline::YieldCustom(
            1,
            Box::pin(async move {
                tokio::task::yield_now().await;
                // The gate is never closed; if it were, there would be nothing to wait for.
                if let Ok(permit) = gate.acquire_owned().await {
                    *held.lock().unwrap_or_else(PoisonError::into_inner) = Some(permit);
                }
            }),
        )
    }

    /// Hands the permit on, if there is one: before the guest waits for something else.
    pub(crate) fn release(&mut self) {
        self.left = 0;
        if let Some(held) = &self.held {
            held.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    }
}

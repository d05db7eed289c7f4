//! Time slices: how guests that compute for long share the threads with everybody else.
//!
//! Guests run on the runtime's own threads. Each yields at every epoch (1 ms), so that timers and
//! other calls get their turn; but many at once would still fill every processor, and whoever has
//! little to do (the database on the same machine too) would wait for one at each of its steps. A guest that is
//! still computing at the end of its second epoch therefore takes slices, of which there are fewer than
//! processors: first a short one of [`FIRST_SLICE_EPOCHS`] epochs, and after it, as long as it lasts, slices of
//! [`LONG_SLICE_EPOCHS`] epochs, for which only some queue at once. So a guest of a few milliseconds does not
//! wait behind those that never end, and a hundred of these that arrive together hold up nobody else.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wasmtime::UpdateDeadline;

use crate::asker::Asker;
use crate::wire::{FromGuest, Question};

/// Epochs of a guest's first slice.
const FIRST_SLICE_EPOCHS: u32 = 5;

/// Epochs of every further slice.
const LONG_SLICE_EPOCHS: u32 = 10;

/// Limits how many guests compute for long at once; the others wait for a slice. Clones share
/// their slices.
#[derive(Debug, Clone)]
pub struct TimeSlices(From);

#[derive(Debug, Clone)]
enum From {
    Here {
        /// A permit for each slice under way.
        slices: Arc<Semaphore>,
        /// A permit for each long slice under way or queued for.
        long: Arc<Semaphore>,
    },
    /// The host of this guest process.
    Host(Asker),
}

/// Permits for a slice; given back when dropped.
#[derive(Debug, Default)]
pub(crate) struct Slice {
    _permits: Vec<OwnedSemaphorePermit>,
    of_host: Option<Asker>,
}

impl Drop for Slice {
    fn drop(&mut self) {
        if let Some(host) = &self.of_host {
            host.tell(FromGuest::SliceOver);
        }
    }
}

impl TimeSlices {
    /// Gives out at most `slices` at once, of 5 ms to newcomers and of 10 ms to guests that last, of which at most
    /// `long` queue for a slice or have one; at least one of each. A call shorter than 1 ms needs none.
    pub fn new(slices: usize, long: usize) -> Self {
        let permits = |count: usize| Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS)));
        TimeSlices(From::Here { slices: permits(slices), long: permits(long) })
    }

    /// The host's slices, for a guest process.
    pub(crate) fn of_host(host: Asker) -> Self {
        TimeSlices(From::Host(host))
    }

    /// Waits for a slice.
    pub(crate) async fn take(self, long: bool) -> Slice {
        let mut slice = Slice::default();
        match self.0 {
            From::Here { slices, long: queue } => {
                // A semaphore of slices is never closed; if it were, there would be nothing to wait for. All take
                // the permit of long slices first, so nobody waits for the other's.
                for queue in long.then_some(queue).into_iter().chain([slices]) {
                    slice._permits.extend(queue.acquire_owned().await.ok());
                }
            }
            From::Host(host) => {
                // Without a host the process ends.
                if host.ask(Question::Slice(long)).await.is_some() {
                    slice.of_host = Some(host);
                }
            }
        }
        slice
    }
}

impl Default for TimeSlices {
    /// Leaves one processor for short calls, timers and the database, and another one from guests that compute for
    /// long; at least one slice of each.
    fn default() -> Self {
        let processors = available_parallelism().map_or(1, usize::from);
        TimeSlices::new(processors.saturating_sub(1), processors.saturating_sub(2))
    }
}

/// Somebody who wants to know of each guest whether it computes: one that is still at it at the end of an
/// epoch does, also while it waits for its slice, until it waits for something else or ends.
pub trait Watch: Send + Sync {
    /// A guest computes.
    fn computes(&self);

    /// A guest that computed does so no more.
    fn rests(&self);
}

impl Watch for Asker {
    fn computes(&self) {
        self.tell(FromGuest::Computes);
    }

    fn rests(&self) {
        self.tell(FromGuest::Rests);
    }
}

/// Time slices of one guest.
pub(crate) struct GuestSlices {
    slices: TimeSlices,
    lasts: bool,
    /// Observer of the times when the guest computes.
    watch: Option<Arc<dyn Watch>>,
    /// True while the guest computes.
    computes: bool,
    /// Epochs that ended while it computed.
    epochs: u32,
    /// Epochs that are left of the slice.
    left: u32,
    /// The slice, once one was needed. Shared with the future that waits for them.
    held: Option<Arc<Mutex<Option<Slice>>>>,
}

impl GuestSlices {
    pub(crate) fn new(slices: TimeSlices) -> Self {
        GuestSlices {
            slices,
            lasts: false,
            watch: None,
            computes: false,
            epochs: 0,
            // The first end of an epoch may come at once after the call's beginning: it says nothing yet, and a
            // short call is not to wait for those that last.
            left: 1,
            held: None,
        }
    }

    /// Sets the observer of the times when the guest computes.
    pub(crate) fn watched_by(&mut self, watch: Arc<dyn Watch>) {
        self.watch = Some(watch);
    }

    /// Replaces its slices by others, before the guest begins.
    pub(crate) fn goes_by(&mut self, slices: TimeSlices) {
        self.slices = slices;
    }

    /// Returns the number of epochs that ended while the guest computed.
    pub(crate) fn epochs(&self) -> u32 {
        self.epochs
    }

    /// Decides at the end of an epoch whether the guest continues.
    pub(crate) fn tick(&mut self) -> UpdateDeadline {
        self.epochs = self.epochs.saturating_add(1);
        if !std::mem::replace(&mut self.computes, true)
            && let Some(watch) = &self.watch
        {
            watch.computes();
        }
        if let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            return UpdateDeadline::Yield(1);
        }
        self.give_back();
        let lasts = std::mem::replace(&mut self.lasts, true);
        self.left = if lasts { LONG_SLICE_EPOCHS } else { FIRST_SLICE_EPOCHS };
        let slices = self.slices.clone();
        let held = Arc::clone(self.held.get_or_insert_default());
        UpdateDeadline::YieldCustom(
            1,
            Box::pin(async move {
                tokio::task::yield_now().await;
                let slice = slices.take(lasts).await;
                *held.lock().unwrap_or_else(PoisonError::into_inner) = Some(slice);
            }),
        )
    }

    /// Ends the slice, if there is one: before the guest waits for something else.
    pub(crate) fn release(&mut self) {
        // As at the call's beginning, unless it has shown that it lasts.
        self.left = u32::from(!self.lasts);
        self.give_back();
        self.rests();
    }

    fn rests(&mut self) {
        if std::mem::take(&mut self.computes)
            && let Some(watch) = &self.watch
        {
            watch.rests();
        }
    }

    fn give_back(&mut self) {
        if let Some(held) = &self.held {
            held.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    }
}

impl Drop for GuestSlices {
    fn drop(&mut self) {
        self.rests();
    }
}

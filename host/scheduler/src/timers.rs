//! The timers of one scheduler: a table ordered by deadline behind the clock's single alarm.
//!
//! A table of our own rather than one tokio timer per sleep: equal deadlines fire in the order
//! they were asked for, on the simulated clock as on the real one, and a sleep costs no lock that
//! other lanes share.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{self, Poll, Waker};

use futures::task::AtomicWaker;

use crate::clock::{Clock, Moment};
use crate::lock::locked;

pub(crate) struct Timers {
    clock: Arc<dyn Clock>,
    /// The task that waits for the scheduler; woken when a timer became the first.
    waiting: Arc<AtomicWaker>,
    entries: Mutex<Entries>,
    /// Deadline of the first entry in nanoseconds, `u64::MAX` without one; lets the hot path pass
    /// by without the lock. Written under the lock.
    earliest: AtomicU64,
}

#[derive(Default)]
struct Entries {
    by_deadline: BTreeMap<(Moment, u64), Waker>,
    asked: u64,
}

impl Timers {
    pub(crate) fn new(clock: Arc<dyn Clock>, waiting: Arc<AtomicWaker>) -> Self {
        Timers { clock, waiting, entries: Mutex::default(), earliest: AtomicU64::new(u64::MAX) }
    }

    /// The present moment of the clock behind these timers.
    pub(crate) fn now(&self) -> Moment {
        self.clock.now()
    }

    /// The next deadline, if any timer waits.
    pub(crate) fn earliest(&self) -> Option<Moment> {
        match self.earliest.load(Ordering::Acquire) {
            u64::MAX => None,
            nanos => Some(Moment::from_nanos(nanos)),
        }
    }

    /// Wakes whoever waits for a moment up to `now`, in order of deadline.
    pub(crate) fn expire(&self, now: Moment) {
        while self.earliest().is_some_and(|at| at <= now) {
            let mut entries = locked(&self.entries);
            let due = match entries.by_deadline.first_entry() {
                Some(first) if first.key().0 <= now => Some(first.remove()),
                _ => None,
            };
            self.note_earliest(&entries);
            // A waker may run code of others, which may drop a sleep: not under the lock.
            drop(entries);
            if let Some(waker) = due {
                waker.wake();
            }
        }
    }

    /// Enters or renews a timer. Returns its number and whether it became the first.
    fn enter(&self, at: Moment, number: Option<u64>, waker: &Waker) -> (u64, bool) {
        let mut entries = locked(&self.entries);
        let number = number.unwrap_or_else(|| {
            entries.asked += 1;
            entries.asked
        });
        entries
            .by_deadline
            .entry((at, number))
            .and_modify(|old| old.clone_from(waker))
            .or_insert_with(|| waker.clone());
        let before = self.earliest.load(Ordering::Relaxed);
        self.note_earliest(&entries);
        (number, at.as_nanos() < before)
    }

    fn remove(&self, at: Moment, number: u64) {
        let mut entries = locked(&self.entries);
        let waker = entries.by_deadline.remove(&(at, number));
        self.note_earliest(&entries);
        drop(entries);
        drop(waker);
    }

    fn note_earliest(&self, entries: &Entries) {
        let earliest = entries.by_deadline.first_key_value().map_or(u64::MAX, |((at, _), _)| at.as_nanos());
        self.earliest.store(earliest, Ordering::Release);
    }
}

/// Waits for a moment of the scheduler's clock; made by [`Context::sleep`](crate::Context::sleep)
/// and [`Observing::sleep_until`](crate::Observing::sleep_until).
///
/// Never ready before its moment; afterwards as soon as the cooperative order of things allows.
/// Dropping it takes the timer back. It may be awaited in any task, but it is driven by the
/// scheduler it belongs to: while that is not running, nobody is woken.
#[must_use = "a sleep does nothing unless awaited"]
pub struct Sleep {
    timers: Arc<Timers>,
    at: Moment,
    number: Option<u64>,
}

impl Sleep {
    pub(crate) fn new(timers: Arc<Timers>, at: Moment) -> Self {
        Sleep { timers, at, number: None }
    }

    /// The moment waited for.
    pub fn deadline(&self) -> Moment {
        self.at
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        if self.timers.now() >= self.at {
            if let Some(number) = self.number.take() {
                self.timers.remove(self.at, number);
            }
            return Poll::Ready(());
        }
        let (number, first) = self.timers.enter(self.at, self.number, cx.waker());
        self.number = Some(number);
        if first {
            // The scheduler may be waiting for a later moment, if this is not its own task.
            self.timers.waiting.wake();
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.timers.remove(self.at, number);
        }
    }
}

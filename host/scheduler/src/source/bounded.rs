//! Synchronous sources with a time-out.

use std::task::Poll;
use std::time::Duration;

use super::{EventSource, Observing, SourceKind};

/// A source that can only be asked, and whose answer may take a given time at most: `select` with
/// a time-out, a serial port, a C library's `poll`.
///
/// It blocks the scheduler's thread, handlers and all, while it waits; the total over all such
/// sources is bounded by [`Bounds::blocked`](crate::Bounds::blocked). [`on_thread`](super::on_thread)
/// costs a thread and blocks nobody.
pub trait BoundedSource: Send + 'static {
    /// The type of its events.
    type Event: Send + 'static;

    /// Waits for an event for `at_most`; with zero it only looks. Returning late delays everyone
    /// else; returning early is fine.
    fn wait(&mut self, at_most: Duration) -> Waited<Self::Event>;
}

/// The result of a bounded wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Waited<T> {
    /// An event came.
    Event(T),
    /// No event came in time.
    Nothing,
    /// The source has ended.
    Ended,
}

/// Makes an event source of a synchronous source with a time-out.
pub fn with_timeout<B: BoundedSource>(source: B) -> WithTimeout<B> {
    WithTimeout { source }
}

/// The source made by [`with_timeout`].
#[derive(Debug)]
pub struct WithTimeout<B> {
    source: B,
}

impl<B: BoundedSource> EventSource for WithTimeout<B> {
    type Event = B::Event;

    fn kind(&self) -> SourceKind {
        SourceKind::Bounded
    }

    fn poll_event(&mut self, observing: &mut Observing<'_>) -> Poll<Option<B::Event>> {
        match self.source.wait(observing.at_most()) {
            Waited::Event(event) => Poll::Ready(Some(event)),
            Waited::Nothing => Poll::Pending,
            Waited::Ended => Poll::Ready(None),
        }
    }
}

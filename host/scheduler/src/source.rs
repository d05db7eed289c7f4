//! Event sources (paper, section 3.1): what one must do, and the adapters for the usual kinds.

mod blocking;
mod bounded;
mod queue;
mod stop;
mod stream;
mod timer;

use std::sync::Arc;
use std::task::{self, Poll, Waker};
use std::time::Duration;

pub use blocking::{BlockingSource, OnThread, on_thread};
pub use bounded::{BoundedSource, Waited, WithTimeout, with_timeout};
pub use queue::{Queue, QueueClosed, QueueFull, QueueSender, queue};
pub use stop::{StopSource, StopTrigger, Termination, TerminationSource, stop_source, termination};
pub use stream::{FromFuture, FromStream, from_future, from_stream};
pub use timer::{Tick, Timer};

use crate::clock::Moment;
use crate::timers::{Sleep, Timers};

/// The way in which the observer waits for a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SourceKind {
    /// The source calls back: it is polled when its waker was used, never otherwise. Sources that may
    /// block for ever become asynchronous through [`on_thread`].
    Asynchronous,
    /// The source can only be asked and may block the thread for [`Observing::at_most`]. It is polled in
    /// turn with the others of its kind whenever nothing else is ready.
    Bounded,
}

/// A source of events of one type.
///
/// Only the event observer touches it, on the scheduler's task, and only while its handler can
/// take an event: after each event it is left alone until that event's handler has begun, and
/// while as many runs as the registration allows are under way. So a source is never read ahead
/// of its handler by more than one event.
pub trait EventSource: Send + 'static {
    /// The type of its events.
    type Event: Send + 'static;

    /// Tells how it is waited for; asked once, at registration.
    fn kind(&self) -> SourceKind {
        SourceKind::Asynchronous
    }

    /// The next event, if there is one.
    ///
    /// `Pending` promises that the waker in `observing` will be used when an event has come (not
    /// for [`SourceKind::Bounded`]). `Ready(None)` means that none will come any more: the source
    /// is dropped and its handler forgotten once its runs have ended. A panic does the same and is
    /// reported to the registration's failure sink.
    fn poll_event(&mut self, observing: &mut Observing<'_>) -> Poll<Option<Self::Event>>;
}

/// The context of a source that is asked for an event.
pub struct Observing<'a> {
    pub(crate) timers: &'a Arc<Timers>,
    pub(crate) waker: &'a Waker,
    pub(crate) at_most: Duration,
}

impl<'a> Observing<'a> {
    /// The waker that tells the observer to ask again.
    pub fn waker(&self) -> &'a Waker {
        self.waker
    }

    /// The same as a context, for polling futures and streams.
    pub fn context(&self) -> task::Context<'a> {
        task::Context::from_waker(self.waker)
    }

    /// The scheduler's present moment.
    pub fn now(&self) -> Moment {
        self.timers.now()
    }

    /// A timer on the scheduler's clock; poll it with [`Observing::context`].
    pub fn sleep_until(&self, moment: Moment) -> Sleep {
        Sleep::new(Arc::clone(self.timers), moment)
    }

    /// Returns how long a [`SourceKind::Bounded`] source may block now; zero means that it may only look.
    /// Always zero for the others.
    pub fn at_most(&self) -> Duration {
        self.at_most
    }
}

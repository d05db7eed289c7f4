//! Synchronous sources that may block for ever: each on a thread of its own.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::Poll;
use std::thread;

use tokio::sync::mpsc;

use super::{EventSource, Observing};

/// A source whose wait may block for ever. Any `FnMut() -> Option<E>` is one.
pub trait BlockingSource: Send + 'static {
    /// The type of its events.
    type Event: Send + 'static;

    /// Waits for the next event, as long as it takes; `None` when there will be none.
    fn wait(&mut self) -> Option<Self::Event>;
}

impl<F, E> BlockingSource for F
where
    F: FnMut() -> Option<E> + Send + 'static,
    E: Send + 'static,
{
    type Event = E;

    fn wait(&mut self) -> Option<E> {
        self()
    }
}

/// Gives a blocking source a thread called `name` that passes its events over, at most `capacity`
/// (at least one) ahead of the handler; the thread then waits for room.
///
/// The thread ends with the source, or at the first event after the returned source was dropped:
/// a wait that blocks cannot be broken off from here. A panic in the source ends it and is reported
/// to the failure sink of the registration.
///
/// # Errors
/// The operating system's, if it gives no thread.
pub fn on_thread<B: BlockingSource>(
    name: impl Into<String>,
    capacity: usize,
    mut source: B,
) -> io::Result<OnThread<B::Event>> {
    let (sender, passed) = mpsc::channel(capacity.max(1));
    thread::Builder::new().name(name.into()).spawn(move || {
        while !sender.is_closed() {
            let passing = match catch_unwind(AssertUnwindSafe(|| source.wait())) {
                Ok(Some(event)) => Ok(event),
                Ok(None) => return,
                Err(payload) => Err(payload),
            };
            let ends = passing.is_err();
            if sender.blocking_send(passing).is_err() || ends {
                return;
            }
        }
    })?;
    Ok(OnThread { passed })
}

/// The source made by [`on_thread`].
#[derive(Debug)]
pub struct OnThread<E> {
    passed: mpsc::Receiver<Result<E, Box<dyn Any + Send>>>,
}

impl<E: Send + 'static> EventSource for OnThread<E> {
    type Event = E;

    fn poll_event(&mut self, observing: &mut Observing<'_>) -> Poll<Option<E>> {
        match std::task::ready!(self.passed.poll_recv(&mut observing.context())) {
            Some(Ok(event)) => Poll::Ready(Some(event)),
            // Continues unwinding here so that the observer treats it like any other source's panic.
            Some(Err(payload)) => resume_unwind(payload),
            None => Poll::Ready(None),
        }
    }
}

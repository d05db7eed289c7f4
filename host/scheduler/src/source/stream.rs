//! Streams and futures as sources.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

use futures::Stream;

use super::{EventSource, Observing};

/// Any stream as a source: database notifications, HTTP requests, files that changed. The source
/// ends with the stream.
pub fn from_stream<S>(stream: S) -> FromStream<S>
where
    S: Stream + Send + 'static,
    S::Item: Send + 'static,
{
    FromStream { stream: Box::pin(stream) }
}

/// The source made by [`from_stream`].
pub struct FromStream<S> {
    stream: Pin<Box<S>>,
}

impl<S> EventSource for FromStream<S>
where
    S: Stream + Send + 'static,
    S::Item: Send + 'static,
{
    type Event = S::Item;

    fn poll_event(&mut self, observing: &mut Observing<'_>) -> Poll<Option<S::Item>> {
        self.stream.as_mut().poll_next(&mut observing.context())
    }
}

impl<S> fmt::Debug for FromStream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromStream").finish_non_exhaustive()
    }
}

/// A future as a source: one event, its output, then the end.
pub fn from_future<F>(future: F) -> FromFuture<F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    FromFuture { future: Some(Box::pin(future)) }
}

/// The source made by [`from_future`].
pub struct FromFuture<F> {
    future: Option<Pin<Box<F>>>,
}

impl<F> EventSource for FromFuture<F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    type Event = F::Output;

    fn poll_event(&mut self, observing: &mut Observing<'_>) -> Poll<Option<F::Output>> {
        let Some(future) = &mut self.future else {
            return Poll::Ready(None);
        };
        let output = std::task::ready!(future.as_mut().poll(&mut observing.context()));
        self.future = None;
        Poll::Ready(Some(output))
    }
}

impl<F> fmt::Debug for FromFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFuture").finish_non_exhaustive()
    }
}

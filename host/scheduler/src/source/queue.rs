//! A queue as a source: its items are the events.

use std::task::Poll;

use tokio::sync::mpsc;

use super::{EventSource, Observing};

/// A bounded queue of `capacity` items (at least one): the sender for any task or thread, the
/// source for [`register_source`](crate::Scheduler::register_source). When every sender is gone
/// and the queue is empty, the source ends.
pub fn queue<T: Send + 'static>(capacity: usize) -> (QueueSender<T>, Queue<T>) {
    let (sender, receiver) = mpsc::channel(capacity.max(1));
    (QueueSender { sender }, Queue { receiver })
}

/// The sending side of a [`Queue`].
#[derive(Debug)]
pub struct QueueSender<T> {
    sender: mpsc::Sender<T>,
}

/// The source of a [`queue`].
#[derive(Debug)]
pub struct Queue<T> {
    receiver: mpsc::Receiver<T>,
}

/// The source is gone; here is the item back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the queue's source is gone")]
pub struct QueueClosed<T>(pub T);

/// Why an item was not taken at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QueueFull<T> {
    /// The queue holds as many items as it may; here is the item back.
    #[error("the queue is full")]
    Full(T),
    /// The source is gone; here is the item back.
    #[error("the queue's source is gone")]
    Closed(T),
}

impl<T> QueueSender<T> {
    /// Puts an item in, waiting for room.
    ///
    /// # Errors
    /// [`QueueClosed`] if the source is gone.
    pub async fn send(&self, item: T) -> Result<(), QueueClosed<T>> {
        self.sender.send(item).await.map_err(|error| QueueClosed(error.0))
    }

    /// Puts an item in if there is room now.
    ///
    /// # Errors
    /// [`QueueFull`] if there is no room or the source is gone.
    pub fn try_send(&self, item: T) -> Result<(), QueueFull<T>> {
        self.sender.try_send(item).map_err(|error| match error {
            mpsc::error::TrySendError::Full(item) => QueueFull::Full(item),
            mpsc::error::TrySendError::Closed(item) => QueueFull::Closed(item),
        })
    }
}

impl<T> Clone for QueueSender<T> {
    fn clone(&self) -> Self {
        QueueSender { sender: self.sender.clone() }
    }
}

impl<T: Send + 'static> EventSource for Queue<T> {
    type Event = T;

    fn poll_event(&mut self, observing: &mut Observing<'_>) -> Poll<Option<T>> {
        self.receiver.poll_recv(&mut observing.context())
    }
}

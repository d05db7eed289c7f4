//! The way from a guest process to its host.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use crate::wire::{FromGuest, Outbox, Question, Reply};

/// Link to the host: messages out, and the questions that wait for an answer.
#[derive(Debug, Default)]
pub(crate) struct Link {
    pub(crate) outbox: Outbox,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Reply>>>,
}

impl Link {
    /// Gives an answer to the call that waits for it.
    pub(crate) fn answer(&self, call: u64, reply: Reply) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = waiting.remove(&call) {
            let _ = answer.send(reply);
        }
    }

    fn await_answer(&self, call: u64, answer: oneshot::Sender<Reply>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.insert(call, answer);
    }
}

/// Way of one call to its host.
#[derive(Debug, Clone)]
pub(crate) struct Asker {
    pub(crate) call: u64,
    pub(crate) link: Arc<Link>,
    /// True if files are granted.
    pub(crate) files: bool,
    /// True if HTTP is granted.
    pub(crate) http: bool,
}

impl Asker {
    /// Asks the host and waits for its answer; none when the host is gone.
    pub(crate) async fn ask(&self, question: Question) -> Option<Reply> {
        let (answer, answered) = oneshot::channel();
        self.link.await_answer(self.call, answer);
        self.tell(FromGuest::Ask(question));
        answered.await.ok()
    }

    /// Tells the host something.
    pub(crate) fn tell(&self, message: FromGuest) {
        self.link.outbox.put(&(self.call, message));
    }
}

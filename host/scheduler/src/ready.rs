//! The ready queue and the seam for its policy.

use std::collections::VecDeque;

use crate::id::{HandlerId, TokenId};

/// An entry of the ready queue: something the scheduler may resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// The handler it belongs to; a policy that is fair between tenants tells them apart by it.
    pub handler: HandlerId,
    /// What made it ready.
    pub readiness: Readiness,
}

/// Why an entry is on the ready queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// The handler's source has an event: a new token begins.
    Event,
    /// What the token waited for has come.
    Woken(TokenId),
    /// The token gave the thread back although it could have gone on: it yielded, or a guest was
    /// preempted. A policy may let fresh events pass before it; [`Fifo`] does not.
    Yielded(TokenId),
}

/// The order in which ready handlers are resumed.
///
/// Owned by one scheduler and called on its task only. It must hand out every entry pushed exactly
/// once and, as long as it is not empty, must not withhold all of them: there is nobody to ask it
/// again later.
pub trait ReadyQueue: Send {
    /// Takes an entry in.
    fn push(&mut self, ready: Ready);

    /// Hands out the next entry; `None` only when it is empty.
    fn pop(&mut self) -> Option<Ready>;

    /// Entries held.
    fn len(&self) -> usize;

    /// Whether there is nothing to hand out.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// First in, first out: the policy of the specification ("Handler Repository") and the default.
#[derive(Debug, Default)]
pub struct Fifo(VecDeque<Ready>);

impl ReadyQueue for Fifo {
    fn push(&mut self, ready: Ready) {
        self.0.push_back(ready);
    }

    fn pop(&mut self) -> Option<Ready> {
        self.0.pop_front()
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

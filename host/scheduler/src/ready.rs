//! The ready queue and the seam for its policy.

use std::collections::VecDeque;

use crate::id::{HandlerId, TokenId};

/// An entry of the ready queue: something the scheduler may resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// The handler it belongs to; a policy that is fair between tenants distinguishes them by it.
    pub handler: HandlerId,
    /// The cause of its readiness.
    pub readiness: Readiness,
}

/// Why an entry is on the ready queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// The handler's source has an event: a new token begins.
    Event,
    /// The event that the token waited for has come.
    Woken(TokenId),
    /// The token gave the thread back although it could have gone on: it yielded, or a guest was
    /// preempted. [`FreshFirst`] lets others pass before it; [`Fifo`] does not.
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

    /// Returns whether there is nothing to hand out.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether the sources should be asked for events before the next entry is handed out. They are asked
    /// at the beginning of each turn besides. By default, when there is nothing to hand out.
    fn wants_events(&self) -> bool {
        self.is_empty()
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

/// A policy that hands out new and woken tokens before those that only yielded, each in order: a run that
/// computes keeps short ones waiting for one of its stretches at most, not for one of each run that computes.
///
/// Maximum number of other runs that go first before one stretch of a computing run has its turn.
#[derive(Debug)]
pub struct FreshFirst {
    fresh: VecDeque<Ready>,
    yielded: VecDeque<Ready>,
    passed: u32,
    most: u32,
}

impl FreshFirst {
    /// `most`: how many entries may pass before one that gave the thread back, at least one.
    pub fn new(most: u32) -> Self {
        FreshFirst { fresh: VecDeque::new(), yielded: VecDeque::new(), passed: 0, most: most.max(1) }
    }

    fn is_turn_of_yielded(&self) -> bool {
        !self.yielded.is_empty() && self.passed >= self.most
    }
}

impl ReadyQueue for FreshFirst {
    fn push(&mut self, ready: Ready) {
        match ready.readiness {
            Readiness::Yielded(_) => self.yielded.push_back(ready),
            Readiness::Event | Readiness::Woken(_) => self.fresh.push_back(ready),
        }
    }

    fn pop(&mut self) -> Option<Ready> {
        if !self.is_turn_of_yielded()
            && let Some(ready) = self.fresh.pop_front()
        {
            self.passed += 1;
            return Some(ready);
        }
        self.passed = 0;
        self.yielded.pop_front()
    }

    fn len(&self) -> usize {
        self.fresh.len() + self.yielded.len()
    }

    fn wants_events(&self) -> bool {
        self.fresh.is_empty() && !self.is_turn_of_yielded()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::Hub;

    #[test]
    fn the_fresh_pass_but_not_for_ever() {
        let (hub, _ends) =
            Hub::new(std::sync::Arc::new(crate::clock::TokioClock::new()), crate::failure::FailureSink::log());
        let handler = hub.next_handler();
        let mut queue = FreshFirst::new(3);
        let push = |queue: &mut FreshFirst, readiness| queue.push(Ready { handler, readiness });
        push(&mut queue, Readiness::Yielded(hub.next_token()));
        for _ in 0..8 {
            push(&mut queue, Readiness::Event);
        }
        push(&mut queue, Readiness::Yielded(hub.next_token()));
        let mut order = String::new();
        while let Some(ready) = queue.pop() {
            order.push(match ready.readiness {
                Readiness::Yielded(_) => 'y',
                _ => '.',
            });
        }
        assert_eq!(order, "...y...y..");
        assert!(queue.wants_events());
        push(&mut queue, Readiness::Yielded(hub.next_token()));
        assert!(queue.wants_events(), "what is new would go first");
    }
}

//! State that wakers, contexts and the scheduler share. Everything here may be touched from any thread;
//! all else belongs to the task that runs the scheduler.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use futures::task::AtomicWaker;

use crate::clock::{Clock, Moment};
use crate::failure::FailureSink;
use crate::id::{HandlerId, TokenId};
use crate::ready::Ready;
use crate::timers::Timers;

pub(crate) struct Hub {
    clock: Arc<dyn Clock>,
    pub(crate) timers: Arc<Timers>,
    pub(crate) default_sink: FailureSink,
    ids: AtomicU64,
    woken_tokens: mpsc::Sender<Ready>,
    woken_sources: mpsc::Sender<HandlerId>,
    /// The task that waits for the scheduler; empty while the scheduler runs.
    pub(crate) waiting: Arc<AtomicWaker>,
    stop: AtomicBool,
}

/// The receiving ends that belong to the scheduler's own parts.
pub(crate) struct HubEnds {
    pub(crate) woken_tokens: mpsc::Receiver<Ready>,
    pub(crate) woken_sources: mpsc::Receiver<HandlerId>,
}

impl Hub {
    pub(crate) fn new(clock: Arc<dyn Clock>, default_sink: FailureSink) -> (Arc<Hub>, HubEnds) {
        let (token_sender, woken_tokens) = mpsc::channel();
        let (source_sender, woken_sources) = mpsc::channel();
        let waiting = Arc::new(AtomicWaker::new());
        let hub = Arc::new(Hub {
            timers: Arc::new(Timers::new(Arc::clone(&clock), Arc::clone(&waiting))),
            clock,
            default_sink,
            ids: AtomicU64::new(1),
            woken_tokens: token_sender,
            woken_sources: source_sender,
            waiting,
            stop: AtomicBool::new(false),
        });
        let ends = HubEnds { woken_tokens, woken_sources };
        (hub, ends)
    }

    pub(crate) fn now(&self) -> Moment {
        self.clock.now()
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    pub(crate) fn next_handler(&self) -> HandlerId {
        HandlerId(self.ids.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn next_token(&self) -> TokenId {
        TokenId(self.ids.fetch_add(1, Ordering::Relaxed))
    }

    // A send fails only when the scheduler is gone, and then there is nobody left to tell.

    pub(crate) fn token_woken(&self, ready: Ready) {
        let _ = self.woken_tokens.send(ready);
        self.waiting.wake();
    }

    pub(crate) fn source_woken(&self, handler: HandlerId) {
        let _ = self.woken_sources.send(handler);
        self.waiting.wake();
    }

    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.waiting.wake();
    }

    pub(crate) fn stop_is_asked(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Answers a stop: true once for any number of calls of [`Hub::stop`] before.
    pub(crate) fn take_stop(&self) -> bool {
        self.stop_is_asked() && self.stop.swap(false, Ordering::AcqRel)
    }
}

//! The execution token: one run of a handler as a coroutine that can be resumed.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{self, Poll, Wake, Waker};

use crate::failure::{Ending, FailureCause, FailureSink, HandlerResult, panic_message};
use crate::hub::Hub;
use crate::id::{HandlerId, TokenId};
use crate::lock::locked;
use crate::ready::{Readiness, Ready};
use crate::wake::WakeState;

/// A function that runs when a coroutine has ended.
pub(crate) type Finaliser = Box<dyn FnOnce(Ending) + Send>;

/// The part of a token that wakers and contexts share with it.
pub(crate) struct TokenCore {
    id: AtomicU64,
    pub(crate) handler: HandlerId,
    pub(crate) hub: Arc<Hub>,
    pub(crate) sink: FailureSink,
    state: WakeState,
    finalisers: Finalisers,
}

/// Functions to run at the end. Most coroutines have none, and then their end costs no lock.
struct Finalisers {
    list: Mutex<Vec<Finaliser>>,
    state: AtomicU8,
}

/// State without a finaliser.
const NONE: u8 = 0;
/// Some on the list.
const SOME: u8 = 1;
/// The coroutine has ended.
const CLOSED: u8 = 2;

impl Finalisers {
    fn new() -> Self {
        Finalisers { list: Mutex::new(Vec::new()), state: AtomicU8::new(NONE) }
    }

    /// Keeps a finaliser; false when it is too late.
    fn add(&self, finaliser: Finaliser) -> bool {
        let mut list = locked(&self.list);
        list.push(finaliser);
        // Pushed first: whoever closes and finds SOME waits for the lock and then finds it.
        let before = self.state.compare_exchange(NONE, SOME, Ordering::AcqRel, Ordering::Acquire);
        let in_time = before != Err(CLOSED);
        if !in_time {
            let late = list.pop();
            drop(list);
            drop(late);
        }
        in_time
    }

    fn close(&self) -> Vec<Finaliser> {
        if self.state.swap(CLOSED, Ordering::AcqRel) == SOME {
            std::mem::take(&mut *locked(&self.list))
        } else {
            Vec::new()
        }
    }

    /// Reopens the list for the next run, when no other thread can read it.
    fn reopen(&self) {
        self.state.store(NONE, Ordering::Relaxed);
    }
}

impl TokenCore {
    fn new(id: TokenId, handler: HandlerId, hub: Arc<Hub>, sink: FailureSink) -> Arc<Self> {
        Arc::new(TokenCore {
            id: AtomicU64::new(id.0),
            handler,
            hub,
            sink,
            state: WakeState::queued(),
            finalisers: Finalisers::new(),
        })
    }

    pub(crate) fn id(&self) -> TokenId {
        TokenId(self.id.load(Ordering::Relaxed))
    }

    /// Keeps a finaliser; false, and it is dropped, when the coroutine has ended.
    pub(crate) fn add_finaliser(&self, finaliser: Finaliser) -> bool {
        self.finalisers.add(finaliser)
    }
}

impl Wake for TokenCore {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.wake() {
            self.hub.token_woken(Ready { handler: self.handler, readiness: Readiness::Woken(self.id()) });
        }
    }
}

/// The place of a coroutine, used for one run after another so that a handler which never
/// suspends allocates nothing.
trait Frame: Send {
    /// Moves a fresh coroutine in; `coroutine` is an `Option` of the frame's own type.
    fn fill(self: Pin<&mut Self>, coroutine: &mut dyn Any);
    fn resume(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<HandlerResult>;
    /// Drops the coroutine with whatever it still holds.
    fn clear(self: Pin<&mut Self>);
}

impl<Fut> Frame for Option<Fut>
where
    Fut: Future<Output = HandlerResult> + Send + 'static,
{
    fn fill(mut self: Pin<&mut Self>, coroutine: &mut dyn Any) {
        let coroutine =
            coroutine.downcast_mut::<Option<Fut>>().expect("a frame is used again only by the handler that made it");
        self.set(coroutine.take());
    }

    fn resume(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<HandlerResult> {
        self.as_pin_mut().expect("a frame is resumed only between fill and clear").poll(cx)
    }

    fn clear(mut self: Pin<&mut Self>) {
        self.set(None);
    }
}

/// The result of a resumption.
pub(crate) enum Resumed {
    /// The coroutine waits; its waker is out.
    Suspended,
    /// The coroutine yielded: queue it again.
    Yielded,
    /// The coroutine ended by itself.
    Ended(Ending, Option<FailureCause>),
}

/// An execution token (paper, section 3.3): a handler's coroutine with its whole context.
pub(crate) struct Token {
    core: Arc<TokenCore>,
    waker: Waker,
    frame: Pin<Box<dyn Frame>>,
    /// True if an event began it; a spawned token has no handler object that counts it.
    pub(crate) from_event: bool,
}

impl Token {
    /// A token with an empty frame for coroutines of type `Fut`.
    pub(crate) fn empty<Fut>(id: TokenId, handler: HandlerId, hub: Arc<Hub>, sink: FailureSink) -> Self
    where
        Fut: Future<Output = HandlerResult> + Send + 'static,
    {
        let core = TokenCore::new(id, handler, hub, sink);
        Token { waker: Waker::from(Arc::clone(&core)), core, frame: Box::pin(None::<Fut>), from_event: true }
    }

    /// A token around a coroutine that no event began.
    pub(crate) fn spawned<Fut>(
        id: TokenId,
        handler: HandlerId,
        hub: Arc<Hub>,
        sink: FailureSink,
        coroutine: impl FnOnce(Arc<TokenCore>) -> Fut,
    ) -> Self
    where
        Fut: Future<Output = HandlerResult> + Send + 'static,
    {
        let core = TokenCore::new(id, handler, hub, sink);
        Token {
            waker: Waker::from(Arc::clone(&core)),
            frame: Box::pin(Some(coroutine(Arc::clone(&core)))),
            core,
            from_event: false,
        }
    }

    pub(crate) fn core(&self) -> &Arc<TokenCore> {
        &self.core
    }

    pub(crate) fn id(&self) -> TokenId {
        self.core.id()
    }

    pub(crate) fn handler(&self) -> HandlerId {
        self.core.handler
    }

    /// Makes an ended token ready for its next run under a new id.
    pub(crate) fn renew(&mut self, id: TokenId) {
        // Two: `core` and `waker`. With more, a waker or a context of the last run is still about
        // and must keep meaning that run.
        if Arc::strong_count(&self.core) == 2 {
            self.core.id.store(id.0, Ordering::Relaxed);
            self.core.finalisers.reopen();
        } else {
            let old = &self.core;
            let core = TokenCore::new(id, old.handler, Arc::clone(&old.hub), old.sink.clone());
            self.waker = Waker::from(Arc::clone(&core));
            self.core = core;
        }
    }

    /// Moves a coroutine into the frame.
    pub(crate) fn fill<Fut: 'static>(&mut self, coroutine: Fut) {
        self.frame.as_mut().fill(&mut Some(coroutine));
    }

    /// Runs a coroutine that has never run until it suspends or ends. The token must be on no
    /// queue.
    pub(crate) fn begin(&mut self) -> Resumed {
        self.core.state.begin_fresh();
        self.run()
    }

    /// Runs the coroutine on until it suspends or ends.
    pub(crate) fn resume(&mut self) -> Resumed {
        self.core.state.begin();
        self.run()
    }

    fn run(&mut self) -> Resumed {
        let mut cx = task::Context::from_waker(&self.waker);
        let frame = self.frame.as_mut();
        match catch_unwind(AssertUnwindSafe(|| frame.resume(&mut cx))) {
            Ok(Poll::Pending) if self.core.state.suspend() => Resumed::Yielded,
            Ok(Poll::Pending) => Resumed::Suspended,
            Ok(Poll::Ready(Ok(()))) => Resumed::Ended(Ending::Completed, None),
            Ok(Poll::Ready(Err(error))) => Resumed::Ended(Ending::Failed, Some(FailureCause::Failed(error))),
            Err(payload) => Resumed::Ended(Ending::Panicked, Some(FailureCause::Panicked(panic_message(&*payload)))),
        }
    }

    /// Ends the run: drops the coroutine, runs the finalisers, the last registered first, and
    /// reports what failed. Returns whether the frame may be used again.
    pub(crate) fn end(&mut self, ending: Ending, failure: Option<FailureCause>) -> bool {
        self.core.state.end();
        let report = |cause| {
            self.core.sink.report(self.core.handler, Some(self.core.id()), cause);
        };
        if let Some(cause) = failure {
            report(cause);
        }
        let frame = self.frame.as_mut();
        let cleared = catch_unwind(AssertUnwindSafe(|| frame.clear()));
        if let Err(payload) = &cleared {
            report(FailureCause::Panicked(panic_message(&**payload)));
        }
        for finaliser in self.core.finalisers.close().into_iter().rev() {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| finaliser(ending))) {
                report(FailureCause::FinaliserPanicked(panic_message(&*payload)));
            }
        }
        cleared.is_ok()
    }
}

//! Requests that a running handler may make to its scheduler.

use std::fmt;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crate::clock::Moment;
use crate::failure::{Ending, HandlerResult};
use crate::id::{HandlerId, TokenId};
use crate::repository::Registration;
use crate::signals::{Signal, Signals};
use crate::source::EventSource;
use crate::timers::Sleep;
use crate::token::{Token, TokenCore};

/// The handle a handler gets with its event (paper, section 3.3: the signals a coroutine may hand
/// to the scheduler when it yields).
///
/// Timers and finalisers count at once; registrations, spawned handlers and cancellations take
/// effect when the handler next suspends or ends. Clones mean the same token, also in another
/// task or thread.
#[derive(Clone)]
pub struct Context {
    core: Arc<TokenCore>,
}

/// A finaliser came too late: the coroutine has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} has ended")]
pub struct TokenEnded(pub TokenId);

impl Context {
    pub(crate) fn new(core: Arc<TokenCore>) -> Self {
        Context { core }
    }

    /// The token this handler runs under.
    pub fn token(&self) -> TokenId {
        self.core.id()
    }

    /// The handler this run belongs to; for a spawned one, the handler that spawned it.
    pub fn handler(&self) -> HandlerId {
        self.core.handler
    }

    /// The scheduler's present moment.
    pub fn now(&self) -> Moment {
        self.core.hub.now()
    }

    /// A timer: suspends for at least `duration`, counted from this call.
    pub fn sleep(&self, duration: Duration) -> Sleep {
        self.sleep_until(self.now() + duration)
    }

    /// A timer: suspends until `moment` at least.
    pub fn sleep_until(&self, moment: Moment) -> Sleep {
        Sleep::new(Arc::clone(&self.core.hub), moment)
    }

    /// Yields the thread to all that are ready and continues after them.
    pub fn yield_now(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut yielded = false;
        poll_fn(move |cx| {
            if std::mem::replace(&mut yielded, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
    }

    /// Registers what must happen when this coroutine ends, in whichever way: it returns, fails,
    /// panics, is cancelled, or its scheduler is dropped. Runs once, on the scheduler's task, after
    /// the coroutine's own locals are gone; of several, the last registered runs first. It must
    /// not block.
    ///
    /// # Errors
    /// [`TokenEnded`] if the coroutine has already ended, which only a context kept beyond it can
    /// see; the finaliser is dropped without a call.
    pub fn finaliser(
        &self,
        finaliser: impl FnOnce(Ending) + Send + 'static,
    ) -> Result<(), TokenEnded> {
        if self.core.add_finaliser(Box::new(finaliser)) {
            Ok(())
        } else {
            Err(TokenEnded(self.token()))
        }
    }

    /// Spawns a further handler: a coroutine with a token of its own that becomes ready when this
    /// one next suspends or ends. Its failures go to the sink of this handler.
    pub fn spawn<F, Fut>(&self, handler: F) -> TokenId
    where
        F: FnOnce(Context) -> Fut + Send + 'static,
        Fut: Future<Output = HandlerResult> + Send + 'static,
    {
        let hub = &self.core.hub;
        let id = hub.next_token();
        let token = Token::spawned(
            id,
            self.core.handler,
            Arc::clone(hub),
            self.core.sink.clone(),
            |core| run_later(core, handler),
        );
        hub.signal(Signal::Spawn(Box::new(token)));
        id
    }

    /// Registers a source with its handler, one event at a time and with this handler's failure
    /// sink. See [`Signals::register_with`] for more say.
    pub fn register_source<S, F, Fut>(&self, source: S, handler: F) -> HandlerId
    where
        S: EventSource,
        F: FnMut(S::Event, Context) -> Fut + Send + 'static,
        Fut: Future<Output = HandlerResult> + Send + 'static,
    {
        let registration = Registration::new().failure_sink(self.core.sink.clone());
        self.signals().register_with(source, handler, registration)
    }

    /// Ends the loop after the present step; see [`Signals::stop`].
    pub fn stop(&self) {
        self.core.hub.stop();
    }

    /// Cancels a token, its own too: it is dropped where it is suspended. See [`Signals::cancel`].
    pub fn cancel(&self, token: TokenId) {
        self.core.hub.signal(Signal::Cancel(token));
    }

    /// The scheduler's signals without this token: for code that outlives the handler.
    pub fn signals(&self) -> Signals {
        Signals::new(Arc::clone(&self.core.hub))
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("handler", &self.handler())
            .field("token", &self.token())
            .finish_non_exhaustive()
    }
}

/// Calls a spawned handler at its first resumption, so that a panic in the call is the token's.
pub(crate) async fn run_later<F, Fut>(core: Arc<TokenCore>, handler: F) -> HandlerResult
where
    F: FnOnce(Context) -> Fut,
    Fut: Future<Output = HandlerResult>,
{
    handler(Context::new(core)).await
}

//! Signals to a scheduler, and the two handles that send them: the [`Context`] of a handler, and [`Signals`] for
//! other tasks and threads.

use std::fmt;
use std::future::{Future, poll_fn};
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::time::Duration;

use crate::clock::Moment;
use crate::failure::{Ending, FailureSink, HandlerResult};
use crate::hub::Hub;
use crate::id::{HandlerId, TokenId};
use crate::observer::EventObserver;
use crate::repository::{HandlerRepository, Registration};
use crate::source::EventSource;
use crate::timers::Sleep;
use crate::token::{Token, TokenCore};

/// A request to the scheduler, handled between two steps.
pub(crate) enum Signal {
    Register(Install),
    Deregister(HandlerId),
    Spawn(Box<Token>),
    Cancel(TokenId),
}

/// A registration whose types only the asker knows.
pub(crate) type Install = Box<dyn FnOnce(&mut EventObserver, &mut HandlerRepository) + Send>;

/// The handle a handler gets with its event (paper, section 3.3: the signals a coroutine may hand
/// to the scheduler when it yields).
///
/// Timers and finalisers count at once; registrations, spawned handlers and cancellations take
/// effect when the handler next suspends or ends. Clones mean the same token, also in another
/// task or thread.
#[derive(Clone)]
pub struct Context {
    core: Arc<TokenCore>,
    signals: Signals,
}

/// A finaliser came too late: the coroutine has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} has ended")]
pub struct TokenEnded(pub TokenId);

impl Context {
    fn new(core: Arc<TokenCore>, signals: Signals) -> Self {
        Context { core, signals }
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
        Sleep::new(Arc::clone(&self.core.hub.timers), moment)
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
    pub fn finaliser(&self, finaliser: impl FnOnce(Ending) + Send + 'static) -> Result<(), TokenEnded> {
        if self.core.add_finaliser(Box::new(finaliser)) { Ok(()) } else { Err(TokenEnded(self.token())) }
    }

    /// Spawns a further handler: a coroutine with a token of its own that becomes ready when this
    /// one next suspends or ends. Its failures go to the sink of this handler.
    pub fn spawn<F, Fut>(&self, handler: F) -> TokenId
    where
        F: FnOnce(Context) -> Fut + Send + 'static,
        Fut: Future<Output = HandlerResult> + Send + 'static,
    {
        let core = &self.core;
        self.signals.spawn_for(core.handler, core.sink.clone(), handler)
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
        self.signals.register_with(source, handler, registration)
    }

    /// Ends the loop after the present step; see [`Signals::stop`].
    pub fn stop(&self) {
        self.signals.stop();
    }

    /// Cancels a token, its own too: it is dropped where it is suspended. See [`Signals::cancel`].
    pub fn cancel(&self, token: TokenId) {
        self.signals.cancel(token);
    }

    /// The scheduler's signals without this token: for code that outlives the handler.
    pub fn signals(&self) -> Signals {
        self.signals.clone()
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
async fn run_later<F, Fut>(core: Arc<TokenCore>, signals: Signals, handler: F) -> HandlerResult
where
    F: FnOnce(Context) -> Fut,
    Fut: Future<Output = HandlerResult>,
{
    handler(Context::new(core, signals)).await
}

/// A handle to a scheduler for any thread; cheap to clone.
///
/// Signals are taken in order, between two steps; a scheduler that waits is woken. Once the
/// scheduler is gone they do nothing.
#[derive(Clone)]
pub struct Signals {
    shared: Arc<Line>,
}

/// The way to one scheduler.
struct Line {
    hub: Arc<Hub>,
    sender: mpsc::Sender<Signal>,
}

impl Signals {
    /// Makes the handle of a scheduler, and the end at which the scheduler receives.
    pub(crate) fn new(hub: Arc<Hub>) -> (Self, mpsc::Receiver<Signal>) {
        let (sender, receiver) = mpsc::channel();
        let shared = Arc::new(Line { hub, sender });
        (Signals { shared }, receiver)
    }

    fn send(&self, signal: Signal) {
        // Fails only when the scheduler is gone, and then there is nobody left to tell.
        let _ = self.shared.sender.send(signal);
        self.shared.hub.waiting.wake();
    }

    /// The scheduler's present moment.
    pub fn now(&self) -> Moment {
        self.shared.hub.now()
    }

    /// Ends the loop after the present step (acceptance e), or at once if it waits.
    ///
    /// A stop is never lost: asked for while no loop runs, it ends the next one before its first
    /// step. It is spent by that; the loop can then be started again. Several stops before an
    /// ending count as one. Nothing registered is lost by a stop.
    pub fn stop(&self) {
        self.shared.hub.stop();
    }

    /// Cancels a token: its coroutine is dropped where it is suspended and its finalisers run.
    /// A token that has ended, or that this scheduler never had, is passed over.
    pub fn cancel(&self, token: TokenId) {
        self.send(Signal::Cancel(token));
    }

    /// Takes a source out; see [`Scheduler::deregister`](crate::Scheduler::deregister).
    pub fn deregister(&self, handler: HandlerId) {
        self.send(Signal::Deregister(handler));
    }

    /// Registers a source with its handler; see
    /// [`Scheduler::register_source`](crate::Scheduler::register_source).
    pub fn register_source<S, F, Fut>(&self, source: S, handler: F) -> HandlerId
    where
        S: EventSource,
        F: FnMut(S::Event, Context) -> Fut + Send + 'static,
        Fut: Future<Output = HandlerResult> + Send + 'static,
    {
        self.register_with(source, handler, Registration::new())
    }

    /// Registers a source with its handler; see
    /// [`Scheduler::register_with`](crate::Scheduler::register_with).
    pub fn register_with<S, F, Fut>(&self, source: S, handler: F, registration: Registration) -> HandlerId
    where
        S: EventSource,
        F: FnMut(S::Event, Context) -> Fut + Send + 'static,
        Fut: Future<Output = HandlerResult> + Send + 'static,
    {
        let (id, install) = self.installation(source, handler, registration);
        self.send(Signal::Register(Box::new(install)));
        id
    }

    /// Makes the identity of a handler, and the function that registers its source and the handler with a scheduler.
    /// Each run of the handler gets a [`Context`].
    pub(crate) fn installation<S, F, Fut>(
        &self,
        source: S,
        mut handler: F,
        registration: Registration,
    ) -> (HandlerId, impl FnOnce(&mut EventObserver, &mut HandlerRepository) + Send + use<S, F, Fut>)
    where
        S: EventSource,
        F: FnMut(S::Event, Context) -> Fut + Send + 'static,
        Fut: Future<Output = HandlerResult> + Send + 'static,
    {
        let id = self.shared.hub.next_handler();
        let signals = self.clone();
        let run = move |event, core| handler(event, Context::new(core, signals.clone()));
        let install = move |observer: &mut EventObserver, repository: &mut HandlerRepository| {
            observer.register(source, id);
            repository.insert::<S::Event, _, Fut>(id, run, registration);
        };
        (id, install)
    }

    /// Spawns a coroutine without a source; see [`Scheduler::spawn`](crate::Scheduler::spawn).
    pub fn spawn<F, Fut>(&self, handler: F) -> TokenId
    where
        F: FnOnce(Context) -> Fut + Send + 'static,
        Fut: Future<Output = HandlerResult> + Send + 'static,
    {
        let hub = &self.shared.hub;
        self.spawn_for(hub.next_handler(), hub.default_sink.clone(), handler)
    }

    /// Spawns a coroutine that belongs to `owner` and reports failures to `sink`.
    fn spawn_for<F, Fut>(&self, owner: HandlerId, sink: FailureSink, handler: F) -> TokenId
    where
        F: FnOnce(Context) -> Fut + Send + 'static,
        Fut: Future<Output = HandlerResult> + Send + 'static,
    {
        let hub = &self.shared.hub;
        let id = hub.next_token();
        let signals = self.clone();
        let token = Token::spawned(id, owner, Arc::clone(hub), sink, |core| run_later(core, signals, handler));
        self.send(Signal::Spawn(Box::new(token)));
        id
    }
}

impl fmt::Debug for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signals")
    }
}

//! Signals to a scheduler from anywhere: handlers, other tasks, other threads.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use crate::clock::Moment;
use crate::context::{Context, run_later};
use crate::failure::HandlerResult;
use crate::hub::Hub;
use crate::id::{HandlerId, TokenId};
use crate::observer::EventObserver;
use crate::repository::{HandlerRepository, Registration};
use crate::source::EventSource;
use crate::token::Token;

/// A request to the scheduler, handled between two steps.
pub(crate) enum Signal {
    Register(Install),
    Deregister(HandlerId),
    Spawn(Box<Token>),
    Cancel(TokenId),
}

/// A registration whose types only the asker knows.
pub(crate) type Install = Box<dyn FnOnce(&mut EventObserver, &mut HandlerRepository) + Send>;

/// A handle to a scheduler for any thread; cheap to clone.
///
/// Signals are taken in order, between two steps; a scheduler that waits is woken. Once the
/// scheduler is gone they do nothing.
#[derive(Clone)]
pub struct Signals {
    hub: Arc<Hub>,
}

impl Signals {
    pub(crate) fn new(hub: Arc<Hub>) -> Self {
        Signals { hub }
    }

    /// The scheduler's present moment.
    pub fn now(&self) -> Moment {
        self.hub.now()
    }

    /// Ends the loop after the present step (acceptance e), or at once if it waits.
    ///
    /// A stop is never lost: asked for while no loop runs, it ends the next one before its first
    /// step. It is spent by that; the loop can then be started again. Several stops before an
    /// ending count as one. Nothing registered is lost by a stop.
    pub fn stop(&self) {
        self.hub.stop();
    }

    /// Cancels a token: its coroutine is dropped where it is suspended and its finalisers run.
    /// A token that has ended, or that this scheduler never had, is passed over.
    pub fn cancel(&self, token: TokenId) {
        self.hub.signal(Signal::Cancel(token));
    }

    /// Takes a source out; see [`Scheduler::deregister`](crate::Scheduler::deregister).
    pub fn deregister(&self, handler: HandlerId) {
        self.hub.signal(Signal::Deregister(handler));
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
    pub fn register_with<S, F, Fut>(
        &self,
        source: S,
        handler: F,
        registration: Registration,
    ) -> HandlerId
    where
        S: EventSource,
        F: FnMut(S::Event, Context) -> Fut + Send + 'static,
        Fut: Future<Output = HandlerResult> + Send + 'static,
    {
        let id = self.hub.next_handler();
        let install: Install = Box::new(move |observer, repository| {
            observer.register(source, id);
            repository.insert::<S::Event, F, Fut>(id, handler, registration);
        });
        self.hub.signal(Signal::Register(install));
        id
    }

    /// Spawns a coroutine without a source; see [`Scheduler::spawn`](crate::Scheduler::spawn).
    pub fn spawn<F, Fut>(&self, handler: F) -> TokenId
    where
        F: FnOnce(Context) -> Fut + Send + 'static,
        Fut: Future<Output = HandlerResult> + Send + 'static,
    {
        let id = self.hub.next_token();
        let token = Token::spawned(
            id,
            self.hub.next_handler(),
            Arc::clone(&self.hub),
            self.hub.default_sink.clone(),
            |core| run_later(core, handler),
        );
        self.hub.signal(Signal::Spawn(Box::new(token)));
        id
    }
}

impl fmt::Debug for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signals")
    }
}

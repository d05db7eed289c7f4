//! The handler repository (paper, section 3.2): the table of handler objects and the ready queue.

use std::future::Future;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};

use crate::clock::Moment;
use crate::failure::{FailureCause, FailureSink, HandlerResult, drop_quietly, panic_message};
use crate::hub::Hub;
use crate::id::{HandlerId, IdTable, TokenId};
use crate::observer::{EventObserver, Sighting};
use crate::ready::{Readiness, Ready, ReadyQueue};
use crate::token::{Token, TokenCore};

/// Frames an idle handler keeps for its next runs; after a burst the rest is given back.
const FRAMES_KEPT: usize = 16;

/// Options of a handler's registration.
#[derive(Debug, Clone)]
#[must_use]
pub struct Registration {
    in_flight: usize,
    sink: Option<FailureSink>,
}

impl Registration {
    /// Makes a registration with one run at a time and failures to the scheduler's default sink.
    pub fn new() -> Self {
        Registration { in_flight: 1, sink: None }
    }

    /// Sets how many runs of the handler may be under way at once (at least one, which is the default:
    /// its events are then handled strictly one after another). At the limit the source is left
    /// alone, so back pressure reaches it.
    pub fn in_flight(mut self, runs: usize) -> Self {
        self.in_flight = runs.max(1);
        self
    }

    /// Sets where failures of this handler are reported, instead of the scheduler's default sink.
    pub fn on_failure(self, sink: impl Fn(crate::Failure) + Send + Sync + 'static) -> Self {
        self.failure_sink(FailureSink::new(sink))
    }

    /// The same with a sink that is shared.
    pub fn failure_sink(mut self, sink: FailureSink) -> Self {
        self.sink = Some(sink);
        self
    }
}

impl Default for Registration {
    fn default() -> Self {
        Registration::new()
    }
}

pub(crate) struct HandlerRepository {
    hub: Arc<Hub>,
    objects: IdTable<HandlerId, HandlerObject>,
    /// Tokens that have begun and not ended, except the one being resumed.
    tokens: IdTable<TokenId, Token>,
    queue: Box<dyn ReadyQueue>,
    woken: mpsc::Receiver<Ready>,
    seen: Vec<Sighting>,
}

/// A registered handler with its parameters (the paper's `HandlerObject`).
struct HandlerObject {
    starter: Box<dyn Starter>,
    sink: FailureSink,
    runs: usize,
    limit: usize,
    source_ended: bool,
}

/// Begins runs of one handler; hides the types of its event and its coroutine.
trait Starter: Send {
    /// Takes the event from the observer and calls the handler with it. With a failure: the call
    /// itself panicked, and the token has no coroutine.
    fn start(
        &mut self,
        id: TokenId,
        handler: HandlerId,
        hub: &Arc<Hub>,
        sink: &FailureSink,
        observer: &mut EventObserver,
    ) -> Option<(Token, Option<FailureCause>)>;

    /// Takes back a token that has ended, to use its frame again.
    fn keep(&mut self, token: Token);
}

struct Starting<E, F, Fut> {
    handler: F,
    ended: Vec<Token>,
    types: PhantomData<fn(E) -> Fut>,
}

impl<E, F, Fut> Starter for Starting<E, F, Fut>
where
    E: Send + 'static,
    F: FnMut(E, Arc<TokenCore>) -> Fut + Send + 'static,
    Fut: Future<Output = HandlerResult> + Send + 'static,
{
    fn start(
        &mut self,
        id: TokenId,
        handler: HandlerId,
        hub: &Arc<Hub>,
        sink: &FailureSink,
        observer: &mut EventObserver,
    ) -> Option<(Token, Option<FailureCause>)> {
        let event = observer.take_event::<E>(handler)?;
        let mut token = match self.ended.pop() {
            Some(mut token) => {
                token.renew(id);
                token
            }
            None => Token::empty::<Fut>(id, handler, Arc::clone(hub), sink.clone()),
        };
        let core = Arc::clone(token.core());
        match catch_unwind(AssertUnwindSafe(|| (self.handler)(event, core))) {
            Ok(coroutine) => {
                token.fill(coroutine);
                Some((token, None))
            }
            Err(payload) => {
                let cause = FailureCause::Panicked(panic_message(&*payload));
                Some((token, Some(cause)))
            }
        }
    }

    fn keep(&mut self, token: Token) {
        if self.ended.len() < FRAMES_KEPT {
            self.ended.push(token);
        }
    }
}

impl HandlerRepository {
    pub(crate) fn new(hub: Arc<Hub>, woken: mpsc::Receiver<Ready>, queue: Box<dyn ReadyQueue>) -> HandlerRepository {
        HandlerRepository {
            hub,
            objects: IdTable::default(),
            tokens: IdTable::default(),
            queue,
            woken,
            seen: Vec::new(),
        }
    }

    /// Enters a handler under the id its source is observed by (the paper's `create_object`; the
    /// id comes from the hub so that it is known to whoever asked before this takes effect). The
    /// handler gets each event with the core of the token that its run has.
    pub(crate) fn insert<E, F, Fut>(&mut self, id: HandlerId, handler: F, registration: Registration)
    where
        E: Send + 'static,
        F: FnMut(E, Arc<TokenCore>) -> Fut + Send + 'static,
        Fut: Future<Output = HandlerResult> + Send + 'static,
    {
        let object = HandlerObject {
            starter: Box::new(Starting { handler, ended: Vec::new(), types: PhantomData }),
            sink: registration.sink.unwrap_or_else(|| self.hub.default_sink.clone()),
            runs: 0,
            limit: registration.in_flight,
            source_ended: false,
        };
        self.objects.insert(id, object);
    }

    /// The head of the ready queue. The observer is asked for events, without blocking, when the queue
    /// wants them (refilling on demand) or when `refill` says that its turn has come.
    pub(crate) fn get_ready_object(
        &mut self,
        observer: &mut EventObserver,
        now: Moment,
        refill: bool,
    ) -> Option<Ready> {
        // Before the woken are collected, because it wakes tokens.
        observer.expire_timers(now);
        self.queue_woken();
        if refill || self.queue.wants_events() {
            observer.look(&mut self.seen);
            self.queue_seen();
        }
        self.queue.pop()
    }

    /// Has the observer wait; see [`EventObserver::wait_for_events`].
    pub(crate) fn wait_for_events(
        &mut self,
        observer: &mut EventObserver,
        cx: &mut std::task::Context<'_>,
        until: Option<Moment>,
    ) -> std::task::Poll<()> {
        let waited = observer.wait_for_events(cx, until, &mut self.seen);
        self.queue_seen();
        waited
    }

    fn queue_woken(&mut self) {
        for ready in self.woken.try_iter() {
            self.queue.push(ready);
        }
    }

    fn queue_seen(&mut self) {
        let mut seen = std::mem::take(&mut self.seen);
        for sighting in seen.drain(..) {
            match sighting {
                Sighting::Ready(handler) => self.queue.push(Ready { handler, readiness: Readiness::Event }),
                Sighting::Ended(handler, panic) => {
                    if let (Some(message), Some(object)) = (panic, self.objects.get(&handler)) {
                        let cause = FailureCause::SourcePanicked(message);
                        object.sink.report(handler, None, cause);
                    }
                    self.source_ended(handler);
                }
            }
        }
        // Kept for its capacity.
        self.seen = seen;
    }

    /// No event will begin this handler any more; forgets it when no run of it is left.
    pub(crate) fn source_ended(&mut self, handler: HandlerId) {
        if let Some(object) = self.objects.get_mut(&handler) {
            object.source_ended = true;
            self.forget_if_spent(handler);
        }
    }

    fn forget_if_spent(&mut self, handler: HandlerId) {
        let spent = |object: &HandlerObject| object.source_ended && object.runs == 0;
        if self.objects.get(&handler).is_some_and(spent)
            && let Some(object) = self.objects.remove(&handler)
        {
            drop_quietly(handler, object);
        }
    }

    /// Begins a run with the event of the handler's source; `None` if that was taken out since.
    pub(crate) fn begin(
        &mut self,
        handler: HandlerId,
        observer: &mut EventObserver,
    ) -> Option<(Token, Option<FailureCause>)> {
        let object = self.objects.get_mut(&handler)?;
        let id = self.hub.next_token();
        let begun = object.starter.start(id, handler, &self.hub, &object.sink, observer)?;
        object.runs += 1;
        if object.runs < object.limit {
            observer.arm(handler);
        }
        Some(begun)
    }

    /// Puts a continuing token at the end of the ready queue.
    pub(crate) fn queue_yielded(&mut self, token: &Token) {
        self.queue.push(Ready { handler: token.handler(), readiness: Readiness::Yielded(token.id()) });
    }

    /// Takes in a token that nobody has resumed yet, ready to run.
    pub(crate) fn adopt(&mut self, token: Token) {
        self.queue.push(Ready { handler: token.handler(), readiness: Readiness::Woken(token.id()) });
        self.suspend(token);
    }

    pub(crate) fn suspend(&mut self, token: Token) {
        self.tokens.insert(token.id(), token);
    }

    pub(crate) fn take(&mut self, token: TokenId) -> Option<Token> {
        self.tokens.remove(&token)
    }

    /// Takes back a token that has ended, whose source may deliver again.
    pub(crate) fn release(&mut self, token: Token, reusable: bool, observer: &mut EventObserver) {
        let handler = token.handler();
        if !token.from_event {
            drop_quietly(handler, token);
            return;
        }
        let Some(object) = self.objects.get_mut(&handler) else {
            return;
        };
        if object.runs == object.limit && !object.source_ended {
            observer.arm(handler);
        }
        object.runs -= 1;
        if reusable {
            object.starter.keep(token);
        }
        if object.source_ended {
            self.forget_if_spent(handler);
        }
    }

    /// The tokens under way, oldest first.
    pub(crate) fn token_ids(&self) -> Vec<TokenId> {
        let mut ids: Vec<_> = self.tokens.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    pub(crate) fn token_count(&self) -> usize {
        self.tokens.len()
    }

    pub(crate) fn handler_count(&self) -> usize {
        self.objects.len()
    }

    pub(crate) fn ready_count(&self) -> usize {
        self.queue.len()
    }
}

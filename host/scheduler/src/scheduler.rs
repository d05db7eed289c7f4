//! The scheduler (paper, section 3.3): the public API and the cycle of resumptions.

use std::fmt;
use std::future::{Future, poll_fn};
use std::sync::{Arc, mpsc};
use std::task::{self, Poll};
use std::time::Duration;

use tokio::task::coop;

use crate::clock::{Clock, Moment, TokioClock};
use crate::context::{Context, Signal, Signals};
use crate::failure::{Ending, Failure, FailureCause, FailureSink, HandlerResult};
use crate::hub::Hub;
use crate::id::{HandlerId, TokenId};
use crate::observer::EventObserver;
use crate::ready::{Fifo, Readiness, Ready, ReadyQueue};
use crate::repository::{HandlerRepository, Registration};
use crate::source::EventSource;
use crate::token::{Resumed, Token};

/// The bounds that keep sources, handlers and the runtime from starving each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Resumptions in one turn, at least one. After a turn the observer is asked, without
    /// blocking, even if the ready queue is not empty, and the thread is given back to the runtime
    /// once. Default 64.
    pub turn_steps: u32,
    /// A turn ends after this time too. Default 250 microseconds.
    pub turn_time: Duration,
    /// Total time that all sources with a time-out together may block in one round, during which
    /// nothing else of this scheduler runs. Default 1 millisecond.
    pub blocked: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { turn_steps: 64, turn_time: Duration::from_micros(250), blocked: Duration::from_millis(1) }
    }
}

/// The effect of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stepped {
    /// A handler was begun or resumed.
    Handled {
        /// The handler.
        handler: HandlerId,
        /// The run.
        token: TokenId,
        /// The state of the run after the step.
        progress: Progress,
    },
    /// No handler was ready within the bound, or a stop was asked for meanwhile.
    Nothing,
}

/// The state of a run after one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The run waits for something.
    Suspended,
    /// The run yielded and is ready.
    Yielded,
    /// The run ended.
    Ended(Ending),
}

/// Makes a [`Scheduler`] with other settings than the usual.
#[must_use]
pub struct SchedulerBuilder {
    clock: Option<Arc<dyn Clock>>,
    queue: Box<dyn ReadyQueue>,
    bounds: Bounds,
    sink: FailureSink,
}

impl SchedulerBuilder {
    /// The clock; [`TokioClock`] by default.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// The policy of the ready queue; [`Fifo`] by default.
    pub fn ready_queue(mut self, queue: impl ReadyQueue + 'static) -> Self {
        self.queue = Box::new(queue);
        self
    }

    /// The bounds.
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// Sets where failures go whose registration names no sink; to the log by default.
    pub fn on_failure(mut self, sink: impl Fn(Failure) + Send + Sync + 'static) -> Self {
        self.sink = FailureSink::new(sink);
        self
    }

    /// The scheduler, with nothing registered.
    pub fn build(self) -> Scheduler {
        let clock = self.clock.unwrap_or_else(|| Arc::new(TokioClock::new()));
        let (hub, ends) = Hub::new(clock, self.sink);
        let (handle, signals) = Signals::new(Arc::clone(&hub));
        let bounds = self.bounds;
        Scheduler {
            observer: EventObserver::new(Arc::clone(&hub), ends.woken_sources, bounds.blocked),
            repository: HandlerRepository::new(Arc::clone(&hub), ends.woken_tokens, self.queue),
            handle,
            signals,
            bounds,
            turn: Turn::Over,
            hub,
        }
    }
}

/// The stretch of steps between two times the runtime gets the thread.
#[derive(Debug, Clone, Copy)]
enum Turn {
    /// The next step begins a turn, with a look at the sources.
    Over,
    Since {
        begun: Moment,
        steps: u32,
    },
}

/// The event scheduler. See the crate's documentation for the model.
///
/// It is `Send` and lives in one task at a time; to use several cores, run several. Dropping it
/// cancels every run: their finalisers are run.
pub struct Scheduler {
    hub: Arc<Hub>,
    observer: EventObserver,
    repository: HandlerRepository,
    handle: Signals,
    signals: mpsc::Receiver<Signal>,
    bounds: Bounds,
    turn: Turn,
}

impl Scheduler {
    /// A scheduler on tokio's clock, first in first out, with the default bounds.
    pub fn new() -> Self {
        Scheduler::builder().build()
    }

    /// A scheduler with other settings.
    pub fn builder() -> SchedulerBuilder {
        SchedulerBuilder {
            clock: None,
            queue: Box::new(Fifo::default()),
            bounds: Bounds::default(),
            sink: FailureSink::log(),
        }
    }

    /// A handle for handlers, other tasks and other threads.
    pub fn signals(&self) -> Signals {
        self.handle.clone()
    }

    /// Registers a source with its handler: each event of the source begins a run of the handler,
    /// one run at a time, and failures go to the default sink.
    ///
    /// The handler is an `async` function or closure of the event and a [`Context`]. It runs on the
    /// scheduler's task until it awaits something that is not ready; the scheduler continues with
    /// others and resumes it there when its waker is used.
    pub fn register_source<S, F, Fut>(&mut self, source: S, handler: F) -> HandlerId
    where
        S: EventSource,
        F: FnMut(S::Event, Context) -> Fut + Send + 'static,
        Fut: Future<Output = HandlerResult> + Send + 'static,
    {
        self.register_with(source, handler, Registration::new())
    }

    /// Registers a source with its handler, with a say in how many runs may be under way and where
    /// failures go.
    pub fn register_with<S, F, Fut>(&mut self, source: S, handler: F, registration: Registration) -> HandlerId
    where
        S: EventSource,
        F: FnMut(S::Event, Context) -> Fut + Send + 'static,
        Fut: Future<Output = HandlerResult> + Send + 'static,
    {
        let (id, install) = self.handle.installation(source, handler, registration);
        install(&mut self.observer, &mut self.repository);
        id
    }

    /// Spawns a coroutine without a source, ready to run. It counts as a handler of its own; its
    /// failure goes to the default sink.
    pub fn spawn<F, Fut>(&mut self, handler: F) -> TokenId
    where
        F: FnOnce(Context) -> Fut + Send + 'static,
        Fut: Future<Output = HandlerResult> + Send + 'static,
    {
        let id = self.signals().spawn(handler);
        self.apply_signals();
        id
    }

    /// Takes a source out. An event it has delivered but whose handler has not begun is dropped;
    /// runs that have begun continue to their end. An unknown id is passed over.
    pub fn deregister(&mut self, handler: HandlerId) {
        self.apply_signals();
        self.observer.remove(handler);
        self.repository.source_ended(handler);
    }

    /// Cancels a run: drops its coroutine where it is suspended and runs its finalisers. False if
    /// it had ended or never was.
    pub fn cancel(&mut self, token: TokenId) -> bool {
        self.apply_signals();
        match self.repository.take(token) {
            Some(token) => {
                self.end(token, Ending::Cancelled, None);
                true
            }
            None => false,
        }
    }

    /// Handles at most one event or resumption. With nothing ready it waits up to `bound` of the
    /// scheduler's clock ([`Duration::MAX`]: without end) and says that it handled nothing.
    ///
    /// Between turns (see [`Bounds`]) it gives the thread to the runtime first. Dropping the
    /// returned future loses nothing.
    pub async fn step(&mut self, bound: Duration) -> Stepped {
        let mut until = None;
        loop {
            match poll_fn(|cx| self.poll_within(cx, bound, &mut until)).await {
                Some(stepped) => return stepped,
                None => tokio::task::yield_now().await,
            }
        }
    }

    /// Steps until [`Signals::stop`] (the paper's `loop`). Sources and handlers stay registered,
    /// tokens stay suspended; the loop can be started again.
    pub async fn run(&mut self) {
        while !self.take_stop() {
            self.step(Duration::MAX).await;
        }
    }

    /// Answers a stop: true once for any number of calls of [`Signals::stop`] before. For drivers
    /// with a loop of their own; [`Scheduler::run`] does it by itself.
    pub fn take_stop(&mut self) -> bool {
        self.hub.take_stop()
    }

    /// Performs one step for a driver that is not a tokio task: like [`Scheduler::step`] without a bound,
    /// as a poll. Pending means that nothing is ready; the task in `cx` is woken when that changes.
    pub fn poll_step(&mut self, cx: &mut task::Context<'_>) -> Poll<Stepped> {
        loop {
            // At the end of a turn too: the driver has the thread between two polls anyway.
            let stepped = std::task::ready!(self.poll_within(cx, Duration::MAX, &mut None));
            if let Some(stepped) = stepped {
                return Poll::Ready(stepped);
            }
        }
    }

    /// Returns the moment at which a waiting scheduler continues by itself: its first timer, or the next
    /// round over sources with a time-out. For drivers of a simulated clock.
    pub fn next_deadline(&self) -> Option<Moment> {
        self.observer.next_deadline()
    }

    /// Handlers registered, as the last step began: those whose source has not ended or that have
    /// runs under way.
    pub fn handler_count(&self) -> usize {
        self.repository.handler_count()
    }

    /// Runs under way. Those spawned in the last step count from the next.
    pub fn token_count(&self) -> usize {
        self.repository.token_count()
    }

    /// Entries of the ready queue. Those woken since the last step are not counted yet; those
    /// cancelled since they were queued still are.
    pub fn ready_count(&self) -> usize {
        self.repository.ready_count()
    }

    /// Performs one step, or returns `None` when the turn is over and the runtime should have the thread.
    fn poll_within(
        &mut self,
        cx: &mut task::Context<'_>,
        bound: Duration,
        until: &mut Option<Moment>,
    ) -> Poll<Option<Stepped>> {
        let mut waiting = false;
        loop {
            // What the last handler asked for takes effect before anyone else runs.
            self.apply_signals();
            let now = self.hub.now();
            let refill = match self.turn {
                Turn::Since { begun, steps } => {
                    if steps >= self.bounds.turn_steps.max(1)
                        || now.since(begun) >= self.bounds.turn_time
                        || !coop::has_budget_remaining()
                    {
                        self.turn = Turn::Over;
                        return Poll::Ready(None);
                    }
                    false
                }
                Turn::Over => {
                    self.turn = Turn::Since { begun: now, steps: 0 };
                    true
                }
            };
            if let Some(ready) = self.repository.get_ready_object(&mut self.observer, now, refill) {
                match self.resume(ready) {
                    Some(stepped) => return Poll::Ready(Some(stepped)),
                    // The token was cancelled, or the source taken out, since it was queued.
                    None => continue,
                }
            }
            if self.hub.stop_is_asked() {
                return Poll::Ready(Some(Stepped::Nothing));
            }
            if bound != Duration::MAX && *until.get_or_insert(now + bound) <= now {
                return Poll::Ready(Some(Stepped::Nothing));
            }
            if !waiting {
                // Whatever comes after this wakes the task; what came before is seen by another
                // look.
                self.hub.waiting.register(cx.waker());
                waiting = true;
                continue;
            }
            self.turn = Turn::Over;
            std::task::ready!(self.repository.wait_for_events(&mut self.observer, cx, *until));
        }
    }

    /// Resumes the head of the ready queue. `None` if there is nothing behind it any more.
    fn resume(&mut self, ready: Ready) -> Option<Stepped> {
        let (token, resumed) = match ready.readiness {
            Readiness::Event => {
                let begun = self.repository.begin(ready.handler, &mut self.observer)?;
                let (mut token, failure) = begun;
                let resumed = match failure {
                    Some(cause) => Resumed::Ended(Ending::Panicked, Some(cause)),
                    None => token.begin(),
                };
                (token, resumed)
            }
            Readiness::Woken(id) | Readiness::Yielded(id) => {
                let mut token = self.repository.take(id)?;
                let resumed = token.resume();
                (token, resumed)
            }
        };
        let id = token.id();
        if let Turn::Since { steps, .. } = &mut self.turn {
            *steps += 1;
        }
        let progress = match resumed {
            Resumed::Suspended => {
                self.repository.suspend(token);
                Progress::Suspended
            }
            Resumed::Yielded => {
                self.repository.queue_yielded(&token);
                self.repository.suspend(token);
                Progress::Yielded
            }
            Resumed::Ended(ending, cause) => {
                self.end(token, ending, cause);
                Progress::Ended(ending)
            }
        };
        Some(Stepped::Handled { handler: ready.handler, token: id, progress })
    }

    fn end(&mut self, mut token: Token, ending: Ending, cause: Option<FailureCause>) {
        let reusable = token.end(ending, cause);
        self.repository.release(token, reusable, &mut self.observer);
    }

    fn apply_signals(&mut self) {
        while let Ok(signal) = self.signals.try_recv() {
            match signal {
                Signal::Register(install) => install(&mut self.observer, &mut self.repository),
                Signal::Deregister(handler) => {
                    self.observer.remove(handler);
                    self.repository.source_ended(handler);
                }
                Signal::Spawn(token) => self.repository.adopt(*token),
                Signal::Cancel(token) => {
                    if let Some(token) = self.repository.take(token) {
                        self.end(token, Ending::Cancelled, None);
                    }
                }
            }
        }
    }
}

impl Default for Scheduler {
    fn default() -> Self {
        Scheduler::new()
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        for id in self.repository.token_ids() {
            if let Some(token) = self.repository.take(id) {
                self.end(token, Ending::Cancelled, None);
            }
        }
    }
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler")
            .field("handlers", &self.handler_count())
            .field("tokens", &self.token_count())
            .field("ready", &self.ready_count())
            .finish_non_exhaustive()
    }
}

//! The event observer (paper, section 3.1): the demultiplexer, and the only thing that touches
//! event sources.
//!
//! It combines three demultiplexers: the wakers of asynchronous sources, the timers behind the
//! clock's alarm, and the serial round over sources with a time-out. A source is armed for one
//! event at a time: once it has delivered one it is not touched until it is armed again, which the
//! repository does when the handler can take another.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::task::{self, Poll, Wake, Waker};
use std::time::Duration;

use crate::clock::{Alarm, Moment};
use crate::failure::{drop_quietly, panic_message};
use crate::hub::Hub;
use crate::id::{HandlerId, IdTable};
use crate::source::{EventSource, Observing, SourceKind};
use crate::wake::WakeState;

/// An observation about a handler's source.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sighting {
    /// An event is there to be taken.
    Ready(HandlerId),
    /// The source is gone; with the message of its panic if that was why.
    Ended(HandlerId, Option<String>),
}

pub(crate) struct EventObserver {
    hub: Arc<Hub>,
    sources: IdTable<HandlerId, Watched>,
    woken: mpsc::Receiver<HandlerId>,
    /// Asynchronous sources to ask, in the order they were woken or armed.
    to_ask: VecDeque<HandlerId>,
    /// Armed sources with a time-out, in the order of their turns.
    bounded: VecDeque<HandlerId>,
    /// Total time per round that sources with a time-out may block.
    blocked: Duration,
    /// Time from which the next round over them may begin.
    next_round: Option<Moment>,
    alarm: Box<dyn Alarm>,
}

struct Watched {
    source: Box<dyn Watch>,
    kind: SourceKind,
    armed: Arc<SourceWaker>,
    waker: Waker,
}

/// A source and its event, without their type.
trait Watch: Send {
    /// Ready with true: an event is there to be taken; with false: there will be no more.
    fn ask(&mut self, observing: &mut Observing<'_>) -> Poll<bool>;

    /// Moves the event to `slot`, an `Option` of the source's type of event.
    fn take_event(&mut self, slot: &mut dyn Any);
}

struct Delivering<S: EventSource> {
    source: S,
    event: Option<S::Event>,
}

impl<S: EventSource> Watch for Delivering<S> {
    fn ask(&mut self, observing: &mut Observing<'_>) -> Poll<bool> {
        self.event = std::task::ready!(self.source.poll_event(observing));
        Poll::Ready(self.event.is_some())
    }

    fn take_event(&mut self, slot: &mut dyn Any) {
        let slot = slot
            .downcast_mut::<Option<S::Event>>()
            .expect("a handler is registered with a source of its own type of event");
        *slot = self.event.take();
    }
}

struct SourceWaker {
    handler: HandlerId,
    hub: Arc<Hub>,
    state: WakeState,
}

impl Wake for SourceWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.wake() {
            self.hub.source_woken(self.handler);
        }
    }
}

impl EventObserver {
    pub(crate) fn new(hub: Arc<Hub>, woken: mpsc::Receiver<HandlerId>, blocked: Duration) -> EventObserver {
        EventObserver {
            alarm: hub.clock().alarm(),
            hub,
            sources: IdTable::default(),
            woken,
            to_ask: VecDeque::new(),
            bounded: VecDeque::new(),
            blocked,
            next_round: None,
        }
    }

    /// Watches a source on behalf of a handler.
    pub(crate) fn register<S: EventSource>(&mut self, source: S, handler: HandlerId) {
        let armed = Arc::new(SourceWaker { handler, hub: Arc::clone(&self.hub), state: WakeState::queued() });
        let watched = Watched {
            kind: source.kind(),
            waker: Waker::from(Arc::clone(&armed)),
            armed,
            source: Box::new(Delivering { source, event: None }),
        };
        self.sources.insert(handler, watched);
        self.arm(handler);
    }

    /// The event of a source that was seen ready, for its handler.
    pub(crate) fn take_event<E: 'static>(&mut self, handler: HandlerId) -> Option<E> {
        let mut event = None;
        self.sources.get_mut(&handler)?.source.take_event(&mut event);
        event
    }

    /// Lets a source deliver one more event. Not to be called for an armed one.
    pub(crate) fn arm(&mut self, handler: HandlerId) {
        // Sources woken until now were ready before this one could be.
        self.collect_woken();
        let Some(watched) = self.sources.get(&handler) else {
            return;
        };
        watched.armed.state.requeue();
        match watched.kind {
            SourceKind::Asynchronous => self.to_ask.push_back(handler),
            SourceKind::Bounded => self.bounded.push_back(handler),
        }
    }

    /// Forgets a source, with an event that was not taken yet.
    pub(crate) fn remove(&mut self, handler: HandlerId) {
        self.bounded.retain(|armed| *armed != handler);
        if let Some(watched) = self.sources.remove(&handler) {
            watched.armed.state.end();
            drop_quietly(handler, watched);
        }
    }

    /// Wakes the tokens and sources whose timers are due.
    pub(crate) fn expire_timers(&self, now: Moment) {
        self.hub.timers.expire(now);
    }

    /// Looks without blocking at the sources that were woken, and at those with a time-out by a
    /// time-out of zero.
    pub(crate) fn look(&mut self, seen: &mut Vec<Sighting>) {
        self.collect_woken();
        // Only those there now: one that wakes itself at once waits for the next look.
        for _ in 0..self.to_ask.len() {
            let Some(handler) = self.to_ask.pop_front() else {
                break;
            };
            self.ask(handler, Duration::ZERO, seen);
        }
        for _ in 0..self.bounded.len() {
            self.ask_next_bounded(Duration::ZERO, seen);
        }
    }

    /// Waits for events when a look has found none: for a waker, a timer, the moment `until`, or
    /// in a round over the sources with a time-out. Ready when it is worth another look.
    ///
    /// Never blocks longer than [`Bounds::blocked`](crate::Bounds::blocked), nor beyond `until`
    /// or the next timer, and gives the thread to the runtime between two rounds.
    pub(crate) fn wait_for_events(
        &mut self,
        cx: &mut task::Context<'_>,
        until: Option<Moment>,
        seen: &mut Vec<Sighting>,
    ) -> Poll<()> {
        self.collect_woken();
        if !self.to_ask.is_empty() {
            // A source woke itself while it was asked, as tokio's do when the task's budget is
            // spent: the runtime must have a turn before it is asked again.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let mut deadline = earlier(until, self.hub.timers.earliest());
        if !self.bounded.is_empty() {
            let now = self.hub.now();
            if self.next_round.is_none_or(|at| at <= now) {
                let total = deadline.map_or(self.blocked, |at| at.since(now).min(self.blocked));
                self.round(now, total, seen);
                if !seen.is_empty() {
                    return Poll::Ready(());
                }
            }
            deadline = earlier(deadline, self.next_round);
        }
        let Some(at) = deadline else {
            return Poll::Pending;
        };
        if self.alarm.poll_until(at, cx).is_ready() {
            if until.is_some_and(|until| until <= at) || self.bounded.is_empty() {
                return Poll::Ready(());
            }
            // The next round is due already because this one took its time; the runtime first.
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// The next moment at which waiting ends by itself.
    pub(crate) fn next_deadline(&self) -> Option<Moment> {
        let round = if self.bounded.is_empty() { None } else { self.next_round };
        earlier(self.hub.timers.earliest(), round)
    }

    /// Polls each source with a time-out once, `total` for all together, until one has an event.
    fn round(&mut self, begin: Moment, total: Duration, seen: &mut Vec<Sighting>) {
        for left in (1..=self.bounded.len()).rev() {
            let spent = self.hub.now().since(begin);
            let slice = total.saturating_sub(spent) / u32::try_from(left).unwrap_or(u32::MAX);
            // One that returned late took from those after it: they are only looked at.
            self.ask_next_bounded(slice, seen);
            if !seen.is_empty() {
                break;
            }
        }
        self.next_round = Some(begin + total);
    }

    fn ask_next_bounded(&mut self, at_most: Duration, seen: &mut Vec<Sighting>) {
        let Some(handler) = self.bounded.pop_front() else {
            return;
        };
        self.ask(handler, at_most, seen);
    }

    fn ask(&mut self, handler: HandlerId, at_most: Duration, seen: &mut Vec<Sighting>) {
        let Some(watched) = self.sources.get_mut(&handler) else {
            return;
        };
        watched.armed.state.begin();
        let mut observing = Observing { timers: &self.hub.timers, waker: &watched.waker, at_most };
        let source = &mut watched.source;
        match catch_unwind(AssertUnwindSafe(|| source.ask(&mut observing))) {
            // Disarmed: its state stays as if running, so that wake-ups do nothing.
            Ok(Poll::Ready(true)) => seen.push(Sighting::Ready(handler)),
            Ok(Poll::Ready(false)) => {
                self.remove(handler);
                seen.push(Sighting::Ended(handler, None));
            }
            Ok(Poll::Pending) if watched.kind == SourceKind::Bounded => {
                self.bounded.push_back(handler);
            }
            Ok(Poll::Pending) => {
                if watched.armed.state.suspend() {
                    self.to_ask.push_back(handler);
                }
            }
            Err(payload) => {
                let message = panic_message(&*payload);
                self.remove(handler);
                seen.push(Sighting::Ended(handler, Some(message)));
            }
        }
    }

    fn collect_woken(&mut self) {
        self.to_ask.extend(self.woken.try_iter());
    }
}

fn earlier(one: Option<Moment>, other: Option<Moment>) -> Option<Moment> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

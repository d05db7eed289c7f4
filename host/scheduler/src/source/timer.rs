//! Timers as sources (paper, section 3.1): they fire not before their time, and perhaps later.

use std::future::Future;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use super::{EventSource, Observing};
use crate::clock::Moment;
use crate::timers::Sleep;

/// A one-shot or repeating timer on the scheduler's clock.
#[must_use = "a timer does nothing until it is registered"]
pub struct Timer {
    plan: Plan,
    sleep: Option<Sleep>,
}

enum Plan {
    At(Moment),
    /// Counted from registration, when the clock is first known.
    After(Duration),
    Every {
        period: Duration,
        next: Option<Moment>,
    },
    Spent,
}

/// A timer fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tick {
    /// Time at which it was to fire.
    pub due: Moment,
    /// Time at which it fired; never before `due`.
    pub at: Moment,
    /// Periods of a repeating timer that had passed unanswered by then. They are not made up for.
    pub missed: u64,
}

impl Timer {
    /// Fires once, at `moment` or as soon as possible after it.
    pub fn at(moment: Moment) -> Self {
        Timer::planned(Plan::At(moment))
    }

    /// Fires once, `delay` after its registration takes effect.
    pub fn after(delay: Duration) -> Self {
        Timer::planned(Plan::After(delay))
    }

    /// Fires every `period` (at least a nanosecond), first one period after its registration takes
    /// effect. Ticks keep to that grid: a late one does not move the next, and while its handler
    /// is busy ticks are counted as missed and not queued.
    pub fn every(period: Duration) -> Self {
        Timer::planned(Plan::Every { period: period.max(Duration::from_nanos(1)), next: None })
    }

    fn planned(plan: Plan) -> Self {
        Timer { plan, sleep: None }
    }
}

impl EventSource for Timer {
    type Event = Tick;

    fn poll_event(&mut self, observing: &mut Observing<'_>) -> Poll<Option<Tick>> {
        let due = match &mut self.plan {
            Plan::At(moment) => *moment,
            Plan::After(delay) => {
                let moment = observing.now() + *delay;
                self.plan = Plan::At(moment);
                moment
            }
            Plan::Every { period, next } => *next.get_or_insert_with(|| observing.now() + *period),
            Plan::Spent => return Poll::Ready(None),
        };
        let sleep = self.sleep.get_or_insert_with(|| observing.sleep_until(due));
        std::task::ready!(Pin::new(sleep).poll(&mut observing.context()));
        self.sleep = None;
        let at = observing.now();
        let mut missed = 0;
        match &mut self.plan {
            Plan::Every { period, next } => {
                let period = u64::try_from(period.as_nanos()).unwrap_or(u64::MAX);
                missed = (at.as_nanos() - due.as_nanos()) / period;
                let periods = period.saturating_mul(missed.saturating_add(1));
                *next = Some(due + Duration::from_nanos(periods));
            }
            plan => *plan = Plan::Spent,
        }
        Poll::Ready(Some(Tick { due, at, missed }))
    }
}

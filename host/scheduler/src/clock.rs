//! Time as the scheduler sees it: a clock may be tokio's or simulated.

use std::fmt;
use std::future::Future;
use std::ops::{Add, Sub};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{self, Poll, Waker};
use std::time::Duration;

use crate::lock::locked;

/// A point in time: nanoseconds since the origin of its clock.
///
/// Moments of different clocks must not be compared. The range is 584 years; sums saturate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Moment(u64);

impl Moment {
    /// The origin of the clock.
    pub const ORIGIN: Moment = Moment(0);
    /// Later than anything that happens.
    pub const NEVER: Moment = Moment(u64::MAX);

    /// Makes the moment that is this many nanoseconds after the clock's origin.
    pub const fn from_nanos(nanos: u64) -> Self {
        Moment(nanos)
    }

    /// Nanoseconds since the clock's origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns how long after `earlier` this is; zero if it is not after.
    pub fn since(self, earlier: Moment) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Moment {
    type Output = Moment;

    /// Saturates at [`Moment::NEVER`].
    fn add(self, duration: Duration) -> Moment {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Moment(self.0.saturating_add(nanos))
    }
}

impl Sub for Moment {
    type Output = Duration;

    /// The same as [`Moment::since`].
    fn sub(self, earlier: Moment) -> Duration {
        self.since(earlier)
    }
}

impl fmt::Debug for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{:?}", Duration::from_nanos(self.0))
    }
}

/// A source of time for one scheduler.
pub trait Clock: Send + Sync + 'static {
    /// The present moment. Never goes back.
    fn now(&self) -> Moment;

    /// A new alarm on this clock. A scheduler asks for one and keeps it; all its timers share it.
    fn alarm(&self) -> Box<dyn Alarm>;
}

/// Wakes one task at a moment.
pub trait Alarm: Send {
    /// Ready once the clock has reached `at`; until then the task in `cx` is woken when it has.
    /// Only the last moment asked for counts.
    fn poll_until(&mut self, at: Moment, cx: &mut task::Context<'_>) -> Poll<()>;
}

/// Real time, by tokio's timer: alarms ring up to about a millisecond late, never early.
///
/// Its origin is its creation. Waiting needs a tokio runtime with time enabled; reading does not.
#[derive(Debug, Clone, Copy)]
pub struct TokioClock {
    origin: tokio::time::Instant,
}

impl TokioClock {
    /// A clock whose origin is now.
    pub fn new() -> Self {
        TokioClock { origin: tokio::time::Instant::now() }
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        TokioClock::new()
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Moment {
        Moment::ORIGIN + self.origin.elapsed()
    }

    fn alarm(&self) -> Box<dyn Alarm> {
        Box::new(TokioAlarm { origin: self.origin, armed: None })
    }
}

struct TokioAlarm {
    origin: tokio::time::Instant,
    armed: Option<(Moment, Pin<Box<tokio::time::Sleep>>)>,
}

/// The longest tokio is asked to sleep at once; a longer wait consists of several.
const LONGEST_SLEEP: Duration = Duration::from_secs(24 * 60 * 60);

impl Alarm for TokioAlarm {
    fn poll_until(&mut self, at: Moment, cx: &mut task::Context<'_>) -> Poll<()> {
        loop {
            let nap = at.since(Moment::ORIGIN + self.origin.elapsed()).min(LONGEST_SLEEP);
            if nap.is_zero() {
                return Poll::Ready(());
            }
            let sleep = match &mut self.armed {
                Some((armed, sleep)) => {
                    if *armed != at || sleep.is_elapsed() {
                        *armed = at;
                        sleep.as_mut().reset(tokio::time::Instant::now() + nap);
                    }
                    sleep
                }
                none => {
                    let sleep = Box::pin(tokio::time::sleep(nap));
                    &mut none.insert((at, sleep)).1
                }
            };
            // Ready may mean the end of one of several naps: look at the clock again.
            if sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

/// A clock that stands still until it is moved: the clock of tests and of
/// [`Simulation`](crate::simulation::Simulation). Clones show the same time.
#[derive(Debug, Clone, Default)]
pub struct SimulatedClock {
    shared: Arc<Mutex<Simulated>>,
}

#[derive(Debug, Default)]
struct Simulated {
    now: Moment,
    next_alarm: u64,
    waiting: Vec<(u64, Moment, Waker)>,
}

impl SimulatedClock {
    /// A clock that shows [`Moment::ORIGIN`].
    pub fn new() -> Self {
        SimulatedClock::default()
    }

    /// Moves on by `duration` and rings the alarms that fall due.
    pub fn advance(&self, duration: Duration) {
        let to = locked(&self.shared).now + duration;
        self.advance_to(to);
    }

    /// Moves on to `moment` and rings the alarms that fall due. A moment in the past changes
    /// nothing: the clock never goes back.
    pub fn advance_to(&self, moment: Moment) {
        let due: Vec<_> = {
            let mut shared = locked(&self.shared);
            shared.now = shared.now.max(moment);
            let now = shared.now;
            shared.waiting.extract_if(.., |(_, at, _)| *at <= now).collect()
        };
        for (_, _, waker) in due {
            waker.wake();
        }
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> Moment {
        locked(&self.shared).now
    }

    fn alarm(&self) -> Box<dyn Alarm> {
        let mut shared = locked(&self.shared);
        shared.next_alarm += 1;
        Box::new(SimulatedAlarm { id: shared.next_alarm, shared: Arc::clone(&self.shared) })
    }
}

struct SimulatedAlarm {
    id: u64,
    shared: Arc<Mutex<Simulated>>,
}

impl Alarm for SimulatedAlarm {
    fn poll_until(&mut self, at: Moment, cx: &mut task::Context<'_>) -> Poll<()> {
        let mut shared = locked(&self.shared);
        shared.waiting.retain(|(id, _, _)| *id != self.id);
        if shared.now >= at {
            return Poll::Ready(());
        }
        shared.waiting.push((self.id, at, cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for SimulatedAlarm {
    fn drop(&mut self) {
        locked(&self.shared).waiting.retain(|(id, _, _)| *id != self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_saturate() {
        assert_eq!(Moment::from_nanos(5) + Duration::MAX, Moment::NEVER);
        assert_eq!(Moment::from_nanos(5) - Moment::from_nanos(9), Duration::ZERO);
    }

    #[test]
    fn a_simulated_alarm_rings_when_the_clock_is_moved() {
        let clock = SimulatedClock::new();
        let mut alarm = clock.alarm();
        let mut cx = task::Context::from_waker(Waker::noop());
        let at = Moment::from_nanos(10);
        assert!(alarm.poll_until(at, &mut cx).is_pending());
        clock.advance(Duration::from_nanos(9));
        assert!(alarm.poll_until(at, &mut cx).is_pending());
        clock.advance_to(at);
        assert!(alarm.poll_until(at, &mut cx).is_ready());
        clock.advance_to(Moment::ORIGIN);
        assert_eq!(clock.now(), at);
    }
}

//! A deterministic driver for tests: a simulated clock, sources from a seed, no real waiting. The
//! same seed and the same handlers give the same trace of steps.
//!
//! Deterministic as long as whatever the handlers wait for is the scheduler's own: its timers,
//! [`SeededSource`]s and queues fed by handlers. A future woken from another thread is not.

use std::future::Future;
use std::pin::Pin;
use std::task::{self, Poll, Waker};
use std::time::Duration;

use crate::clock::{Clock, Moment, SimulatedClock};
use crate::scheduler::{Scheduler, SchedulerBuilder, Stepped};
use crate::source::{EventSource, Observing};
use crate::timers::Sleep;

/// A stream of pseudo-random numbers (SplitMix64): the one source of chance in a simulation. The
/// numbers of a seed will not change from one version of this crate to the next.
#[derive(Debug, Clone)]
pub struct Seed(u64);

impl Seed {
    /// The stream that begins at `seed`.
    pub fn new(seed: u64) -> Self {
        Seed(seed)
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound` (zero for a bound of zero).
    pub fn below(&mut self, bound: u64) -> u64 {
        let scaled = u128::from(self.next_u64()) * u128::from(bound);
        u64::try_from(scaled >> 64).unwrap_or(0)
    }

    /// A duration from zero to `longest`, to the nanosecond.
    pub fn up_to(&mut self, longest: Duration) -> Duration {
        let nanos = u64::try_from(longest.as_nanos()).unwrap_or(u64::MAX - 1);
        Duration::from_nanos(self.below(nanos.saturating_add(1)))
    }

    /// A stream of its own, which later numbers of this one do not depend on.
    pub fn fork(&mut self) -> Seed {
        Seed(self.next_u64())
    }
}

/// A step of a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceEntry {
    /// The simulated moment after the step.
    pub at: Moment,
    /// The effect of the step.
    pub step: Stepped,
}

/// Why a simulation came to rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// No token is ready and no timer waits: no event will ever come.
    Quiet,
    /// A handler stopped the loop.
    Stopped,
    /// The limit on steps, or the moment to stop at, was reached.
    Limit,
}

/// A scheduler on a simulated clock, with its trace.
#[derive(Debug)]
pub struct Simulation {
    scheduler: Scheduler,
    clock: SimulatedClock,
    seed: Seed,
    trace: Vec<TraceEntry>,
}

impl Simulation {
    /// A simulation with the default bounds.
    pub fn new(seed: u64) -> Self {
        Simulation::with(seed, |builder| builder)
    }

    /// A simulation whose scheduler is built with other settings; its clock is the simulated one in
    /// any case.
    pub fn with(seed: u64, settings: impl FnOnce(SchedulerBuilder) -> SchedulerBuilder) -> Self {
        let clock = SimulatedClock::new();
        Simulation {
            scheduler: settings(Scheduler::builder()).clock(clock.clone()).build(),
            clock,
            seed: Seed::new(seed),
            trace: Vec::new(),
        }
    }

    /// The scheduler, to register sources with.
    pub fn scheduler(&mut self) -> &mut Scheduler {
        &mut self.scheduler
    }

    /// The clock; a handler may move it to simulate work that takes time.
    pub fn clock(&self) -> SimulatedClock {
        self.clock.clone()
    }

    /// A random stream of its own from the simulation's seed.
    pub fn seed(&mut self) -> Seed {
        self.seed.fork()
    }

    /// A source of `events` events, each at a random time up to `longest_gap` after the one before
    /// was taken; `make` gives the event of each number from zero.
    pub fn source<E, F>(&mut self, events: u64, longest_gap: Duration, make: F) -> SeededSource<F>
    where
        F: FnMut(&mut Seed, u64) -> E + Send + 'static,
        E: Send + 'static,
    {
        SeededSource { seed: self.seed(), made: 0, events, longest_gap, make, sleep: None }
    }

    /// Steps until nothing can happen any more, a handler stops, or `steps` steps are done. Time
    /// moves only when nothing is ready, and then straight to the next timer.
    pub fn run(&mut self, steps: usize) -> Rest {
        self.drive(steps, Moment::NEVER)
    }

    /// The same, but only up to `moment`, where the clock then stands at least.
    pub fn run_until(&mut self, moment: Moment) -> Rest {
        let rest = self.drive(usize::MAX, moment);
        if rest != Rest::Stopped {
            self.clock.advance_to(moment);
        }
        rest
    }

    /// The steps so far.
    pub fn trace(&self) -> &[TraceEntry] {
        &self.trace
    }

    fn drive(&mut self, steps: usize, moment: Moment) -> Rest {
        let mut cx = task::Context::from_waker(Waker::noop());
        let mut done = 0;
        while done < steps {
            if self.scheduler.take_stop() {
                return Rest::Stopped;
            }
            match self.scheduler.poll_step(&mut cx) {
                Poll::Ready(Stepped::Nothing) => {}
                Poll::Ready(step) => {
                    done += 1;
                    let at = self.clock.now();
                    self.trace.push(TraceEntry { at, step });
                }
                Poll::Pending => match self.scheduler.next_deadline() {
                    None => return Rest::Quiet,
                    Some(next) if next > moment => return Rest::Limit,
                    Some(next) => self.clock.advance_to(next),
                },
            }
        }
        Rest::Limit
    }
}

/// Events at random times; made by [`Simulation::source`].
pub struct SeededSource<F> {
    seed: Seed,
    made: u64,
    events: u64,
    longest_gap: Duration,
    make: F,
    sleep: Option<Sleep>,
}

impl<E, F> EventSource for SeededSource<F>
where
    F: FnMut(&mut Seed, u64) -> E + Send + 'static,
    E: Send + 'static,
{
    type Event = E;

    fn poll_event(&mut self, observing: &mut Observing<'_>) -> Poll<Option<E>> {
        if self.made == self.events {
            return Poll::Ready(None);
        }
        let (seed, longest_gap) = (&mut self.seed, self.longest_gap);
        let sleep = self.sleep.get_or_insert_with(|| observing.sleep_until(observing.now() + seed.up_to(longest_gap)));
        std::task::ready!(Pin::new(sleep).poll(&mut observing.context()));
        self.sleep = None;
        let event = (self.make)(&mut self.seed, self.made);
        self.made += 1;
        Poll::Ready(Some(event))
    }
}

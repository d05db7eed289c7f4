//! Items d and g: timers, and the bound of a step.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use wedflow_scheduler::simulation::{Rest, Simulation};
use wedflow_scheduler::source::{Timer, queue};
use wedflow_scheduler::{Bounds, Context, Moment, Scheduler, SimulatedClock, Stepped};

use crate::{Log, MS, noting, put};

#[test]
fn d_a_timer_never_fires_early() {
    let mut simulation = Simulation::new(3);
    let mut seed = simulation.seed();
    let early = Arc::new(AtomicUsize::new(0));
    let fired = Arc::new(AtomicUsize::new(0));
    for _ in 0..200 {
        let (early, fired) = (Arc::clone(&early), Arc::clone(&fired));
        let (first, second) = (seed.up_to(50 * MS), seed.up_to(50 * MS));
        simulation.scheduler().register_source(Timer::after(first), move |tick, context| {
            let (early, fired) = (Arc::clone(&early), Arc::clone(&fired));
            async move {
                let due = context.now() + second;
                context.sleep(second).await;
                if tick.at < tick.due || tick.due < Moment::ORIGIN + first || context.now() < due {
                    early.fetch_add(1, Ordering::Relaxed);
                }
                fired.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
        });
    }
    assert_eq!(simulation.run(1000), Rest::Quiet);
    assert_eq!(fired.load(Ordering::Relaxed), 200);
    assert_eq!(early.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn d_a_timer_never_fires_early_on_the_real_clock() {
    let mut scheduler = Scheduler::new();
    scheduler.register_source(Timer::after(15 * MS), |tick, context| async move {
        assert!(tick.at >= tick.due);
        let due = context.now() + 3 * MS;
        context.sleep(3 * MS).await;
        assert!(context.now() >= due);
        context.stop();
        Ok(())
    });
    let begun = std::time::Instant::now();
    scheduler.run().await;
    assert!(begun.elapsed() >= 18 * MS);
}

#[test]
fn d_a_busy_handler_delays_a_timer_by_the_documented_bound_at_most() {
    // Preempted guests: each resumption takes one slice, then they want to continue, for ever.
    const BUSY: u32 = 20;
    let slice = MS;
    let mut simulation = Simulation::new(5);
    let clock = simulation.clock();
    for _ in 0..BUSY {
        let clock = clock.clone();
        simulation.scheduler().spawn(move |context: Context| async move {
            loop {
                clock.advance(slice);
                context.yield_now().await;
            }
        });
    }
    let worst = Arc::new(AtomicU64::new(0));
    let fired = Arc::new(AtomicU64::new(0));
    let late = {
        let (worst, fired) = (Arc::clone(&worst), Arc::clone(&fired));
        move |lateness: Duration| {
            let nanos = u64::try_from(lateness.as_nanos()).expect("short");
            worst.fetch_max(nanos, Ordering::Relaxed);
            fired.fetch_add(1, Ordering::Relaxed);
        }
    };
    // A timer as a source, and one that a handler waits for.
    let mut seed = simulation.seed();
    const TIMERS: u32 = 100;
    for number in 1..=TIMERS {
        let late = late.clone();
        let timer = Timer::after(100 * MS * number + seed.up_to(100 * MS));
        simulation.scheduler().register_source(timer, move |tick, context: Context| {
            late(context.now() - tick.due);
            async { Ok(()) }
        });
    }
    simulation.scheduler().spawn(move |context: Context| async move {
        loop {
            let due = context.now() + 7 * MS;
            context.sleep_until(due).await;
            late(context.now() - due);
        }
    });
    simulation.run(12_000);
    let fired = fired.load(Ordering::Relaxed);
    assert!(fired > 300, "none was starved, {fired} fired");
    // Ahead of each: the busy ones and perhaps the other timer.
    let bound = Bounds::default().turn_time + (BUSY + 1 + 2) * slice;
    let worst = Duration::from_nanos(worst.load(Ordering::Relaxed));
    assert!(worst <= bound, "{worst:?} late, at most {bound:?}");
    assert!(worst > Duration::ZERO, "a busy handler does delay it");
}

#[test]
fn d_a_ready_queue_that_is_never_empty_starves_no_source() {
    // No time passes here, so the bound on steps alone must do it.
    let mut simulation = Simulation::with(5, |builder| builder.bounds(Bounds { turn_steps: 10, ..Bounds::default() }));
    simulation.scheduler().spawn(|context| async move {
        loop {
            context.yield_now().await;
        }
    });
    let (log, steps) = (Log::default(), 12);
    assert_eq!(simulation.run(3), Rest::Limit);
    let sender = noting(simulation.scheduler(), &log, "");
    put(&sender, 1);
    assert_eq!(simulation.run(steps), Rest::Limit);
    assert_eq!(log.lines(), ["1"], "within a turn");
}

#[test]
fn g_a_step_with_nothing_ready_waits_up_to_the_bound_and_says_so() {
    let clock = SimulatedClock::new();
    let mut scheduler = Scheduler::builder().clock(clock.clone()).build();
    let (_sender, source) = queue::<()>(1);
    scheduler.register_source(source, |(), _context| async { Ok(()) });
    let mut step = Box::pin(scheduler.step(5 * MS));
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut cx = TaskContext::from_waker(&waker);

    assert!(step.as_mut().poll(&mut cx).is_pending(), "it waits");
    clock.advance(4 * MS);
    assert!(!woken.0.load(Ordering::Relaxed), "and sleeps meanwhile");
    clock.advance(MS);
    assert!(woken.0.load(Ordering::Relaxed));
    assert_eq!(step.as_mut().poll(&mut cx), Poll::Ready(Stepped::Nothing));
}

#[derive(Default)]
struct Woken(AtomicBool);

impl std::task::Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn g_a_step_on_the_real_clock_waits_and_handles_what_comes_within_the_bound() {
    let (log, mut scheduler) = (Log::default(), Scheduler::new());
    let sender = noting(&mut scheduler, &log, "");
    let begun = std::time::Instant::now();
    assert_eq!(scheduler.step(10 * MS).await, Stepped::Nothing);
    assert!(begun.elapsed() >= 10 * MS);
    let late = tokio::spawn(async move {
        tokio::time::sleep(5 * MS).await;
        put(&sender, 1);
    });
    let stepped = scheduler.step(Duration::from_secs(60)).await;
    assert!(matches!(stepped, Stepped::Handled { .. }), "{stepped:?}");
    late.await.expect("it only sends");
}

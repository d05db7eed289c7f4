//! Item f: synchronous sources delay no other beyond the bound.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wedflow_scheduler::simulation::{Rest, Simulation};
use wedflow_scheduler::source::{self, BoundedSource, Timer, Waited, queue, with_timeout};
use wedflow_scheduler::{Bounds, Clock, Context, Moment, Scheduler, SimulatedClock};

use crate::{Log, MS, noting, put};

/// A synchronous source with a time-out that never becomes ready; its waiting takes simulated time.
struct NeverReady {
    clock: SimulatedClock,
    on_wait: Arc<dyn Fn(Duration) + Send + Sync>,
}

impl BoundedSource for NeverReady {
    type Event = ();

    fn wait(&mut self, at_most: Duration) -> Waited<()> {
        (self.on_wait)(at_most);
        self.clock.advance(at_most);
        Waited::Nothing
    }
}

#[test]
fn f_synchronous_sources_that_never_become_ready_delay_no_other_beyond_the_bound() {
    let bounds = Bounds { blocked: 9 * MS, ..Bounds::default() };
    let mut simulation = Simulation::with(1, |builder| builder.bounds(bounds));
    let clock = simulation.clock();
    let (sender, source) = queue(1);
    // The worst moment: an event comes just as the blocking begins.
    let sent = Arc::new(Mutex::new(None));
    let on_wait: Arc<dyn Fn(Duration) + Send + Sync> = {
        let (sent, clock) = (Arc::clone(&sent), clock.clone());
        Arc::new(move |at_most| {
            let mut sent = sent.lock().expect("ours");
            if !at_most.is_zero() && sent.is_none() {
                *sent = Some(clock.now());
                put(&sender, clock.now());
            }
        })
    };
    for _ in 0..3 {
        let never = NeverReady { clock: clock.clone(), on_wait: Arc::clone(&on_wait) };
        simulation.scheduler().register_source(with_timeout(never), |(), _context| async { Ok(()) });
    }
    let delays = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&delays);
    simulation.scheduler().register_source(source, move |came: Moment, context: Context| {
        noted.lock().expect("ours").push(context.now() - came);
        async { Ok(()) }
    });
    simulation.run_until(Moment::ORIGIN + 100 * MS);
    let delays = delays.lock().expect("ours");
    assert_eq!(delays.len(), 1);
    assert!(delays[0] <= bounds.blocked, "delayed by {:?}", delays[0]);
    assert!(delays[0] > Duration::ZERO, "it did block");
}

#[test]
fn f_a_synchronous_source_does_not_delay_a_timer_and_does_not_spin() {
    let mut simulation = Simulation::with(1, |builder| builder.bounds(Bounds { blocked: 4 * MS, ..Bounds::default() }));
    let waits = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&waits);
    let never = NeverReady {
        clock: simulation.clock(),
        on_wait: Arc::new(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        }),
    };
    simulation.scheduler().register_source(with_timeout(never), |(), _context| async { Ok(()) });
    simulation.scheduler().register_source(Timer::after(6 * MS), |tick, context: Context| async move {
        assert_eq!(context.now(), tick.due, "waiting stops at the next timer");
        context.stop();
        Ok(())
    });
    assert_eq!(simulation.run_until(Moment::ORIGIN + 100 * MS), Rest::Stopped);
    assert!(waits.load(Ordering::Relaxed) < 20, "waited in few, long waits");
}

#[tokio::test]
async fn f_a_synchronous_source_that_blocks_for_ever_has_a_thread_of_its_own() {
    let (log, mut scheduler) = (Log::default(), Scheduler::new());
    let (hold, held) = std::sync::mpsc::channel::<()>();
    let blocking = source::on_thread("held", 1, move || held.recv().ok()).expect("a thread");
    scheduler.register_source(blocking, |(), _context| async { Ok(()) });
    let sender = noting(&mut scheduler, &log, "");
    put(&sender, 1);
    scheduler.step(Duration::ZERO).await;
    assert_eq!(log.lines(), ["1"]);
    drop(hold);
}

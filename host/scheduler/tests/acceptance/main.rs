//! The acceptance items of the specification, one test or more for each, named after it.

mod delivery;
mod endings;
mod timing;
mod waiting;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use wedflow_scheduler::simulation::{Rest, Simulation};
use wedflow_scheduler::source::{QueueSender, queue};
use wedflow_scheduler::{Context, Registration, Scheduler};

pub(crate) const MS: Duration = Duration::from_millis(1);

/// Events in the order in which they happened.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn note(&self, line: impl Into<String>) {
        self.0.lock().expect("no test panics here").push(line.into());
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().expect("no test panics here").clone()
    }
}

/// A queue whose handler notes `name` and each item.
pub(crate) fn noting(scheduler: &mut Scheduler, log: &Log, name: &'static str) -> QueueSender<u32> {
    let (sender, source) = queue(16);
    let log = log.clone();
    scheduler.register_source(source, move |item, _context| {
        let log = log.clone();
        async move {
            log.note(format!("{name}{item}"));
            Ok(())
        }
    });
    sender
}

pub(crate) fn put<T: std::fmt::Debug>(sender: &QueueSender<T>, item: T) {
    sender.try_send(item).expect("the queue has room");
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let run = |seed| {
        let mut simulation = Simulation::with(seed, |builder| builder.on_failure(|_| {}));
        for _ in 0..4 {
            let events = simulation.source(50, 3 * MS, |seed, _| seed.below(5));
            simulation.scheduler().register_with(
                events,
                |choice, context: Context| async move {
                    match choice {
                        0 => Err("chance".into()),
                        1 => {
                            context.yield_now().await;
                            Ok(())
                        }
                        _ => {
                            context.sleep(Duration::from_micros(choice * 700)).await;
                            Ok(())
                        }
                    }
                },
                Registration::new().in_flight(2),
            );
        }
        assert_eq!(simulation.run(100_000), Rest::Quiet);
        simulation.trace().to_vec()
    };
    assert_eq!(run(11), run(11));
    assert_ne!(run(11), run(12));
    assert!(run(11).len() > 200);
}

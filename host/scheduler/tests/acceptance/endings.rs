//! Items e, h and i: the end of the loop, of a coroutine, and of one that fails.

use std::sync::{Arc, Mutex};

use wedflow_scheduler::simulation::{Rest, Simulation};
use wedflow_scheduler::source::{Timer, queue};
use wedflow_scheduler::{Context, FailureCause, HandlerError, Registration, Scheduler};

use crate::{Log, MS, noting, put};

#[tokio::test]
async fn e_stop_from_a_handler_ends_the_loop_after_the_present_step_and_it_can_start_again() {
    let (log, mut scheduler) = (Log::default(), Scheduler::new());
    let (sender, source) = queue(16);
    let noted = log.clone();
    scheduler.register_source(source, move |item: u32, context| {
        let log = noted.clone();
        async move {
            context.stop();
            log.note(format!("handled {item}"));
            Ok(())
        }
    });
    let other = noting(&mut scheduler, &log, "other ");
    put(&sender, 1);
    put(&sender, 2);
    put(&other, 1);
    scheduler.run().await;
    assert_eq!(log.lines(), ["handled 1"], "the step that stops is the last");
    scheduler.run().await;
    assert_eq!(log.lines(), ["handled 1", "other 1", "handled 2"]);
}

#[tokio::test]
async fn e_stop_from_elsewhere_ends_a_waiting_loop_and_is_not_lost_before_it_starts() {
    let mut scheduler = Scheduler::new();
    let signals = scheduler.signals();
    let stopper = tokio::spawn(async move {
        tokio::time::sleep(5 * MS).await;
        signals.stop();
    });
    scheduler.run().await;
    stopper.await.expect("it only stops");
    scheduler.signals().stop();
    scheduler.signals().stop();
    scheduler.run().await;
    assert!(!scheduler.take_stop(), "several stops are one");
}

#[test]
fn h_what_a_handler_asks_for_takes_effect() {
    let mut simulation = Simulation::new(1);
    let log = Log::default();
    let noted = log.clone();
    simulation.scheduler().register_source(Timer::after(MS), move |_tick, context: Context| {
        let log = noted.clone();
        async move {
            let (of_source, of_spawned, of_end) = (log.clone(), log.clone(), log.clone());
            context.register_source(Timer::after(MS), move |tick, _context| {
                let log = of_source.clone();
                async move {
                    log.note(format!("source at {:?}", tick.at));
                    Ok(())
                }
            });
            context.spawn(move |_context| async move {
                of_spawned.note("spawned");
                Ok(())
            });
            context.finaliser(move |ending| of_end.note(format!("finaliser: {ending:?}")))?;
            log.note("asked");
            context.sleep(5 * MS).await;
            log.note(format!("timer at {:?}", context.now()));
            Ok(())
        }
    });
    assert_eq!(simulation.run(100), Rest::Quiet);
    assert_eq!(log.lines(), ["asked", "spawned", "source at +2ms", "timer at +6ms", "finaliser: Completed"]);
    assert_eq!(simulation.scheduler().handler_count(), 0, "all spent");
}

#[test]
fn h_finalisers_run_however_the_coroutine_ends() {
    let mut simulation = Simulation::with(1, |builder| builder.on_failure(|_| {}));
    let log = Log::default();
    let spawn = |simulation: &mut Simulation, name: &'static str, fails: fn() -> Result<(), HandlerError>| {
        let log = log.clone();
        simulation.scheduler().spawn(move |context| async move {
            let (first, second) = (log.clone(), log.clone());
            context.finaliser(move |ending| first.note(format!("{name} {ending:?} 1")))?;
            context.finaliser(move |ending| second.note(format!("{name} {ending:?} 2")))?;
            context.sleep(MS).await;
            fails()
        })
    };
    spawn(&mut simulation, "error", || Err("no".into()));
    spawn(&mut simulation, "panic", || panic!("no"));
    let cancelled = spawn(&mut simulation, "cancel", || Ok(()));
    let dropped = spawn(&mut simulation, "drop", || Ok(()));
    assert_eq!(simulation.run(4), Rest::Limit);
    assert!(simulation.scheduler().cancel(cancelled));
    assert!(!simulation.scheduler().cancel(cancelled), "only once");
    assert_eq!(log.lines(), ["cancel Cancelled 2", "cancel Cancelled 1"]);
    assert_eq!(simulation.run(2), Rest::Limit);
    assert_eq!(simulation.scheduler().token_count(), 1, "{dropped} is left");
    drop(simulation);
    assert_eq!(
        log.lines()[2..],
        [
            "error Failed 2",
            "error Failed 1",
            "panic Panicked 2",
            "panic Panicked 1",
            "drop Cancelled 2",
            "drop Cancelled 1"
        ]
    );
}

#[test]
fn h_a_finaliser_that_comes_too_late_is_refused() {
    let mut simulation = Simulation::new(1);
    let kept = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&kept);
    let token = simulation.scheduler().spawn(move |context| async move {
        *keep.lock().expect("ours") = Some(context);
        Ok(())
    });
    simulation.run(1);
    let context = kept.lock().expect("ours").take().expect("it ran");
    let refused = context.finaliser(|_| panic!("never called"));
    assert_eq!(refused.expect_err("it has ended").0, token);
}

#[test]
fn i_a_handler_that_fails_ends_alone_and_is_reported_to_whoever_registered_it() {
    let mut simulation = Simulation::with(1, |builder| builder.on_failure(|failure| panic!("not ours: {failure}")));
    let reports = Log::default();
    let (sender, source) = queue(16);
    let noted = reports.clone();
    let handler = simulation.scheduler().register_with(
        source,
        |item: u32, context: Context| {
            assert!(item != 0, "zero at once");
            async move {
                context.sleep(MS).await;
                match item {
                    1 => Err("one".into()),
                    2 => panic!("two later"),
                    _ => Ok(()),
                }
            }
        },
        Registration::new().on_failure(move |failure| {
            assert!(failure.token.is_some());
            let kind = match &failure.cause {
                FailureCause::Failed(error) => format!("failed {error}"),
                FailureCause::Panicked(message) => format!("panicked {message}"),
                other => format!("{other}"),
            };
            noted.note(format!("{} {kind}", failure.handler));
        }),
    );
    let log = Log::default();
    let other = noting(simulation.scheduler(), &log, "");
    for item in 0..4 {
        put(&sender, item);
    }
    put(&other, 1);
    assert_eq!(simulation.run(100), Rest::Quiet);
    put(&other, 2);
    assert_eq!(simulation.run(100), Rest::Quiet);
    assert_eq!(
        reports.lines(),
        [
            format!("{handler} panicked zero at once"),
            format!("{handler} failed one"),
            format!("{handler} panicked two later"),
        ]
    );
    assert_eq!(log.lines(), ["1", "2"], "the loop goes on");
    assert_eq!(simulation.scheduler().handler_count(), 2, "and so do both handlers");
}

//! Items a to c: one event a step, in order, to its own handler, which resumes where it was.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use wedflow_scheduler::simulation::{Rest, Simulation};
use wedflow_scheduler::source::{Timer, queue};
use wedflow_scheduler::{Context, Ending, Progress, Registration, Scheduler, Stepped};

use crate::{Log, MS, noting, put};

#[tokio::test]
async fn a_two_ready_sources_are_handled_one_per_step_in_order_of_readiness() {
    let (log, mut scheduler) = (Log::default(), Scheduler::new());
    let first = noting(&mut scheduler, &log, "first ");
    let second = noting(&mut scheduler, &log, "second ");
    // Both are watched now, so that readiness and not registration decides.
    assert_eq!(scheduler.step(Duration::ZERO).await, Stepped::Nothing);

    put(&second, 1);
    put(&first, 1);
    scheduler.step(Duration::ZERO).await;
    assert_eq!(log.lines(), ["second 1"], "exactly one, the one ready first");
    scheduler.step(Duration::ZERO).await;
    assert_eq!(log.lines(), ["second 1", "first 1"]);
    assert_eq!(scheduler.step(Duration::ZERO).await, Stepped::Nothing);
}

#[tokio::test]
async fn a_busy_sources_take_turns() {
    let (log, mut scheduler) = (Log::default(), Scheduler::new());
    let one = noting(&mut scheduler, &log, "a");
    let other = noting(&mut scheduler, &log, "b");
    for item in 0..3 {
        put(&one, item);
    }
    for item in 0..3 {
        put(&other, item);
    }
    for _ in 0..6 {
        scheduler.step(Duration::ZERO).await;
    }
    assert_eq!(log.lines(), ["a0", "b0", "a1", "b1", "a2", "b2"]);
}

#[test]
fn b_a_handler_suspended_in_nested_calls_resumes_there_with_its_locals() {
    async fn inner(context: &Context, depth: u32, log: &Log) -> u32 {
        let local = depth * 10;
        if depth == 3 {
            log.note("suspends");
            context.sleep(MS).await;
            log.note("resumes");
            return local;
        }
        local + Box::pin(inner(context, depth + 1, log)).await
    }

    let mut simulation = Simulation::new(1);
    let log = Log::default();
    let noted = log.clone();
    simulation.scheduler().register_source(Timer::after(MS), move |_tick, context| {
        let log = noted.clone();
        async move {
            let outer = String::from("kept");
            let sum = inner(&context, 1, &log).await;
            log.note(format!("{outer} {sum}"));
            Ok(())
        }
    });
    assert_eq!(simulation.run(10), Rest::Quiet);
    assert_eq!(log.lines(), ["suspends", "resumes", "kept 60"]);
    let progress: Vec<_> = simulation
        .trace()
        .iter()
        .map(|entry| match entry.step {
            Stepped::Handled { progress, .. } => Some(progress),
            Stepped::Nothing => None,
        })
        .collect();
    assert_eq!(progress, [Some(Progress::Suspended), Some(Progress::Ended(Ending::Completed))]);
}

#[test]
fn c_events_reach_only_their_handler_and_ids_are_unique() {
    const SOURCES: u64 = 5;
    const EVENTS: u64 = 40;
    let mut simulation = Simulation::new(7);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut handlers = BTreeSet::new();
    for number in 0..SOURCES {
        let events = simulation.source(EVENTS, MS, move |_seed, event| (number, event));
        let seen = Arc::clone(&seen);
        let handler = simulation.scheduler().register_with(
            events,
            move |(from, event), context: Context| {
                assert_eq!(from, number, "another source's event");
                let seen = Arc::clone(&seen);
                async move {
                    context.sleep(MS).await;
                    let token = context.token().as_u64();
                    seen.lock().expect("ours").push((from, event, token));
                    Ok(())
                }
            },
            Registration::new().in_flight(3),
        );
        assert!(handlers.insert(handler.as_u64()), "handler id used twice");
    }
    assert_eq!(simulation.run(10_000), Rest::Quiet);
    let seen = seen.lock().expect("ours");
    let events: BTreeSet<_> = seen.iter().map(|(from, event, _)| (from, event)).collect();
    assert_eq!(seen.len() as u64, SOURCES * EVENTS, "each event once");
    assert_eq!(events.len(), seen.len());
    let tokens: BTreeSet<_> = seen.iter().map(|(_, _, token)| *token).collect();
    assert_eq!(tokens.len(), seen.len(), "token id used twice");
    assert!(tokens.is_disjoint(&handlers));
}

#[test]
fn c_a_waker_kept_beyond_its_run_disturbs_no_later_run() {
    let mut simulation = Simulation::new(1);
    let (sender, source) = queue(4);
    let kept: Arc<Mutex<Vec<Waker>>> = Arc::default();
    let polls = Arc::new(AtomicUsize::new(0));
    let (keep, counted) = (Arc::clone(&kept), Arc::clone(&polls));
    simulation.scheduler().register_source(source, move |ends: bool, _context| {
        let (keep, counted) = (Arc::clone(&keep), Arc::clone(&counted));
        std::future::poll_fn(move |cx| {
            counted.fetch_add(1, Ordering::Relaxed);
            keep.lock().expect("ours").push(cx.waker().clone());
            if ends { Poll::Ready(Ok(())) } else { Poll::Pending }
        })
    });
    for ends in [true, true, false] {
        put(&sender, ends);
    }
    assert_eq!(simulation.run(100), Rest::Quiet);
    assert_eq!(polls.load(Ordering::Relaxed), 3);
    let wakers = std::mem::take(&mut *kept.lock().expect("ours"));
    wakers[0].wake_by_ref();
    wakers[1].wake_by_ref();
    assert_eq!(simulation.run(100), Rest::Quiet);
    assert_eq!(polls.load(Ordering::Relaxed), 3, "the third run sleeps on");
    wakers[2].wake_by_ref();
    assert_eq!(simulation.run(100), Rest::Quiet);
    assert_eq!(polls.load(Ordering::Relaxed), 4);
}

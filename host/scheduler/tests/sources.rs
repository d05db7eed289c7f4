//! The adapters for event sources, on a tokio runtime.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::stream;
use wedflow_scheduler::source::{
    self, BoundedSource, QueueClosed, QueueFull, Timer, Waited, from_future, from_stream, on_thread, queue,
    stop_source, with_timeout,
};
use wedflow_scheduler::{Context, EventSource, FailureCause, Observing, Registration, Scheduler, Stepped};

const MS: Duration = Duration::from_millis(1);

/// Registers a source that is to end by itself; runs until it has, and returns its events.
async fn all_events<S: EventSource>(source: S) -> Vec<S::Event> {
    let mut scheduler = Scheduler::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    scheduler.register_source(source, move |event, _context| {
        noted.lock().expect("ours").push(event);
        async { Ok(()) }
    });
    while scheduler.handler_count() > 0 {
        scheduler.step(MS).await;
    }
    std::mem::take(&mut *seen.lock().expect("ours"))
}

#[tokio::test]
async fn a_queue_delivers_in_order_and_ends_with_its_senders() {
    let (sender, source) = queue(2);
    let feeding = tokio::spawn(async move {
        for item in 0..100 {
            sender.send(item).await.expect("the source is there");
        }
    });
    assert_eq!(all_events(source).await, (0..100).collect::<Vec<_>>());
    feeding.await.expect("it only sends");
}

#[tokio::test]
async fn a_queue_says_when_it_is_full_or_closed() {
    let (sender, source) = queue(1);
    assert_eq!(sender.try_send(1), Ok(()));
    assert_eq!(sender.try_send(2), Err(QueueFull::Full(2)));
    drop(source);
    assert_eq!(sender.try_send(3), Err(QueueFull::Closed(3)));
    assert_eq!(sender.send(4).await, Err(QueueClosed(4)));
}

#[tokio::test]
async fn streams_and_futures_are_sources() {
    assert_eq!(all_events(from_stream(stream::iter(0..5))).await, [0, 1, 2, 3, 4]);
    let answer = async {
        tokio::time::sleep(MS).await;
        42
    };
    assert_eq!(all_events(from_future(answer)).await, [42]);
}

#[tokio::test]
async fn a_blocking_source_passes_its_events_over_from_its_thread() {
    let mut left = 5;
    let counting = move || {
        std::thread::sleep(MS);
        left -= 1;
        (left >= 0).then_some(left)
    };
    let source = on_thread("counting", 2, counting).expect("a thread");
    assert_eq!(all_events(source).await, [4, 3, 2, 1, 0]);
}

#[tokio::test]
async fn the_thread_of_a_blocking_source_ends_when_the_source_is_taken_out() {
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let endless = move || {
        let _held = &held;
        std::thread::sleep(MS);
        Some(())
    };
    let mut scheduler = Scheduler::new();
    let source = on_thread("endless", 1, endless).expect("a thread");
    let handler = scheduler.register_source(source, |(), _context| async { Ok(()) });
    scheduler.step(Duration::from_secs(60)).await;
    scheduler.deregister(handler);
    assert_eq!(scheduler.handler_count(), 0);
    while Arc::strong_count(&alive) > 1 {
        tokio::time::sleep(MS).await;
    }
}

struct Panics;

impl EventSource for Panics {
    type Event = ();

    fn poll_event(&mut self, _observing: &mut Observing<'_>) -> std::task::Poll<Option<()>> {
        panic!("a bad source")
    }
}

#[tokio::test]
async fn a_source_that_panics_ends_alone_and_is_reported() {
    let mut scheduler = Scheduler::new();
    let reports = Arc::new(Mutex::new(Vec::new()));
    let sink = |name: &'static str| {
        let reports = Arc::clone(&reports);
        Registration::new().on_failure(move |failure| match failure.cause {
            FailureCause::SourcePanicked(message) if failure.token.is_none() => {
                reports.lock().expect("ours").push(format!("{name}: {message}"));
            }
            other => panic!("{other}"),
        })
    };
    scheduler.register_with(Panics, |(), _context| async { Ok(()) }, sink("asked"));
    let thread = on_thread("bad", 1, || -> Option<()> { panic!("a bad thread") });
    scheduler.register_with(thread.expect("a thread"), |(), _context| async { Ok(()) }, sink("thread"));
    while scheduler.handler_count() > 0 {
        assert_eq!(scheduler.step(MS).await, Stepped::Nothing);
    }
    assert_eq!(*reports.lock().expect("ours"), ["asked: a bad source", "thread: a bad thread"]);
}

/// Counts down, one number a wait, really blocking.
struct CountDown(u32);

impl BoundedSource for CountDown {
    type Event = u32;

    fn wait(&mut self, at_most: Duration) -> Waited<u32> {
        std::thread::sleep(at_most / 2);
        match self.0.checked_sub(1) {
            Some(left) => {
                self.0 = left;
                Waited::Event(left)
            }
            None => Waited::Ended,
        }
    }
}

struct Never;

impl BoundedSource for Never {
    type Event = u32;

    fn wait(&mut self, at_most: Duration) -> Waited<u32> {
        std::thread::sleep(at_most);
        Waited::Nothing
    }
}

#[tokio::test]
async fn sources_with_a_time_out_are_served_in_turn_beside_the_others() {
    let mut scheduler = Scheduler::new();
    let counted = Arc::new(AtomicUsize::new(0));
    for _ in 0..2 {
        scheduler.register_source(with_timeout(Never), |_, _context| async { Ok(()) });
        let counted = Arc::clone(&counted);
        scheduler.register_source(with_timeout(CountDown(10)), move |_, _context| {
            counted.fetch_add(1, Ordering::Relaxed);
            async { Ok(()) }
        });
    }
    // The runtime has one thread: this event needs it while the scheduler waits.
    let late = from_future(tokio::time::sleep(20 * MS));
    scheduler.register_source(late, |(), context: Context| async move {
        context.stop();
        Ok(())
    });
    scheduler.run().await;
    assert_eq!(counted.load(Ordering::Relaxed), 20);
}

#[tokio::test]
async fn a_repeating_timer_keeps_to_its_grid_and_counts_what_it_missed() {
    let mut scheduler = Scheduler::new();
    let ticks = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&ticks);
    scheduler.register_source(Timer::every(4 * MS), move |tick, context: Context| {
        let count = {
            let mut ticks = noted.lock().expect("ours");
            ticks.push(tick);
            ticks.len()
        };
        async move {
            match count {
                1 => context.sleep(10 * MS).await,
                4 => context.stop(),
                _ => {}
            }
            Ok(())
        }
    });
    scheduler.run().await;
    let ticks = ticks.lock().expect("ours");
    for pair in ticks.windows(2) {
        let periods = (pair[1].due - pair[0].due).as_nanos() / (4 * MS).as_nanos();
        assert_eq!((pair[1].due - pair[0].due).as_nanos() % (4 * MS).as_nanos(), 0);
        assert_eq!(u128::from(pair[0].missed) + 1, periods);
    }
    assert!(ticks[1].missed >= 1, "the slow handler missed some: {ticks:?}");
}

#[tokio::test]
async fn a_stop_reaches_every_clone_of_its_source() {
    let (trigger, source) = stop_source();
    let lanes: Vec<_> = (0..2)
        .map(|_| {
            let source = source.clone();
            tokio::spawn(async move {
                let mut scheduler = Scheduler::new();
                scheduler.register_source(source, |(), context: Context| async move {
                    context.stop();
                    Ok(())
                });
                scheduler.run().await;
            })
        })
        .collect();
    trigger.stop();
    trigger.stop();
    for lane in lanes {
        lane.await.expect("it stops");
    }
    assert_eq!(all_events(source).await, [()]);
}

#[cfg(unix)]
#[tokio::test]
async fn the_operating_systems_request_to_end_is_an_event() {
    let mut scheduler = Scheduler::new();
    let requests = source::termination().expect("signals are there");
    scheduler.register_source(requests, |request, context: Context| async move {
        assert_eq!(request, source::Termination::Terminate);
        context.stop();
        Ok(())
    });
    let sent = tokio::process::Command::new("sh").args(["-c", &format!("kill -TERM {}", std::process::id())]).status();
    assert!(sent.await.expect("a shell is there").success());
    scheduler.run().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handlers_wait_for_tokio_and_other_threads_and_signals_come_from_anywhere() {
    let mut scheduler = Scheduler::new();
    let signals = scheduler.signals();
    let lane = tokio::spawn(async move {
        scheduler.run().await;
        scheduler
    });
    let done = Arc::new(AtomicUsize::new(0));
    let (sender, source) = queue(8);
    let counted = Arc::clone(&done);
    let handler = signals.register_with(
        source,
        move |item: u64, _context| {
            let counted = Arc::clone(&counted);
            async move {
                let doubled = tokio::task::spawn_blocking(move || item * 2).await?;
                tokio::spawn(tokio::task::yield_now()).await?;
                assert_eq!(doubled, item * 2);
                counted.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
        },
        Registration::new().in_flight(4),
    );
    for item in 0..500 {
        sender.send(item).await.expect("the source is there");
    }
    let stuck = signals.spawn(|_context| std::future::pending());
    while done.load(Ordering::Relaxed) < 500 {
        tokio::time::sleep(MS).await;
    }
    signals.cancel(stuck);
    signals.deregister(handler);
    signals.stop();
    let scheduler = lane.await.expect("it stops");
    assert_eq!(scheduler.token_count(), 0);
    assert_eq!(scheduler.handler_count(), 0);
}

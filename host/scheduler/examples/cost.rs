//! The cost of a step in nanoseconds, compared with `tokio::spawn` per event in the same run.
//!
//! `cargo run --release --example cost -p wedflow-scheduler`
//!
//! Each line is one way to handle the same events; the ways take turns, and the median and the
//! best of the rounds are printed. Read the ratios, not the figures.

use std::collections::BTreeMap;
use std::future::Future;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures::stream;
use tokio::sync::{Notify, mpsc};
use wedflow_scheduler::source::{QueueFull, from_stream, queue};
use wedflow_scheduler::{Context, Registration, Scheduler};

const EVENTS: u64 = 200_000;
const ROUNDS: usize = 15;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .event_interval(1)
        .global_queue_interval(1)
        .build()
        .expect("a runtime");
    let mut results: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for _ in 0..ROUNDS {
        let mut note = |name, nanos| results.entry(name).or_default().push(nanos);
        note("1a bare loop over a queue, no scheduling", on(&runtime, bare()));
        note("1b scheduler, stream always ready", on(&runtime, from_ready_stream()));
        note("1c scheduler, queue", on(&runtime, from_queue(1, 0)));
        note("1d scheduler, queue, 16 in flight", on(&runtime, from_queue(16, 0)));
        note("1e tokio::spawn per event, queue", on(&runtime, spawned(0)));
        note("2a scheduler, handler yields 4 times", on(&runtime, from_queue(16, 4)));
        note("2b tokio::spawn, task yields 4 times", on(&runtime, spawned(4)));
        note("3a scheduler, 10000 sleepers at once", on(&runtime, sleeping()));
        note("3b tokio::spawn, 10000 sleepers at once", on(&runtime, spawned_sleeping()));
        note("4a scheduler, event from another thread", on(&runtime, from_afar()));
        note("4b tokio task, event from another thread", on(&runtime, task_from_afar()));
    }
    println!("ns per event: median, best of {ROUNDS} rounds");
    for (name, mut nanos) in results {
        nanos.sort_by(f64::total_cmp);
        println!("{name:45} {:9.0} {:9.0}", nanos[nanos.len() / 2], nanos[0]);
    }
}

/// Runs a measurement as a task of the runtime, where schedulers live.
fn on(runtime: &tokio::runtime::Runtime, measured: impl Future<Output = f64> + Send + 'static) -> f64 {
    runtime.block_on(runtime.spawn(measured)).expect("it does not panic")
}

fn per(events: u64, elapsed: Duration) -> f64 {
    elapsed.as_secs_f64() * 1e9 / events as f64
}

/// A queue filled with all events.
fn filled() -> (mpsc::Sender<u64>, mpsc::Receiver<u64>) {
    let (sender, receiver) = mpsc::channel(EVENTS as usize);
    for event in 0..EVENTS {
        sender.try_send(event).expect("it has room");
    }
    (sender, receiver)
}

async fn bare() -> f64 {
    let (_sender, mut receiver) = filled();
    let begun = Instant::now();
    while black_box(receiver.recv().await) != Some(EVENTS - 1) {}
    per(EVENTS, begun.elapsed())
}

async fn from_ready_stream() -> f64 {
    let mut scheduler = Scheduler::new();
    scheduler.register_source(from_stream(stream::iter(0..EVENTS)), |event, context: Context| async move {
        if black_box(event) == EVENTS - 1 {
            context.stop();
        }
        Ok(())
    });
    let begun = Instant::now();
    scheduler.run().await;
    per(EVENTS, begun.elapsed())
}

async fn from_queue(in_flight: usize, yields: u32) -> f64 {
    let mut scheduler = Scheduler::new();
    let (sender, source) = queue(EVENTS as usize);
    let done = Arc::new(AtomicU64::new(0));
    scheduler.register_with(
        source,
        move |event: u64, context: Context| {
            let done = Arc::clone(&done);
            async move {
                black_box(event);
                for _ in 0..yields {
                    context.yield_now().await;
                }
                if done.fetch_add(1, Ordering::Relaxed) == EVENTS - 1 {
                    context.stop();
                }
                Ok(())
            }
        },
        Registration::new().in_flight(in_flight),
    );
    for event in 0..EVENTS {
        sender.try_send(event).expect("it has room");
    }
    let begun = Instant::now();
    scheduler.run().await;
    per(EVENTS, begun.elapsed())
}

async fn spawned(yields: u32) -> f64 {
    let (_sender, mut receiver) = filled();
    let (done, all) = (Arc::new(AtomicU64::new(0)), Arc::new(Notify::new()));
    let begun = Instant::now();
    for _ in 0..EVENTS {
        let event = receiver.recv().await;
        let (done, all) = (Arc::clone(&done), Arc::clone(&all));
        tokio::spawn(async move {
            black_box(event);
            for _ in 0..yields {
                tokio::task::yield_now().await;
            }
            if done.fetch_add(1, Ordering::Relaxed) == EVENTS - 1 {
                all.notify_one();
            }
        });
    }
    all.notified().await;
    per(EVENTS, begun.elapsed())
}

const SLEEPERS: u64 = 10_000;
const NAP: Duration = Duration::from_millis(1);

/// The nap itself is part of the figure on both sides.
async fn sleeping() -> f64 {
    let mut scheduler = Scheduler::new();
    let done = Arc::new(AtomicU64::new(0));
    let begun = Instant::now();
    for _ in 0..SLEEPERS {
        let done = Arc::clone(&done);
        scheduler.spawn(move |context| async move {
            context.sleep(NAP).await;
            if done.fetch_add(1, Ordering::Relaxed) == SLEEPERS - 1 {
                context.stop();
            }
            Ok(())
        });
    }
    scheduler.run().await;
    per(SLEEPERS, begun.elapsed())
}

async fn spawned_sleeping() -> f64 {
    let (done, all) = (Arc::new(AtomicU64::new(0)), Arc::new(Notify::new()));
    let begun = Instant::now();
    for _ in 0..SLEEPERS {
        let (done, all) = (Arc::clone(&done), Arc::clone(&all));
        tokio::spawn(async move {
            tokio::time::sleep(NAP).await;
            if done.fetch_add(1, Ordering::Relaxed) == SLEEPERS - 1 {
                all.notify_one();
            }
        });
    }
    all.notified().await;
    per(SLEEPERS, begun.elapsed())
}

const ROUND_TRIPS: u64 = 2_000;

/// Measures a round trip: a thread sends an event and waits for the handler's answer.
async fn from_afar() -> f64 {
    let mut scheduler = Scheduler::new();
    let (sender, source) = queue(1);
    let (answer, answers) = std::sync::mpsc::channel();
    scheduler.register_source(source, move |event: u64, context: Context| {
        let sent = answer.send(event);
        async move {
            if event == ROUND_TRIPS - 1 {
                context.stop();
            }
            Ok(sent?)
        }
    });
    let afar = std::thread::spawn(move || {
        let begun = Instant::now();
        for event in 0..ROUND_TRIPS {
            let mut item = event;
            while let Err(QueueFull::Full(back)) = sender.try_send(item) {
                item = back;
            }
            answers.recv().expect("the handler answers");
        }
        begun.elapsed()
    });
    scheduler.run().await;
    per(ROUND_TRIPS, afar.join().expect("it does not panic"))
}

async fn task_from_afar() -> f64 {
    let (sender, mut receiver) = mpsc::channel(1);
    let (answer, answers) = std::sync::mpsc::channel();
    let afar = std::thread::spawn(move || {
        let begun = Instant::now();
        for event in 0..ROUND_TRIPS {
            sender.blocking_send(event).expect("the task is there");
            answers.recv().expect("the task answers");
        }
        begun.elapsed()
    });
    while let Some(event) = receiver.recv().await {
        answer.send(event).expect("the thread is there");
    }
    per(ROUND_TRIPS, afar.join().expect("it does not panic"))
}

//! Measures what a quiet tenant notices of each fault: the time from an INSERT to the end of its instance,
//! alone and while sixteen attempts at the fault run. Prints, and judges nothing; run it with
//! `--ignored hostile::neighbours` on a machine that does nothing else. `WEDFLOW_FAULTS=ordinary,loop` measures
//! only these.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use wedflow_worker::HostSettings;

use super::{FAULTS, TRANSITIONS, fault, flow};
use crate::host::guests;
use crate::support::{Database, Flow, on};

/// Instances of the quiet tenant in one measurement.
const SAMPLES: usize = 1000;
/// Attempts at the fault that are made at any time.
const BESIDE: usize = 16;

#[harness::test(ignored)]
fn what_a_quiet_tenant_notices() {
    let database = Database::new();
    on(database.store.create_tenant("quiet", "")).expect("a tenant");
    let hostile = guests::hostile();
    let quiet = flow(&database, "quiet", ("hostile", hostile), "clause");
    let host = database.host(HostSettings::default());
    latencies(&quiet, SAMPLES / 4);
    let only = std::env::var("WEDFLOW_FAULTS").ok();
    let meant = |name: &str| {
        let mut only = only.iter().flat_map(|names| names.split(',')).peekable();
        only.peek().is_none() || only.any(|one| one == name)
    };
    let faults = (FAULTS.iter().filter(|(name, ..)| meant(name))).map(|(name, ..)| {
        let flow = flow(&database, "default", (name, &fault::component(name)), "fault");
        (*name, flow)
    });
    let transitions = (TRANSITIONS.iter().filter(|(name, _)| meant(name))).map(|(name, _)| {
        let flow = flow(&database, "default", ("hostile", hostile), name);
        (*name, flow)
    });
    // What sixteen attempts at something ordinary would do.
    let ordinary = flow(&database, "default", ("hostile", hostile), "clause");
    println!("fault          p50 alone  p99 alone  p50 beside  p99 beside  ratio of p99");
    let ordinary = meant("ordinary").then_some(("ordinary", ordinary));
    for (name, flow) in (ordinary.into_iter()).chain(faults).chain(transitions) {
        let (p50, p99) = latencies(&quiet, SAMPLES);
        let done = AtomicBool::new(false);
        let (beside_p50, beside_p99) = std::thread::scope(|scope| {
            scope.spawn(|| besiege(&flow, &done));
            std::thread::sleep(Duration::from_millis(300));
            let found = latencies(&quiet, SAMPLES);
            done.store(true, Ordering::Release);
            found
        });
        println!(
            "{name:14} {p50:7.1} ms {p99:7.1} ms {beside_p50:8.1} ms {beside_p99:8.1} ms  {:.2}",
            beside_p99 / p99
        );
        // What is left of the siege.
        let mut session = flow.session();
        crate::support::eventually("the end of the siege", || {
            (session.number("SELECT count(*) FROM job_pool WHERE trname <> '_EXCPT'") == 0).then_some(())
        });
    }
    on(host.stop());
}

/// Keeps the attempts going until it is stopped.
fn besiege(flow: &Flow, done: &AtomicBool) {
    let mut session = flow.session();
    while !done.load(Ordering::Acquire) {
        let going = session.number("SELECT count(*) FROM job_pool WHERE trname <> '_EXCPT'");
        for _ in usize::try_from(going).unwrap_or(0)..BESIDE {
            session.start();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The middle and the 99th percentile of the times of instances, one after the other, in
/// milliseconds.
fn latencies(flow: &Flow, count: usize) -> (f64, f64) {
    let mut session = flow.session();
    let mut times: Vec<f64> = (0..count)
        .map(|_| {
            let begun = Instant::now();
            let wid = session.start();
            while session.status(wid) == "R" {
                std::thread::sleep(Duration::from_micros(500));
            }
            begun.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[count / 2], times[count * 99 / 100])
}

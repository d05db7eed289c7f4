//! Many guests at once: they share threads, wait without holding one, and can be dropped.

mod support;

use std::time::{Duration, Instant};

use futures::future::join_all;
use support::{PAYLOAD, bound, compile, guest, hostile, invocation, on_runtime, run, sandbox};
use wedflow_model::{Limits, Outcome, TenantId};
use wedflow_sandbox::{AttemptContext, Sandbox, Settings};

const LONG: Duration = Duration::from_secs(60);

#[test]
fn short_calls_and_timers_go_on_while_others_loop() {
    on_runtime(async {
        let looping = bound(&hostile(), "loop").await;
        let short = bound(&hostile(), "clause").await;
        let timeout = Duration::from_secs(2);
        let loops: Vec<_> = (0..100)
            .map(|_| {
                let looping = looping.clone();
                tokio::spawn(async move {
                    let begun = Instant::now();
                    let attempt = run(&looping, timeout, &Limits::default()).await;
                    (attempt.outcome, begun.elapsed())
                })
            })
            .collect();
        let (mut timers, mut calls) = (Vec::new(), Vec::new());
        for _ in 0..200 {
            let begun = Instant::now();
            tokio::time::sleep(Duration::from_millis(1)).await;
            timers.push(begun.elapsed());
            let begun = Instant::now();
            let attempt = run(&short, LONG, &Limits::default()).await;
            calls.push(begun.elapsed());
            assert!(matches!(attempt.outcome, Outcome::Clause(_)));
        }
        timers.sort();
        calls.sort();
        println!(
            "beside 100 loops: a timer of 1 ms p50 {:?} p99 {:?}, a short call p50 {:?} p99 {:?}",
            timers[100], timers[198], calls[100], calls[198]
        );
        let mut worst = Duration::ZERO;
        for one in loops {
            let (outcome, took) = one.await.expect("no panic");
            assert_eq!(outcome, Outcome::TimedOut);
            worst = worst.max(took);
        }
        println!(
            "100 loops of 2 s each on two threads ended within {:.3} of their timeout",
            worst.as_secs_f64() / timeout.as_secs_f64()
        );
    });
}

#[test]
fn work_gets_done_beside_loops() {
    on_runtime(async {
        let looping = bound(&hostile(), "loop").await;
        let working = bound(&hostile(), "work").await;
        let limits = Limits::default();
        let loops = join_all((0..4).map(|_| run(&looping, Duration::from_secs(8), &limits)));
        let work = run(&working, LONG, &limits);
        let (loops, work) = futures::future::join(loops, work).await;
        assert!(matches!(work.outcome, Outcome::Clause(_)), "{:?}", work.outcome);
        println!("200 M rounds beside 4 loops: {} us", work.measure.elapsed_us);
        for one in loops {
            assert_eq!(one.outcome, Outcome::TimedOut);
        }
    });
}

#[test]
fn those_who_wait_hold_no_thread() {
    on_runtime(async {
        let napping = bound(&hostile(), "nap").await;
        let limits = Limits::default();
        let begun = Instant::now();
        let attempts = join_all((0..150).map(|_| run(&napping, LONG, &limits))).await;
        println!("150 naps of 20 ms together: {:?}", begun.elapsed());
        for attempt in attempts {
            assert_eq!(attempt.outcome, Outcome::Clause("a1='rested'".into()));
        }
    });
}

#[test]
fn dropping_a_call_ends_its_guest_and_frees_its_room() {
    let bytes = guest("hostile");
    on_runtime(async move {
        let small = Sandbox::new(Settings { concurrent: 2, ..Settings::fast() }).expect("a sandbox");
        let limits = Limits::default();
        let component = small.compile(&bytes, &limits).expect("accepted");
        let manifest = small.describe(&component).await.expect("described");
        let bind = |name: &str| {
            let declaration = manifest.transition(name).expect("declared");
            component.bind(declaration, &support::usual_flow()).expect("fits")
        };
        let clause = bind("clause");
        for name in ["loop", "sleep-forever", "naps"] {
            let endless = bind(name);
            for _ in 0..5 {
                let call = |bound| small.run(bound, invocation(PAYLOAD), LONG, &limits);
                let both = futures::future::join(call(&endless), call(&endless));
                let dropped = tokio::time::timeout(Duration::from_millis(30), both).await;
                assert!(dropped.is_err(), "{name} ended");
                let attempt = call(&clause).await;
                assert!(matches!(attempt.outcome, Outcome::Clause(_)), "after {name}");
            }
        }
        // A third call waits for room, which is not its own time.
        let endless = bind("naps");
        let short = Duration::from_millis(100);
        let call = |bound| small.run(bound, invocation(PAYLOAD), short, &limits);
        let (first, second, third) = futures::future::join3(call(&endless), call(&endless), call(&clause)).await;
        assert_eq!(first.outcome, Outcome::TimedOut);
        assert_eq!(second.outcome, Outcome::TimedOut);
        assert!(matches!(third.outcome, Outcome::Clause(_)));
        // And the sandbox itself ends, with its thread.
        drop(small);
    });
}

#[test]
fn more_guests_than_the_kernel_has_maps_for_are_refused() {
    let Ok(limit) = std::fs::read_to_string("/proc/sys/vm/max_map_count") else {
        return;
    };
    let limit: u32 = limit.trim().parse().expect("a number");
    let refused = Sandbox::new(Settings { concurrent: limit / 4, ..Settings::waiting() });
    let error = refused.expect_err("too many").to_string();
    assert!(error.contains("vm.max_map_count"), "{error}");
}

#[test]
fn a_sandbox_ends_on_any_thread() {
    let sandbox = Sandbox::new(Settings { concurrent: 1, ..Settings::waiting() }).expect("a sandbox");
    std::thread::spawn(move || drop(sandbox)).join().expect("no panic");
    let _ = compile(&guest("hostile"));
    assert!(sandbox_is_shared());
}

fn sandbox_is_shared() -> bool {
    fn shared<T: Send + Sync>(_: &T) -> bool {
        true
    }
    shared(sandbox())
}

/// A sandbox of few slots and little memory, and the hostile guest in it.
fn small(concurrent: u32, memory_of_all: u64) -> (Sandbox, wedflow_sandbox::Component) {
    let sandbox = Sandbox::new(Settings { concurrent, memory_of_all, ..Settings::fast() }).expect("a sandbox");
    let component = sandbox.compile(&guest("hostile"), &Limits::default()).expect("accepted");
    (sandbox, component)
}

/// Binds a transition of a component of another sandbox than the usual one.
async fn bound_in(
    sandbox: &Sandbox,
    component: &wedflow_sandbox::Component,
    transition: &str,
) -> wedflow_sandbox::Bound {
    let manifest = sandbox.describe(component).await.expect("described");
    let declaration = manifest.transition(transition).expect("declared");
    component.bind(declaration, &support::usual_flow()).expect("fits")
}

fn of(number: i32) -> AttemptContext {
    AttemptContext { tenant: TenantId::new(number), ..AttemptContext::default() }
}

#[test]
fn sleepers_of_one_tenant_leave_slots_to_others() {
    on_runtime(async {
        let (sandbox, component) = small(9, 1 << 30);
        let sandbox = std::sync::Arc::new(sandbox);
        let sleeping = bound_in(&sandbox, &component, "sleep-forever").await;
        let short = bound_in(&sandbox, &component, "clause").await;
        let sleepers: Vec<_> = (0..30)
            .map(|_| {
                let (sandbox, sleeping) = (std::sync::Arc::clone(&sandbox), sleeping.clone());
                tokio::spawn(async move {
                    let limits = Limits::default();
                    let call = invocation(PAYLOAD);
                    sandbox.run_in_context(&sleeping, call, LONG, &limits, of(1)).await
                })
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(200)).await;
        // They sleep for a minute; the other tenant's call is not made to wait for their end.
        for _ in 0..20 {
            let limits = Limits::default();
            let call = sandbox.run_in_context(&short, invocation(PAYLOAD), LONG, &limits, of(2));
            let attempt = tokio::time::timeout(LONG / 2, call).await;
            let attempt = attempt.expect("it does not wait for the sleepers");
            assert!(matches!(attempt.outcome, Outcome::Clause(_)));
        }
        assert!(sleepers.iter().all(|sleeper| !sleeper.is_finished()));
        sleepers.iter().for_each(tokio::task::JoinHandle::abort);
    });
}

#[test]
fn guests_together_have_no_more_memory_than_the_host_gives() {
    on_runtime(async {
        let (sandbox, component) = small(9, 32 << 20);
        let bomb = bound_in(&sandbox, &component, "memory-bomb").await;
        let limits = Limits::default();
        let attempt = sandbox.run_in_context(&bomb, invocation(PAYLOAD), LONG, &limits, of(1)).await;
        assert!(
            matches!(&attempt.outcome, Outcome::Failed { message, retry: true } if message.contains("as much memory")),
            "{:?}",
            attempt.outcome
        );
        assert!(attempt.measure.memory_bytes < 32 << 20);
        // What it held is given back.
        let short = bound_in(&sandbox, &component, "clause").await;
        let attempt = sandbox.run_in_context(&short, invocation(PAYLOAD), LONG, &limits, of(1)).await;
        assert!(matches!(attempt.outcome, Outcome::Clause(_)));
    });
}

#[test]
fn what_the_host_copies_costs_fuel() {
    on_runtime(async {
        let long = bound(&hostile(), "ask-long").await;
        let attempt = run(&long, LONG, &Limits::default()).await;
        assert!(matches!(attempt.outcome, Outcome::Clause(_)), "{:?}", attempt.outcome);
        assert!(attempt.measure.fuel >= 8 << 20, "{}", attempt.measure.fuel);
    });
}

#[test]
fn nobody_waits_longer_than_a_year() {
    on_runtime(async {
        let never = bound(&hostile(), "abort-never").await;
        let attempt = run(&never, LONG, &Limits::default()).await;
        let after = attempt.outcome.after().expect("a time");
        assert_eq!(after, Duration::from_secs(365 * 24 * 60 * 60));
    });
}

//! Every way in which a guest can end has a name, ends in time, and harms nobody.

mod support;

use std::time::{Duration, Instant};

use support::{bound, compile, component, core, hostile, invocation, on_runtime, run, sandbox, undeclared};
use wedflow_model::{Limits, Outcome, TrapKind};
use wedflow_sandbox::{Attempt, Bound};

/// The timeout of guests that must not end before it, and a generous one for all others.
const SHORT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_secs(60);

/// Runs a guest that must come to `expected`, then another one, which must not notice.
async fn ends(name: &str, bound: &Bound, timeout: Duration, limits: &Limits) -> Attempt {
    let begun = Instant::now();
    let attempt = run(bound, timeout, limits).await;
    let took = begun.elapsed();
    println!(
        "{name}: {} after {took:?}, {:.2} of its timeout, {} fuel, {} bytes",
        attempt.outcome.name(),
        took.as_secs_f64() / timeout.as_secs_f64(),
        attempt.measure.fuel,
        attempt.measure.memory_bytes,
    );
    // Twenty times what is promised: a loaded machine is no failure, a guest that escapes is.
    assert!(took < timeout * 20, "{name} took {took:?}");
    let other = support::bound(&hostile(), "clause").await;
    let after = run(&other, LONG, &Limits::default()).await;
    assert_eq!(after.outcome, Outcome::Clause("a1='done', n=n+1".into()), "after {name}");
    attempt
}

async fn hostile_ends(name: &str, timeout: Duration, limits: &Limits) -> Attempt {
    let transition = bound(&hostile(), name).await;
    ends(name, &transition, timeout, limits).await
}

fn trap(outcome: &Outcome) -> Option<TrapKind> {
    match outcome {
        Outcome::Trapped { kind, message } => {
            assert!(!message.is_empty());
            Some(*kind)
        }
        _ => None,
    }
}

#[test]
fn time_is_over_for_those_who_compute_and_those_who_wait() {
    on_runtime(async {
        for name in ["loop", "sleep-forever", "naps"] {
            let attempt = hostile_ends(name, SHORT, &Limits::default()).await;
            assert_eq!(attempt.outcome, Outcome::TimedOut, "{name}");
            assert!(attempt.measure.elapsed_us >= 200_000);
        }
        let looping = compile(&component(&core("", "(loop (br 0)) unreachable")));
        let attempt = ends("WAT loop", &undeclared(&looping), SHORT, &Limits::default()).await;
        assert_eq!(attempt.outcome, Outcome::TimedOut);
        // Its own count of fuel is not written back: it is charged for the milliseconds that it computed.
        assert!(attempt.measure.fuel >= 10_000_000, "{}", attempt.measure.fuel);
        // In the module's start function, before `run` is called at all.
        let starting = compile(&component(&core("(func $s (loop (br 0))) (start $s)", "unreachable")));
        let attempt = ends("start", &undeclared(&starting), SHORT, &Limits::default()).await;
        assert_eq!(attempt.outcome, Outcome::TimedOut);
    });
}

#[test]
fn fuel_ends_before_the_time_does() {
    on_runtime(async {
        let limits = Limits { fuel: 1_000_000, ..Limits::default() };
        for name in ["loop", "work"] {
            let attempt = hostile_ends(name, LONG, &limits).await;
            assert_eq!(attempt.outcome, Outcome::OutOfFuel, "{name}");
            assert_eq!(attempt.measure.fuel, 1_000_000);
        }
    });
}

/// A table of functions without entries, and a type.
const NULL_TABLE: &str = "(table 1 funcref) (type $f (func))";

/// Guests that trap: a name, what else the module holds, the body of `run`, the kind of the trap.
const TRAPS: [(&str, &str, &str, TrapKind); 11] = [
    ("divide by zero", "", "(i32.div_s (i32.const 1) (i32.const 0))", TrapKind::Arithmetic),
    ("divide overflow", "", "(i32.div_s (i32.const 0x80000000) (i32.const -1))", TrapKind::Arithmetic),
    ("conversion", "", "(i32.trunc_f64_s (f64.const nan))", TrapKind::Arithmetic),
    ("read out of bounds", "", "(i32.load (i32.const -4))", TrapKind::MemoryOutOfBounds),
    ("null call", NULL_TABLE, "(call_indirect (type $f) (i32.const 0)) (i32.const 64)", TrapKind::IndirectCall),
    (
        "table out of bounds",
        NULL_TABLE,
        "(call_indirect (type $f) (i32.const 9)) (i32.const 64)",
        TrapKind::IndirectCall,
    ),
    (
        "wrong type of call",
        "(table 1 funcref) (elem (i32.const 0) $g) (func $g (param i64)) (type $f (func))",
        "(call_indirect (type $f) (i32.const 0)) (i32.const 64)",
        TrapKind::IndirectCall,
    ),
    ("bad discriminant", "", "(i32.store (i32.const 64) (i32.const 9)) (i32.const 64)", TrapKind::Contract),
    ("unaligned answer", "", "(i32.const 65)", TrapKind::Contract),
    ("answer out of bounds", "", "(i32.const 0x1ffff0) (i32.const 0x10000) (i32.add)", TrapKind::Contract),
    (
        "string out of bounds",
        "",
        "(i32.store (i32.const 72) (i32.const 0x1fff0)) (i32.store (i32.const 76) (i32.const 999)) \
                 (i32.const 64)",
        TrapKind::Contract,
    ),
];

#[test]
fn traps_have_kinds() {
    on_runtime(async {
        for (name, kind) in [
            ("recursion", TrapKind::StackOverflow),
            ("shadow-stack", TrapKind::MemoryOutOfBounds),
            ("trap", TrapKind::Unreachable),
            ("invalid-utf8", TrapKind::Contract),
            ("bad-position", TrapKind::Contract),
            ("wrong-type", TrapKind::Contract),
        ] {
            let attempt = hostile_ends(name, LONG, &Limits::default()).await;
            assert_eq!(trap(&attempt.outcome), Some(kind), "{:?}", attempt.outcome);
        }
        for (name, more, body, kind) in TRAPS {
            let guest = compile(&component(&core(more, body)));
            let attempt = ends(name, &undeclared(&guest), LONG, &Limits::default()).await;
            assert_eq!(trap(&attempt.outcome), Some(kind), "{:?}", attempt.outcome);
        }
        // A `cabi_realloc` that points outside of the memory.
        let lying = core("", "unreachable").replace("(i32.const 4096)", "(i32.const -8)");
        let guest = compile(&component(&lying));
        let attempt = ends("realloc", &undeclared(&guest), LONG, &Limits::default()).await;
        assert_eq!(trap(&attempt.outcome), Some(TrapKind::Contract));
    });
}

#[test]
fn memory_and_tables_are_bounded() {
    on_runtime(async {
        let limits = Limits { memory_bytes: 8 << 20, table_elements: 1_000, ..Limits::default() };
        let attempt = hostile_ends("memory-bomb", LONG, &limits).await;
        let Outcome::OverMemory { limit, asked } = attempt.outcome else {
            panic!("{:?}", attempt.outcome);
        };
        assert_eq!(limit, 8 << 20);
        assert!(asked > limit && asked < limit + (3 << 20), "{asked}");
        assert!(attempt.measure.memory_bytes <= 8 << 20);

        // Less than the host allows, because the component says that it needs no more.
        let attempt = hostile_ends("frugal-memory", LONG, &Limits::default()).await;
        assert!(
            matches!(attempt.outcome, Outcome::OverMemory { limit, .. } if limit == 2 << 20),
            "{:?}",
            attempt.outcome
        );
        let attempt = hostile_ends("frugal", LONG, &Limits::default()).await;
        assert_eq!(attempt.outcome, Outcome::OutOfFuel);
        assert!(attempt.measure.fuel <= 1_100_000);

        let bomb = "(table $t 1 funcref)";
        let body = "(loop (drop (table.grow $t (ref.null func) (i32.const 100))) (br 0)) unreachable";
        let guest = compile(&component(&core(bomb, body)));
        let attempt = ends("table bomb", &undeclared(&guest), LONG, &limits).await;
        let Outcome::OverMemory { limit: 1_000, asked } = attempt.outcome else {
            panic!("{:?}", attempt.outcome);
        };
        assert!(asked > 1_000 && asked < 1_200, "{asked}");
    });
}

#[test]
fn every_memory_and_part_counts_for_the_limit() {
    on_runtime(async {
        let limits = Limits { memory_bytes: 8 << 20, ..Limits::default() };
        // Two memories that together are too much.
        let two = r#"(memory $m 2)"#;
        let body = "(loop (drop (memory.grow $m (i32.const 16))) (drop (memory.grow 0 (i32.const 16))) (br 0)) \
         unreachable";
        let guest = compile(&component(&core(two, body)));
        let attempt = ends("two memories", &undeclared(&guest), LONG, &limits).await;
        assert!(
            matches!(attempt.outcome, Outcome::OverMemory { limit, .. } if limit == 8 << 20),
            "{:?}",
            attempt.outcome
        );

        // More than the limit from the start.
        let small = Limits { memory_bytes: 64 << 10, ..Limits::default() };
        let guest = compile(&component(&core("", "unreachable")));
        let attempt = ends("born large", &undeclared(&guest), LONG, &small).await;
        assert!(matches!(attempt.outcome, Outcome::OverMemory { .. }));

        // A maximum of the guest's own is the guest's own affair.
        let own = "(memory $m 1 2)";
        let body = "(drop (memory.grow $m (i32.const 5))) unreachable";
        let guest = compile(&component(&core(own, body)));
        let attempt = ends("own maximum", &undeclared(&guest), LONG, &limits).await;
        assert_eq!(trap(&attempt.outcome), Some(TrapKind::Unreachable));

        // More parts than allowed at run, though not at upload.
        let few = Limits { instances: 1, ..Limits::default() };
        let attempt = hostile_ends("clause", LONG, &few).await;
        assert!(matches!(attempt.outcome, Outcome::OverMemory { limit: 1, .. }), "{:?}", attempt.outcome);
    });
}

#[test]
fn calls_and_answers_are_bounded() {
    on_runtime(async {
        let attempt = hostile_ends("host-flood", LONG, &Limits::default()).await;
        assert_eq!(attempt.outcome, Outcome::HostCallLimit { limit: 100_000 });

        let roomy = Limits { memory_bytes: 256 << 20, ..Limits::default() };
        for name in ["string-huge", "list-bomb"] {
            let attempt = hostile_ends(name, LONG, &roomy).await;
            let Outcome::OutputTooLarge { limit, size } = attempt.outcome else {
                panic!("{name}: {:?}", attempt.outcome);
            };
            assert_eq!(limit, 256 << 10);
            assert!(size > limit);
        }
        // Just above the limit, the size is reported exactly.
        let tight = Limits { output_bytes: 10, ..Limits::default() };
        let attempt = hostile_ends("clause", LONG, &tight).await;
        assert_eq!(attempt.outcome, Outcome::OutputTooLarge { limit: 10, size: 16 });
    });
}

#[test]
fn logs_are_bounded_and_the_rest_is_counted() {
    on_runtime(async {
        let attempt = hostile_ends("log-flood", LONG, &Limits::default()).await;
        assert_eq!(attempt.outcome, Outcome::Clause("a1='logged'".into()));
        let kept = attempt.logs.lines.len() as u64;
        assert!(kept > 500, "{kept}");
        assert_eq!(kept + attempt.logs.dropped, 10_000);
        assert_eq!(attempt.logs.lines[0].message, "line 0");

        // More in one line than may be copied out of a guest at once.
        let attempt = hostile_ends("log-huge", LONG, &Limits::default()).await;
        assert!(matches!(attempt.outcome, Outcome::OutputTooLarge { .. }), "{:?}", attempt.outcome);
    });
}

#[test]
fn a_payload_that_does_not_fit_is_not_retried() {
    on_runtime(async {
        let transition = bound(&hostile(), "clause").await;
        let payload = r#"{"n": "many"}"#;
        let attempt = sandbox().run(&transition, invocation(payload), LONG, &Limits::default()).await;
        let Outcome::Failed { message, retry } = attempt.outcome else {
            panic!("{:?}", attempt.outcome);
        };
        assert!(message.contains("`n` should be integer"), "{message}");
        assert!(!retry);
    });
}

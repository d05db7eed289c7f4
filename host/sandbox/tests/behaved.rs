//! Guests that behave: values arrive and return, the host answers, the standard library works.

mod support;

use std::sync::Arc;
use std::time::Duration;

use support::{
    PAYLOAD, bound, compile, component, core, flow, hostile, invocation, on_runtime, ordinary, run, sandbox,
};
use wedflow_contract::{Digest, Refusal};
use wedflow_model::{Assignment, Limits, Outcome, Scalar, Severity, TrapKind, Value};
use wedflow_sandbox::{Attempt, DescribeError, Provided, Sandbox, Settings, UploadError};

const LONG: Duration = Duration::from_secs(60);

async fn once(component: &wedflow_sandbox::Component, transition: &str) -> Attempt {
    let transition = bound(component, transition).await;
    run(&transition, LONG, &Limits::default()).await
}

#[test]
fn every_kind_of_value_arrives() {
    on_runtime(async {
        let component = hostile();
        let manifest = sandbox().describe(&component).await.expect("described");
        let echo = manifest
            .transition("echo")
            .map(|one| wedflow_contract::Declaration { writes: None, ..one.clone() })
            .expect("echo");
        let flow = flow(&[
            ("t", "text"),
            ("i", "integer"),
            ("b", "bigint"),
            ("n", "numeric"),
            ("f", "float"),
            ("o", "boolean"),
            ("ts", "timestamptz"),
            ("d", "date"),
            ("v", "interval"),
            ("u", "uuid"),
            ("j", "jsonb"),
            ("e", "enum(new,paid)"),
            ("l", "integer[]"),
            ("z", "text"),
        ]);
        let bound = component.bind(&echo, &flow).expect("fits");
        let payload = r#"{"b": -9223372036854775808, "d": "1970-01-11", "e": "paid", "f": 0.5,
            "i": 42, "j": {"k": [1, "é"]}, "l": [1, null], "n": 1234567890.00000000001, "o": true,
            "t": "línea\n\"x\"", "u": "8c5f4c7e-0000-4000-8000-000000000001", "v": "P1D",
            "z": null, "ts": "2026-11-21T09:41:00+00:00", "unknown": 1}"#;
        let attempt = sandbox().run(&bound, invocation(payload), LONG, &Limits::default()).await;
        let Outcome::Clause(text) = attempt.outcome else {
            panic!("{:?}", attempt.outcome);
        };
        assert_eq!(
            text.split('|').collect::<Vec<_>>(),
            [
                "text=línea\n\"x\"",
                "integer=42",
                "bigint=-9223372036854775808",
                "numeric=1234567890.00000000001",
                "float=0.5",
                "boolean=true",
                "timestamptz=1795254060000000",
                "date=10",
                "interval=P1D",
                "uuid=8c5f4c7e-0000-4000-8000-000000000001",
                r#"jsonb={"k": [1, "é"]}"#,
                "text=paid",
                "[integer=1 null]",
                "null",
                "orders 7 t1 1 true",
            ]
        );
        assert!(attempt.measure.fuel > 0 && attempt.measure.memory_bytes >= 65_536);
    });
}

#[test]
fn every_kind_of_answer_returns() {
    on_runtime(async {
        let guest = hostile();
        assert_eq!(once(&guest, "clause").await.outcome, Outcome::Clause("a1='done', n=n+1".into()));
        assert_eq!(once(&guest, "abort").await.outcome, Outcome::Aborted { reason: "not yet".into(), after: None });
        assert_eq!(once(&guest, "fail").await.outcome, Outcome::Failed { message: "no stock".into(), retry: false });
        assert_eq!(
            once(&guest, "assignments").await.outcome,
            Outcome::Assignments(vec![
                Assignment { attribute: "a1".into(), value: Value::Scalar(Scalar::Text("done".into())) },
                Assignment { attribute: "n".into(), value: Value::Scalar(Scalar::Integer(7)) },
                Assignment {
                    attribute: "tags".into(),
                    value: Value::Array(vec![Scalar::Text("x".into()), Scalar::Null]),
                },
            ])
        );
    });
}

#[test]
fn the_host_answers() {
    on_runtime(async {
        let guest = hostile();
        assert_eq!(
            once(&guest, "ask-host").await.outcome,
            Outcome::Clause("now=true random=true names=a1,n,tags".into())
        );
        let attempt = once(&guest, "log-line").await;
        assert_eq!(attempt.logs.lines.len(), 1);
        let line = &attempt.logs.lines[0];
        assert_eq!(line.severity, Severity::Warn);
        assert_eq!(line.message, "careful");
        assert_eq!(line.fields, [("wid".to_owned(), "7".to_owned())]);
        let attempt = once(&guest, "nap").await;
        assert_eq!(attempt.outcome, Outcome::Clause("a1='rested'".into()));
        assert!(attempt.measure.elapsed_us >= 20_000);
    });
}

#[test]
fn a_transition_says_when_it_wants_to_be_tried_again() {
    on_runtime(async {
        assert_eq!(
            once(&hostile(), "abort-after").await.outcome,
            Outcome::Aborted { reason: "the shop is closed".into(), after: Some(Duration::from_secs(90)) }
        );
    });
}

#[test]
fn the_manifest_says_what_the_author_suggests() {
    on_runtime(async {
        let manifest = sandbox().describe(&hostile()).await.expect("described");
        assert_eq!((&*manifest.name, &*manifest.sdk), ("hostile", ""));
        let frugal = manifest.transition("frugal").expect("declared");
        assert_eq!(frugal.condition.as_deref(), Some("a1 = 'ready' AND other > 1"));
        assert_eq!(frugal.timeout, Some(Duration::from_secs(5)));
        assert_eq!((frugal.fuel, frugal.memory), (Some(1_000_000), None));
        let abort = manifest.transition("abort").expect("declared");
        assert_eq!((&abort.condition, abort.timeout), (&None, None));
    });
}

#[test]
fn settings_and_granted_secrets_are_served() {
    on_runtime(async {
        let text = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let provided =
            Arc::new(Provided::new(text(&[("url", "https://shop.example")]), text(&[("key", "hunter2-hunter2")])));
        let asking = bound(&hostile(), "ask-settings").await;
        let attempt = run(&asking, LONG, &Limits::default()).await;
        assert_eq!(attempt.outcome, Outcome::Clause("url=None none=None key=None other=None".into()));
        let asking = asking.provided_with(Arc::clone(&provided));
        let attempt = run(&asking, LONG, &Limits::default()).await;
        assert_eq!(
            attempt.outcome,
            Outcome::Clause(
                "url=Some(\"https://shop.example\") none=None key=Some(\"hunter2-hunter2\") other=None".into()
            )
        );

        // Whatever is meant for people shows none of it.
        let leaking = bound(&hostile(), "leak").await.provided_with(provided);
        for (way, shown) in [("log", "the key is ***!"), ("abort", "aborted: ***"), ("fail", "failed: 401 with ***")] {
            let payload = format!(r#"{{"a1": "{way}"}}"#);
            let attempt = sandbox().run(&leaking, invocation(&payload), LONG, &Limits::default()).await;
            let told = format!("{} {:?}", attempt.outcome, attempt.logs);
            assert!(told.contains(shown), "{told}");
            assert!(!told.contains("hunter2"), "{told}");
        }
    });
}

#[test]
fn the_standard_library_works_as_far_as_it_can() {
    on_runtime(async {
        let guest = ordinary();
        println!("imports {:?}", guest.inspection().wasi);
        let attempt = once(&guest, "words").await;
        let Outcome::Assignments(list) = attempt.outcome else {
            panic!("{:?}", attempt.outcome);
        };
        assert_eq!(list[0].value, Value::Scalar(Scalar::Integer(1)));
        assert_eq!(list[1].value, Value::Scalar(Scalar::Text("ready:1".into())));

        let attempt = once(&guest, "print").await;
        assert_eq!(attempt.outcome, Outcome::Clause("a1='printed'".into()));
        let lines: Vec<_> = attempt.logs.lines.iter().map(|line| (line.severity, line.message.as_str())).collect();
        assert!(lines.contains(&(Severity::Info, "to standard output, 7")));
        assert!(lines.contains(&(Severity::Warn, "to standard error")));

        let attempt = once(&guest, "clocks").await;
        let Outcome::Clause(year) = &attempt.outcome else {
            panic!("{:?}", attempt.outcome);
        };
        assert!(year.starts_with("n=20"), "{year}");

        // A panic's message is in the log, where its author looks.
        let attempt = once(&guest, "panic").await;
        assert!(matches!(attempt.outcome, Outcome::Trapped { kind: TrapKind::Unreachable, .. }));
        let logged = attempt.logs.lines.iter().any(|line| line.message.contains("index out of bounds"));
        assert!(logged, "{:?}", attempt.logs);

        let attempt = once(&guest, "files").await;
        assert!(matches!(attempt.outcome, Outcome::Failed { retry: false, .. }), "{:?}", attempt.outcome);
        let attempt = once(&guest, "exit").await;
        let Outcome::Trapped { kind, message } = attempt.outcome else {
            panic!("{:?}", attempt.outcome);
        };
        assert_eq!(kind, TrapKind::Other);
        assert!(message.contains("wasi:cli/exit"), "{message}");
    });
}

#[test]
fn what_does_not_describe_itself_is_refused() {
    on_runtime(async {
        let empty = compile(&component(&core("", "unreachable")));
        let error = sandbox().describe(&empty).await.expect_err("nothing");
        assert!(error.to_string().contains("no transition"), "{error}");

        let core = core(r#"(import "wed:flow/host@0.1.0" "now" (func $now (result i64)))"#, "unreachable");
        // Imports come first in a module.
        let import = r#"(import "wed:flow/host@0.1.0" "now" (func $now (result i64)))"#;
        let core = core.replace(import, "").replacen("(module", &format!("(module {import}"), 1);
        let calling = core.replace(
            "(func (export \"describe\") (result i32) (i32.const 0))",
            "(func (export \"describe\") (result i32) (drop (call $now)) (i32.const 0))",
        );
        let calling = compile(&component(&calling));
        assert_eq!(sandbox().describe(&calling).await, Err(DescribeError::CalledHost("now".to_owned())));
        let looping = core.replace(
            "(func (export \"describe\") (result i32) (i32.const 0))",
            "(func (export \"describe\") (result i32) (loop (br 0)) (i32.const 0))",
        );
        let looping = compile(&component(&looping));
        let error = sandbox().describe(&looping).await.expect_err("endless");
        assert!(matches!(error, DescribeError::Ended(Outcome::TimedOut | Outcome::OutOfFuel)), "{error}");
    });
}

#[test]
fn uploads_are_checked_and_kept() {
    let limits = Limits::default();
    let refused = sandbox().compile(b"(component)", &limits);
    assert!(matches!(refused, Err(UploadError::Refused(Refusal::NotAComponent(_)))));
    // Right names, wrong types: found when it is linked.
    let contract = include_str!("../../../wit/transition.wit");
    let other = contract.replace("now: func() -> s64", "now: func() -> s32");
    assert_ne!(contract, other);
    let import = r#"(module (import "wed:flow/host@0.1.0" "now" (func (result i32)))"#;
    let wrong = core("", "unreachable").replacen("(module", import, 1);
    let error = sandbox().compile(&support::component_of(&other, &wrong), &limits).expect_err("refused");
    assert!(matches!(&error, UploadError::DoesNotFit(what) if what.contains("now")), "{error}");

    let small = Sandbox::new(Settings { concurrent: 2, components: 2, ..Settings::fast() }).expect("a sandbox");
    let bytes: Vec<Vec<u8>> = (0..3).map(|n| component(&core("", &format!("(i32.const {n})")))).collect();
    for one in &bytes {
        let compiled = small.compile(one, &limits).expect("accepted");
        assert_eq!(compiled.digest(), Digest::of(one));
    }
    assert!(small.get(&Digest::of(&bytes[0])).is_none());
    assert!(small.get(&Digest::of(&bytes[2])).is_some());

    // A component of another sandbox is recognised.
    on_runtime(async move {
        let foreign = support::undeclared(&small.compile(&bytes[0], &limits).expect("accepted"));
        let attempt = sandbox().run(&foreign, invocation(PAYLOAD), LONG, &limits).await;
        assert!(matches!(&attempt.outcome, Outcome::Failed { message, .. } if message.contains("another sandbox")));
    });
}

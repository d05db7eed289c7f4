//! Answering with a change.

use wedflow_guest::prelude::*;
use wedflow_guest::testing::{self, Outcome};
use wedflow_guest::{Scalar, Sql, quote_identifier, quote_literal};

/// Returns what a transition with and without declared writes makes of a change.
fn outcomes(change: &Change) -> (Outcome, Outcome) {
    thread_local! {
        static CHANGE: std::cell::RefCell<Option<Change>> = const { std::cell::RefCell::new(None) };
    }
    fn current() -> Change {
        CHANGE.with(|change| change.borrow().clone().expect("a change"))
    }

    #[transition(writes = [
        a: text, n: integer, big: bigint, price: numeric, rate: float, tags: text[],
        size: "enum(s,m)", whatever: any,
    ])]
    fn declared() -> Change {
        current()
    }
    #[transition]
    fn undeclared() -> Change {
        current()
    }

    CHANGE.with(|place| *place.borrow_mut() = Some(change.clone()));
    (testing::call::<declared>().outcome(), testing::call::<undeclared>().outcome())
}

fn assigned(change: Change) -> Vec<(u32, Value)> {
    match outcomes(&change).0 {
        Outcome::Assignments(list) => {
            list.into_iter().map(|assignment| (assignment.attribute, assignment.value)).collect()
        }
        other => panic!("{other:?}"),
    }
}

fn refused(change: Change) -> String {
    match outcomes(&change).0 {
        Outcome::Fail(failure) => {
            assert!(!failure.retry);
            failure.message
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn values_are_sent_by_position() {
    let scalar = Value::Scalar;
    assert_eq!(
        assigned(set! { n = 5, a = "x" }),
        [(1, scalar(Scalar::Integer(5))), (0, scalar(Scalar::Text("x".into())))]
    );
    // The last value for an attribute counts.
    assert_eq!(assigned(set! { n = 5, n = 6 }), [(1, scalar(Scalar::Integer(6)))]);
}

#[test]
fn whole_numbers_fit_the_declared_type() {
    let scalar = Value::Scalar;
    assert_eq!(
        assigned(set! { big = 1, price = 2, rate = 3, n = 4_i64, size = "s", whatever = 5, a = Null }),
        [
            (2, scalar(Scalar::Bigint(1))),
            (3, scalar(Scalar::Numeric("2".into()))),
            (4, scalar(Scalar::Float(3.0))),
            (1, scalar(Scalar::Integer(4))),
            (6, scalar(Scalar::Text("s".into()))),
            (7, scalar(Scalar::Integer(5))),
            (0, Value::NULL),
        ]
    );
}

#[test]
fn what_does_not_fit_is_a_failure_and_says_so() {
    for (change, message) in [
        (
            set! { b = 1 },
            "attribute `b` is not among those the transition declares to write (a, n, big, price, rate, tags, size, \
             whatever)",
        ),
        (
            set! { b = sql!("1") },
            "attribute `b` is not among those the transition declares to write (a, n, big, price, rate, tags, size, \
             whatever)",
        ),
        (set! { n = "1" }, "attribute `n` is declared as integer and was assigned text"),
        (
            set! { n = i64::MAX },
            "attribute `n` is declared as integer and was assigned 9223372036854775807, too large a number,",
        ),
        (set! { tags = "x" }, "attribute `tags` is declared as text[] and was assigned text"),
        (set! { a = vec![1] }, "attribute `a` is declared as text and was assigned an array"),
        (Change::new(), "the transition set nothing; to commit nothing, abort"),
        (set!("  "), "the transition set nothing; to commit nothing, abort"),
        (set! { a = "\0" }, "a text holds a NUL character, which Postgres cannot store"),
        (set! { tags = vec!["\0".to_owned()] }, "a text holds a NUL character, which Postgres cannot store"),
        (set!("a = {}", "\0"), "a text holds a NUL character, which Postgres cannot store"),
    ] {
        assert_eq!(refused(change), message);
    }
}

#[test]
fn an_expression_or_missing_declarations_make_a_clause() {
    let change = set! { a = "it's", n = sql!("n + 1") };
    let clause = Outcome::SetClause(r#""a" = 'it''s', "n" = n + 1"#.into());
    assert_eq!(outcomes(&change), (clause.clone(), clause));
    let (typed, text) = outcomes(&set! { a = "x" });
    assert!(matches!(typed, Outcome::Assignments(_)));
    assert_eq!(text, Outcome::SetClause(r#""a" = 'x'"#.into()));
    // A raw clause goes as it is, and can be added to.
    let change = set!("a = 'x'").set("n", 1);
    assert_eq!(change.to_string(), r#"a = 'x', "n" = 1"#);
}

#[test]
fn literals_read_back_as_what_they_were() {
    let cases = [
        (quote_literal(String::from("a'b\\\"")), r#"'a''b\"'"#),
        (quote_literal(-3), "(-3)"),
        (quote_literal(-3_i64), "'-3'::bigint"),
        (quote_literal("1.50".parse::<Numeric>().expect("number")), "'1.50'::numeric"),
        (quote_literal(0.1), "'0.1'::double precision"),
        (quote_literal(f64::NEG_INFINITY), "'-Infinity'::double precision"),
        (quote_literal(f64::NAN), "'NaN'::double precision"),
        (quote_literal(true), "true"),
        (quote_literal(None::<bool>), "NULL"),
        (quote_literal(Timestamp::from_micros(1)), "'1970-01-01T00:00:00.000001Z'::timestamptz"),
        (quote_literal(Date::INFINITY), "'infinity'::date"),
        (quote_literal(Interval::from(Duration::from_secs(3))), "'PT3S'::interval"),
        (quote_literal(Json::new(r#"{"a":"'"}"#)), r#"'{"a":"''"}'::jsonb"#),
        (quote_literal(vec![Some(String::from("a\"\\'b")), None]), r#"'{"a\"\\''b",NULL}'"#),
        (quote_literal(vec![1_i64, -2]), r#"'{"1","-2"}'::bigint[]"#),
        (quote_literal(Vec::<i32>::new()), "'{}'"),
        (quote_identifier("a\"b"), r#""a""b""#),
    ];
    for (literal, expected) in cases {
        assert_eq!(literal, expected);
    }
}

#[test]
fn sql_takes_arguments_and_variables_as_literals() {
    let step = 5;
    let name = String::from("'); drop table x; --");
    let inner: Sql = sql!("n - {step}");
    assert_eq!(sql!("n").as_str(), "n");
    assert_eq!(sql!("n + {step} + {}", -1).as_str(), "n + 5 + (-1)");
    assert_eq!(sql!("lower({name}) || {name}").as_str(), "lower('''); drop table x; --') || '''); drop table x; --'");
    assert_eq!(sql!("2 * {inner}").as_str(), "2 * (n - 5)");
    assert_eq!(sql!("'{{}}'::jsonb").as_str(), "'{}'::jsonb");
    assert_eq!(sql!("{}", Null,).as_str(), "NULL");
}

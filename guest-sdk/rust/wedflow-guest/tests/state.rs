//! Reading the state.

use wedflow_guest::prelude::*;
use wedflow_guest::testing;
use wedflow_guest::{Attribute, Declared, Scalar};

/// Every type there is.
#[derive(State, Debug, PartialEq)]
struct Everything {
    text: String,
    integer: i32,
    bigint: i64,
    numeric: Numeric,
    float: f64,
    boolean: bool,
    timestamptz: Timestamp,
    date: Date,
    interval: Interval,
    uuid: Uuid,
    jsonb: Json,
    list: Vec<i32>,
    holes: Vec<Option<String>>,
    maybe: Option<f64>,
    maybe_list: Option<Vec<bool>>,
    any: Value,
    #[state(name = "Odd Name")]
    odd: i32,
    #[state(kind = "enum(a,b)")]
    label: String,
    r#type: String,
}

/// Copies what it reads.
#[transition(name = "copy")]
fn copy(state: Everything) -> Change {
    set! { text = state.text, maybe = state.maybe, "Odd Name" = state.odd }
}

/// Takes everything.
#[transition]
fn anything(row: Row) -> Result<Change, Failure> {
    let names: Vec<&str> = row.iter().map(|(name, _)| name).collect();
    let n: i32 = row.get("n")?;
    Ok(set! { names = names.join(","), n = n + 1 })
}

fn scalar(scalar: Scalar) -> Value {
    Value::Scalar(scalar)
}

#[test]
fn the_struct_says_what_is_read() {
    let reads = testing::describe::<copy>().reads.expect("a list");
    let reads: Vec<(&str, &str)> =
        reads.iter().map(|attribute| (attribute.name.as_str(), attribute.kind.as_str())).collect();
    assert_eq!(
        reads,
        [
            ("text", "text"),
            ("integer", "integer"),
            ("bigint", "bigint"),
            ("numeric", "numeric"),
            ("float", "float"),
            ("boolean", "boolean"),
            ("timestamptz", "timestamptz"),
            ("date", "date"),
            ("interval", "interval"),
            ("uuid", "uuid"),
            ("jsonb", "jsonb"),
            ("list", "integer[]"),
            ("holes", "text[]"),
            ("maybe", "float"),
            ("maybe_list", "boolean[]"),
            ("any", "any"),
            ("Odd Name", "integer"),
            ("label", "enum(a,b)"),
            ("type", "text"),
        ]
    );
    assert_eq!(testing::describe::<anything>().reads, None);
}

#[test]
fn every_type_is_read() {
    let call = testing::call::<copy>()
        .with_text("text", "t")
        .with("integer", 1)
        .with("bigint", 2_i64)
        .with("numeric", Numeric::from(3))
        .with("float", 4.5)
        .with("boolean", true)
        .with("timestamptz", Timestamp::from_micros(5))
        .with("date", Date::from_days(6))
        .with("interval", Interval::new("1 day"))
        .with("uuid", Uuid::random())
        .with("jsonb", Json::new("{}"))
        .with("list", vec![1, 2])
        .with("holes", vec![Some("a".to_owned()), None])
        .with("any", scalar(Scalar::Bigint(7)))
        .with("Odd Name", 8)
        .with_text("label", "a")
        .with_text("type", "x");
    assert_eq!(call.run(), Ok(set! { text = "t", maybe = None::<f64>, "Odd Name" = 8 }));
}

#[test]
fn null_and_other_types_are_failures_that_name_the_attribute() {
    #[derive(State, Debug)]
    struct Numbers {
        n: i32,
        list: Vec<i64>,
    }

    /// Adds.
    #[transition]
    fn add(state: Numbers) -> Change {
        set! { n = i64::from(state.n) + state.list.iter().sum::<i64>() }
    }

    let add = |n: Value, list: Value| {
        let failure = testing::call::<add>().with("n", n).with("list", list).run();
        failure.map_err(|failure| match failure {
            Failure::Failed { message, retry } => {
                assert!(!retry);
                message
            }
            Failure::Abort { reason, .. } => reason,
        })
    };
    let n = || scalar(Scalar::Integer(1));
    let list = || Value::List(vec![Scalar::Bigint(2)]);
    assert_eq!(add(n(), list()), Ok(set! { n = 3_i64 }));
    for (n, list, message) in [
        (
            Value::NULL,
            list(),
            "attribute `n` is null and is read as integer; make the field an Option if it may be null",
        ),
        (scalar(Scalar::Text("1".into())), list(), "attribute `n` holds text and is read as integer"),
        (list(), list(), "attribute `n` holds an array and is read as integer"),
        (n(), n(), "attribute `list` holds integer and is read as bigint[]"),
        (
            n(),
            Value::List(vec![Scalar::Null]),
            "attribute `list` is null and is read as bigint; make the field an Option if it may be null",
        ),
    ] {
        assert_eq!(add(n, list), Err(message.to_owned()));
    }
}

#[test]
fn a_row_is_read_by_name() {
    let call = || testing::call::<anything>().with("n", 1).with_text("b", "x");
    assert_eq!(call().run(), Ok(set! { names = "n,b", n = 2 }));
    let missing = testing::call::<anything>().with_text("b", "x").run();
    assert_eq!(missing, Err(Failure::fatal("the flow has no attribute `n`")));
}

#[test]
fn values_go_there_and_back() {
    fn same<T: Attribute + Clone + PartialEq + std::fmt::Debug>(value: T) {
        assert_eq!(T::from_value(value.clone().into_value()), Ok(value));
    }
    same(String::from("x"));
    same(Some(1));
    same(None::<i64>);
    same(vec![Some(1.5), None]);
    same(Some(vec![true]));
    same(None::<Vec<bool>>);
    same(Timestamp::INFINITY);
    same(Value::List(vec![Scalar::Null]));
}

#[test]
fn a_state_without_attributes_reads_none() {
    #[derive(State)]
    struct Nothing {}
    let none: &[Declared] = &[];
    assert_eq!(Nothing::READS, Some(none));
    assert_eq!(<() as State>::READS, Some(none));
}

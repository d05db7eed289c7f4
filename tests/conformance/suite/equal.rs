//! When two values of an attribute are the same.

use serde_json::Value as Json;
use wedflow_model::{Scalar, Value};

/// Returns whether two values are the same: numbers to the digit, floats to the bit, JSON as JSON, intervals by
/// what they say.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Scalar(left), Value::Scalar(right)) => scalar(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| scalar(left, right))
        }
        _ => false,
    }
}

fn scalar(left: &Scalar, right: &Scalar) -> bool {
    match (left, right) {
        (Scalar::Float(left), Scalar::Float(right)) => {
            left.to_bits() == right.to_bits() || (left.is_nan() && right.is_nan())
        }
        (Scalar::Jsonb(left), Scalar::Jsonb(right)) => {
            let json = |text: &str| serde_json::from_str::<Json>(text).ok();
            json(left).is_some() && json(left) == json(right)
        }
        (Scalar::Interval(left), Scalar::Interval(right)) => {
            interval(left).is_some() && interval(left) == interval(right)
        }
        (left, right) => left == right,
    }
}

/// The months, days and microseconds of an ISO 8601 interval.
fn interval(text: &str) -> Option<(i128, i128, i128)> {
    let (mut months, mut days, mut micros) = (0, 0, 0);
    let (mut time, mut number) = (false, String::new());
    for c in text.strip_prefix('P')?.chars() {
        if c == 'T' {
            time = true;
            continue;
        }
        if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') {
            number.push(c);
            continue;
        }
        let millionths = millionths(&number)?;
        number.clear();
        let whole = millionths / 1_000_000;
        match (c, time) {
            ('Y', false) => months += whole * 12,
            ('M', false) => months += whole,
            ('W', false) => days += whole * 7,
            ('D', false) => days += whole,
            ('H', true) => micros += millionths * 3_600,
            ('M', true) => micros += millionths * 60,
            ('S', true) => micros += millionths,
            _ => return None,
        }
    }
    number.is_empty().then_some((months, days, micros))
}

fn millionths(number: &str) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.len() > 6 {
        return None;
    }
    let value: i128 = format!("{whole}{fraction:0<6}").parse().ok()?;
    Some(value)
}

//! Random states: whatever the state, a transition should not trap or run into a limit, and what it
//! answers should be what the server takes.

use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Value as Json, json};
use wedflow_model::{AttributeType, Outcome, ScalarType};
use wedflow_sandbox::AnswersFrom;

use crate::attributes::attributes_of;
use crate::call::{Call, CallError, Called, Subject, Verdict, Workbench};
use crate::fixture::DEFAULT_NOW;

/// Calls that shrinking a failing state may make.
const SHRINKING_CALLS: usize = 400;

/// A state in which a transition did what it must not.
#[derive(Debug, Clone)]
pub struct Counterexample {
    /// The input of the call, made as simple as was found.
    pub call: Call,
    /// The result of that call.
    pub called: Called,
    /// The reason, for a person.
    pub wrong: String,
}

/// The result of a search among random states.
#[derive(Debug, Clone)]
pub struct Searched {
    /// The transition.
    pub transition: String,
    /// States that were tried.
    pub tried: usize,
    /// The outcomes' names, and how often each came.
    pub outcomes: BTreeMap<&'static str, usize>,
    /// The most fuel that a call used.
    pub most_fuel: u64,
    /// The most memory that a call held, in bytes.
    pub most_memory: u64,
    /// The first state found in which it did what it must not.
    pub counterexample: Option<Box<Counterexample>>,
}

/// Calls a transition with `count` random states, the same for the same `seed`. Stops at the first that
/// shows something wrong and looks for a simpler one.
///
/// # Errors
/// [`CallError`] when no call can be made at all.
pub async fn search(
    workbench: &Workbench,
    subject: &Subject,
    base: &Call,
    count: usize,
    seed: u64,
) -> Result<Searched, CallError> {
    let declaration = subject.transition(base.transition.as_deref())?;
    let attributes = attributes_of(declaration, &base.types, &base.state)?;
    let mut random = StdRng::seed_from_u64(seed);
    let mut searched = Searched {
        transition: declaration.transition.clone(),
        tried: 0,
        outcomes: BTreeMap::new(),
        most_fuel: 0,
        most_memory: 0,
        counterexample: None,
    };
    for n in 0..count {
        let state = attributes.iter().map(|(name, kind)| (name.clone(), value(kind, &mut random))).collect();
        let call = Call {
            state,
            types: attributes.iter().cloned().collect(),
            transition: Some(declaration.transition.clone()),
            answers: AnswersFrom::Test {
                now: DEFAULT_NOW,
                // Fixtures write it as a signed number.
                seed: u64::try_from(n).unwrap_or(0),
            },
            ..base.clone()
        };
        let called = workbench.call(subject, &call).await?;
        searched.tried += 1;
        *searched.outcomes.entry(called.name()).or_default() += 1;
        searched.most_fuel = searched.most_fuel.max(called.measure.fuel);
        searched.most_memory = searched.most_memory.max(called.measure.memory_bytes);
        if let Some(wrong) = wrong_with(&called) {
            let found = Counterexample { call, called, wrong };
            searched.counterexample = Some(Box::new(shrink(workbench, subject, &attributes, found).await?));
            break;
        }
    }
    Ok(searched)
}

/// Returns what a transition must not do, whatever the state.
fn wrong_with(called: &Called) -> Option<String> {
    if let Verdict::Refused(reason) = &called.verdict {
        return Some(reason.clone());
    }
    match &called.outcome {
        Outcome::Failed { message, retry: true } if is_uncaught(message) => {
            Some(format!("an exception that nobody caught: {message}"))
        }
        Outcome::Clause(_) | Outcome::Assignments(_) | Outcome::Aborted { .. } | Outcome::Failed { .. } => None,
        _ => Some(format!("{}: {}", called.name(), called.account)),
    }
}

/// Returns whether a failure is an exception that the SDK caught because the transition did not: what a trap is in
/// Rust and C. Its message then has a traceback, by which it is known from a failure that was meant.
fn is_uncaught(message: &str) -> bool {
    message.lines().skip(1).any(|line| {
        line.starts_with("Traceback (most recent call last)")
            || line.starts_with("goroutine ")
            || line.trim_start().starts_with("at ")
            || (line.contains('@') && line.ends_with(|last: char| last.is_ascii_digit()))
    })
}

/// Makes a failing state simpler as long as it fails in the same way.
async fn shrink(
    workbench: &Workbench,
    subject: &Subject,
    attributes: &[(String, AttributeType)],
    mut found: Counterexample,
) -> Result<Counterexample, CallError> {
    let mut left = SHRINKING_CALLS;
    loop {
        let mut simpler_found = false;
        for (name, kind) in attributes {
            let present = found.call.state.get(name).cloned().unwrap_or(Json::Null);
            for candidate in simpler(kind, &present) {
                if left == 0 {
                    return Ok(found);
                }
                left -= 1;
                let mut call = found.call.clone();
                call.state.insert(name.clone(), candidate);
                let called = workbench.call(subject, &call).await?;
                if called.name() == found.called.name()
                    && let Some(wrong) = wrong_with(&called)
                {
                    found = Counterexample { call, called, wrong };
                    simpler_found = true;
                    break;
                }
            }
        }
        if !simpler_found {
            return Ok(found);
        }
    }
}

/// A random value of a type, as `to_jsonb` writes it; null and edges come often.
fn value(kind: &AttributeType, random: &mut StdRng) -> Json {
    if random.random_ratio(1, 10) {
        return Json::Null;
    }
    if !kind.array {
        return scalar(&kind.scalar, random);
    }
    let length = *[0, 1, 2, 3, 40].choose(random).unwrap_or(&1);
    (0..length).map(|_| if random.random_ratio(1, 8) { Json::Null } else { scalar(&kind.scalar, random) }).collect()
}

/// Values at the edges of a type, as JSON; empty for types that have none of their own.
fn edges(kind: &ScalarType) -> &'static [&'static str] {
    match kind {
        ScalarType::Integer => &["0", "1", "-1", "2147483647", "-2147483648"],
        ScalarType::Bigint => {
            &["0", "1", "-1", "9223372036854775807", "-9223372036854775808", "4294967295", "9007199254740992"]
        }
        ScalarType::Numeric => &[
            "0",
            "-0.01",
            "0.10",
            "1e3",
            "99999999999999999999999999999999999.99",
            "0.000000000000000000000000000001",
            "-170141183460469231731687303715884105728",
        ],
        ScalarType::Float => {
            &["0.0", "-0.0", "1e308", "-1e308", "5e-324", r#""NaN""#, r#""Infinity""#, r#""-Infinity""#]
        }
        ScalarType::Timestamptz => &[
            r#""1970-01-01T00:00:00+00:00""#,
            r#""0001-01-01T00:00:00+00:00""#,
            r#""9999-12-30T21:59:59.999999+00:00""#,
            r#""2024-02-29T23:59:59.999999+00:00""#,
            r#""infinity""#,
            r#""-infinity""#,
        ],
        ScalarType::Date => &[
            r#""1970-01-01""#,
            r#""2024-02-29""#,
            r#""0001-01-01""#,
            r#""9999-12-31""#,
            r#""infinity""#,
            r#""-infinity""#,
        ],
        ScalarType::Interval => {
            &[r#""PT0S""#, r#""-P1D""#, r#""P1Y2M3DT4H5M6.789S""#, r#""P10000Y""#, r#""PT-0.000001S""#]
        }
        ScalarType::Uuid => &[r#""00000000-0000-0000-0000-000000000000""#, r#""ffffffff-ffff-ffff-ffff-ffffffffffff""#],
        _ => &[],
    }
}

/// Returns a random value of a scalar type, in two of five cases one at its edges.
fn scalar(kind: &ScalarType, random: &mut StdRng) -> Json {
    if random.random_ratio(2, 5)
        && let Some(text) = edges(kind).choose(random)
    {
        return serde_json::from_str(text).unwrap_or(Json::Null);
    }
    ordinary(kind, random)
}

/// Returns a random value of a scalar type as people write them.
fn ordinary(kind: &ScalarType, random: &mut StdRng) -> Json {
    match kind {
        ScalarType::Text => Json::from(text(random)),
        ScalarType::Integer => Json::from(random.random_range(-1_000..1_000)),
        ScalarType::Bigint => Json::from(random.random_range(-1_000_000_i64..1_000_000)),
        ScalarType::Numeric => {
            let whole = random.random_range(-10_000..10_000);
            let text = format!("{whole}.{:02}", random.random_range(0..100));
            serde_json::from_str(&text).unwrap_or(Json::Null)
        }
        ScalarType::Float => json!(random.random_range(-1e6..1e6)),
        ScalarType::Boolean => Json::from(random.random_bool(0.5)),
        ScalarType::Timestamptz => {
            let microseconds = random.random_range(0..4_000_000_000_000_000_i64);
            Json::from(
                jiff::Timestamp::from_microsecond(microseconds)
                    .map_or_else(|_| "infinity".to_owned(), |at| at.to_string().replace('Z', "+00:00")),
            )
        }
        ScalarType::Date => Json::from(format!(
            "{:04}-{:02}-{:02}",
            random.random_range(1900..2100),
            random.random_range(1..=12),
            random.random_range(1..=28)
        )),
        ScalarType::Interval => Json::from(format!("PT{}S", random.random_range(0..100_000))),
        ScalarType::Uuid => {
            let bits: u128 = random.random();
            let hex = format!("{bits:032x}");
            let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
            Json::from(parts.join("-"))
        }
        ScalarType::Jsonb => match random.random_range(0..6) {
            0 => json!({}),
            1 => json!([]),
            2 => Json::from(text(random)),
            3 => json!({ "a": { "b": [1, null, "x"] }, "é": -0.5 }),
            4 => json!([[[[[[]]]]]]),
            _ => Json::from(random.random_range(-5..5)),
        },
        ScalarType::Enum(labels) => labels.choose(random).map_or(Json::Null, |label| Json::from(label.as_str())),
    }
}

fn text(random: &mut StdRng) -> String {
    const EDGES: [&str; 12] = [
        "",
        " ",
        "'",
        "O'Hara; --",
        "\\",
        "\"quoted\"",
        "line\nbreak\ttab",
        "null",
        "größe 数量",
        "👩‍👩‍👧",
        "\u{202e}abc",
        "-1",
    ];
    match random.random_range(0..10) {
        0..=4 => EDGES.choose(random).map_or("", |one| *one).to_owned(),
        5 => "x".repeat(random.random_range(1_000..20_000)),
        _ => (0..random.random_range(1..12)).map(|_| char::from(random.random_range(b'a'..=b'z'))).collect(),
    }
}

/// Simpler values than this one, the simplest first; none for the simplest.
fn simpler(kind: &AttributeType, present: &Json) -> Vec<Json> {
    if present.is_null() {
        return Vec::new();
    }
    let mut candidates = vec![Json::Null];
    if let (true, Json::Array(elements)) = (kind.array, present) {
        candidates.push(json!([]));
        if elements.len() > 1 {
            candidates.push(elements[..elements.len() / 2].to_vec().into());
            candidates.push(elements[1..].to_vec().into());
        }
        candidates.retain(|candidate| candidate != present);
        return candidates;
    }
    match present {
        Json::String(text) if matches!(kind.scalar, ScalarType::Text) => {
            let count = text.chars().count();
            candidates.push(Json::from(""));
            if count > 1 {
                candidates.push(Json::from("a"));
                candidates.push(text.chars().take(count / 2).collect::<String>().into());
                candidates.push(text.chars().take(count - 1).collect::<String>().into());
            }
        }
        Json::Number(number) => {
            candidates.push(json!(0));
            if let Some(n) = number.as_i64() {
                candidates.extend([json!(1), json!(n / 2)]);
                if n != 0 {
                    candidates.push(json!(n - n.signum()));
                }
            }
        }
        Json::Bool(true) => candidates.push(json!(false)),
        Json::Object(_) | Json::Array(_) => candidates.push(json!({})),
        _ => {}
    }
    // A step that does not lead on would be taken for ever.
    let rank = |json: &Json| json.to_string().trim_start_matches('-').len();
    let magnitude = |json: &Json| json.as_i64().map(i64::unsigned_abs);
    candidates.retain(|candidate| {
        candidate != present
            && (candidate.is_null()
                || rank(candidate) < rank(present)
                || magnitude(candidate).zip(magnitude(present)).is_some_and(|(one, other)| one < other)
                || *present == Json::Bool(true))
    });
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;
    use wedflow_model::Value;

    const TYPES: [&str; 14] = [
        "text",
        "integer",
        "bigint",
        "numeric",
        "float",
        "boolean",
        "timestamptz",
        "date",
        "interval",
        "uuid",
        "jsonb",
        "enum(a,b)",
        "text[]",
        "numeric[]",
    ];

    #[test]
    fn every_value_is_one_of_its_type() {
        let mut random = StdRng::seed_from_u64(1);
        for kind in TYPES {
            let kind: AttributeType = kind.parse().expect("type");
            for _ in 0..500 {
                let made = value(&kind, &mut random);
                assert!(Value::from_json(&kind, &made).is_ok(), "{kind}: {made}");
            }
        }
    }

    #[test]
    fn simpler_values_end_at_null() {
        let mut random = StdRng::seed_from_u64(2);
        for kind in TYPES {
            let kind: AttributeType = kind.parse().expect("type");
            for _ in 0..50 {
                let mut present = value(&kind, &mut random);
                // Always the least simple of the candidates: the longest way.
                for step in 0.. {
                    assert!(step < 40_000, "{kind}: {present}");
                    match simpler(&kind, &present).pop() {
                        Some(next) => {
                            assert!(Value::from_json(&kind, &next).is_ok(), "{kind}: {next}");
                            // Large numbers go down by one; leap, so that the test is short.
                            present = match (next.as_i64(), present.as_i64()) {
                                (Some(n), Some(_)) if n.unsigned_abs() > 100 => json!(n / 2),
                                _ => next,
                            };
                        }
                        None => break,
                    }
                }
                assert!(present.is_null(), "{kind}: {present}");
            }
        }
    }
}

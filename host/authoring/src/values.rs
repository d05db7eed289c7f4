//! Values and times as fixtures write them.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value as Json;

/// A value of TOML as the JSON that a state holds.
pub(crate) fn json_of(value: &toml::Value) -> Result<Json, String> {
    Ok(match value {
        toml::Value::String(text) => Json::from(text.as_str()),
        toml::Value::Integer(n) => Json::from(*n),
        toml::Value::Float(n) if n.is_finite() => serde_json::Number::from_f64(*n).map_or(Json::Null, Json::Number),
        toml::Value::Float(n) if n.is_nan() => Json::from("NaN"),
        toml::Value::Float(n) => Json::from(if *n > 0.0 { "Infinity" } else { "-Infinity" }),
        toml::Value::Boolean(b) => Json::from(*b),
        toml::Value::Datetime(at) => Json::from(at.to_string()),
        toml::Value::Array(list) => list.iter().map(json_of).collect::<Result<_, _>>()?,
        toml::Value::Table(table) => Json::Object(
            table.iter().map(|(name, value)| Ok((name.clone(), json_of(value)?))).collect::<Result<_, String>>()?,
        ),
    })
}

/// Reads a time: RFC 3339, or a date for its first moment in UTC.
///
/// # Errors
/// What is wrong, for a person.
pub fn read_time(text: &str) -> Result<i64, String> {
    let parsed = text.parse::<Timestamp>().or_else(|error| match text.parse::<jiff::civil::Date>() {
        Ok(date) => format!("{date}T00:00:00Z").parse(),
        Err(_) => Err(error),
    });
    parsed.map(|at| at.as_microsecond()).map_err(|_| format!("{text:?} is no time such as 2026-01-31T12:00:00Z"))
}

/// Reads a time of TOML.
pub(crate) fn time_of(value: &toml::Value) -> Result<i64, String> {
    match value {
        toml::Value::String(text) => read_time(text),
        toml::Value::Datetime(at) => read_time(&at.to_string()),
        other => Err(format!("{other} is no time such as 2026-01-31T12:00:00Z")),
    }
}

/// A time as it is written into a fixture.
pub(crate) fn time_text(microseconds: i64) -> String {
    Timestamp::from_microsecond(microseconds).map_or_else(|_| microseconds.to_string(), |at| at.to_string())
}

/// Reads a length of time such as `10s`, `250ms` or `1m 30s`.
///
/// # Errors
/// What is wrong, for a person.
pub fn read_duration(text: &str) -> Result<Duration, String> {
    text.parse::<SignedDuration>()
        .ok()
        .and_then(|span| Duration::try_from(span).ok())
        .ok_or_else(|| format!("{text:?} is no length of time such as 10s, 250ms or 1m 30s"))
}

/// Writes a length of time as [`read_duration`] reads it.
pub(crate) fn write_duration(time: Duration) -> String {
    SignedDuration::try_from(time).map_or_else(|_| "1h".to_owned(), |span| format!("{span:#}"))
}

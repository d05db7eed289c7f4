//! WED-attributes: their types, and the values a WED-state holds.

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, DateTime};
use jiff::fmt::temporal::Pieces;
use jiff::{SignedDuration, Span, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Moment from which timestamps count.
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// A type without structure. What it is called in `wed_attr.atype` is [`ScalarType::name`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ScalarType {
    /// `text`, the default (the papers know no other).
    Text,
    /// `integer`, 32 bits.
    Integer,
    /// `bigint`, 64 bits.
    Bigint,
    /// `numeric`, exact decimals.
    Numeric,
    /// `float`, Postgres's `double precision`.
    Float,
    /// `boolean`.
    Boolean,
    /// `timestamptz`, microseconds.
    Timestamptz,
    /// `date`.
    Date,
    /// `interval`.
    Interval,
    /// `uuid`.
    Uuid,
    /// `jsonb`.
    Jsonb,
    /// `enum(a,b,…)`: text limited to the listed labels.
    Enum(Vec<String>),
}

/// The type of a WED-attribute: a scalar or an array of one (`integer[]`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AttributeType {
    /// The type itself, or that of the elements.
    pub scalar: ScalarType,
    /// True if it is an array.
    pub array: bool,
}

/// A value without structure, `null` included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Scalar {
    /// SQL null.
    Null,
    /// Text, and the label of an enum.
    Text(String),
    /// 32-bit integer.
    Integer(i32),
    /// 64-bit integer.
    Bigint(i64),
    /// Exact decimal, in Postgres's notation.
    Numeric(String),
    /// Double precision.
    Float(f64),
    /// Truth value.
    Boolean(bool),
    /// Microseconds since 1970-01-01T00:00:00Z; `i64::MAX` and `i64::MIN` are `infinity` and
    /// `-infinity`.
    Timestamptz(i64),
    /// Days since 1970-01-01; `i32::MAX` and `i32::MIN` are `infinity` and `-infinity`.
    Date(i32),
    /// ISO 8601 duration.
    Interval(String),
    /// RFC 9562 text form.
    Uuid(String),
    /// JSON text.
    Jsonb(String),
}

/// The value of a WED-attribute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// A single value.
    Scalar(Scalar),
    /// An array of one dimension.
    Array(Vec<Scalar>),
}

impl Value {
    /// SQL null.
    pub const NULL: Value = Value::Scalar(Scalar::Null);
}

/// A type that cannot be read, or a value that does not fit its type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// The type's name is not known.
    #[error(
        "unknown attribute type `{0}`; use text, integer, bigint, numeric, float, boolean, timestamptz, date, \
         interval, uuid, jsonb, enum(a,b,…), or one of these followed by []"
    )]
    UnknownType(String),
    /// The value does not fit.
    #[error("`{value}` is no {expected}")]
    Mismatch {
        /// The type that was expected.
        expected: String,
        /// The value, shortened.
        value: String,
    },
}

impl ScalarType {
    /// The type's name in `wed_attr.atype`.
    pub fn name(&self) -> String {
        match self {
            ScalarType::Text => "text".into(),
            ScalarType::Integer => "integer".into(),
            ScalarType::Bigint => "bigint".into(),
            ScalarType::Numeric => "numeric".into(),
            ScalarType::Float => "float".into(),
            ScalarType::Boolean => "boolean".into(),
            ScalarType::Timestamptz => "timestamptz".into(),
            ScalarType::Date => "date".into(),
            ScalarType::Interval => "interval".into(),
            ScalarType::Uuid => "uuid".into(),
            ScalarType::Jsonb => "jsonb".into(),
            ScalarType::Enum(labels) => format!("enum({})", labels.join(",")),
        }
    }
}

impl AttributeType {
    /// The Postgres type of the attribute's column, safe to stand in SQL.
    pub fn sql_name(&self) -> &'static str {
        match (&self.scalar, self.array) {
            (ScalarType::Text | ScalarType::Enum(_), false) => "text",
            (ScalarType::Text | ScalarType::Enum(_), true) => "text[]",
            (ScalarType::Integer, false) => "integer",
            (ScalarType::Integer, true) => "integer[]",
            (ScalarType::Bigint, false) => "bigint",
            (ScalarType::Bigint, true) => "bigint[]",
            (ScalarType::Numeric, false) => "numeric",
            (ScalarType::Numeric, true) => "numeric[]",
            (ScalarType::Float, false) => "double precision",
            (ScalarType::Float, true) => "double precision[]",
            (ScalarType::Boolean, false) => "boolean",
            (ScalarType::Boolean, true) => "boolean[]",
            (ScalarType::Timestamptz, false) => "timestamptz",
            (ScalarType::Timestamptz, true) => "timestamptz[]",
            (ScalarType::Date, false) => "date",
            (ScalarType::Date, true) => "date[]",
            (ScalarType::Interval, false) => "interval",
            (ScalarType::Interval, true) => "interval[]",
            (ScalarType::Uuid, false) => "uuid",
            (ScalarType::Uuid, true) => "uuid[]",
            (ScalarType::Jsonb, false) => "jsonb",
            (ScalarType::Jsonb, true) => "jsonb[]",
        }
    }
}

impl fmt::Display for AttributeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.scalar.name(), if self.array { "[]" } else { "" })
    }
}

impl FromStr for AttributeType {
    type Err = ValueError;

    /// Reads a type's name, as in `wed_attr.atype`.
    ///
    /// # Errors
    /// [`ValueError::UnknownType`] for anything that is not one of the names.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let trimmed = text.trim();
        let (name, array) = match trimmed.strip_suffix("[]") {
            Some(name) => (name.trim_end(), true),
            None => (trimmed, false),
        };
        let unknown = || ValueError::UnknownType(text.chars().take(80).collect());
        let lower = name.to_ascii_lowercase();
        let scalar = match lower.as_str() {
            "text" => ScalarType::Text,
            "integer" | "int" | "int4" => ScalarType::Integer,
            "bigint" | "int8" => ScalarType::Bigint,
            "numeric" | "decimal" => ScalarType::Numeric,
            "float" | "float8" | "double precision" => ScalarType::Float,
            "boolean" | "bool" => ScalarType::Boolean,
            "timestamptz" | "timestamp with time zone" => ScalarType::Timestamptz,
            "date" => ScalarType::Date,
            "interval" => ScalarType::Interval,
            "uuid" => ScalarType::Uuid,
            "jsonb" => ScalarType::Jsonb,
            _ => {
                let labels = name
                    .get(..5)
                    .filter(|head| head.eq_ignore_ascii_case("enum("))
                    .and_then(|_| name.get(5..))
                    .and_then(|rest| rest.strip_suffix(')'))
                    .ok_or_else(unknown)?;
                let labels: Vec<String> = labels.split(',').map(|label| label.trim().to_owned()).collect();
                if labels.iter().any(String::is_empty) {
                    return Err(unknown());
                }
                ScalarType::Enum(labels)
            }
        };
        Ok(AttributeType { scalar, array })
    }
}

fn mismatch(expected: &ScalarType, value: &dyn fmt::Display) -> ValueError {
    ValueError::Mismatch { expected: expected.name(), value: value.to_string().chars().take(80).collect() }
}

/// Reads a timestamp as Postgres writes it in JSON: microseconds since 1970.
pub fn read_moment(text: &str) -> Option<i64> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at.as_microsecond());
    }
    // An instant of the library ends a day before its calendar, to have a civil time in every zone.
    let pieces = Pieces::parse(text).ok()?;
    let at = pieces.date().to_datetime(pieces.time()?);
    let since = at.duration_since(EPOCH).as_micros();
    let offset = i128::from(pieces.to_numeric_offset()?.seconds());
    i64::try_from(since - offset * 1_000_000).ok()
}

impl Scalar {
    /// Reads a value of the given type from the JSON that Postgres's `to_jsonb` makes of it.
    ///
    /// # Errors
    /// [`ValueError::Mismatch`] when the JSON is not what that type becomes.
    pub fn from_json(kind: &ScalarType, json: &Json) -> Result<Self, ValueError> {
        let wrong = || mismatch(kind, json);
        if json.is_null() {
            return Ok(Scalar::Null);
        }
        Ok(match kind {
            ScalarType::Text | ScalarType::Enum(_) => Scalar::Text(json.as_str().ok_or_else(wrong)?.to_owned()),
            ScalarType::Integer => {
                Scalar::Integer(json.as_i64().and_then(|n| i32::try_from(n).ok()).ok_or_else(wrong)?)
            }
            ScalarType::Bigint => Scalar::Bigint(json.as_i64().ok_or_else(wrong)?),
            ScalarType::Numeric => match json {
                Json::Number(n) => Scalar::Numeric(n.to_string()),
                Json::String(s) => Scalar::Numeric(s.clone()),
                _ => return Err(wrong()),
            },
            ScalarType::Float => match json {
                Json::Number(n) => Scalar::Float(n.as_f64().ok_or_else(wrong)?),
                Json::String(s) => match s.as_str() {
                    "Infinity" => Scalar::Float(f64::INFINITY),
                    "-Infinity" => Scalar::Float(f64::NEG_INFINITY),
                    "NaN" => Scalar::Float(f64::NAN),
                    _ => return Err(wrong()),
                },
                _ => return Err(wrong()),
            },
            ScalarType::Boolean => Scalar::Boolean(json.as_bool().ok_or_else(wrong)?),
            ScalarType::Timestamptz => {
                let text = json.as_str().ok_or_else(wrong)?;
                Scalar::Timestamptz(match text {
                    "infinity" => i64::MAX,
                    "-infinity" => i64::MIN,
                    _ => read_moment(text).ok_or_else(wrong)?,
                })
            }
            ScalarType::Date => {
                let text = json.as_str().ok_or_else(wrong)?;
                Scalar::Date(match text {
                    "infinity" => i32::MAX,
                    "-infinity" => i32::MIN,
                    _ => {
                        let date: Date = text.parse().map_err(|_| wrong())?;
                        (date - Date::constant(1970, 1, 1)).get_days()
                    }
                })
            }
            ScalarType::Interval => Scalar::Interval(json.as_str().ok_or_else(wrong)?.to_owned()),
            ScalarType::Uuid => Scalar::Uuid(json.as_str().ok_or_else(wrong)?.to_owned()),
            ScalarType::Jsonb => Scalar::Jsonb(json.to_string()),
        })
    }

    /// The value in Postgres's input notation, or nothing for null; to be bound, never pasted.
    pub fn to_literal(&self) -> Option<String> {
        Some(match self {
            Scalar::Null => return None,
            Scalar::Text(s) | Scalar::Numeric(s) | Scalar::Interval(s) | Scalar::Uuid(s) | Scalar::Jsonb(s) => {
                s.clone()
            }
            Scalar::Integer(n) => n.to_string(),
            Scalar::Bigint(n) => n.to_string(),
            Scalar::Float(n) if n.is_infinite() => if *n > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
            Scalar::Float(n) => n.to_string(),
            Scalar::Boolean(b) => b.to_string(),
            Scalar::Timestamptz(i64::MAX) | Scalar::Date(i32::MAX) => "infinity".to_owned(),
            Scalar::Timestamptz(i64::MIN) | Scalar::Date(i32::MIN) => "-infinity".to_owned(),
            Scalar::Timestamptz(us) => match Timestamp::from_microsecond(*us) {
                Ok(at) => at.to_string(),
                Err(_) => match EPOCH.checked_add(SignedDuration::from_micros(*us)) {
                    Ok(at) => format!("{at}Z"),
                    // Beyond year 9999: a text Postgres refuses, so that the error names the value.
                    Err(_) => format!("{us} microseconds after 1970"),
                },
            },
            Scalar::Date(days) => {
                match Span::new().try_days(*days).and_then(|span| Date::constant(1970, 1, 1).checked_add(span)) {
                    Ok(date) => date.to_string(),
                    Err(_) => format!("{days} days after 1970"),
                }
            }
        })
    }
}

impl Value {
    /// Reads a value of the given type from the JSON that Postgres's `to_jsonb` makes of it.
    ///
    /// # Errors
    /// [`ValueError::Mismatch`] when the JSON is not what that type becomes; an array of more than
    /// one dimension is one such case.
    pub fn from_json(kind: &AttributeType, json: &Json) -> Result<Self, ValueError> {
        if kind.array && !json.is_null() {
            let elements = json.as_array().ok_or_else(|| mismatch(&kind.scalar, json))?;
            elements
                .iter()
                .map(|element| Scalar::from_json(&kind.scalar, element))
                .collect::<Result<_, _>>()
                .map(Value::Array)
        } else {
            Scalar::from_json(&kind.scalar, json).map(Value::Scalar)
        }
    }

    /// The value in Postgres's input notation, or nothing for null; to be bound, never pasted.
    pub fn to_literal(&self) -> Option<String> {
        match self {
            Value::Scalar(scalar) => scalar.to_literal(),
            Value::Array(elements) => {
                let mut text = String::from("{");
                for (at, element) in elements.iter().enumerate() {
                    if at > 0 {
                        text.push(',');
                    }
                    match element.to_literal() {
                        None => text.push_str("NULL"),
                        Some(literal) => {
                            text.push('"');
                            for c in literal.chars() {
                                if matches!(c, '"' | '\\') {
                                    text.push('\\');
                                }
                                text.push(c);
                            }
                            text.push('"');
                        }
                    }
                }
                text.push('}');
                Some(text)
            }
        }
    }
}

impl Serialize for AttributeType {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AttributeType {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_are_read_and_written_by_name() {
        for name in ["text", "integer", "bigint[]", "enum(new,paid)", "enum(a)[]", "jsonb"] {
            assert_eq!(name.parse::<AttributeType>().expect(name).to_string(), name);
        }
        for name in ["", "varchar", "enum()", "enum(a", "text[][]", "int; drop table x"] {
            assert!(name.parse::<AttributeType>().is_err(), "{name}");
        }
    }

    #[test]
    fn edge_values_survive_the_way_from_json_to_a_literal() {
        let cases = [
            ("timestamptz", json!("2026-11-21T09:41:00.000001+01:00"), "2026-11-21T08:41:00.000001Z"),
            ("timestamptz", json!("infinity"), "infinity"),
            ("timestamptz", json!("9999-12-31T23:59:59.999999+00:00"), "9999-12-31T23:59:59.999999Z"),
            ("timestamptz", json!("0001-01-01T00:00:00+00:00"), "0001-01-01T00:00:00Z"),
            ("date", json!("1969-12-31"), "1969-12-31"),
            ("date", json!("-infinity"), "-infinity"),
            ("bigint", json!(i64::MIN), "-9223372036854775808"),
            ("float", json!("-Infinity"), "-Infinity"),
            ("text", json!("o'clock"), "o'clock"),
            ("text[]", json!(["a\"b", "c\\d", null, "NULL"]), r#"{"a\"b","c\\d",NULL,"NULL"}"#),
            ("jsonb", json!({"a": [1, null]}), r#"{"a":[1,null]}"#),
        ];
        for (kind, json, literal) in cases {
            let kind: AttributeType = kind.parse().expect("type");
            let value = Value::from_json(&kind, &json).expect("value");
            assert_eq!(value.to_literal().as_deref(), Some(literal));
        }
        let integer: AttributeType = "integer".parse().expect("type");
        assert!(Value::from_json(&integer, &json!(2_147_483_648_i64)).is_err());
        assert_eq!(Value::from_json(&integer, &Json::Null), Ok(Value::NULL));
    }

    #[test]
    fn every_scalar_is_written_at_its_extremes() {
        let values = [
            Scalar::Integer(i32::MIN),
            Scalar::Integer(i32::MAX),
            Scalar::Bigint(i64::MIN),
            Scalar::Bigint(i64::MAX),
            Scalar::Float(f64::MIN),
            Scalar::Float(f64::MAX),
            Scalar::Float(f64::MIN_POSITIVE),
            Scalar::Float(f64::NAN),
            Scalar::Float(f64::NEG_INFINITY),
            Scalar::Timestamptz(i64::MIN),
            Scalar::Timestamptz(i64::MIN + 1),
            Scalar::Timestamptz(i64::MAX - 1),
            Scalar::Timestamptz(i64::MAX),
            Scalar::Date(i32::MIN),
            Scalar::Date(i32::MIN + 1),
            Scalar::Date(i32::MAX - 1),
            Scalar::Date(i32::MAX),
            Scalar::Text(String::new()),
            Scalar::Text("\0".to_owned()),
        ];
        for value in values {
            assert!(value.to_literal().is_some(), "{value:?}");
        }
        assert_eq!(Scalar::Date(i32::MAX - 1).to_literal().as_deref(), Some("2147483646 days after 1970"));
    }
}

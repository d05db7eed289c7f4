//! Reads the payload's JSON text as the guest's values, by position, and copies as little as possible.

use std::borrow::Cow;
use std::fmt;

use bumpalo::Bump;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use wedflow_contract::{Binding, BoundAttribute};
use wedflow_model::{AttributeType, Scalar, ScalarType};

use crate::bindings::{ScalarParam, ValueParam};

/// A payload that is not what the binding says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the payload cannot be handed over: {0}")]
pub(crate) struct PayloadError(String);

/// Reads a payload (a JSON object of attribute names and values, as Postgres's `to_jsonb` writes
/// them) into the values that the binding asks for, in its order. An attribute that is not in the
/// payload is null, one that nobody asks for is skipped. What has to be copied goes into `scratch`.
///
/// # Errors
/// [`PayloadError`] when the text is no JSON object, or a value is not of its attribute's type.
pub(crate) fn decode<'a>(
    payload: &'a str,
    binding: &Binding,
    scratch: &'a Bump,
) -> Result<&'a [ValueParam<'a>], PayloadError> {
    let mut json = serde_json::Deserializer::from_str(payload);
    let seed = State { binding, scratch };
    let state = seed.deserialize(&mut json).and_then(|state| {
        json.end()?;
        Ok(state)
    });
    state.map_err(|error| PayloadError(error.to_string()))
}

struct State<'a, 'b> {
    binding: &'b Binding,
    scratch: &'a Bump,
}

impl<'a> DeserializeSeed<'a> for State<'a, '_> {
    type Value = &'a [ValueParam<'a>];

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for State<'a, '_> {
    type Value = &'a [ValueParam<'a>];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of attribute names and values")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let reads = self.binding.reads();
        let null = ValueParam::Scalar(ScalarParam::Null);
        let state = self.scratch.alloc_slice_fill_clone(reads.len(), &null);
        let mut cursor = 0;
        while let Some(Key(key)) = map.next_key()? {
            match self.binding.position(&key, &mut cursor) {
                Some(at) => {
                    let raw: &'a RawValue = map.next_value()?;
                    state[at] = value(&reads[at], raw.get(), self.scratch).map_err(A::Error::custom)?;
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(state)
    }
}

/// A key, borrowed where it holds no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'a> serde::Deserialize<'a> for Key<'a> {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'a> Visitor<'a> for Text {
            type Value = Key<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }
            fn visit_borrowed_str<E>(self, text: &'a str) -> Result<Key<'a>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Key<'a>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

fn value<'a>(attribute: &BoundAttribute, raw: &'a str, scratch: &'a Bump) -> Result<ValueParam<'a>, String> {
    let kind = &attribute.kind;
    let wrong = || mismatch(attribute, kind, raw);
    if !kind.array || raw == "null" {
        return scalar(&kind.scalar, raw, scratch).map(ValueParam::Scalar).ok_or_else(wrong);
    }
    let elements: Vec<&'a RawValue> = serde_json::from_str(raw).map_err(|_| wrong())?;
    let list = scratch.alloc_slice_fill_clone(elements.len(), &ScalarParam::Null);
    for (place, element) in list.iter_mut().zip(elements) {
        *place = scalar(&kind.scalar, element.get(), scratch).ok_or_else(wrong)?;
    }
    Ok(ValueParam::List(list))
}

fn mismatch(attribute: &BoundAttribute, kind: &AttributeType, raw: &str) -> String {
    let shown: String = raw.chars().take(80).collect();
    format!("`{}` should be {kind} but is {shown}", attribute.name)
}

/// Reads one value; none if it is not of the type. The JSON is known to be valid.
fn scalar<'a>(kind: &ScalarType, raw: &'a str, scratch: &'a Bump) -> Option<ScalarParam<'a>> {
    if raw == "null" {
        return Some(ScalarParam::Null);
    }
    Some(match kind {
        ScalarType::Text | ScalarType::Enum(_) => ScalarParam::Text(text(raw, scratch)?),
        ScalarType::Integer => ScalarParam::Integer(raw.parse().ok()?),
        ScalarType::Bigint => ScalarParam::Bigint(raw.parse().ok()?),
        // The digits as they stand: nothing is rounded.
        ScalarType::Numeric => ScalarParam::Numeric(match raw.as_bytes() {
            [b'"', ..] => text(raw, scratch)?,
            [b'-' | b'0'..=b'9', ..] => raw,
            _ => return None,
        }),
        ScalarType::Float => ScalarParam::Float(match raw {
            r#""Infinity""# => f64::INFINITY,
            r#""-Infinity""# => f64::NEG_INFINITY,
            r#""NaN""# => f64::NAN,
            _ => raw.parse().ok()?,
        }),
        ScalarType::Boolean => ScalarParam::Boolean(raw.parse().ok()?),
        ScalarType::Interval => ScalarParam::Interval(text(raw, scratch)?),
        ScalarType::Uuid => ScalarParam::Uuid(text(raw, scratch)?),
        ScalarType::Jsonb => ScalarParam::Jsonb(raw),
        ScalarType::Timestamptz | ScalarType::Date => {
            let json = serde_json::Value::String(text(raw, scratch)?.to_owned());
            match Scalar::from_json(kind, &json).ok()? {
                Scalar::Timestamptz(microseconds) => ScalarParam::Timestamptz(microseconds),
                Scalar::Date(days) => ScalarParam::Date(days),
                _ => return None,
            }
        }
    })
}

/// A string's content: a part of the payload itself unless it holds escapes.
fn text<'a>(raw: &'a str, scratch: &'a Bump) -> Option<&'a str> {
    let content = raw.strip_prefix('"')?.strip_suffix('"')?;
    if content.contains('\\') {
        let unescaped: String = serde_json::from_str(raw).ok()?;
        Some(scratch.alloc_str(&unescaped))
    } else {
        Some(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wedflow_contract::{Declaration, bind};

    fn binding(attributes: &[(&str, &str)]) -> Binding {
        let attributes: Vec<_> =
            attributes.iter().map(|(name, kind)| ((*name).to_owned(), kind.parse().expect("type"))).collect();
        let declaration = Declaration { transition: "t".into(), ..Declaration::default() };
        bind(&declaration, &attributes).expect("fits")
    }

    fn decoded(attributes: &[(&str, &str)], payload: &str) -> String {
        let scratch = Bump::new();
        match decode(payload, &binding(attributes), &scratch) {
            Ok(state) => format!("{state:?}").replace("ValueParam::", "").replace("ScalarParam::", ""),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn values_of_every_type_arrive_as_they_were() {
        for (kind, json, expected) in [
            ("text", r#""ready""#, r#"Scalar(Text("ready"))"#),
            ("text", r#""a\"b\u00e9\n""#, r#"Scalar(Text("a\"bé\n"))"#),
            ("text", r#""""#, r#"Scalar(Text(""))"#),
            ("enum(new,paid)", r#""paid""#, r#"Scalar(Text("paid"))"#),
            ("integer", "-2147483648", "Scalar(Integer(-2147483648))"),
            ("bigint", "9223372036854775807", "Scalar(Bigint(9223372036854775807))"),
            (
                "numeric",
                "0.10000000000000000000000000000000000001",
                r#"Scalar(Numeric("0.10000000000000000000000000000000000001"))"#,
            ),
            ("numeric", r#""NaN""#, r#"Scalar(Numeric("NaN"))"#),
            ("float", "1.5e300", "Scalar(Float(1.5e300))"),
            ("float", r#""-Infinity""#, "Scalar(Float(-inf))"),
            ("boolean", "true", "Scalar(Boolean(true))"),
            ("timestamptz", r#""1970-01-01T00:00:01.000002+00:00""#, "Scalar(Timestamptz(1000002))"),
            ("timestamptz", r#""infinity""#, "Scalar(Timestamptz(9223372036854775807))"),
            ("date", r#""1970-01-02""#, "Scalar(Date(1))"),
            ("interval", r#""PT1H""#, r#"Scalar(Interval("PT1H"))"#),
            ("jsonb", r#"{"a": [1, null]}"#, r#"Scalar(Jsonb("{\"a\": [1, null]}"))"#),
            ("integer[]", "[1, null, 3]", "List([Integer(1), Null, Integer(3)])"),
            ("text[]", "[]", "List([])"),
            ("text[]", "null", "Scalar(Null)"),
            ("text", "null", "Scalar(Null)"),
        ] {
            let payload = format!(r#"{{"a": {json}}}"#);
            assert_eq!(decoded(&[("a", kind)], &payload), format!("[{expected}]"), "{kind}");
        }
    }

    #[test]
    fn attributes_are_found_in_any_order_and_may_be_missing() {
        let flow = [("bb", "text"), ("a", "integer"), ("c", "text")];
        let expected = r#"[Scalar(Text("x")), Scalar(Integer(1)), Scalar(Null)]"#;
        for payload in
            [r#"{"a": 1, "bb": "x"}"#, r#"{"bb": "x", "a": 1}"#, r#"{"zz": [{"a": 2}], "bb": "x", "": 7, "\u0061": 1}"#]
        {
            assert_eq!(decoded(&flow, payload), expected, "{payload}");
        }
        assert_eq!(decoded(&flow, "{}"), "[Scalar(Null), Scalar(Null), Scalar(Null)]");
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (kind, payload, part) in [
            ("integer", r#"{"a": "x"}"#, "`a` should be integer but is \"x\""),
            ("integer", r#"{"a": 2147483648}"#, "should be integer"),
            ("text", r#"{"a": 1}"#, "should be text but is 1"),
            ("text[]", r#"{"a": "x"}"#, "should be text[]"),
            ("text[]", r#"{"a": [["x"]]}"#, "should be text[]"),
            ("boolean", r#"{"a": 1}"#, "should be boolean"),
            ("date", r#"{"a": "soon"}"#, "should be date"),
            ("text", "[1]", "an object of attribute names"),
            ("text", r#"{"a": "x""#, "EOF"),
            ("text", r#"{"a": "x"} {}"#, "trailing"),
        ] {
            let error = decoded(&[("a", kind)], payload);
            assert!(error.contains(part), "{error}");
        }
    }
}

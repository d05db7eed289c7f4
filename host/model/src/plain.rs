//! Documents of JSON within definitions, written so that other formats have their numbers as numbers.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json};

/// A document whose numbers are written as whole or floating ones, where that is exact.
struct Plain<'a>(&'a Json);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Json::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => serializer.serialize_i64(whole),
                (None, Some(float)) if float.to_string() == number.to_string() => serializer.serialize_f64(float),
                _ => number.serialize(serializer),
            },
            Json::Array(items) => serializer.collect_seq(items.iter().map(Plain)),
            Json::Object(entries) => entries_of(entries, serializer),
            other => other.serialize(serializer),
        }
    }
}

/// Writes a document that may be absent.
#[allow(clippy::ref_option, reason = "serde hands the field as it is")]
pub(crate) fn document<S: Serializer>(document: &Option<Json>, serializer: S) -> Result<S::Ok, S::Error> {
    document.as_ref().map(Plain).serialize(serializer)
}

/// Writes the entries of an object.
pub(crate) fn entries_of<S: Serializer>(entries: &Map<String, Json>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(entries.iter().map(|(name, value)| (name, Plain(value))))
}

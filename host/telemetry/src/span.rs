//! A span, and its form in OTLP's JSON.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::ids::{SpanId, TraceId};

/// Kind of a span, by OTLP's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Work within the installation.
    Internal = 1,
    /// Request that was answered.
    Server = 2,
    /// Request that was sent.
    Client = 3,
    /// Job that was taken.
    Consumer = 5,
}

/// Operation with a beginning and an end.
#[derive(Debug, Clone)]
pub struct Span {
    /// Trace.
    pub trace: TraceId,
    /// Own id.
    pub id: SpanId,
    /// Span that caused it.
    pub parent: Option<SpanId>,
    /// Span of another trace that belongs to it.
    pub link: Option<(TraceId, SpanId)>,
    /// Name, of which there are few.
    pub name: String,
    /// Kind.
    pub kind: Kind,
    /// Begin.
    pub begun: SystemTime,
    /// End.
    pub ended: SystemTime,
    /// Attributes: text, whole numbers, truth values.
    pub attributes: Vec<(&'static str, Value)>,
    /// Failure, for a person; none where it ended well.
    pub failure: Option<String>,
}

impl Span {
    /// Returns the span as OTLP writes it in JSON.
    pub(crate) fn document(&self) -> Value {
        let mut span = json!({
            "traceId": self.trace.to_string(),
            "spanId": self.id.to_string(),
            "name": self.name,
            "kind": self.kind as u8,
            "startTimeUnixNano": nanoseconds(self.begun),
            "endTimeUnixNano": nanoseconds(self.ended),
            "attributes": attributes(self.attributes.iter().map(|(key, value)| (*key, value))),
            "status": match &self.failure {
                None => json!({}),
                Some(message) => json!({ "code": 2, "message": message }),
            },
        });
        if let Some(parent) = self.parent {
            span["parentSpanId"] = parent.to_string().into();
        }
        if let Some((trace, id)) = self.link {
            span["links"] = json!([{ "traceId": trace.to_string(), "spanId": id.to_string() }]);
        }
        span
    }
}

/// Returns attributes as OTLP writes them: whole numbers are text.
pub(crate) fn attributes<'a>(pairs: impl Iterator<Item = (&'a str, &'a Value)>) -> Value {
    let written = |value: &Value| match value {
        Value::String(text) => json!({ "stringValue": text }),
        Value::Bool(truth) => json!({ "boolValue": truth }),
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        other => json!({ "stringValue": other.to_string() }),
    };
    pairs.map(|(key, value)| json!({ "key": key, "value": written(value) })).collect()
}

/// Returns nanoseconds since 1970 as text.
fn nanoseconds(at: SystemTime) -> String {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_nanos().to_string()
}

//! Reading what is sent, bounded in size and time.

use std::collections::HashSet;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt;
use serde::de::{self, DeserializeOwned, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use sha2::{Digest, Sha256};
use tokio::time::{Instant, timeout_at};

use crate::problem::Problem;
use crate::state::{Api, Times};

/// The most bytes of a body that is no component.
pub(crate) const MOST: u64 = 1 << 20;
/// The fewest bytes of a body in a second, counted from when the first ones should have come.
const SLOWEST: u64 = 64 << 10;
/// The most bytes beyond what is allowed that are read before a request is refused for them.
const DISCARDED: u64 = 4 << 20;
/// The most bytes of an idempotency key.
pub(crate) const LONGEST_KEY: usize = 255;

/// A JSON document.
pub(crate) struct Document<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Api> for Document<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let bytes = plain(&parts.headers, body, MOST, api.times).await?.bytes;
        must_be(&parts.headers, "application/json")?;
        json(&bytes).map(Document)
    }
}

/// A JSON document whose fields are all optional: an absent body says as much as `{}`.
pub(crate) struct OptionalDocument<T>(pub(crate) T);

impl<T: DeserializeOwned + Default> FromRequest<Api> for OptionalDocument<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let bytes = plain(&parts.headers, body, MOST, api.times).await?.bytes;
        if bytes.is_empty() {
            return Ok(OptionalDocument(T::default()));
        }
        must_be(&parts.headers, "application/json")?;
        json(&bytes).map(OptionalDocument)
    }
}

/// Checks the type of a body, by its header.
fn must_be(headers: &HeaderMap, wanted: &str) -> Result<(), Problem> {
    if media_type(headers).as_deref() == Some(wanted) {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "content_type",
        match media_type(headers) {
            None => "the request does not say what its body is".to_owned(),
            Some(found) => format!("the body is said to be {found}"),
        },
    )
    .hint(format!("Send {wanted}, and say so: `Content-Type: {wanted}`.")))
}

/// Returns the type that the header gives a body, without parameters.
pub(crate) fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let kind = value.split(';').next().unwrap_or_default().trim();
    Some(kind.to_ascii_lowercase())
}

/// Parses JSON; an error comes with its place.
pub(crate) fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    read::<Plain>(bytes)?;
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(Problem::invalid("invalid_document", "the document is no object")
            .hint("Send an object: `{…}`. GET /openapi.json describes it."));
    }
    read(bytes)
}

/// JSON of any form in which no object has a name twice and no text the character NUL: of two values the
/// first would be dropped without a word, and the database keeps no NUL.
struct Plain;

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Plain)
    }
}

impl<'de> Visitor<'de> for Plain {
    type Value = Plain;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Plain, E> {
        Ok(Plain)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Plain, E> {
        Ok(Plain)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Plain, E> {
        Ok(Plain)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Plain, E> {
        Ok(Plain)
    }

    fn visit_unit<E>(self) -> Result<Plain, E> {
        Ok(Plain)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Plain, E> {
        if text.contains('\0') {
            return Err(E::custom("a text holds the character NUL (U+0000)"));
        }
        Ok(Plain)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Plain, A::Error> {
        while items.next_element::<Plain>()?.is_some() {}
        Ok(Plain)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Plain, A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = entries.next_key::<String>()? {
            let short: String = name.chars().take(64).collect();
            Plain.visit_str::<A::Error>(&name)?;
            if !names.insert(name) {
                return Err(de::Error::custom(format!("\"{short}\" is given twice")));
            }
            entries.next_value::<Plain>()?;
        }
        Ok(Plain)
    }
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        let (line, column) = (inner.line(), inner.column());
        let problem = if inner.is_data() {
            Problem::invalid("invalid_document", inner.to_string()).hint("GET /openapi.json describes the document.")
        } else {
            Problem::new(StatusCode::BAD_REQUEST, "invalid_json", format!("the body is no JSON: {inner}"))
                .hint(format!("Look at line {line}, column {column} of the body."))
        };
        // Where it cannot tell, there is no path.
        if matches!(path.as_str(), "." | "?") { problem } else { problem.at(path) }
    })?;
    reader.end().map_err(|error| {
        Problem::new(StatusCode::BAD_REQUEST, "invalid_json", format!("something follows the document: {error}"))
            .hint("Send one document only.")
    })?;
    Ok(value)
}

/// A body that was read.
pub(crate) struct Read {
    pub(crate) bytes: Vec<u8>,
    /// SHA-256 of it, made while it came.
    pub(crate) digest: [u8; 32],
}

/// Returns the number of bytes that the header announces.
pub(crate) fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()).and_then(|value| value.parse().ok())
}

/// Reads a body of at most `most` bytes that comes without compression.
pub(crate) async fn plain(headers: &HeaderMap, body: Body, most: u64, times: Times) -> Result<Read, Problem> {
    refuse_compressed(headers)?;
    let announced = announced(headers);
    if let Some(length) = announced
        && length > most
    {
        // Who asks before sending is answered at once.
        if length - most <= DISCARDED && !headers.contains_key(header::EXPECT) {
            discard(body, length, times).await;
        }
        return Err(too_large(most));
    }
    let room = usize::try_from(announced.unwrap_or_default()).unwrap_or_default();
    // What is announced is believed a little only.
    let mut bytes = Vec::with_capacity(room.min(64 << 10));
    let mut hasher = Sha256::new();
    let mut body = body;
    let began = Instant::now();
    while let Some(data) = next_data(&mut body, bytes.len(), began, times).await? {
        if u64::try_from(bytes.len() + data.len()).unwrap_or(u64::MAX) > most {
            discard(body, DISCARDED, times).await;
            return Err(too_large(most));
        }
        hasher.update(&data);
        bytes.extend_from_slice(&data);
    }
    Ok(Read { bytes, digest: hasher.finalize().into() })
}

/// Refuses a compressed body: a few bytes can unpack to any number of them.
fn refuse_compressed(headers: &HeaderMap) -> Result<(), Problem> {
    match headers.get(header::CONTENT_ENCODING) {
        Some(encoding) if encoding != "identity" => {
            Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_encoding", "the body is compressed")
                .hint("Send it as it is, without Content-Encoding."))
        }
        _ => Ok(()),
    }
}

fn too_large(most: u64) -> Problem {
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", format!("the body is longer than {most} bytes"))
        .hint(format!("Send at most {most} bytes."))
}

/// Reads the next bytes of a body of which `came` bytes have come since `began`. Returns none at its end, and no bytes
/// for a frame that holds no data.
async fn next_data(body: &mut Body, came: usize, began: Instant, times: Times) -> Result<Option<Bytes>, Problem> {
    let next = began + times.upload.min(due(came, times.idle));
    let next = next.min(Instant::now() + times.idle);
    let frame = timeout_at(next, body.frame()).await.map_err(|_| too_slow(times))?;
    let Some(frame) = frame else { return Ok(None) };
    let frame = frame.map_err(|_| {
        Problem::new(StatusCode::BAD_REQUEST, "broken_body", "the body broke off or is malformed")
            .hint("Send it again.")
    })?;
    Ok(Some(frame.into_data().unwrap_or_default()))
}

fn too_slow(times: Times) -> Problem {
    Problem::new(StatusCode::REQUEST_TIMEOUT, "too_slow", "the rest of the body did not come")
        .hint(format!(
            "Send the next bytes within {} s, at least {} KiB in a second, and all of them within {} s.",
            times.idle.as_secs(),
            SLOWEST >> 10,
            times.upload.as_secs()
        ))
        .with(header::CONNECTION, axum::http::HeaderValue::from_static("close"))
}

/// Returns when a body of which `bytes` came must have sent more, counted from its beginning.
fn due(came: usize, idle: std::time::Duration) -> std::time::Duration {
    let millis = u64::try_from(came).unwrap_or(u64::MAX).saturating_mul(1_000) / SLOWEST;
    idle + std::time::Duration::from_millis(millis)
}

/// Reads on, `most` bytes, without keeping anything. Who still sends does not read, and would find the connection
/// closed instead of an answer; who sends very much more than is allowed does.
async fn discard(mut body: Body, most: u64, times: Times) {
    let end = Instant::now() + times.upload;
    let mut left = most;
    loop {
        let next = end.min(Instant::now() + times.idle);
        let Ok(Some(Ok(frame))) = timeout_at(next, body.frame()).await else {
            break;
        };
        let length = frame.data_ref().map_or(0, |data| data.len());
        match left.checked_sub(u64::try_from(length).unwrap_or(u64::MAX)) {
            Some(rest) => left = rest,
            None => break,
        }
    }
}

/// The client's key for a request that is to be done once.
pub(crate) struct IdempotencyKey(pub(crate) Option<String>);

impl<S: Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let mut values = parts.headers.get_all("idempotency-key").iter();
        let Some(value) = values.next() else {
            return Ok(IdempotencyKey(None));
        };
        match value.to_str() {
            Ok(key) if is_key(key) && values.next().is_none() => Ok(IdempotencyKey(Some(key.to_owned()))),
            _ => Err(Problem::new(
                StatusCode::BAD_REQUEST,
                "idempotency_key",
                match value.len() {
                    1..=LONGEST_KEY => "the key holds what is no visible ASCII character".to_owned(),
                    length => {
                        format!("the key has {length} bytes, and 1 to {LONGEST_KEY} are allowed")
                    }
                },
            )
            .hint(format!("Send one, of 1 to {LONGEST_KEY} visible ASCII characters, best a random UUID."))),
        }
    }
}

fn is_key(text: &str) -> bool {
    (1..=LONGEST_KEY).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[serde(rename = "n")]
        _n: u8,
    }

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[serde(rename = "list")]
        _list: Vec<Inner>,
    }

    fn problem(text: &str) -> serde_json::Value {
        let problem = json::<Outer>(text.as_bytes()).expect_err("a problem");
        serde_json::to_value(problem).expect("JSON")
    }

    #[test]
    fn what_is_wrong_with_a_document_is_told_with_its_place() {
        let wrong = problem(r#"{"list":[{"n":1},{"n":"x"}]}"#);
        assert_eq!((&wrong["status"], &wrong["at"]), (&422.into(), &"list[1].n".into()));
        let unknown = problem(r#"{"list":[{"m":1}]}"#);
        assert!(unknown["detail"].as_str().is_some_and(|text| text.contains("unknown field `m`")));
        assert_eq!(problem("{")["status"], 400);
        assert_eq!(problem("{")["at"], serde_json::Value::Null);
        for (text, said) in [
            ("[[]]", "no object"),
            (r#"{"list":[{"n":1,"n":2}]}"#, "\"n\" is given twice"),
            (r#"{"list":[{"n":"a\u0000"}]}"#, "NUL"),
        ] {
            let wrong = problem(text);
            assert_eq!(wrong["status"], 422, "{wrong}");
            assert!(wrong["detail"].as_str().is_some_and(|told| told.contains(said)), "{wrong}");
        }
        assert_eq!(problem(r#"{"list":[]} x"#)["code"], "invalid_json");
        assert!(json::<Outer>(br#"{"list":[]}"#).is_ok());
    }
}

//! Reading what is sent, bounded in size and time.

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use tokio::time::{Instant, timeout_at};

use crate::problem::Problem;
use crate::state::{Api, Times};

/// The most bytes of a body that is no component.
const MOST: u64 = 1 << 20;
/// The most bytes beyond what is allowed that are read before a request is refused for them.
const DISCARDED: u64 = 4 << 20;
/// The most bytes of an idempotency key.
const LONGEST_KEY: usize = 255;

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

/// What a body is, by its header.
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
    .hint(format!(
        "Send {wanted}, and say so: `Content-Type: {wanted}`."
    )))
}

/// The type that a body is said to have, without parameters.
pub(crate) fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let kind = value.split(';').next().unwrap_or_default().trim();
    Some(kind.to_ascii_lowercase())
}

/// Parses JSON; what is wrong with it is told with its place.
pub(crate) fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        let (line, column) = (inner.line(), inner.column());
        if inner.is_data() {
            Problem::invalid("invalid_document", inner.to_string())
                .hint("GET /openapi.json describes the document.")
                .at(path)
        } else {
            Problem::new(
                StatusCode::BAD_REQUEST,
                "invalid_json",
                format!("the body is no JSON: {inner}"),
            )
            .hint(format!("Look at line {line}, column {column} of the body."))
            .at(path)
        }
    })?;
    reader.end().map_err(|error| {
        Problem::new(
            StatusCode::BAD_REQUEST,
            "invalid_json",
            format!("something follows the document: {error}"),
        )
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

/// Reads a body of at most `most` bytes that comes without compression.
pub(crate) async fn plain(
    headers: &HeaderMap,
    body: Body,
    most: u64,
    times: Times,
) -> Result<Read, Problem> {
    // A few bytes can unpack to any number of them; who sends bytes sends them as they are.
    if let Some(encoding) = headers.get(header::CONTENT_ENCODING)
        && encoding != "identity"
    {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "content_encoding",
            "the body is compressed",
        )
        .hint("Send it as it is, without Content-Encoding."));
    }
    let too_large = || {
        Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            format!("the body is longer than {most} bytes"),
        )
        .hint(format!("Send at most {most} bytes."))
    };
    let announced: Option<u64> = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.parse().ok());
    if let Some(length) = announced
        && length > most
    {
        // Who asks before sending is answered at once.
        if length - most <= DISCARDED && !headers.contains_key(header::EXPECT) {
            discard(body, times).await;
        }
        return Err(too_large());
    }
    let room = usize::try_from(announced.unwrap_or_default()).unwrap_or_default();
    // What is announced is believed a little only.
    let mut bytes = Vec::with_capacity(room.min(64 << 10));
    let mut hasher = Sha256::new();
    let mut body = body;
    let end = Instant::now() + times.upload;
    loop {
        let next = end.min(Instant::now() + times.idle);
        let frame = timeout_at(next, body.frame()).await.map_err(|_| {
            Problem::new(
                StatusCode::REQUEST_TIMEOUT,
                "too_slow",
                "the rest of the body did not come",
            )
            .hint(format!(
                "Send the next bytes within {} s and all of them within {} s.",
                times.idle.as_secs(),
                times.upload.as_secs()
            ))
            .with(
                header::CONNECTION,
                axum::http::HeaderValue::from_static("close"),
            )
        })?;
        let Some(frame) = frame else { break };
        let frame = frame.map_err(|_| {
            Problem::new(
                StatusCode::BAD_REQUEST,
                "broken_body",
                "the body broke off or is malformed",
            )
            .hint("Send it again.")
        })?;
        if let Ok(data) = frame.into_data() {
            if u64::try_from(bytes.len() + data.len()).unwrap_or(u64::MAX) > most {
                discard(body, times).await;
                return Err(too_large());
            }
            hasher.update(&data);
            bytes.extend_from_slice(&data);
        }
    }
    Ok(Read {
        bytes,
        digest: hasher.finalize().into(),
    })
}

/// Reads on without keeping anything. Who still sends does not read, and would find the connection closed
/// instead of an answer; who sends very much more than is allowed does.
async fn discard(mut body: Body, times: Times) {
    let end = Instant::now() + times.idle;
    let mut left = DISCARDED;
    while let Ok(Some(Ok(frame))) = timeout_at(end, body.frame()).await {
        let length = frame.data_ref().map_or(0, |data| data.len());
        left = left.saturating_sub(u64::try_from(length).unwrap_or(u64::MAX));
        if left == 0 {
            break;
        }
    }
}

/// The client's key for a request that is to be done once.
pub(crate) struct IdempotencyKey(pub(crate) Option<String>);

impl<S: Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Some(value) = parts.headers.get("idempotency-key") else {
            return Ok(IdempotencyKey(None));
        };
        match value.to_str() {
            Ok(key) if !key.is_empty() && key.len() <= LONGEST_KEY => {
                Ok(IdempotencyKey(Some(key.to_owned())))
            }
            _ => Err(Problem::new(
                StatusCode::BAD_REQUEST,
                "idempotency_key",
                "the header Idempotency-Key cannot be used",
            )
            .hint(format!(
                "Send 1 to {LONGEST_KEY} visible ASCII characters, best a random UUID."
            ))),
        }
    }
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
        assert_eq!(
            (&wrong["status"], &wrong["at"]),
            (&422.into(), &"list[1].n".into())
        );
        let unknown = problem(r#"{"list":[{"m":1}]}"#);
        assert!(
            unknown["detail"]
                .as_str()
                .is_some_and(|text| text.contains("unknown field `m`"))
        );
        assert_eq!(problem("{")["status"], 400);
        assert_eq!(problem(r#"{"list":[]} x"#)["code"], "invalid_json");
        assert!(json::<Outer>(br#"{"list":[]}"#).is_ok());
    }
}

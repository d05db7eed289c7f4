//! The HTTP API as a person's machine uses it.

use std::io::Read;
use std::time::Duration;

use serde_json::Value as Json;

use crate::AwayError;

/// The longest time until a connection stands.
const CONNECT: Duration = Duration::from_secs(5);
/// The longest silence of the server before and within an answer.
const SILENCE: Duration = Duration::from_secs(10);
/// The same where the server runs a component before it answers.
const SILENCE_LONG: Duration = Duration::from_secs(60);
/// The longest time, in seconds, for which a request waits until the server lets it in again.
const LET_IN_WAIT_SECONDS: u64 = 120;
/// Bytes read at once, and stored: what a cut can lose.
const CHUNK_BYTES: usize = 64 * 1024;
/// The most bytes of a document.
const DOCUMENT_BYTES_MAX: u64 = 16 << 20;
/// A way to the server. It may be cut at any byte, and what was sent before may have arrived.
pub trait Wire {
    /// Sends a request with a document, if one is given, under an idempotency key, if one is given.
    ///
    /// # Errors
    /// [`AwayError::Cut`] when no whole answer came.
    fn ask(&self, method: &str, path: &str, document: Option<&Json>, key: Option<&str>) -> Result<Answered, AwayError>;

    /// Fetches a file from byte `from` on, and hands over each part as it comes. Stops when `part` fails.
    ///
    /// # Errors
    /// [`AwayError::Cut`] when the link breaks; what was handed over stays.
    fn fetch(
        &self,
        path: &str,
        from: u64,
        part: &mut dyn FnMut(Part<'_>) -> Result<(), AwayError>,
    ) -> Result<(), AwayError>;

    /// Sends a request. Success is an answer with the member `has`; anything else is an error.
    ///
    /// # Errors
    /// [`AwayError::Cut`], [`AwayError::Refused`].
    fn call(&self, method: &str, path: &str, document: Option<&Json>, has: &str) -> Result<Json, AwayError> {
        let empty = serde_json::json!({});
        let body = document.or((method != "GET" && method != "DELETE").then_some(&empty));
        self.ask(method, path, body, None)?.understood(has)
    }
}

/// A server and a token.
#[derive(Debug, Clone)]
pub struct Link {
    agent: ureq::Agent,
    base: String,
    token: String,
}

/// An answer's status and document.
#[derive(Debug, Clone)]
pub struct Answered {
    /// The HTTP status.
    pub status: u16,
    /// The document; null when there is none.
    pub document: Json,
}

impl Answered {
    /// The document of a success, which has the member `has`. The one place that decides what an answer is: a refusal
    /// is a problem document of Wedflow's with the status that came; all else that is no success of ours comes from
    /// somebody on the way and says nothing about the request.
    ///
    /// # Errors
    /// [`AwayError::Refused`], [`AwayError::Cut`].
    pub fn understood(self, has: &str) -> Result<Json, AwayError> {
        if self.is_refusal() {
            Err(AwayError::Refused(self.document))
        } else if (200..300).contains(&self.status) && self.document.get(has).is_some() {
            Ok(self.document)
        } else {
            Err(AwayError::stranger())
        }
    }

    /// True for a refusal of Wedflow's: a problem document, or the answer to a report that was not applied.
    pub fn is_refusal(&self) -> bool {
        let document = &self.document;
        let code = document["code"].as_str().unwrap_or_default();
        let problem = document["type"].as_str() == Some(&format!("urn:wedflow:problem:{code}"))
            && document["status"] == self.status;
        let kept = self.status == 409 && document["applied"] == false && code == "WF084";
        (400..500).contains(&self.status) && !code.is_empty() && (problem || kept)
    }
}

/// A part of a file on its way.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The whole file's mark: name, version and digest.
    pub etag: &'a str,
    /// Bytes of the whole.
    pub total: u64,
    /// Begin of the part.
    pub at: u64,
    /// The part.
    pub bytes: &'a [u8],
}

fn cut(error: impl std::fmt::Display) -> AwayError {
    AwayError::Cut(error.to_string())
}

impl Link {
    /// Speaks to the server at `base` (`https://host:port`) with a token.
    pub fn new(base: &str, token: &str) -> Self {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(SILENCE))
            .timeout_per_read(Some(SILENCE))
            .build()
            .into();
        Link { agent, base: base.trim_end_matches('/').to_owned(), token: token.to_owned() }
    }

    /// Sends a request with a limit on silence, and repeats it after `Retry-After`.
    fn run(
        &self,
        request: ureq::http::Request<Vec<u8>>,
        silence: Duration,
    ) -> Result<ureq::http::Response<ureq::Body>, AwayError> {
        let mut left = LET_IN_WAIT_SECONDS;
        loop {
            let request = self
                .agent
                .configure_request(request.clone())
                .timeout_recv_response(Some(silence))
                .timeout_per_read(Some(silence))
                .build();
            let response = self.agent.run(request).map_err(cut)?;
            let after = response.headers().get("retry-after");
            let after = after.and_then(|after| after.to_str().ok()?.parse::<u64>().ok());
            match (response.status().as_u16(), after) {
                (429 | 503, Some(seconds)) if seconds.max(1) <= left => {
                    left -= seconds.max(1);
                    std::thread::sleep(Duration::from_secs(seconds.max(1)));
                }
                _ => return Ok(response),
            }
        }
    }

    fn request(&self, method: &str, path: &str) -> ureq::http::request::Builder {
        ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header("authorization", format!("Bearer {}", self.token))
    }
}

/// The error of an answer that is no success.
fn refused(status: u16, response: &mut ureq::http::Response<ureq::Body>) -> AwayError {
    let text = response.body_mut().read_to_string().unwrap_or_default();
    let document = serde_json::from_str(&text).unwrap_or(Json::Null);
    match (Answered { status, document }).understood("") {
        Err(error @ AwayError::Refused(_)) => error,
        _ => AwayError::Cut(format!("it answered {status}")),
    }
}

impl Wire for Link {
    fn ask(&self, method: &str, path: &str, document: Option<&Json>, key: Option<&str>) -> Result<Answered, AwayError> {
        let mut request = self.request(method, path);
        if document.is_some() {
            request = request.header("content-type", "application/json");
        }
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let body = document.map(Json::to_string).unwrap_or_default();
        let request = request.body(body.into_bytes()).map_err(cut)?;
        let silence = if path.ends_with("/run") { SILENCE_LONG } else { SILENCE };
        let mut response = self.run(request, silence)?;
        let status = response.status().as_u16();
        let text = response.body_mut().with_config().limit(DOCUMENT_BYTES_MAX).read_to_string().map_err(cut)?;
        if status >= 500 {
            return Err(AwayError::Cut(format!("it answered {status}")));
        }
        let document = serde_json::from_str(&text).unwrap_or(Json::Null);
        Ok(Answered { status, document })
    }

    fn fetch(
        &self,
        path: &str,
        from: u64,
        part: &mut dyn FnMut(Part<'_>) -> Result<(), AwayError>,
    ) -> Result<(), AwayError> {
        let request =
            self.request("GET", path).header("range", format!("bytes={from}-")).body(Vec::new()).map_err(cut)?;
        let mut response = self.run(request, SILENCE)?;
        let status = response.status().as_u16();
        let header = |name: &str| {
            let value = response.headers().get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        let etag = header("etag").unwrap_or_default();
        let total = header("content-range").and_then(|range| range.rsplit_once('/')?.1.parse().ok());
        let (206, Some(total)) = (status, total) else {
            return Err(refused(status, &mut response));
        };
        let mut body = response.body_mut().as_reader();
        let mut buffer = vec![0; CHUNK_BYTES];
        let mut at = from;
        loop {
            let mut held = 0;
            // What came before a cut is kept.
            let ended = loop {
                match body.read(&mut buffer[held..]) {
                    Ok(0) => break Some(Ok(())),
                    Ok(count) => held += count,
                    Err(error) => break Some(Err(cut(error))),
                }
                if held == buffer.len() {
                    break None;
                }
            };
            if held > 0 || at == total {
                part(Part { etag: &etag, total, at, bytes: &buffer[..held] })?;
                at += held as u64;
            }
            match ended {
                None => {}
                Some(Ok(())) if at < total => {
                    return Err(AwayError::Cut("the copy ended early".to_owned()));
                }
                Some(result) => return result,
            }
        }
    }
}

//! Sending, repeating, reading answers.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, ETAG, RETRY_AFTER};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wedflow_documents::{List, Page, Problem};

use crate::error::ClientError;
use crate::request::Request;
use crate::transport::{Answer, Transport};

/// Number of times that a request is sent at most.
const TRIES_MAX: u32 = 5;
/// Longest pause before a request is sent again; a server that asks for more is believed, and the call fails.
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// First pause after a connection broke; doubled for each further one.
const PAUSE: Duration = Duration::from_millis(200);
/// Longest wait for the head of an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(900);
/// Most entries of a part of a list.
const PART_MAX: i64 = 500;
/// Most bytes of an answer.
const ANSWER_BYTES_MAX: usize = 256 << 20;

/// A client of a server's API. Clones share its connections.
#[derive(Debug, Clone)]
pub struct Client {
    transport: Arc<dyn Transport>,
}

/// A read answer.
pub(crate) struct Whole {
    pub(crate) status: StatusCode,
    pub(crate) etag: Option<String>,
    pub(crate) bytes: Bytes,
}

impl Client {
    /// Makes a client over a transport.
    pub fn new(transport: impl Transport + 'static) -> Self {
        Client { transport: Arc::new(transport) }
    }

    /// Returns the server's address, for messages.
    pub fn server(&self) -> &str {
        self.transport.server()
    }

    /// Sends a request, again where that is safe, and reads the document of its answer.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn call<T: DeserializeOwned>(&self, request: Request) -> Result<T, ClientError> {
        let answer = self.whole(&request).await?;
        self.parsed(&answer)
    }

    /// Does the same where a conflict is answered with a document of its own, which is returned.
    pub(crate) async fn call_or_conflict<T: DeserializeOwned>(&self, request: Request) -> Result<T, ClientError> {
        match self.call(request).await {
            Err(ClientError::Foreign { status: 409, reason, server }) => {
                serde_json::from_str(&reason).map_err(|_| ClientError::Foreign { server, status: 409, reason })
            }
            other => other,
        }
    }

    /// Sends a request whose answer holds nothing.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn done(&self, request: Request) -> Result<(), ClientError> {
        self.whole(&request).await.map(|_| ())
    }

    /// Sends a request and reads the bytes of its answer.
    pub(crate) async fn bytes(&self, request: Request) -> Result<Vec<u8>, ClientError> {
        Ok(self.whole(&request).await?.bytes.to_vec())
    }

    /// Reads a list, part by part, at most `limit` entries; all of them when absent.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn list<T: DeserializeOwned>(
        &self,
        parts: &[&str],
        filter: &impl Serialize,
        limit: Option<i64>,
    ) -> Result<Vec<T>, ClientError> {
        let (mut items, mut cursor) = (Vec::new(), None);
        loop {
            let left = limit.map(|limit| limit - i64::try_from(items.len()).unwrap_or(limit));
            if left.is_some_and(|left| left <= 0) {
                return Ok(items);
            }
            let page = Page { cursor, limit: Some(left.unwrap_or(i64::MAX).min(PART_MAX)) };
            let request = Request::get(parts).query(filter).query(&page);
            let part: List<T> = self.call(request).await?;
            items.extend(part.items);
            match part.next {
                Some(next) => cursor = Some(next),
                None => return Ok(items),
            }
        }
    }

    /// Reads all parts of a list.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn items<T: DeserializeOwned>(&self, request: Request) -> Result<Vec<T>, ClientError> {
        self.parts(request, Page::default()).await
    }

    /// Reads all parts of a list that may be long: the largest that a server sends.
    pub(crate) async fn pages<T: DeserializeOwned>(&self, request: Request) -> Result<Vec<T>, ClientError> {
        let limit = Some(PART_MAX);
        self.parts(request, Page { cursor: None, limit }).await
    }

    async fn parts<T: DeserializeOwned>(&self, request: Request, mut page: Page) -> Result<Vec<T>, ClientError> {
        let mut items = Vec::new();
        loop {
            let part: List<T> = self.call(request.clone().query(&page)).await?;
            items.extend(part.items);
            match part.next {
                Some(next) => page.cursor = Some(next),
                None => return Ok(items),
            }
        }
    }

    /// Reads the document of a whole answer.
    pub(crate) fn parsed<T: DeserializeOwned>(&self, answer: &Whole) -> Result<T, ClientError> {
        serde_json::from_slice(&answer.bytes).map_err(|error| ClientError::Foreign {
            server: self.server().to_owned(),
            status: answer.status.as_u16(),
            reason: error.to_string(),
        })
    }

    /// Sends a request and reads its answer whole; a refusal is an error.
    pub(crate) async fn whole(&self, request: &Request) -> Result<Whole, ClientError> {
        let answer = self.answered(request).await?;
        let status = answer.status();
        let etag = answer.headers().get(ETAG);
        let etag = etag.and_then(|tag| tag.to_str().ok()).map(str::to_owned);
        let bytes = self.read(answer).await?;
        Ok(Whole { status, etag, bytes })
    }

    /// Sends a request, again where that is safe; a refusal is an error. The body of the answer is still to be read.
    pub(crate) async fn answered(&self, request: &Request) -> Result<Answer, ClientError> {
        if request.is_nameless() {
            return Err(nameless());
        }
        let mut tries = 1;
        loop {
            let sent = self.transport.send(request.sent());
            let (error, pause) = match tokio::time::timeout(ANSWER_TIMEOUT, sent).await {
                Ok(Ok(answer)) if answer.status().as_u16() < 400 => return Ok(answer),
                Ok(Ok(answer)) => {
                    let asked = pause_of(&answer);
                    let status = answer.status();
                    let error = self.refusal(answer).await;
                    // Who is rate limited was not heard; all else may have been done already.
                    let safe = request.is_repeatable()
                        || (status == StatusCode::TOO_MANY_REQUESTS && error.code() == Some("rate_limited"));
                    (error, asked.filter(|_| safe))
                }
                Ok(Err(reason)) => {
                    let pause = PAUSE * 2_u32.pow(tries - 1);
                    let error = self.unreachable(reason.to_string());
                    (error, Some(pause).filter(|_| request.is_repeatable()))
                }
                Err(_) => (self.unreachable("it takes too long".to_owned()), None),
            };
            match pause {
                Some(pause) if pause <= PAUSE_MAX && tries < TRIES_MAX => {
                    tokio::time::sleep(pause).await;
                    tries += 1;
                }
                _ => return Err(error),
            }
        }
    }

    /// Reads the body of an answer.
    async fn read(&self, answer: Answer) -> Result<Bytes, ClientError> {
        let mut body = answer.into_body();
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|reason| self.unreachable(reason.to_string()))?;
            bytes.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
            if bytes.len() > ANSWER_BYTES_MAX {
                return Err(self.unreachable("its answer is too long".to_owned()));
            }
        }
        Ok(bytes.into())
    }

    /// Reads why a request was refused. An answer that is not a problem of Wedflow's, such as a proxy's, is
    /// [`ClientError::Foreign`].
    async fn refusal(&self, answer: Answer) -> ClientError {
        let status = answer.status().as_u16();
        let kind = answer.headers().get(CONTENT_TYPE);
        let is_problem = kind.is_some_and(|kind| kind == "application/problem+json");
        let bytes = match self.read(answer).await {
            Ok(bytes) => bytes,
            Err(error) => return error,
        };
        match serde_json::from_slice::<Problem>(&bytes) {
            Ok(problem) if is_problem => ClientError::Refused(Box::new(problem)),
            _ => ClientError::Foreign {
                server: self.server().to_owned(),
                status,
                reason: String::from_utf8_lossy(&bytes).into_owned(),
            },
        }
    }

    pub(crate) fn unreachable(&self, reason: String) -> ClientError {
        ClientError::Unreachable { server: self.server().to_owned(), reason }
    }
}

/// Refuses a request for something with an empty name.
fn nameless() -> ClientError {
    ClientError::Refused(Box::new(Problem {
        kind: "urn:wedflow:problem:invalid_name".to_owned(),
        title: "Unprocessable Content".to_owned(),
        status: 422,
        detail: "an empty name is not allowed".to_owned(),
        instance: None,
        code: "invalid_name".to_owned(),
        hint: "Use small letters, digits, - and _.".to_owned(),
        at: None,
        place: None,
        limit: None,
    }))
}

/// Returns the pause that an answer asks for before the request is sent again.
fn pause_of(answer: &Answer) -> Option<Duration> {
    let value = answer.headers().get(RETRY_AFTER)?.to_str().ok()?;
    value.parse().ok().map(Duration::from_secs)
}

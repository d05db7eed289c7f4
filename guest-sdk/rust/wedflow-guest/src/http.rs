//! HTTP to hosts that the operator and the flow both name. A request happens at least once, not exactly once:
//! send [`key`] along where the other side can tell repetitions by it.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;

#[cfg(target_family = "wasm")]
use crate::bindings::wed::flow::http as server;
#[cfg(not(target_family = "wasm"))]
use crate::stand::http as server;

pub use crate::bindings::wed::flow::http::{FetchErrorKind, Header, Response};

/// A request in the making; [`Request::send`] sends it.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Request(crate::bindings::wed::flow::http::Request);

impl Request {
    /// A request of a method, in capitals, to a URL with scheme and host.
    pub fn new(method: &str, url: &str) -> Self {
        Request(crate::bindings::wed::flow::http::Request {
            method: method.to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
        })
    }

    /// A GET.
    pub fn get(url: &str) -> Self {
        Request::new("GET", url)
    }

    /// A POST.
    pub fn post(url: &str) -> Self {
        Request::new("POST", url)
    }

    /// Adds a header.
    pub fn header(self, name: &str, value: &str) -> Self {
        self.with(name, value, None)
    }

    /// A header whose value ends with a secret of the flow, which the server puts there: the transition need
    /// not know it. `header_secret("authorization", "Bearer ", "api-key")`.
    pub fn header_secret(self, name: &str, value: &str, secret: &str) -> Self {
        self.with(name, value, Some(secret.to_owned()))
    }

    fn with(mut self, name: &str, value: &str, secret: Option<String>) -> Self {
        self.0.headers.push(Header { name: name.to_owned(), value: value.to_owned(), secret });
        self
    }

    /// The body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.0.body = body.into();
        self
    }

    /// Sends it and waits for the answer, whatever its status; the time counts against the timeout.
    ///
    /// # Errors
    /// [`FetchError`], which says why there is no answer.
    pub fn send(self) -> Result<Response, FetchError> {
        Ok(server::fetch(&self.0)?)
    }
}

#[cfg(not(target_family = "wasm"))]
impl From<crate::bindings::wed::flow::http::Request> for Request {
    fn from(request: crate::bindings::wed::flow::http::Request) -> Self {
        Request(request)
    }
}

impl Response {
    /// The value of a header, by its name in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as text; what is no UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Names what fired this transition: the same in every attempt at it, another in every other firing.
pub fn key() -> String {
    server::key()
}

/// Why there is no answer. `?` makes a fatal [`Failure`](crate::Failure) of it; where another
/// attempt may help, `map_err(|error| Failure::retry(error.to_string()))`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchError {
    /// The kind of failure.
    pub kind: FetchErrorKind,
    /// For a person.
    pub message: String,
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for FetchError {}

impl From<crate::bindings::wed::flow::http::FetchError> for FetchError {
    fn from(error: crate::bindings::wed::flow::http::FetchError) -> Self {
        FetchError { kind: error.kind, message: error.message }
    }
}

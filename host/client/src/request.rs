//! A request before it is sent.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT};
use hyper::{HeaderMap, Method};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

/// Characters that a part of a path holds as they are.
const PLAIN: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b':').remove(b',');

/// A request of the API: a method, a path below `/v1`, and what goes with it.
#[derive(Debug, Clone)]
pub struct Request {
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Bytes,
    is_keyed: bool,
    /// A part of the path is empty: it names nothing, and the path would be another one.
    is_nameless: bool,
}

impl Request {
    /// Begins a request for a path below `/v1`, of the given parts; each is encoded.
    pub fn new(method: Method, parts: &[&str]) -> Self {
        let mut path = "/v1".to_owned();
        for part in parts {
            path.push('/');
            // A part of dots alone would be resolved away on the road.
            match part.bytes().all(|byte| byte == b'.') {
                true => path.push_str(&part.replace('.', "%2E")),
                false => path.extend(utf8_percent_encode(part, PLAIN)),
            }
        }
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("wedflow-client/", env!("CARGO_PKG_VERSION"))));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        Request {
            method,
            path,
            headers,
            body: Bytes::new(),
            is_keyed: false,
            is_nameless: parts.iter().any(|part| part.is_empty()),
        }
    }

    /// Begins a request that reads.
    pub fn get(parts: &[&str]) -> Self {
        Request::new(Method::GET, parts)
    }

    /// Begins a request that acts.
    pub fn post(parts: &[&str]) -> Self {
        Request::new(Method::POST, parts)
    }

    /// Begins a request that says how something shall be.
    pub fn put(parts: &[&str]) -> Self {
        Request::new(Method::PUT, parts)
    }

    /// Begins a request that changes a part of something.
    pub fn patch(parts: &[&str]) -> Self {
        Request::new(Method::PATCH, parts)
    }

    /// Begins a request that removes.
    pub fn delete(parts: &[&str]) -> Self {
        Request::new(Method::DELETE, parts)
    }

    /// Adds the parameters of a document; absent ones are left out.
    #[must_use]
    pub fn query(mut self, parameters: &impl Serialize) -> Self {
        let text = serde_urlencoded::to_string(parameters).unwrap_or_default();
        if !text.is_empty() {
            self.path.push(if self.path.contains('?') { '&' } else { '?' });
            self.path.push_str(&text);
        }
        self
    }

    /// Adds a document as the body.
    #[must_use]
    pub fn document(self, document: &impl Serialize) -> Self {
        let bytes = serde_json::to_vec(document).unwrap_or_default();
        self.body("application/json", bytes)
    }

    /// Adds bytes of a media type as the body.
    #[must_use]
    pub fn body(mut self, media_type: &'static str, bytes: impl Into<Bytes>) -> Self {
        self.body = bytes.into();
        self.headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        self
    }

    /// Adds a header; one whose value cannot be sent is left out.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_bytes(value.replace(['\r', '\n'], " ").as_bytes()) {
            self.headers.insert(HeaderName::from_static(name), value);
        }
        self
    }

    /// Lets the request be done once, however often it is sent: under a key, or a random one.
    #[must_use]
    pub fn once(mut self, key: Option<&str>) -> Self {
        self.is_keyed = true;
        let random = || format!("{:032x}", rand::random::<u128>());
        self.header("idempotency-key", &key.map_or_else(random, str::to_owned))
    }

    /// Returns true when a name in its path is empty, so that it cannot be sent.
    pub(crate) fn is_nameless(&self) -> bool {
        self.is_nameless
    }

    /// Returns true when sending it twice does what sending it once does.
    pub(crate) fn is_repeatable(&self) -> bool {
        self.is_keyed || matches!(self.method, Method::GET | Method::PUT)
    }

    /// Returns the request as it is sent.
    pub(crate) fn sent(&self) -> hyper::Request<Full<Bytes>> {
        let mut request = hyper::Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        // Every character of it was encoded.
        *request.uri_mut() = self.path.parse().unwrap_or_default();
        *request.headers_mut() = self.headers.clone();
        request
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_one_part_of_the_path() {
        let request = Request::get(&["flows", "a/../b?c#d é", ".."]);
        assert_eq!(request.path, "/v1/flows/a%2F..%2Fb%3Fc%23d%20%C3%A9/%2E%2E");
        assert_eq!(request.sent().uri().path(), request.path);
    }

    #[test]
    fn only_what_may_be_repeated_is_repeatable() {
        assert!(Request::get(&["me"]).is_repeatable());
        assert!(!Request::post(&["flows"]).is_repeatable());
        assert!(Request::post(&["flows"]).once(None).is_repeatable());
        assert!(!Request::delete(&["flows", "x"]).is_repeatable());
    }
}

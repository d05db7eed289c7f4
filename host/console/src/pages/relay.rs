//! The API of people's work for scripts of ours: what a page asks is sent on with the session's token, and the answer
//! is the API's own, problems included.

use axum::body::{Body, Bytes};
use axum::extract::{OriginalUri, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body_util::Full;
use wedflow_client::Transport;

use crate::ROOT;
use crate::cookies::{SESSION, cookie};
use crate::failure::Failure;
use crate::session::{Console, is_own_script};
use crate::words::Language;

/// Headers of a request that are sent on.
const SENT_ON: [HeaderName; 5] = [
    header::CONTENT_TYPE,
    header::ACCEPT,
    header::RANGE,
    HeaderName::from_static("idempotency-key"),
    HeaderName::from_static("last-event-id"),
];

/// Sends a request below `/v1/work` on to the API. What changes something needs the proof of a page.
pub(crate) async fn relay(
    State(console): State<Console>,
    OriginalUri(uri): OriginalUri,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let language = Language::of(&headers);
    if method != Method::GET && !is_own_script(&headers) {
        return Failure::foreign(language).into_response();
    }
    let asked = uri.path_and_query().map_or("", |whole| whole.as_str());
    let below = asked.strip_prefix(ROOT).and_then(|rest| rest.strip_prefix("/work/api/"));
    let token = cookie(&headers, SESSION).unwrap_or_default();
    let (Some(below), Some(api)) = (below, console.with_token(&token)) else {
        return Failure::nowhere(language).into_response();
    };
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = method;
    for name in SENT_ON {
        if let Some(value) = headers.get(&name) {
            request.headers_mut().insert(name, value.clone());
        }
    }
    let Ok(address) = format!("/v1/work/{below}").parse() else {
        return Failure::nowhere(language).into_response();
    };
    *request.uri_mut() = address;
    match api.send(request).await {
        Ok(answer) => {
            let mut response = answer.map(Body::new);
            let kept = HeaderValue::from_static("no-store");
            response.headers_mut().insert(header::CACHE_CONTROL, kept);
            response
        }
        Err(_) => StatusCode::BAD_GATEWAY.into_response(),
    }
}

//! Cookies: the token, the language, the message that an act leaves.

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;

use crate::ROOT;

/// Cookie with the token.
pub(crate) const SESSION: &str = "wedflow_session";
/// Cookie with the language.
pub(crate) const LANGUAGE: &str = "wedflow_language";
/// Cookie with the message that an act leaves for the next page.
pub(crate) const SAID: &str = "wedflow_said";
/// Cookie with the newest message of work that was looked at.
pub(crate) const SEEN: &str = "wedflow_seen";

/// Returns the value of a cookie.
pub(crate) fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let all = headers.get_all(header::COOKIE).iter();
    all.filter_map(|header| header.to_str().ok())
        .flat_map(|header| header.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, value)| *key == name && !value.is_empty())
        .map(|(_, value)| value.to_owned())
}

/// The header that keeps a token in the browser, or, of an empty one, removes it. A browser that came by HTTPS sends it
/// over HTTPS alone.
pub(crate) fn keep(headers: &HeaderMap, token: &str) -> String {
    let life = if token.is_empty() { "; Max-Age=0" } else { "" };
    let secure = if is_https(headers) { "; Secure" } else { "" };
    format!("{SESSION}={token}; Path={ROOT}; HttpOnly; SameSite=Strict{secure}{life}")
}

/// Returns whether the browser speaks HTTPS, by what it or a proxy says. Whoever lies gets a stricter cookie.
fn is_https(headers: &HeaderMap) -> bool {
    let says = |name: &str, start: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.is_some_and(|value| value.trim_start().starts_with(start))
    };
    says("x-forwarded-proto", "https") || says("origin", "https:")
}

/// Sets a cookie.
pub(crate) fn set_cookie(response: &mut Response, cookie: &str) {
    if let Ok(value) = HeaderValue::from_str(cookie) {
        response.headers_mut().append(header::SET_COOKIE, value);
    }
}

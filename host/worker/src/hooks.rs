//! Messages of others' webhooks: whether they are signed, which event they are, and what of them goes into attributes.

use std::time::Duration;

use data_encoding::{BASE64, HEXLOWER_PERMISSIVE};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};

/// Longest time by which the time in a message differs from this machine's.
const CLOCKS_DIFFER_MAX: Duration = Duration::from_secs(300);
/// Prefix of a secret of Standard Webhooks, which is followed by its bytes in base64.
const STANDARD_PREFIX: &str = "whsec_";

/// Header of GitHub's signature.
const GITHUB_SIGNATURE: &str = "x-hub-signature-256";

/// Way in which messages are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signing {
    /// Standard Webhooks.
    Standard,
    /// GitHub.
    GitHub,
}

/// A message before it is believed.
pub struct Posted<'a> {
    /// Returns a header's value.
    pub header: &'a dyn Fn(&str) -> Option<&'a str>,
    /// The body.
    pub body: &'a [u8],
}

/// Returns whether a message is signed with a secret. `now` is in seconds since 1970.
pub fn is_signed(message: &Posted<'_>, signing: Signing, secret: &str, now: i64) -> bool {
    match signing {
        Signing::Standard => is_signed_as_standard(message, secret, now),
        Signing::GitHub => is_signed_as_github(message, secret),
    }
}

/// Standard Webhooks: of several signatures, which a sender has while it replaces its secret, one is enough.
fn is_signed_as_standard(message: &Posted<'_>, secret: &str, now: i64) -> bool {
    let header = |name: &str| (message.header)(name).unwrap_or_default();
    let (id, at) = (header("webhook-id"), header("webhook-timestamp"));
    let differs = |at: i64| now.abs_diff(at) > CLOCKS_DIFFER_MAX.as_secs();
    if id.is_empty() || at.parse().map_or(true, differs) {
        return false;
    }
    let bytes = match secret.strip_prefix(STANDARD_PREFIX) {
        Some(encoded) => BASE64.decode(encoded.as_bytes()).unwrap_or_default(),
        None => secret.as_bytes().to_vec(),
    };
    let signed = [id.as_bytes(), b".", at.as_bytes(), b".", message.body].concat();
    let mut signatures = header("webhook-signature").split(' ').take(10);
    signatures.any(|one| {
        let encoded = one.strip_prefix("v1,").unwrap_or_default();
        let signature = BASE64.decode(encoded.as_bytes()).unwrap_or_default();
        is_mac_of(&bytes, &signed, &signature)
    })
}

fn is_signed_as_github(message: &Posted<'_>, secret: &str) -> bool {
    let sent = (message.header)(GITHUB_SIGNATURE).unwrap_or_default();
    let encoded = sent.strip_prefix("sha256=").unwrap_or_default();
    let signature = HEXLOWER_PERMISSIVE.decode(encoded.as_bytes());
    is_mac_of(secret.as_bytes(), message.body, &signature.unwrap_or_default())
}

/// Compares in constant time; with no secret nothing is signed.
fn is_mac_of(secret: &[u8], signed: &[u8], signature: &[u8]) -> bool {
    let Ok(mac) = Hmac::<Sha256>::new_from_slice(secret) else {
        return false;
    };
    !secret.is_empty() && mac.chain_update(signed).verify_slice(signature).is_ok()
}

/// Reads the event of a message: its number, and the document that pointers point into. That is the body; of a
/// CloudEvent in binary form, `data` with the body in it, since nobody signs its headers.
///
/// The number is a digest of one that the sender signed: a CloudEvent's in the body, `webhook-id` of Standard Webhooks.
/// GitHub signs the body alone, so its signature stands for the number: who replays a message under another one repeats
/// the event.
pub fn event_of(message: &Posted<'_>, signing: Signing, body: Json) -> Option<(String, Json)> {
    let header = |name: &str| (message.header)(name);
    if body["specversion"].is_string() {
        let text = |name: &str| body[name].as_str();
        let number = number_of(&["cloudevent", text("source")?, text("id")?]);
        return Some((number, body));
    }
    let number = match signing {
        Signing::Standard => number_of(&["message", header("webhook-id")?]),
        Signing::GitHub => number_of(&["body", &header(GITHUB_SIGNATURE)?.to_ascii_lowercase()]),
    };
    match header("ce-specversion") {
        None => Some((number, body)),
        Some(_) => Some((number, json!({ "data": body }))),
    }
}

/// Returns a number for an event that no other parts of names have, and that is short however long they are.
fn number_of(parts: &[&str]) -> String {
    HEXLOWER_PERMISSIVE.encode(&Sha256::digest(json!(parts).to_string()))
}

/// Reads the values that pointers point at; what points at nothing is left out.
pub fn mapped(document: &Json, attributes: &Json) -> Map<String, Json> {
    let pointers = attributes.as_object().into_iter().flatten();
    pointers
        .filter_map(|(name, pointer)| {
            let value = document.pointer(pointer.as_str()?)?;
            Some((name.clone(), value.clone()))
        })
        .collect()
}

/// Reads the business key that a pointer points at: a text or a number.
pub fn key_at(document: &Json, pointer: &str) -> Option<String> {
    match document.pointer(pointer)? {
        Json::String(text) if !text.is_empty() => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of GitHub's documentation.
    #[test]
    fn githubs_example_is_signed() {
        let signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        let header = |name: &str| (name == "x-hub-signature-256").then_some(signature);
        let signed = |body: &'static [u8], secret: &str| {
            let message = Posted { header: &header, body };
            is_signed(&message, Signing::GitHub, secret, 0)
        };
        assert!(signed(b"Hello, World!", "It's a Secret to Everybody"));
        assert!(!signed(b"Hello, World?", "It's a Secret to Everybody"));
        assert!(!signed(b"Hello, World!", "It's no secret"));
        assert!(!signed(b"Hello, World!", ""));
    }

    /// The example of the Standard Webhooks' libraries.
    #[test]
    fn standard_webhooks_example_is_signed_for_five_minutes() {
        let header = |name: &str| match name {
            "webhook-id" => Some("msg_p5jXN8AQM9LWM0D4loKWxJek"),
            "webhook-timestamp" => Some("1614265330"),
            "webhook-signature" => Some("v2,x v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
            _ => None,
        };
        let message = Posted { header: &header, body: b"{\"test\": 2432232314}" };
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let at = |now| is_signed(&message, Signing::Standard, secret, now);
        assert!(at(1_614_265_330) && at(1_614_265_630));
        assert!(!at(1_614_265_631) && !at(1_614_265_029) && !at(0));
        assert!(!is_signed(&message, Signing::Standard, "whsec_AAAA", 1_614_265_330));
    }

    #[test]
    fn cloud_event_is_one_document_in_both_forms() {
        let none = |_: &str| None;
        let binary = |name: &str| match name {
            "content-type" => Some("application/json"),
            "ce-specversion" => Some("1.0"),
            "ce-id" => Some("7"),
            "ce-source" => Some("/shop"),
            "webhook-id" => Some("m-1"),
            _ => None,
        };
        let structured = |name: &str| (name == "content-type").then_some("application/cloudevents+json");
        let event = json!({ "specversion": "1.0", "id": "7", "source": "/shop", "data": { "qty": 3 } });
        let read = |header: &dyn Fn(&str) -> Option<&'static str>, body: Json| {
            let header = |name: &str| header(name);
            event_of(&Posted { header: &header, body: b"" }, Signing::Standard, body)
        };
        let number = number_of(&["cloudevent", "/shop", "7"]);
        assert_eq!(read(&structured, event.clone()), Some((number, event.clone())));
        // Nobody signs the headers of a CloudEvent in binary form.
        let data = json!({ "data": { "qty": 3 } });
        let number = number_of(&["message", "m-1"]);
        assert_eq!(read(&binary, json!({ "qty": 3 })), Some((number, data)));
        let (one, other) = (["cloudevent", "a b", "c"], ["cloudevent", "a", "b c"]);
        assert_ne!(number_of(&one), number_of(&other));
        assert_eq!(read(&structured, json!({ "id": 7 })), None);
        assert_eq!(read(&none, json!({})), None, "an event without a number");
        let values = mapped(&event, &json!({ "qty": "/data/qty", "item": "/data/item" }));
        assert_eq!(Json::from(values), json!({ "qty": 3 }));
    }
}

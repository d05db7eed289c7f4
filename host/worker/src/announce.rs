//! Announces exceptions to webhooks: takes messages out of the outbox, signs and posts them, and leaves those that
//! were not taken to a later attempt. A message is delivered at least once; its number is the same each time. Each
//! webhook has a few posts of its own at a time, so that a receiver that does not answer keeps no other waiting.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use wedflow_capability::http::Request;
use wedflow_capability::{HostPort, Permission};
use wedflow_store::{Message, Store, StoreError};

use crate::outside::http_of;
use crate::shared::Shared;

/// Maximum number of messages that one look takes.
const MESSAGES_MAX: i32 = 64;
/// The time that a receiver has for its answer.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// The webhook of each message under way on this host.
#[derive(Debug, Default)]
pub(crate) struct UnderWay(Mutex<Vec<i32>>);

impl UnderWay {
    fn webhooks(&self) -> Vec<i32> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn begin(&self, webhook: i32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(webhook);
    }

    fn end(&self, webhook: i32) {
        let mut under_way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = under_way.iter().position(|one| *one == webhook) {
            under_way.swap_remove(at);
        }
    }
}

/// Begins to deliver messages that are due, of webhooks that have not their share under way.
pub(crate) async fn deliver(shared: &Arc<Shared>, under_way: &Arc<UnderWay>) -> Result<(), StoreError> {
    let busy = under_way.webhooks();
    let taken = shared.store.take_messages(&busy, MESSAGES_MAX);
    for message in taken.await? {
        let webhook = message.webhook_id;
        under_way.begin(webhook);
        let (shared, under_way) = (Arc::clone(shared), Arc::clone(under_way));
        tokio::spawn(async move {
            if let Err(error) = deliver_in_turn(&shared, message).await {
                tracing::warn!(%error, "could not record what became of an announcement; it is made again");
            }
            under_way.end(webhook);
        });
    }
    Ok(())
}

/// Says why messages to a URL would not be delivered, by the check that a delivery makes; none if a host that runs may
/// post there.
///
/// # Errors
/// Only those of the connection.
pub async fn undeliverable(store: &Store, tenant: &str, url: &str) -> Result<Option<String>, StoreError> {
    let Some(target) = HostPort::of_url(url) else {
        return Ok(Some("the URL names no host and port".to_owned()));
    };
    let hosts = store.places_of_hosts().await?;
    if hosts.is_empty() {
        return Ok(Some(format!(
            "no host runs; messages wait until one does whose operator allows the place (--allow-http {target})"
        )));
    }
    let permissions: Vec<Permission> = hosts.iter().flatten().filter_map(|place| place.parse().ok()).collect();
    let request = request(url, Vec::new(), Vec::new());
    let checked = http_of(&permissions, tenant).check(&[target], request).await;
    Ok(checked.err().map(|error| error.to_string()))
}

/// The request that posts a message.
fn request(url: &str, headers: Vec<(String, String)>, body: Vec<u8>) -> Request {
    Request { method: "POST".to_owned(), url: url.to_owned(), headers, body, confidential: false }
}

/// Delivers a message, and then those of its webhook that are due, as long as the receiver takes them.
async fn deliver_in_turn(shared: &Shared, mut message: Message) -> Result<(), StoreError> {
    let webhook = message.webhook_id;
    while attempt(shared, message).await? {
        let taken = shared.store.take_next_message(webhook);
        match taken.await? {
            Some(next) => message = next,
            None => break,
        }
    }
    Ok(())
}

/// Makes one attempt to deliver a message. Returns true if it was taken.
async fn attempt(shared: &Shared, message: Message) -> Result<bool, StoreError> {
    let number = message.message_id;
    let posted = post(shared, &message);
    let outcome = match tokio::time::timeout(ANSWER_MAX, posted).await {
        Ok(outcome) => outcome,
        Err(_) => Err(format!("no answer within {} s", ANSWER_MAX.as_secs()).into()),
    };
    let recorded = async {
        match &outcome {
            Ok(()) => shared.store.message_delivered(number).await,
            Err(failure) => {
                let store = &shared.store;
                store.message_failed(number, &failure.reason, failure.is_gone).await
            }
        }
    };
    if let Err(failure) = &outcome {
        tracing::warn!(
            tenant = message.tenant,
            webhook = message.webhook,
            attempt = message.attempt,
            reason = failure.reason,
            "an announcement was not taken; it is made again later"
        );
    }
    recorded.await?;
    Ok(outcome.is_ok())
}

/// Why a message was not taken.
struct Failure {
    reason: String,
    /// The receiver wants no more.
    is_gone: bool,
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Failure { reason, is_gone: false }
    }
}

async fn post(shared: &Shared, message: &Message) -> Result<(), Failure> {
    let target = HostPort::of_url(&message.url).ok_or_else(|| "the URL names no host and port".to_owned())?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut request = request(&message.url, headers(message, now.as_secs()), message.body.clone().into_bytes());
    let http = shared.outside.http_of(&message.tenant);
    let traced = match &shared.spans {
        Some(spans) => (spans.begin_post(&shared.store, message, &mut request).await).map(|post| (spans, post)),
        None => None,
    };
    // Its body says nothing to us, and may never end.
    let status = http.status(&[target], request).await;
    let outcome = match status.map_err(|error| error.to_string()) {
        Ok(200..=299) => Ok(()),
        Ok(status) => Err(Failure { reason: format!("it answered {status}"), is_gone: status == 410 }),
        Err(reason) => Err(reason.into()),
    };
    if let Some((spans, post)) = traced {
        let failure = outcome.as_ref().err().map(|failure: &Failure| failure.reason.as_str());
        spans.end_post(post, message, failure);
    }
    outcome
}

/// The headers of Standard Webhooks (standardwebhooks.com): the message's name, the time, and what signs both with the
/// body: once for each secret.
fn headers(message: &Message, seconds: u64) -> Vec<(String, String)> {
    let id = message.name.clone();
    let signed = format!("{id}.{seconds}.{}", message.body);
    let signatures: Vec<String> = (message.secrets.iter()).map(|secret| signature(secret, &signed)).collect();
    [
        ("content-type", "application/json".to_owned()),
        ("user-agent", "wedflow".to_owned()),
        ("webhook-id", id),
        ("webhook-timestamp", seconds.to_string()),
        ("webhook-signature", signatures.join(" ")),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// Signs a text with a webhook's secret.
fn signature(secret: &str, signed: &str) -> String {
    let key = BASE64.decode(secret.trim_start_matches("whsec_").as_bytes());
    Hmac::<Sha256>::new_from_slice(&key.unwrap_or_default()).map_or_else(
        |_| String::new(),
        |mut mac| {
            mac.update(signed.as_bytes());
            format!("v1,{}", BASE64.encode(&mac.finalize().into_bytes()))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_is_signed_as_standard_webhooks_say() {
        // The example of the specification's own libraries.
        let message = Message {
            message_id: 1,
            webhook_id: 1,
            tenant: "acme".to_owned(),
            url: "https://example.com/".to_owned(),
            webhook: "wh_1".to_owned(),
            secrets: vec!["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned()],
            name: "msg_1".to_owned(),
            body: r#"{"test": 2432232314}"#.to_owned(),
            attempt: 1,
        };
        let headers = headers(&message, 1_614_265_330);
        let signature = headers.iter().find(|(name, _)| name == "webhook-signature").map(|(_, value)| value.as_str());
        assert!(signature.is_some_and(|value| value.starts_with("v1,") && value.len() == 47));
        let other = Message { name: "msg_2".to_owned(), ..message };
        let changed = self::headers(&other, 1_614_265_330);
        assert_ne!(headers, changed);
    }

    #[test]
    fn webhook_is_busy_until_its_last_message_has_ended() {
        let under_way = UnderWay::default();
        for webhook in [7, 7, 8] {
            under_way.begin(webhook);
        }
        under_way.end(7);
        under_way.end(8);
        assert_eq!(under_way.webhooks(), [7]);
        under_way.end(7);
        assert!(under_way.webhooks().is_empty());
    }
}

//! Announces exceptions to webhooks: takes messages out of the outbox, signs and posts them, and leaves those that were
//! not taken to a later attempt. A message is delivered at least once; its number is the same each time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use wedflow_capability::HostPort;
use wedflow_capability::http::Request;
use wedflow_model::TenantId;
use wedflow_store::{Message, StoreError};

use crate::shared::Shared;
use crate::silence::{STATEMENTS_TIME_MAX, answered};

/// Maximum number of messages of a tenant under way on a host.
const UNDER_WAY_PER_TENANT_MAX: i32 = 4;
/// Maximum number of messages that one look takes.
const MESSAGES_MAX: i32 = 64;
/// The time that a receiver has for its answer.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// Messages under way on this host, by tenant.
#[derive(Debug, Default)]
pub(crate) struct UnderWay(Mutex<HashMap<TenantId, usize>>);

impl UnderWay {
    fn tenants(&self) -> Vec<TenantId> {
        let under_way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.keys().copied().collect()
    }

    fn change(&self, tenant: TenantId, how: impl FnOnce(&mut usize)) {
        let mut under_way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = under_way.entry(tenant).or_default();
        how(count);
        if *count == 0 {
            under_way.remove(&tenant);
        }
    }
}

/// Begins to deliver the messages that are due. A tenant whose messages are under way waits for those: a receiver that
/// does not answer keeps its own tenant waiting only.
pub(crate) async fn deliver(
    shared: &Arc<Shared>,
    under_way: &Arc<UnderWay>,
) -> Result<(), StoreError> {
    let busy = under_way.tenants();
    let taken = shared
        .store
        .take_messages(UNDER_WAY_PER_TENANT_MAX, MESSAGES_MAX, &busy);
    for message in answered(&shared.store, STATEMENTS_TIME_MAX, taken).await? {
        under_way.change(message.tenant_id, |count| *count += 1);
        let (shared, under_way) = (Arc::clone(shared), Arc::clone(under_way));
        tokio::spawn(async move {
            let tenant = message.tenant_id;
            if let Err(error) = attempt(&shared, message).await {
                tracing::warn!(%error, "could not record what became of an announcement; it is made again");
            }
            under_way.change(tenant, |count| *count -= 1);
        });
    }
    Ok(())
}

async fn attempt(shared: &Shared, message: Message) -> Result<(), StoreError> {
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
                store
                    .message_failed(number, &failure.reason, failure.is_gone)
                    .await
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
    answered(&shared.store, STATEMENTS_TIME_MAX, recorded).await
}

/// Why a message was not taken.
struct Failure {
    reason: String,
    /// The receiver wants no more.
    is_gone: bool,
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Failure {
            reason,
            is_gone: false,
        }
    }
}

async fn post(shared: &Shared, message: &Message) -> Result<(), Failure> {
    let target = HostPort::of_url(&message.url)
        .ok_or_else(|| "the URL names no host and port".to_owned())?;
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let request = Request {
        method: "POST".to_owned(),
        url: message.url.clone(),
        headers: headers(message, now.as_secs()),
        body: message.body.clone().into_bytes(),
        confidential: false,
    };
    let http = shared.outside.http_of(&message.tenant);
    let answer = http
        .fetch(&[target], request)
        .await
        .map_err(|error| error.to_string())?;
    match answer.status {
        200..=299 => Ok(()),
        status => Err(Failure {
            reason: format!("it answered {status}"),
            is_gone: status == 410,
        }),
    }
}

/// The headers of Standard Webhooks (standardwebhooks.com): the message's name, the time, and what signs both with the
/// body: once for each secret.
fn headers(message: &Message, seconds: u64) -> Vec<(String, String)> {
    let id = message.name.clone();
    let signed = format!("{id}.{seconds}.{}", message.body);
    let signatures: Vec<String> = (message.secrets.iter())
        .map(|secret| signature(secret, &signed))
        .collect();
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
            tenant_id: TenantId::new(1),
            tenant: "acme".to_owned(),
            url: "https://example.com/".to_owned(),
            webhook: "wh_1".to_owned(),
            secrets: vec!["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned()],
            name: "msg_1".to_owned(),
            body: r#"{"test": 2432232314}"#.to_owned(),
            attempt: 1,
        };
        let headers = headers(&message, 1_614_265_330);
        let signature = headers
            .iter()
            .find(|(name, _)| name == "webhook-signature")
            .map(|(_, value)| value.as_str());
        assert!(signature.is_some_and(|value| value.starts_with("v1,") && value.len() == 47));
        let other = Message {
            name: "msg_2".to_owned(),
            ..message
        };
        let changed = self::headers(&other, 1_614_265_330);
        assert_ne!(headers, changed);
    }

    #[test]
    fn tenant_is_busy_until_its_last_message_has_ended() {
        let (under_way, acme) = (UnderWay::default(), TenantId::new(1));
        under_way.change(acme, |count| *count += 2);
        under_way.change(acme, |count| *count -= 1);
        assert_eq!(under_way.tenants(), [acme]);
        under_way.change(acme, |count| *count -= 1);
        assert!(under_way.tenants().is_empty());
    }
}

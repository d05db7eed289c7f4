//! Inbound hooks: a flow's, and the messages that are posted to them.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use data_encoding::BASE64;
use serde_json::Value;
use wedflow_store::{PostedHook, StoreError};
use wedflow_tenancy::{Action, Area};
use wedflow_worker::hooks::{Posted, Signing, event_of, is_signed, key_at, mapped};

use super::operate::FlowPath;
use crate::access::{Caller, share_of_address};
use crate::body::{self, Document, OptionalDocument};
use crate::connections::ClientAddress;
use crate::documents::{Hook, HookRotation, HookSet, HookTaken, List, Page, PutHook};
use crate::page;
use crate::path::{Asked, Named};
use crate::problem::{Problem, moved, moving, suspended, too_long};
use crate::rate::Bearer;
use crate::state::Api;

/// Most bytes of a message.
const MESSAGE_BYTES_MAX: u64 = 256 << 10;
/// Bytes of a secret that is made here.
const SECRET_BYTES: usize = 24;
/// Default time for which the old secret is accepted, in hours.
const OVERLAP_HOURS: u32 = 24;
/// Bytes of a secret that a sender gives.
const SECRET_LENGTHS: std::ops::RangeInclusive<usize> = 16..=255;
/// Most attributes that a hook maps.
const MAPPED_MAX: usize = 200;
/// Most bytes of a JSON pointer.
const POINTER_BYTES_MAX: usize = 1_000;

/// A flow's inbound hooks; never their secrets
#[utoipa::path(get, path = "/v1/flows/{flow}/hooks", operation_id = "hooks", tag = "flows", params(FlowPath, Page),
    responses((status = 200, body = List<Hook>), (status = 404, body = Problem)))]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    Named(path): Named<FlowPath>,
    Asked(asked): Asked<Page>,
) -> Result<Json<List<Hook>>, Problem> {
    let flow = caller.flow(&api, Action::read(Area::Flows), &path.flow).await?;
    let hooks = api.store.hooks(&flow).await?;
    page::cut(&asked, hooks, |hook: &Hook| hook.name.clone()).map(Json)
}

/// Makes an inbound hook of a flow, or changes the one of that name: how messages to its path are signed, and what they
/// do to instances. The secret of a new one is in this answer and nowhere else
#[utoipa::path(put, path = "/v1/flows/{flow}/hooks/{hook}", operation_id = "put_hook", tag = "flows",
    params(FlowPath, ("hook" = String, Path,
        description = "The hook's name")),
    request_body = PutHook,
    responses((status = 200, body = HookSet), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn put(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, name)): Named<(String, String)>,
    Document(asked): Document<PutHook>,
) -> Result<Json<HookSet>, Problem> {
    let flow = caller.flow(&api, Action::write(Area::Flows), &flow).await?;
    checked(&asked)?;
    let is_new = !(api.store.hooks(&flow).await?.iter()).any(|hook| hook.name == name);
    let made = (is_new && asked.secret.is_none()).then(new_secret);
    let secret = made.as_deref().or(asked.secret.as_deref());
    let store = caller.store(&api);
    let path = store.set_hook(&flow, &name, &asked, secret).await?;
    Ok(Json(HookSet { path, secret: made, name }))
}

fn new_secret() -> String {
    let bytes: [u8; SECRET_BYTES] = rand::random();
    format!("whsec_{}", BASE64.encode(&bytes))
}

/// Replaces the secret of an inbound hook. Messages that are signed with the old one are taken for a while; a random new
/// one is in this answer and nowhere else
#[utoipa::path(post, path = "/v1/flows/{flow}/hooks/{hook}/rotate", operation_id = "rotate_hook", tag = "flows",
    params(FlowPath, ("hook" = String, Path,
        description = "The hook's name")),
    request_body = Option<HookRotation>,
    responses((status = 200, body = HookSet), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn rotate(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, name)): Named<(String, String)>,
    OptionalDocument(asked): OptionalDocument<HookRotation>,
) -> Result<Json<HookSet>, Problem> {
    let flow = caller.flow(&api, Action::write(Area::Flows), &flow).await?;
    checked_secret(asked.secret.as_deref())?;
    let made = asked.secret.is_none().then(new_secret);
    let secret = made.as_deref().or(asked.secret.as_deref());
    let hours = asked.overlap_hours.unwrap_or(OVERLAP_HOURS);
    let store = caller.store(&api);
    let overlap = format!("{hours} hours");
    let path = store.rotate_hook(&flow, &name, secret.unwrap_or_default(), &overlap).await?;
    Ok(Json(HookSet { path, secret: made, name }))
}

fn wrong(at: &str, said: String) -> Result<(), Problem> {
    Err(Problem::invalid("invalid_document", said).at(at.to_owned()).hint("GET /openapi.json describes the document."))
}

fn is_decoded(secret: &str) -> bool {
    let encoded = secret.strip_prefix("whsec_");
    encoded.is_none_or(|encoded| BASE64.decode(encoded.as_bytes()).is_ok())
}

/// Returns true for a JSON pointer (RFC 6901) that is not too long.
fn is_pointer(text: &str) -> bool {
    let mut escapes = text.split('~').skip(1);
    (text.is_empty() || text.starts_with('/'))
        && text.len() <= POINTER_BYTES_MAX
        && escapes.all(|behind| behind.starts_with(['0', '1']))
}

fn checked_secret(secret: Option<&str>) -> Result<(), Problem> {
    match secret {
        Some(secret) if !SECRET_LENGTHS.contains(&secret.len()) => {
            wrong("/secret", "secret is not of 16 to 255 bytes".to_owned())
        }
        Some(secret) if !is_decoded(secret) => {
            wrong("/secret", "secret begins with whsec_, and the rest is not base64".to_owned())
        }
        _ => Ok(()),
    }
}

/// Refuses a hook that is out of bounds.
fn checked(hook: &PutHook) -> Result<(), Problem> {
    checked_secret(hook.secret.as_deref())?;
    if hook.attributes.len() > MAPPED_MAX {
        return wrong("/attributes", format!("attributes are more than {MAPPED_MAX}"));
    }
    let key = hook.key.iter().map(|pointer| ("/key", pointer));
    let attributes = hook.attributes.values();
    let mut pointers = key.chain(attributes.map(|pointer| ("/attributes", pointer)));
    match pointers.find(|(_, pointer)| !is_pointer(pointer)) {
        None => Ok(()),
        Some((at, text)) => {
            let short: String = text.chars().take(80).collect();
            wrong(at, format!("\"{short}\" is no JSON pointer, such as /data/order"))
        }
    }
}

/// Removes an inbound hook
#[utoipa::path(delete, path = "/v1/flows/{flow}/hooks/{hook}", operation_id = "delete_hook", tag = "flows",
    params(FlowPath, ("hook" = String, Path,
        description = "The hook's name")),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn delete(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, name)): Named<(String, String)>,
) -> Result<StatusCode, Problem> {
    let flow = caller.flow(&api, Action::write(Area::Flows), &flow).await?;
    caller.store(&api).remove_hook(&flow, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Takes a message for a hook, without a token: its signature is looked at. CloudEvents, or any JSON with a number of
/// its own; taken once for a number within a day
#[utoipa::path(post, path = "/v1/hooks/{address}", operation_id = "receive", tag = "events", security(()),
    params(("address" = String, Path, description = "The last part of the hook's path")),
    request_body(content = Value, content_type = "application/json"),
    responses((status = 200, body = HookTaken), (status = 401, body = Problem,
        description = "The message is not signed with the hook's secret"), (status = 404, body = Problem)))]
pub(crate) async fn receive(
    State(api): State<Api>,
    client: Option<Extension<ClientAddress>>,
    Named(address): Named<String>,
    request: Request,
) -> Result<Response, Problem> {
    let client = client.map(|Extension(address)| address);
    let taken = received(&api, client, &address, request);
    let taken = tokio::time::timeout(api.times.request, taken).await;
    taken.unwrap_or_else(|_| Err(too_long()))
}

async fn received(
    api: &Api,
    client: Option<ClientAddress>,
    address: &str,
    request: Request,
) -> Result<Response, Problem> {
    let longest = api.times.request;
    let hook = {
        let share = share_of_address(client);
        let _slot = api.lookups.wait(&share, 1, longest).await?;
        api.tokens.posted_hook(address).await?
    };
    let counted = api.rates.count_bearer(&Bearer {
        tenant: hook.tenant.clone(),
        token: format!("hook {address}"),
        rate: hook.requests_per_second.and_then(|rate| u32::try_from(rate).ok()),
    });
    if let Some(refusal) = counted.and_then(crate::rate::Counted::refusal) {
        return Ok(refusal);
    }
    match hook.moving.as_deref() {
        Some("left") => return Err(moved()),
        Some(_) => return Err(moving()),
        None if hook.suspended => return Err(suspended()),
        None => {}
    }
    let (parts, sent) = request.into_parts();
    let bytes = body::plain(&parts.headers, sent, MESSAGE_BYTES_MAX, api.times).await?.bytes;
    let (event, document) = believed(&hook, &parts.headers, &bytes)?;
    let key = match &hook.key {
        None => None,
        Some(pointer) => Some(key_at(&document, pointer).ok_or_else(|| {
            Problem::invalid("invalid_document", format!("there is no key at {pointer}"))
                .hint("The hook's `key` points at a text or a number.")
        })?),
    };
    let values = mapped(&document, &hook.attributes);
    let _slot = api.connections.wait(&hook.tenant, 1, longest).await?;
    let taken = api.store.take_event(&hook, &event, values, key.as_deref()).await?;
    let taken: HookTaken = serde_json::from_value(taken).map_err(StoreError::unreadable)?;
    Ok(Json(taken).into_response())
}

/// Reads a message that is signed with the hook's secret: the event's number, and its document.
fn believed(hook: &PostedHook, headers: &HeaderMap, bytes: &[u8]) -> Result<(String, Value), Problem> {
    let signing = match hook.scheme.as_str() {
        "github" => Signing::GitHub,
        _ => Signing::Standard,
    };
    let message = Posted { header: &|name| headers.get(name).and_then(|value| value.to_str().ok()), body: bytes };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let mut secrets = [Some(&hook.secret), hook.old_secret.as_ref()].into_iter();
    if !secrets.any(|one| one.is_some_and(|one| is_signed(&message, signing, one, now))) {
        return Err(Problem::new(
            StatusCode::UNAUTHORIZED,
            "not_signed",
            "the message is not signed with the hook's secret, or its time is more than five minutes from now",
        )
        .hint("Give the sender the secret that the hook has, and look at its clock."));
    }
    let kind = body::media_type(headers);
    if !matches!(kind.as_deref(), Some("application/json" | "application/cloudevents+json")) {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "content_type",
            "a message is application/json or application/cloudevents+json",
        )
        .hint("Let the sender send JSON."));
    }
    event_of(&message, signing, body::json(bytes)?).ok_or_else(|| {
        Problem::invalid("invalid_document", "the event has no number of its own")
            .hint("A CloudEvent has `id` and `source`; other messages come with webhook-id or GitHub's signature.")
    })
}

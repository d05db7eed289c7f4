//! Webhooks: URLs that receive a tenant's events, and the delivery of the messages.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use wedflow_store::Flow;
use wedflow_tenancy::{Action, Area};

use crate::access::Caller;
use crate::body::{Document, OptionalDocument};
use crate::documents::{
    List, Page, Redelivered, Redelivery, Webhook, WebhookMessage, WebhookPlace, WebhookRotation, WebhookSecret,
    WebhookSet, WebhookTest,
};
use crate::page;
use crate::path::{Asked, Named};
use crate::problem::Problem;
use crate::state::Api;

/// Longest time for which two secrets of a webhook are valid, in hours.
const OVERLAP_HOURS_MAX: u32 = 24 * 30;

async fn flow_of(api: &Api, caller: &Caller, flow: Option<&str>) -> Result<Option<Flow>, Problem> {
    Ok(match flow {
        Some(name) => Some(api.store.flow(&caller.tenant, name).await?),
        None => None,
    })
}

/// The tenant's webhooks
#[utoipa::path(get, path = "/v1/webhooks", operation_id = "webhooks", tag = "settings", params(Page),
    responses((status = 200, body = List<Webhook>),
    (status = 403, body = Problem)))]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    Asked(asked): Asked<Page>,
) -> Result<Json<List<Webhook>>, Problem> {
    caller.must(Action::read(Area::Settings))?;
    let whole = caller.may(Action::write(Area::Settings));
    let webhooks = api.store.webhooks(&caller.tenant, !whole).await?;
    page::cut(&asked, webhooks, |webhook: &Webhook| format!("{} {}", webhook.since, webhook.name)).map(Json)
}

/// Makes a webhook that sends events to a URL, or changes the one of this URL
#[utoipa::path(put, path = "/v1/webhooks", tag = "settings", request_body = WebhookPlace,
    responses((status = 200, body = WebhookSet), (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn set(
    State(api): State<Api>,
    caller: Caller,
    Document(place): Document<WebhookPlace>,
) -> Result<Json<WebhookSet>, Problem> {
    caller.must(Action::write(Area::Settings))?;
    let flow = flow_of(&api, &caller, place.flow.as_deref()).await?;
    let store = caller.store(&api);
    let set = store.set_webhook(&caller.tenant, flow.as_ref(), &place).await?;
    let warning = wedflow_worker::undeliverable(&api.store, &caller.tenant, &place.url).await?;
    Ok(Json(WebhookSet { warning, ..set }))
}

/// Removes the webhook of a URL with its undelivered messages
#[utoipa::path(delete, path = "/v1/webhooks", tag = "settings", request_body = WebhookPlace,
    responses((status = 204), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn remove(
    State(api): State<Api>,
    caller: Caller,
    Document(place): Document<WebhookPlace>,
) -> Result<StatusCode, Problem> {
    caller.must(Action::write(Area::Settings))?;
    let flow = flow_of(&api, &caller, place.flow.as_deref()).await?;
    caller.store(&api).remove_webhook(&caller.tenant, flow.as_ref(), &place.url).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Replaces a webhook's secret; messages are signed with both for a while
#[utoipa::path(post, path = "/v1/webhooks/{webhook}/rotate", tag = "settings", operation_id = "rotate_webhook",
    params(("webhook" = String, Path, description = "The webhook's name")), request_body = Option<WebhookRotation>,
    responses((status = 200, body = WebhookSecret), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn rotate(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    OptionalDocument(rotation): OptionalDocument<WebhookRotation>,
) -> Result<Json<WebhookSecret>, Problem> {
    caller.must(Action::write(Area::Settings))?;
    let hours = rotation.overlap_hours.unwrap_or(24).min(OVERLAP_HOURS_MAX + 1);
    let secret = caller.store(&api).rotate_webhook(&caller.tenant, &name, &format!("{hours} hours")).await?;
    Ok(Json(WebhookSecret { secret }))
}

/// Sends a message of the type `webhook.test`
#[utoipa::path(post, path = "/v1/webhooks/{webhook}/test", tag = "settings", operation_id = "test_webhook",
    params(("webhook" = String, Path, description = "The webhook's name")),
    responses((status = 202, body = WebhookTest), (status = 404, body = Problem)))]
pub(crate) async fn test(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
) -> Result<(StatusCode, Json<WebhookTest>), Problem> {
    caller.must(Action::write(Area::Settings))?;
    let store = caller.store(&api);
    let message = store.test_webhook(&caller.tenant, &name).await?;
    Ok((StatusCode::ACCEPTED, Json(WebhookTest { message })))
}

/// Messages of a webhook that were not delivered, oldest first: pending ones and dead letters
#[utoipa::path(get, path = "/v1/webhooks/{webhook}/messages", tag = "settings", operation_id = "webhook_messages",
    params(("webhook" = String, Path, description = "The webhook's name"), Page),
    responses((status = 200, body = List<WebhookMessage>), (status = 403, body = Problem),
    (status = 404, body = Problem)))]
pub(crate) async fn messages(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    Asked(asked): Asked<Page>,
) -> Result<Json<List<WebhookMessage>>, Problem> {
    caller.must(Action::write(Area::Settings))?;
    let limit = page::limit(asked.limit)?;
    let after = page::position::<1>(asked.cursor.as_deref())?.map(|[number]| number);
    let store = &api.store;
    let fetch = |after, count| store.webhook_messages(&caller.tenant, &name, after, count);
    let (items, next) = page::part(limit, after, |message| (message.number, message.row), fetch).await?;
    if items.is_empty() && !store.webhooks(&caller.tenant, true).await?.iter().any(|webhook| webhook.name == name) {
        return Err(Problem::missing("webhook", &name));
    }
    let next = next.map(|number| page::cursor(&[number]));
    Ok(Json(List { items, next }))
}

/// Sends messages again whose delivery was given up: one, or all of them
#[utoipa::path(post, path = "/v1/webhooks/{webhook}/redeliver", tag = "settings", operation_id = "redeliver",
    params(("webhook" = String, Path, description = "The webhook's name")), request_body = Option<Redelivery>,
    responses((status = 200, body = Redelivered), (status = 404, body = Problem)))]
pub(crate) async fn redeliver(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    OptionalDocument(asked): OptionalDocument<Redelivery>,
) -> Result<Json<Redelivered>, Problem> {
    caller.must(Action::write(Area::Settings))?;
    let messages = caller.store(&api).redeliver(&caller.tenant, &name, asked.message.as_deref()).await?;
    Ok(Json(Redelivered { messages }))
}

//! Webhooks: where a tenant's exceptions are announced.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use wedflow_store::Flow;
use wedflow_tenancy::{Action, Area};

use crate::access::Caller;
use crate::body::Document;
use crate::documents::{List, Webhook, WebhookPlace, WebhookSet};
use crate::problem::Problem;
use crate::state::Api;

async fn flow_of(
    api: &Api,
    caller: &Caller,
    place: &WebhookPlace,
) -> Result<Option<Flow>, Problem> {
    Ok(match &place.flow {
        Some(name) => Some(api.store.flow(&caller.tenant, name).await?),
        None => None,
    })
}

/// The tenant's webhooks
#[utoipa::path(get, path = "/v1/webhooks", operation_id = "webhooks", tag = "settings",
    responses((status = 200, body = List<Webhook>),
    (status = 403, body = Problem)))]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
) -> Result<Json<List<Webhook>>, Problem> {
    caller.must(Action::read(Area::Settings))?;
    let webhooks = api.store.webhooks(&caller.tenant).await?;
    let webhooks = webhooks.into_iter().map(|webhook| Webhook {
        url: webhook.url,
        flow: webhook.flow,
        pending: webhook.pending,
        last_error: webhook.last_error,
        actor: webhook.actor,
        since: webhook.since,
    });
    Ok(Json(List::whole(webhooks.collect())))
}

/// Announces exceptions to a URL
#[utoipa::path(put, path = "/v1/webhooks", tag = "settings", request_body = WebhookPlace,
    responses((status = 200, body = WebhookSet), (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn set(
    State(api): State<Api>,
    caller: Caller,
    Document(place): Document<WebhookPlace>,
) -> Result<Json<WebhookSet>, Problem> {
    caller.must(Action::write(Area::Settings))?;
    let flow = flow_of(&api, &caller, &place).await?;
    let secret = caller
        .store(&api)
        .set_webhook(&caller.tenant, flow.as_ref(), &place.url)
        .await?;
    Ok(Json(WebhookSet {
        url: place.url,
        secret,
    }))
}

/// Announces no more to a URL
#[utoipa::path(delete, path = "/v1/webhooks", tag = "settings", request_body = WebhookPlace,
    responses((status = 204), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn remove(
    State(api): State<Api>,
    caller: Caller,
    Document(place): Document<WebhookPlace>,
) -> Result<StatusCode, Problem> {
    caller.must(Action::write(Area::Settings))?;
    let flow = flow_of(&api, &caller, &place).await?;
    caller
        .store(&api)
        .remove_webhook(&caller.tenant, flow.as_ref(), &place.url)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

//! A tenant's quotas and use; receipts.

use axum::Json;
use axum::extract::State;
use wedflow_store::{ReceiptDays, ReceiptPlace};
use wedflow_tenancy::{Action, Area};

use crate::access::{Caller, Operator};
use crate::documents::{Host, LastHour, List, Receipt, ReceiptFilter, Usage};
use crate::page;
use crate::path::Asked;
use crate::problem::Problem;
use crate::state::Api;

/// The tenant's limits, and what it uses of them
#[utoipa::path(get, path = "/v1/usage", tag = "settings",
    responses((status = 200, body = List<Usage>), (status = 403, body = Problem)))]
pub(crate) async fn list(State(api): State<Api>, caller: Caller) -> Result<Json<List<Usage>>, Problem> {
    caller.must(Action::read(Area::Usage))?;
    Ok(Json(List::whole(api.store.quotas(&caller.tenant).await?)))
}

/// Receipts: what the tenant used, by day, flow and transition
#[utoipa::path(get, path = "/v1/usage/receipts", tag = "settings", operation_id = "receipts", params(ReceiptFilter),
    responses((status = 200, body = List<Receipt>), (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn receipts(
    State(api): State<Api>,
    caller: Caller,
    Asked(asked): Asked<ReceiptFilter>,
) -> Result<Json<List<Receipt>>, Problem> {
    caller.must(Action::read(Area::Usage))?;
    part(&api, Some(caller.tenant.as_str()), &asked).await
}

/// Receipts of all tenants: what they used, by day, tenant, flow and transition
#[utoipa::path(get, path = "/v1/installation/receipts", tag = "installation", operation_id = "all_receipts",
    params(ReceiptFilter), responses((status = 200, body = List<Receipt>), (status = 422, body = Problem)))]
pub(crate) async fn all_receipts(
    State(api): State<Api>,
    _: Operator,
    Asked(asked): Asked<ReceiptFilter>,
) -> Result<Json<List<Receipt>>, Problem> {
    part(&api, None, &asked).await
}

async fn part(api: &Api, tenant: Option<&str>, asked: &ReceiptFilter) -> Result<Json<List<Receipt>>, Problem> {
    let limit = page::limit(asked.limit)?;
    let from = page::text_position(asked.cursor.as_deref())?;
    let days = ReceiptDays { since: asked.since.as_deref(), until: asked.until.as_deref() };
    let from = from.map(|text| place(&text));
    let (items, next) = api.store.receipts(tenant, days, from, limit).await?;
    Ok(Json(List { items, next: next.map(|place| page::text_cursor(&text(&place))) }))
}

/// Reads a place as [`text`] wrote it.
fn place(text: &str) -> ReceiptPlace {
    let mut parts = text.split('\n').map(str::to_owned);
    let day = parts.next().unwrap_or_default();
    let after = parts.collect::<Vec<_>>().try_into().ok();
    ReceiptPlace { day, after }
}

/// Writes a place as lines; names have none.
fn text(place: &ReceiptPlace) -> String {
    let day = std::iter::once(&place.day);
    let lines: Vec<&str> = day.chain(place.after.iter().flatten()).map(String::as_str).collect();
    lines.join("\n")
}

/// The hosts, with the tenant's jobs that each has in flight
#[utoipa::path(get, path = "/v1/hosts", tag = "settings", operation_id = "tenant_hosts",
    responses((status = 200, body = List<Host>), (status = 403, body = Problem)))]
pub(crate) async fn hosts(State(api): State<Api>, caller: Caller) -> Result<Json<List<Host>>, Problem> {
    caller.must(Action::read(Area::Usage))?;
    Ok(Json(List::whole(api.store.tenant_hosts(&caller.tenant).await?)))
}

/// The last hour of the tenant's flows, by minute: attempts by outcome, how long jobs waited, how long the oldest is due
#[utoipa::path(get, path = "/v1/last-hour", tag = "settings", operation_id = "last_hour",
    responses((status = 200, body = LastHour), (status = 403, body = Problem)))]
pub(crate) async fn last_hour(State(api): State<Api>, caller: Caller) -> Result<Json<LastHour>, Problem> {
    caller.must(Action::read(Area::Usage))?;
    Ok(Json(api.store.last_hour(&caller.tenant).await?))
}

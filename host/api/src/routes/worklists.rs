//! Worklists beyond claiming and reporting: tasks taken together, people's own order, late items, notification,
//! calendars, attachments.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use wedflow_store::PersonName;
use wedflow_tenancy::{Action, Area};

use super::work::person;
use wedflow_model::Wid;

use crate::access::Caller;
use crate::body::{Document, OptionalDocument};
use crate::documents::{Calendar, Decision, Following, List, Notification, Outcome, Page, Position, Successor};
use crate::page;
use crate::path::{Asked, Named};
use crate::problem::Problem;
use crate::sending;
use crate::state::Api;

/// Reserves the next item of a task for the holder of a locked item: both are taken away together
#[utoipa::path(post, path = "/v1/work/items/{item}/reserve", tag = "work",
    params(("item" = i64, Path, description = "The item's number")), request_body = Following,
    responses((status = 200, body = Value), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem)))]
pub(crate) async fn reserve(
    State(api): State<Api>,
    caller: Caller,
    Named(item): Named<i64>,
    Document(wanted): Document<Following>,
) -> Result<Json<Value>, Problem> {
    caller.must(Action::write(Area::Instances))?;
    let store = caller.store(&api);
    store.reserve_work(person(&caller), item, &wanted.task).await?;
    Ok(Json(json!({ "item": item, "reserved": wanted.task })))
}

/// Puts an item before another one in the caller's own order
#[utoipa::path(post, path = "/v1/work/items/{item}/move", tag = "work",
    params(("item" = i64, Path, description = "The item's number")), request_body = Option<Position>,
    responses((status = 200, body = Value), (status = 404, body = Problem)))]
pub(crate) async fn place(
    State(api): State<Api>,
    caller: Caller,
    Named(item): Named<i64>,
    OptionalDocument(wanted): OptionalDocument<Position>,
) -> Result<Json<Value>, Problem> {
    caller.must(Action::write(Area::Instances))?;
    let store = caller.store(&api);
    store.move_work(person(&caller), item, wanted.before).await?;
    Ok(Json(json!({ "item": item, "before": wanted.before })))
}

/// Decides of an item whose deadline has passed; for who is in charge
#[utoipa::path(post, path = "/v1/work/items/{item}/decide", tag = "work",
    params(("item" = i64, Path, description = "The item's number")), request_body = Decision,
    responses((status = 200, body = Value), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn decide(
    State(api): State<Api>,
    caller: Caller,
    Named(item): Named<i64>,
    Document(wanted): Document<Decision>,
) -> Result<Json<Value>, Problem> {
    caller.must(Action::write(Area::Instances))?;
    let store = caller.store(&api);
    let extend = wanted.extend.as_deref();
    Ok(Json(store.decide_late(person(&caller), item, wanted.proceed, extend).await?))
}

/// Decides what becomes of an instance that is an exception; for who is in charge
#[utoipa::path(post, path = "/v1/work/processes/{flow}/{wid}/decide", tag = "work",
    params(("flow" = String, Path, description = "The flow"), ("wid" = i32, Path, description = "The instance")),
    request_body = Outcome,
    responses((status = 200, body = Value), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn decide_exception(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, wid)): Named<(String, Wid)>,
    Document(wanted): Document<Outcome>,
) -> Result<Json<Value>, Problem> {
    caller.must(Action::write(Area::Instances))?;
    let store = caller.store(&api);
    Ok(Json(store.decide_exception(person(&caller), &flow, wid, &wanted).await?))
}

/// Changes how an instance notifies people while it runs; for who is in charge
#[utoipa::path(patch, path = "/v1/work/processes/{flow}/{wid}/notification", tag = "work",
    params(("flow" = String, Path, description = "The flow"), ("wid" = i32, Path, description = "The instance")),
    request_body = Notification,
    responses((status = 200, body = Value), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 422, body = Problem)))]
pub(crate) async fn notification(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, wid)): Named<(String, Wid)>,
    Document(wanted): Document<Notification>,
) -> Result<Json<Value>, Problem> {
    caller.must(Action::write(Area::Instances))?;
    let store = caller.store(&api);
    Ok(Json(store.change_notification(person(&caller), &flow, wid, &wanted).await?))
}

/// Gives what a person holds to another, at most 1000 items; of instances that the caller answers for
#[utoipa::path(post, path = "/v1/work/people/{user}/reassign", tag = "work",
    params(("user" = String, Path, description = "Who holds the items")), request_body = Successor,
    responses((status = 200, body = Value), (status = 404, body = Problem)))]
pub(crate) async fn reassign(
    State(api): State<Api>,
    caller: Caller,
    Named(from): Named<String>,
    Document(wanted): Document<Successor>,
) -> Result<Json<Value>, Problem> {
    caller.must(Action::write(Area::Instances))?;
    let store = caller.store(&api);
    let moved = store.reassign_work(person(&caller), &from, &wanted.to).await?;
    Ok(Json(json!({ "reassigned": moved })))
}

/// Takes a role from a person; what the person holds stays held
#[utoipa::path(delete, path = "/v1/work/people/{user}/roles/{role}", tag = "work",
    params(("user" = String, Path, description = "The person's name"),
        ("role" = String, Path, description = "The role")),
    responses((status = 204), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn revoke(
    State(api): State<Api>,
    caller: Caller,
    Named((name, role)): Named<(String, String)>,
) -> Result<StatusCode, Problem> {
    caller.must(Action::write(Area::Users))?;
    let of = PersonName { tenant: &caller.tenant, name: &name };
    caller.store(&api).revoke_role(of, &role).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The tenant's calendars
#[utoipa::path(get, path = "/v1/work/calendars", tag = "work", params(Page),
    responses((status = 200, body = List<Value>)))]
pub(crate) async fn calendars(
    State(api): State<Api>,
    caller: Caller,
    Asked(asked): Asked<Page>,
) -> Result<Json<List<Value>>, Problem> {
    caller.must(Action::read(Area::Instances))?;
    let calendars = api.store.work_calendars(&caller.tenant).await?;
    page::cut(&asked, calendars, |calendar: &Value| calendar["calendar"].to_string()).map(Json)
}

/// Makes or changes a calendar, by whose working hours deadlines may be counted
#[utoipa::path(put, path = "/v1/work/calendars/{calendar}", tag = "work",
    params(("calendar" = String, Path, description = "The calendar's name")), request_body = Calendar,
    responses((status = 200, body = Value), (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn set_calendar(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    Document(wanted): Document<Calendar>,
) -> Result<Json<Value>, Problem> {
    caller.must(Action::write(Area::Users))?;
    caller.store(&api).set_calendar(&caller.tenant, &name, &wanted).await?;
    Ok(Json(json!({ "calendar": name })))
}

/// Attaches a file of at most 1 MiB to an item; its text is in the header `Wedflow-Text`
#[utoipa::path(post, path = "/v1/work/items/{item}/attachments/{attachment}", tag = "work",
    params(("item" = i64, Path, description = "The item's number"),
        ("attachment" = String, Path, description = "The file's name")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 201, body = Value), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn attach(
    State(api): State<Api>,
    caller: Caller,
    Named((item, file)): Named<(i64, String)>,
    headers: HeaderMap,
    body: axum::body::Bytes,
) -> Result<Response, Problem> {
    caller.must(Action::write(Area::Instances))?;
    let text =
        headers.get("wedflow-text").and_then(|text| std::str::from_utf8(text.as_bytes()).ok()).unwrap_or_default();
    let store = caller.store(&api);
    let note = store.comment_work(person(&caller), item, text, Some((&file, &body))).await?;
    Ok((StatusCode::CREATED, Json(json!({ "note": note }))).into_response())
}

/// An attachment of an item, by the number of its note in the history; resumable by `Range`, its digest in `ETag`
#[utoipa::path(get, path = "/v1/work/items/{item}/attachments/{attachment}", tag = "work",
    params(("item" = i64, Path, description = "The item's number"),
        ("attachment" = i64, Path, description = "The number of its note"),
        ("Range" = Option<String>, Header, description = "`bytes=N-`: from this byte on")),
    responses((status = 200, body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 206, body = Vec<u8>, content_type = "application/octet-stream"), (status = 404, body = Problem)))]
pub(crate) async fn attachment(
    State(api): State<Api>,
    caller: Caller,
    Named((item, note)): Named<(i64, i64)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    caller.must(Action::read(Area::Instances))?;
    let (digest, bytes) = api.store.work_file(person(&caller), item, note).await?;
    let kind = "application/octet-stream";
    let mut response = sending::resumable(&headers, bytes, kind, &format!("sha256-{digest}"));
    // Never shown by a browser as a page of this server.
    for (name, value) in [(header::CONTENT_DISPOSITION, "attachment"), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

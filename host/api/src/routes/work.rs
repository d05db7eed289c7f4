//! People's work: worklists, claims, reports, messages. The person is the token's user.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream::unfold;
use serde_json::{Value, json};
use wedflow_store::{PersonName, WorkAct};
use wedflow_tenancy::{Action, Area};

use crate::access::Caller;
use crate::application::Application;
use crate::body::{Document, IdempotencyKey, OptionalDocument};
use crate::documents::{
    Along, Behind, Comment, Connection, Delegation, List, Listing, Newest, PeopleRole, Process, Report, Roles, Run,
    Seen, Whose, Worklist,
};
use crate::path::{Asked, Named};
use crate::problem::Problem;
use crate::routes::operate::InstancePath;
use crate::sending;
use crate::state::{Api, Slot};

/// Entries of a list when no limit is asked for.
const LIMIT: i32 = 100;
/// The most entries of a list.
const LIMIT_MAX: i32 = 1_000;
/// Time between two looks at a watched worklist.
const LOOK: Duration = Duration::from_secs(1);

async fn whose(api: &Api, caller: &Caller) -> Result<Whose, Problem> {
    Ok(Whose {
        person: caller.user.clone(),
        tenant: caller.tenant.clone(),
        server: api.store.installation_mark().await?,
    })
}

pub(crate) fn person(caller: &Caller) -> PersonName<'_> {
    PersonName { tenant: &caller.tenant, name: &caller.user }
}

/// The caller's worklist: what is held, and what is offered
#[utoipa::path(get, path = "/v1/work/items", tag = "work", params(Listing),
    responses((status = 200, body = Worklist), (status = 404, body = Problem)))]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    Asked(asked): Asked<Listing>,
) -> Result<Json<Worklist>, Problem> {
    caller.must(Action::read(Area::Instances))?;
    let order = asked.order.as_deref().unwrap_or("arrival");
    let limit = asked.limit.unwrap_or(LIMIT).clamp(1, LIMIT_MAX);
    let items = api.store.worklist(person(&caller), order, limit).await?;
    let offered = items.iter().filter(|item| item["state"] == "READY").count();
    Ok(Json(Worklist {
        cut: offered >= usize::try_from(limit).unwrap_or(usize::MAX),
        items,
        r#for: whose(&api, &caller).await?,
    }))
}

/// An item; for its holder with its data and the form of its result
#[utoipa::path(get, path = "/v1/work/items/{item}", tag = "work",
    params(("item" = i64, Path, description = "The item's number")),
    responses((status = 200, body = Value), (status = 404, body = Problem)))]
pub(crate) async fn item(
    State(api): State<Api>,
    caller: Caller,
    Named(item): Named<i64>,
) -> Result<Json<Value>, Problem> {
    caller.must(Action::read(Area::Instances))?;
    Ok(Json(api.store.work_item(person(&caller), item).await?))
}

/// Selects, locks, unselects, unlocks, starts or takes over an item; the loser of a race learns the holder
#[utoipa::path(post, path = "/v1/work/items/{item}/{act}", tag = "work",
    params(("item" = i64, Path, description = "The item's number"),
        ("act" = String, Path, description = "`select`, `lock`, `unselect`, `unlock`, `start` or `take-over`")),
    request_body = Option<Seen>,
    responses((status = 200, body = Value), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem)))]
pub(crate) async fn act(
    State(api): State<Api>,
    caller: Caller,
    Named((item, act)): Named<(i64, String)>,
    OptionalDocument(seen): OptionalDocument<Seen>,
) -> Result<Json<Value>, Problem> {
    caller.must(Action::write(Area::Instances))?;
    let act =
        WorkAct::ALL.iter().copied().find(|known| known.name() == act).ok_or_else(|| Problem::missing("act", &act))?;
    Ok(Json(caller.store(&api).work_act(person(&caller), item, act, seen.claim).await?))
}

/// Gives an item to another person
#[utoipa::path(post, path = "/v1/work/items/{item}/delegate", tag = "work",
    params(("item" = i64, Path, description = "The item's number")), request_body = Delegation,
    responses((status = 200, body = Value), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn delegate(
    State(api): State<Api>,
    caller: Caller,
    Named(item): Named<i64>,
    Document(wanted): Document<Delegation>,
) -> Result<Json<Value>, Problem> {
    caller.must(Action::write(Area::Instances))?;
    let store = caller.store(&api);
    Ok(Json(store.delegate_work(person(&caller), item, &wanted.to).await?))
}

/// Reports an item, once under its key. 409 with both versions when the caller no longer holds it: the result is kept
#[utoipa::path(post, path = "/v1/work/items/{item}/report", tag = "work",
    params(("item" = i64, Path, description = "The item's number"),
        ("Idempotency-Key" = String, Header, description = "A key of the client's choice, best a random UUID")),
    request_body = Option<Report>,
    responses((status = 200, body = Value), (status = 400, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Value), (status = 422, body = Problem)))]
pub(crate) async fn report(
    State(api): State<Api>,
    caller: Caller,
    Named(item): Named<i64>,
    IdempotencyKey(key): IdempotencyKey,
    OptionalDocument(report): OptionalDocument<Report>,
) -> Result<Response, Problem> {
    caller.must(Action::write(Area::Instances))?;
    let key = key.ok_or_else(|| {
        Problem::new(StatusCode::BAD_REQUEST, "idempotency_key", "a report needs the header Idempotency-Key")
            .hint("Send a random UUID, and the same one when you send the report again.")
    })?;
    let store = caller.store(&api);
    let report = store.report_work(person(&caller), item, &report, &key);
    let answer = report.await?;
    let status = if answer["applied"] == true { StatusCode::OK } else { StatusCode::CONFLICT };
    Ok((status, Json(answer)).into_response())
}

/// Lists the acts on an item: person, act and time
#[utoipa::path(get, path = "/v1/work/items/{item}/history", tag = "work",
    params(("item" = i64, Path, description = "The item's number")),
    responses((status = 200, body = List<Value>), (status = 404, body = Problem)))]
pub(crate) async fn history(
    State(api): State<Api>,
    caller: Caller,
    Named(item): Named<i64>,
) -> Result<Json<List<Value>>, Problem> {
    caller.must(Action::read(Area::Instances))?;
    let entries = api.store.work_history(person(&caller), item).await?;
    Ok(Json(List::whole(entries)))
}

/// Lists the work items of an instance, newest first, each with what was done and said of it
#[utoipa::path(get, path = "/v1/flows/{flow}/instances/{wid}/work", tag = "instances", params(InstancePath),
    responses((status = 200, body = List<Value>), (status = 404, body = Problem)))]
pub(crate) async fn of_instance(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
) -> Result<Json<List<Value>>, Problem> {
    let (flow, wid) = caller.instance(&api, Action::read(Area::Instances), &flow, &number).await?;
    Ok(Json(List::whole(api.store.work_of_instance(&flow, wid).await?)))
}

/// Adds a comment to an item
#[utoipa::path(post, path = "/v1/work/items/{item}/comments", tag = "work",
    params(("item" = i64, Path, description = "The item's number")), request_body = Comment,
    responses((status = 201, body = Value), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn comment(
    State(api): State<Api>,
    caller: Caller,
    Named(item): Named<i64>,
    Document(comment): Document<Comment>,
) -> Result<Response, Problem> {
    caller.must(Action::write(Area::Instances))?;
    let store = caller.store(&api);
    let number = store.comment_work(person(&caller), item, &comment.text, None).await?;
    Ok((StatusCode::CREATED, Json(json!({ "note": number }))).into_response())
}

/// The caller's messages, newest first
#[utoipa::path(get, path = "/v1/work/messages", tag = "work", params(Newest),
    responses((status = 200, body = List<Value>), (status = 404, body = Problem)))]
pub(crate) async fn messages(
    State(api): State<Api>,
    caller: Caller,
    Asked(asked): Asked<Newest>,
) -> Result<Json<List<Value>>, Problem> {
    caller.must(Action::read(Area::Instances))?;
    let limit = asked.limit.unwrap_or(LIMIT);
    let messages = api.store.work_messages(person(&caller), limit).await?;
    Ok(Json(List::whole(messages)))
}

/// Removes the caller's messages
#[utoipa::path(delete, path = "/v1/work/messages", tag = "work",
    responses((status = 200, body = Value), (status = 404, body = Problem)))]
pub(crate) async fn remove_messages(State(api): State<Api>, caller: Caller) -> Result<Json<Value>, Problem> {
    caller.must(Action::write(Area::Instances))?;
    let removed = caller.store(&api).remove_messages(person(&caller)).await?;
    Ok(Json(json!({ "removed": removed })))
}

/// Marks the caller active, and delivers stored messages
#[utoipa::path(put, path = "/v1/work/connection", tag = "work",
    responses((status = 200, body = Connection), (status = 404, body = Problem)))]
pub(crate) async fn connection(State(api): State<Api>, caller: Caller) -> Result<Json<Connection>, Problem> {
    caller.must(Action::write(Area::Instances))?;
    let delivered = caller.store(&api).connect_person(person(&caller)).await?;
    Ok(Json(Connection { active: true, delivered, r#for: whose(&api, &caller).await? }))
}

/// Marks the caller inactive: nothing new is offered, messages are stored
#[utoipa::path(delete, path = "/v1/work/connection", tag = "work",
    responses((status = 200, body = Value), (status = 404, body = Problem)))]
pub(crate) async fn leave(State(api): State<Api>, caller: Caller) -> Result<Json<Value>, Problem> {
    caller.must(Action::write(Area::Instances))?;
    caller.store(&api).disconnect_person(person(&caller)).await?;
    Ok(Json(json!({ "active": false })))
}

/// Starts a process in the caller's name
#[utoipa::path(post, path = "/v1/work/processes", tag = "work", request_body = Process,
    responses((status = 201, body = Value), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 422, body = Problem)))]
pub(crate) async fn start(
    State(api): State<Api>,
    caller: Caller,
    Document(process): Document<Process>,
) -> Result<Response, Problem> {
    caller.must(Action::write(Area::Instances))?;
    let store = caller.store(&api);
    let wid = store.start_process(person(&caller), &process).await?;
    let started = json!({ "flow": process.flow, "wid": wid });
    Ok((StatusCode::CREATED, Json(started)).into_response())
}

/// The tenant's people, with their roles
#[utoipa::path(get, path = "/v1/work/people", tag = "work", params(Behind),
    responses((status = 200, body = List<Value>), (status = 403, body = Problem)))]
pub(crate) async fn people(
    State(api): State<Api>,
    caller: Caller,
    Asked(asked): Asked<Behind>,
) -> Result<Json<List<Value>>, Problem> {
    caller.must(Action::read(Area::Users))?;
    let limit = i64::from(asked.limit.unwrap_or(LIMIT));
    let people = api.store.people(&caller.tenant, asked.after.as_deref(), limit).await?;
    Ok(Json(List::whole(people)))
}

/// The tenant's roles of people, with how many have each
#[utoipa::path(get, path = "/v1/work/roles", tag = "work",
    responses((status = 200, body = List<PeopleRole>), (status = 403, body = Problem)))]
pub(crate) async fn roles(State(api): State<Api>, caller: Caller) -> Result<Json<List<PeopleRole>>, Problem> {
    caller.must(Action::read(Area::Instances))?;
    Ok(Json(List::whole(api.store.people_roles(&caller.tenant).await?)))
}

/// Makes a person, or gives a known one further roles
#[utoipa::path(put, path = "/v1/work/people/{user}", tag = "work",
    params(("user" = String, Path, description = "The person's name, that of the user")), request_body = Roles,
    responses((status = 200, body = Value), (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn put_person(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    Document(wanted): Document<Roles>,
) -> Result<Json<Value>, Problem> {
    caller.must(Action::write(Area::Users))?;
    let of = PersonName { tenant: &caller.tenant, name: &name };
    caller.store(&api).create_person(of, &wanted.roles).await?;
    Ok(Json(json!({ "person": name, "roles": wanted.roles })))
}

/// Removes a person; what the person held is offered again
#[utoipa::path(delete, path = "/v1/work/people/{user}", tag = "work",
    params(("user" = String, Path, description = "The person's name")),
    responses((status = 204), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn drop_person(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
) -> Result<StatusCode, Problem> {
    caller.must(Action::write(Area::Users))?;
    let of = PersonName { tenant: &caller.tenant, name: &name };
    caller.store(&api).drop_person(of).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The component of an item that the caller holds, resumable by `Range`, with its digest
#[utoipa::path(get, path = "/v1/work/items/{item}/application", tag = "work",
    params(("item" = i64, Path, description = "The item's number"),
        ("Range" = Option<String>, Header, description = "`bytes=N-`: from this byte on"), Along),
    responses((status = 200, body = Vec<u8>, content_type = "application/wasm"), (status = 206, body = Vec<u8>,
        content_type = "application/wasm"), (status = 404, body = Problem)))]
pub(crate) async fn application(
    State(api): State<Api>,
    caller: Caller,
    Named(item): Named<i64>,
    Asked(along): Asked<Along>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    caller.must(Action::read(Area::Instances))?;
    let longest = api.times.request;
    let asking = api.connections.wait(&caller.tenant, 1, longest).await?;
    let (name, version, digest, bytes) =
        api.store.work_application(person(&caller), item, along.task.as_deref()).await?;
    drop(asking);
    // The digest of the whole, by which a part of another version is known.
    let mark = format!("{name}-{version}-{digest}");
    let response = sending::resumable(&headers, bytes, "application/wasm", &mark);
    Ok(sending::counted(&api, &caller.tenant, response).await)
}

/// Runs the component of an item that the caller holds at the server, and answers its values. Nothing is reported
#[utoipa::path(post, path = "/v1/work/items/{item}/run", tag = "work",
    params(("item" = i64, Path, description = "The item's number")), request_body = Option<Run>,
    responses((status = 200, body = Value), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 422, body = Problem), (status = 503, body = Problem)))]
pub(crate) async fn run(
    State(api): State<Api>,
    caller: Caller,
    Named(item): Named<i64>,
    OptionalDocument(wanted): OptionalDocument<Run>,
) -> Result<Json<Value>, Problem> {
    caller.must(Action::write(Area::Instances))?;
    let Some(bench) = api.bench else {
        return Err(Problem::new(StatusCode::NOT_FOUND, "not_found", "this server runs no components of work items")
            .hint("Run it on your machine: `wed work do`."));
    };
    let _slot = api.running.wait(&caller.tenant, 1, api.times.request).await?;
    let asking = api.connections.wait(&caller.tenant, 1, api.times.request).await?;
    let (_, _, _, bytes) = api.store.work_application(person(&caller), item, None).await?;
    let document = api.store.work_item(person(&caller), item).await?;
    drop(asking);
    if document["holder"] != caller.user.as_str() {
        return Err(Problem::new(StatusCode::CONFLICT, "not_held", format!("work item {item} is not yours"))
            .hint("Select it first."));
    }
    let values = (bench.run_application)(Application {
        tenant: caller.tenant.clone(),
        item: document,
        bytes,
        values: wanted.values,
    })
    .await
    .map_err(|reason| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "application", reason))?;
    Ok(Json(json!({ "values": values })))
}

/// A watcher of a worklist.
struct Watch {
    api: Api,
    caller: Caller,
    token: Option<String>,
    mark: String,
    until: Instant,
    _slot: Slot,
}

/// Changes of the caller's worklist and messages as they happen: an event `worklist` for each
#[utoipa::path(get, path = "/v1/work/events", tag = "work",
    params(("Last-Event-ID" = Option<String>, Header, description = "Only what changed since this event")),
    responses((status = 200, content_type = "text/event-stream", body = Value), (status = 404, body = Problem)))]
pub(crate) async fn events(State(api): State<Api>, caller: Caller, headers: HeaderMap) -> Result<Response, Problem> {
    caller.must(Action::read(Area::Instances))?;
    let place = api.watchers.take(&caller.tenant)?;
    let longest = api.times.request;
    let asking = api.connections.wait(&caller.tenant, 1, longest).await?;
    api.store.connect_person(person(&caller)).await?;
    drop(asking);
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let token = caller.token(&headers);
    let mark = text("last-event-id").unwrap_or_default().to_owned();
    let until = Instant::now() + api.times.watching;
    let watch = Watch { api, caller, token, mark, until, _slot: place };
    Ok(Sse::new(unfold(watch, next)).keep_alive(KeepAlive::default()).into_response())
}

/// The next event; none: the stream ends, also when the token no longer lets its bearer in.
async fn next(mut watch: Watch) -> Option<(Result<Event, Infallible>, Watch)> {
    loop {
        if Instant::now() > watch.until {
            return None;
        }
        let longest = watch.api.times.request;
        let tenant = watch.caller.tenant.clone();
        let asking = watch.api.connections.wait(&tenant, 1, longest).await.ok()?;
        if let Some(token) = &watch.token {
            let bearer = wedflow_tenancy::authenticate(&watch.api.tokens, token).await;
            bearer.ok().filter(|bearer| bearer.may(Action::read(Area::Instances)))?;
        }
        let store = &watch.api.store;
        let mark = store.work_mark(person(&watch.caller)).await.ok()?;
        if mark != watch.mark {
            let list = store.worklist(person(&watch.caller), "arrival", LIMIT);
            let items = list.await.ok()?;
            drop(asking);
            watch.mark = mark;
            let event = Event::default()
                .event("worklist")
                .id(&watch.mark)
                .json_data(json!({ "items": items.len(), "mark": watch.mark }))
                .ok()?;
            return Some((Ok(event), watch));
        }
        drop(asking);
        tokio::time::sleep(LOOK).await;
    }
}

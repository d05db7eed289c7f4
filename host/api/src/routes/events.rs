//! An instance's history as it happens, as server-sent events.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream::unfold;
use wedflow_model::Wid;
use wedflow_store::Flow;
use wedflow_tenancy::{Action, Area};

use super::operate::InstancePath;
use crate::access::Caller;
use crate::documents::{Instance, ResultFilter, Status, StreamEvent, TraceRow};
use crate::page;
use crate::path::{Asked, Named, wid};
use crate::problem::Problem;
use crate::sending;
use crate::state::{Api, Slot};
use crate::watching::Watcher;

/// Time for which a request waits for an instance's end, in seconds; the longest one.
const RESULT_WAIT_S: u64 = 30;
const RESULT_WAIT_S_MAX: u64 = 300;
/// Rows sent at once.
const AT_ONCE: i64 = 100;

/// A watcher.
struct Watch {
    api: Api,
    tenant: String,
    flow: Flow,
    wid: Wid,
    next: i32,
    until: Instant,
    ended: bool,
    watcher: Watcher,
    /// Rows on their way.
    rows: std::vec::IntoIter<TraceRow>,
    _slot: Slot,
}

/// An instance's history as it happens: an event `trace` for each row, its `seq` as the event's id, until
/// the instance is final
#[utoipa::path(get, path = "/v1/flows/{flow}/instances/{wid}/events", tag = "instances",
    params(InstancePath,
        ("Last-Event-ID" = Option<i32>, Header, description = "Continue behind this row")),
    responses((status = 200, content_type = "text/event-stream", body = StreamEvent),
        (status = 204, description = "The instance is final and all of it was heard: do not come back"),
            (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn watch(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    caller.must(Action::read(Area::Instances))?;
    let place = api.watchers.take(&caller.tenant)?;
    let asking = api.connections.wait(&caller.tenant, 1, api.times.request).await?;
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    let wid = wid(&api, &flow, &number).await?;
    let status = api.store.instance_status(flow.flow_id, wid).await?;
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let last: i32 = match text("last-event-id") {
        None => 0,
        Some(id) => id.parse().ok().filter(|id| *id >= 0).ok_or_else(|| {
            Problem::new(StatusCode::BAD_REQUEST, "invalid_header", "Last-Event-ID is no number of an event")
                .hint("Send the id of the last event heard, or leave the header out.")
        })?,
    };
    let next_seq = last.saturating_add(1);
    // The standard's word for it: a client that gets this does not come back by itself.
    if status == "F" && api.store.trace_page(flow.flow_id, wid, next_seq, 1).await?.is_empty() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    drop(asking);
    let token = caller.token(&headers);
    let watcher = api.watching.watch((flow.flow_id, wid), token);
    let until = Instant::now() + api.times.watching;
    let watch = Watch {
        api,
        flow,
        tenant: caller.tenant.clone(),
        wid,
        next: next_seq,
        until,
        ended: false,
        watcher,
        rows: Vec::new().into_iter(),
        _slot: place,
    };
    let events = Sse::new(unfold(watch, next)).keep_alive(KeepAlive::default());
    Ok(events.into_response())
}

/// The next event; none: the stream ends.
async fn next(mut watch: Watch) -> Option<(Result<Event, Infallible>, Watch)> {
    loop {
        if let Some(row) = watch.rows.next() {
            watch.next = row.seq.saturating_add(1);
            watch.ended = row.status == Status::Final;
            let event = Event::default().event("trace").id(row.seq.to_string()).json_data(&row).ok()?;
            return Some((Ok(event), watch));
        }
        if watch.ended || Instant::now() > watch.until {
            return None;
        }
        let connections = &watch.api.connections;
        let longest = watch.api.times.request;
        let asking = connections.wait(&watch.tenant, 1, longest).await.ok()?;
        let found = watch.api.store.trace_page(watch.flow.flow_id, watch.wid, watch.next, AT_ONCE).await.ok()?;
        drop(asking);
        if found.is_empty() {
            if !watch.watcher.wait(watch.next, watch.until).await {
                return None;
            }
        } else {
            watch.rows = found.into_iter();
        }
    }
}

/// An instance once it is final or an exception: waits for that. 202 with the instance as it is when time is up
#[utoipa::path(get, path = "/v1/flows/{flow}/instances/{wid}/result", tag = "instances",
    params(InstancePath, ResultFilter),
    responses((status = 200, body = Instance),
        (status = 202, body = Instance, description = "It is still running: ask again"),
        (status = 404, body = Problem)))]
pub(crate) async fn result(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
    Asked(waiting): Asked<ResultFilter>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    caller.must(Action::read(Area::Instances))?;
    let _place = api.watchers.take(&caller.tenant)?;
    let wait = page::wait_s(waiting.wait, RESULT_WAIT_S, RESULT_WAIT_S_MAX)?;
    let mut until = Instant::now() + Duration::from_secs(wait);
    let mut watcher = None;
    let mut found = None;
    loop {
        let longest = api.times.request;
        let asking = api.connections.wait(&caller.tenant, 1, longest).await?;
        let flow = api.store.flow(&caller.tenant, &flow).await?;
        // Of a key, the instance that it was at first.
        let wid = match found {
            Some(wid) => wid,
            None => *found.insert(wid(&api, &flow, &number).await?),
        };
        // Read first, so that every later row is sent.
        let last = api.store.last_rows(&[flow.flow_id], &[wid]).await?;
        let instance = api.store.instance(&flow, wid).await?;
        drop(asking);
        let is_running = instance.status == Status::Regular;
        if !is_running || Instant::now() >= until {
            let status = match is_running {
                true => StatusCode::ACCEPTED,
                false => StatusCode::OK,
            };
            let answer = (status, Json(instance));
            return Ok(sending::counted(&api, &caller.tenant, answer.into_response()).await);
        }
        let watcher = watcher.get_or_insert_with(|| {
            let token = caller.token(&headers);
            api.watching.watch((flow.flow_id, wid), token)
        });
        let next = last.first().map_or(1, |last| last.seq.saturating_add(1));
        if !watcher.wait(next, until).await && Instant::now() < until {
            // It has ended meanwhile, or the token lets its bearer watch no more: the answer is what is there now.
            until = Instant::now();
        }
    }
}

//! An instance's history as it happens, as server-sent events.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::Stream;
use futures::stream::unfold;
use wedflow_store::Flow;
use wedflow_tenancy::{Action, Area, authenticate};

use crate::access::Caller;
use crate::documents::{Status, TraceRow};
use crate::path::{Named, wid};
use crate::problem::Problem;
use crate::state::{Api, Place};

/// Between two looks at the trace.
const LOOK: Duration = Duration::from_millis(250);
/// Between two looks whether the token still lets its bearer in.
const ASK_AGAIN: Duration = Duration::from_secs(5);
/// How long one connection watches. Clients come back by themselves, with the last event's number.
const LONGEST: Duration = Duration::from_secs(600);
/// Rows sent at once.
const AT_ONCE: i64 = 100;

/// A watcher.
struct Watch {
    api: Api,
    /// To ask again whether it still holds.
    token: String,
    flow: Flow,
    wid: i32,
    next: i32,
    began: Instant,
    asked: Instant,
    ended: bool,
    /// Rows on their way.
    rows: std::vec::IntoIter<TraceRow>,
    _place: Place,
}

/// An instance's history as it happens: an event `trace` for each row, its `seq` as the event's id, until
/// the instance is final
#[utoipa::path(get, path = "/v1/flows/{flow}/instances/{wid}/events", tag = "instances",
    params(("flow" = String, Path, description = "The flow's name"), ("wid" = i32, Path, description = "The instance's number"),
        ("Last-Event-ID" = Option<i32>, Header, description = "Go on behind this row")),
    responses((status = 200, content_type = "text/event-stream", body = TraceRow), (status = 404, body = Problem)))]
pub(crate) async fn watch(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    caller.must(Action::read(Area::Instances))?;
    let place = api.watchers.take(&caller.tenant)?;
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    let instance = api.store.instance(&flow, wid(&number)?).await?;
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let last: i32 = text("last-event-id")
        .and_then(|id| id.parse().ok())
        .unwrap_or(0);
    let token = text("authorization")
        .and_then(|value| value.split_once(' '))
        .map(|(_, token)| token.trim().to_owned())
        .unwrap_or_default();
    let watch = Watch {
        api,
        token,
        flow,
        wid: instance.wid,
        next: last.saturating_add(1),
        began: Instant::now(),
        asked: Instant::now(),
        ended: false,
        rows: Vec::new().into_iter(),
        _place: place,
    };
    Ok(Sse::new(unfold(watch, next)).keep_alive(KeepAlive::default()))
}

/// The next event; none: the stream ends.
async fn next(mut watch: Watch) -> Option<(Result<Event, Infallible>, Watch)> {
    loop {
        if let Some(row) = watch.rows.next() {
            watch.next = row.seq.saturating_add(1);
            watch.ended = row.status == Status::Final;
            let event = Event::default()
                .event("trace")
                .id(row.seq.to_string())
                .json_data(&row)
                .ok()?;
            return Some((Ok(event), watch));
        }
        if watch.ended || watch.began.elapsed() > LONGEST {
            return None;
        }
        if watch.asked.elapsed() > ASK_AGAIN {
            watch.asked = Instant::now();
            let identity = authenticate(&watch.api.store, &watch.token).await.ok()?;
            if !identity.may(Action::read(Area::Instances)) {
                return None;
            }
        }
        let found = watch
            .api
            .store
            .trace_page(watch.flow.flow_id, watch.wid, watch.next, AT_ONCE)
            .await
            .ok()?;
        if found.is_empty() {
            tokio::time::sleep(LOOK).await;
        } else {
            let rows: Vec<TraceRow> = found.into_iter().map(Into::into).collect();
            watch.rows = rows.into_iter();
        }
    }
}

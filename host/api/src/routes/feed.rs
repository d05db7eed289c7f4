//! The feed of all events of a flow, or of the tenant.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use wedflow_model::FlowId;
use wedflow_store::FeedPosition;
use wedflow_tenancy::{Action, Area};

use super::operate::FlowPath;
use crate::access::Caller;
use crate::documents::{Feed, FeedFilter, FeedStart};
use crate::page;
use crate::path::{Asked, Named};
use crate::polling::Poll;
use crate::problem::Problem;
use crate::sending;
use crate::state::Api;

/// Most seconds that a request waits for an event.
const FEED_WAIT_S_MAX: u64 = 20;

/// The events of a flow's instances in the order of their commits, behind a cursor. Waits for one as long as `wait`
/// says
#[utoipa::path(get, path = "/v1/flows/{flow}/events", operation_id = "flow_feed", tag = "events",
    params(FlowPath, FeedFilter),
    responses((status = 200, body = Feed), (status = 404, body = Problem)))]
pub(crate) async fn of_flow(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    Asked(asked): Asked<FeedFilter>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    caller.must(Action::read(Area::Instances))?;
    let poll = begin(&api, &caller, &headers, &asked)?;
    let flow = poll.ask(api.store.flow(&caller.tenant, &name)).await?;
    read(&api, &caller, poll, vec![flow.flow_id], &asked).await
}

/// The events of all flows of the tenant, likewise
#[utoipa::path(get, path = "/v1/events", operation_id = "feed", tag = "events", params(FeedFilter),
    responses((status = 200, body = Feed)))]
pub(crate) async fn of_tenant(
    State(api): State<Api>,
    caller: Caller,
    Asked(asked): Asked<FeedFilter>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    caller.must(Action::read(Area::Instances))?;
    let poll = begin(&api, &caller, &headers, &asked)?;
    let flows = poll.ask(api.store.flow_numbers(&caller.tenant)).await?;
    read(&api, &caller, poll, flows, &asked).await
}

fn begin<'a>(api: &'a Api, caller: &'a Caller, headers: &HeaderMap, asked: &FeedFilter) -> Result<Poll<'a>, Problem> {
    let wait = page::wait_s(asked.wait, 0, FEED_WAIT_S_MAX)?;
    let may = Action::read(Area::Instances);
    Poll::begin(api, caller, headers, may, Duration::from_secs(wait))
}

/// Reads a part of the feed; waits for it to have one.
async fn read(
    api: &Api,
    caller: &Caller,
    mut poll: Poll<'_>,
    flows: Vec<FlowId>,
    asked: &FeedFilter,
) -> Result<Response, Problem> {
    let limit = page::limit(asked.limit)?;
    let cursor = page::position::<4>(asked.cursor.as_deref())?;
    let after: FeedPosition = match (cursor, asked.from) {
        (Some(position), _) => position.map(|number| number.max(0)),
        (None, Some(FeedStart::Now)) => poll.ask(api.store.feed_end(&flows)).await?,
        (None, _) => FeedPosition::default(),
    };
    loop {
        let rows = poll.ask(api.store.feed(&flows, after, limit)).await?;
        if !rows.is_empty() || !poll.again().await? {
            let next = rows.last().map_or(after, wedflow_store::FeedRow::position);
            let answer = Feed { items: rows.into_iter().map(|row| row.event).collect(), next: page::cursor(&next) };
            return Ok(sending::counted(api, &caller.tenant, Json(answer).into_response()).await);
        }
    }
}

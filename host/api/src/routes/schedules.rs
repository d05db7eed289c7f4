//! Schedules of a flow: they start instances.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;
use wedflow_store::{Flow, Once, Store};
use wedflow_tenancy::{Action, Area};

use super::instances::REPLAYED;
use super::operate::FlowPath;
use crate::access::Caller;
use crate::body::{Document, IdempotencyKey};
use crate::documents::{Backfill, Backfilled, List, Page, PutSchedule, Schedule};
use crate::page;
use crate::path::{Asked, Named};
use crate::problem::Problem;
use crate::state::Api;

/// Most instances that one backfill starts.
const BACKFILLED_MAX: usize = 1_000;

/// A schedule in an address.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct SchedulePath {
    /// The flow's name
    flow: String,
    /// The schedule's name
    schedule: String,
}

/// A schedule that is changed, looked up after the token was found to allow it.
pub(crate) struct OnSchedule {
    store: Store,
    flow: Flow,
    name: String,
    caller: Caller,
}

impl FromRequestParts<Api> for OnSchedule {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, api).await?;
        let Named(path) = Named::<SchedulePath>::from_request_parts(parts, api).await?;
        caller.must(Action::write(Area::Flows))?;
        Ok(OnSchedule {
            store: caller.store(api),
            flow: api.store.flow(&caller.tenant, &path.flow).await?,
            name: path.schedule,
            caller,
        })
    }
}

impl OnSchedule {
    async fn set_pause(self, paused: bool) -> Result<StatusCode, Problem> {
        self.store.pause_schedule(&self.flow, &self.name, paused).await?;
        Ok(StatusCode::NO_CONTENT)
    }
}

/// A flow's schedules
#[utoipa::path(get, path = "/v1/flows/{flow}/schedules", tag = "flows", params(FlowPath, Page),
    responses((status = 200, body = List<Schedule>), (status = 404, body = Problem)))]
pub(crate) async fn schedules(
    State(api): State<Api>,
    caller: Caller,
    Named(path): Named<FlowPath>,
    Asked(asked): Asked<Page>,
) -> Result<Json<List<Schedule>>, Problem> {
    let flow = caller.flow(&api, Action::read(Area::Flows), &path.flow).await?;
    let schedules = api.store.schedules(flow.flow_id).await?;
    page::cut(&asked, schedules, |schedule: &Schedule| schedule.name.clone()).map(Json)
}

/// Makes a schedule that starts instances, or changes the one of that name
#[utoipa::path(put, path = "/v1/flows/{flow}/schedules/{schedule}", tag = "flows",
    params(SchedulePath),
    request_body = PutSchedule,
    responses((status = 204), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn put_schedule(
    OnSchedule { store, flow, name, .. }: OnSchedule,
    Document(asked): Document<PutSchedule>,
) -> Result<StatusCode, Problem> {
    store.put_schedule(&flow, &name, &asked, wedflow_worker::schedule::next).await?;
    if let Some(paused) = asked.paused {
        store.pause_schedule(&flow, &name, paused).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a schedule; its instances stay
#[utoipa::path(delete, path = "/v1/flows/{flow}/schedules/{schedule}", tag = "flows",
    params(SchedulePath),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn remove_schedule(OnSchedule { store, flow, name, .. }: OnSchedule) -> Result<StatusCode, Problem> {
    store.remove_schedule(&flow, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Pauses a schedule: it starts nothing
#[utoipa::path(post, path = "/v1/flows/{flow}/schedules/{schedule}/pause", tag = "flows",
    params(SchedulePath),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn pause_schedule(on: OnSchedule) -> Result<StatusCode, Problem> {
    on.set_pause(true).await
}

/// Resumes a paused schedule
#[utoipa::path(post, path = "/v1/flows/{flow}/schedules/{schedule}/resume", tag = "flows",
    params(SchedulePath),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn resume_schedule(on: OnSchedule) -> Result<StatusCode, Problem> {
    on.set_pause(false).await
}

/// Starts an instance for each time of a schedule between two, at most 1 000; with `Idempotency-Key` at most once for such a
/// key, within a day
#[utoipa::path(post, path = "/v1/flows/{flow}/schedules/{schedule}/backfill", tag = "flows",
    params(SchedulePath,
        ("Idempotency-Key" = Option<String>, Header, description = "A key of the client's choice, best a random UUID")),
    request_body = Backfill,
    responses((status = 200, body = Backfilled), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn backfill(
    OnSchedule { store, flow, name, caller }: OnSchedule,
    IdempotencyKey(key): IdempotencyKey,
    Document(asked): Document<Backfill>,
) -> Result<Response, Problem> {
    let fingerprint = json!(["backfill", flow.flow_id, name, asked]);
    let once = key.as_deref().map(|key| Once { tenant: &caller.tenant, user: &caller.user, key, asked: &fingerprint });
    let (started, is_replayed) = store
        .backfill_schedule(
            &flow,
            &name,
            (&asked.from, &asked.until),
            BACKFILLED_MAX,
            once.as_ref(),
            wedflow_worker::schedule::next,
        )
        .await?;
    let mut response = Json(Backfilled { started }).into_response();
    if is_replayed {
        let headers = response.headers_mut();
        headers.insert(REPLAYED, HeaderValue::from_static("true"));
    }
    Ok(response)
}

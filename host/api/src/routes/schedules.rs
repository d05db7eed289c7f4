//! Schedules of a flow: they start instances.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::Deserialize;
use utoipa::IntoParams;
use wedflow_store::{Flow, Store};
use wedflow_tenancy::{Action, Area};

use super::operate::FlowPath;
use crate::access::Caller;
use crate::body::Document;
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
        })
    }
}

impl OnSchedule {
    async fn set_pause(self, paused: bool) -> Result<StatusCode, Problem> {
        self.store
            .pause_schedule(&self.flow, &self.name, paused)
            .await?;
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
    let flow = caller
        .flow(&api, Action::read(Area::Flows), &path.flow)
        .await?;
    let schedules = api.store.schedules(flow.flow_id).await?;
    page::cut(&asked, schedules, |schedule: &Schedule| {
        schedule.name.clone()
    })
    .map(Json)
}

/// Makes a schedule that starts instances, or changes the one of that name
#[utoipa::path(put, path = "/v1/flows/{flow}/schedules/{schedule}", tag = "flows",
    params(SchedulePath),
    request_body = PutSchedule,
    responses((status = 204), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn put_schedule(
    OnSchedule { store, flow, name }: OnSchedule,
    Document(asked): Document<PutSchedule>,
) -> Result<StatusCode, Problem> {
    store
        .put_schedule(&flow, &name, &asked, wedflow_worker::schedule::next)
        .await?;
    if let Some(paused) = asked.paused {
        store.pause_schedule(&flow, &name, paused).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a schedule; its instances stay
#[utoipa::path(delete, path = "/v1/flows/{flow}/schedules/{schedule}", tag = "flows",
    params(SchedulePath),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn remove_schedule(
    OnSchedule { store, flow, name }: OnSchedule,
) -> Result<StatusCode, Problem> {
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

/// Starts an instance for each time of a schedule between two, at most 1 000
#[utoipa::path(post, path = "/v1/flows/{flow}/schedules/{schedule}/backfill", tag = "flows",
    params(SchedulePath),
    request_body = Backfill,
    responses((status = 200, body = Backfilled), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn backfill(
    OnSchedule { store, flow, name }: OnSchedule,
    Document(asked): Document<Backfill>,
) -> Result<Json<Backfilled>, Problem> {
    let started = store
        .backfill_schedule(
            &flow,
            &name,
            &asked.from,
            &asked.until,
            BACKFILLED_MAX,
            wedflow_worker::schedule::next,
        )
        .await?;
    Ok(Json(Backfilled { started }))
}

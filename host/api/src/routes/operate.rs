//! Operators: retry, cancel, pause, resume, skip and set instances and flows.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::Deserialize;
use utoipa::IntoParams;
use wedflow_model::Wid;
use wedflow_store::{Flow, PauseScope, Store};
use wedflow_tenancy::{Action, Area};

use crate::access::Caller;
use crate::body::{Document, IdempotencyKey, OptionalDocument};
use crate::documents::{
    Event, GoBack, GoingBack, List, Operated, Page, Pause, Paused, PausedThing, Reason, Retried, RetriedMatching,
    RetryMatching, Sent, SetState, Skip, Status, Waiting,
};
use crate::page;
use crate::path::{Asked, Named, wid};
use crate::problem::Problem;
use crate::state::Api;

/// Most exceptions that one request retries.
const RETRIED_MAX: i32 = 1_000;

/// An instance in an address.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct InstancePath {
    /// The flow's name
    flow: String,
    /// The instance's number
    #[param(value_type = i32)]
    wid: String,
}

/// A flow in an address.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct FlowPath {
    /// The flow's name
    pub(super) flow: String,
}

/// An instance that an operator acts on, looked up after the token was found to allow it.
pub(crate) struct OnInstance {
    caller: Caller,
    pub(super) store: Store,
    pub(super) flow: Flow,
    pub(super) wid: Wid,
}

impl FromRequestParts<Api> for OnInstance {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, api).await?;
        let Named(path) = Named::<InstancePath>::from_request_parts(parts, api).await?;
        caller.must(Action::write(Area::Jobs))?;
        let flow = api.store.flow(&caller.tenant, &path.flow).await?;
        Ok(OnInstance { store: caller.store(api), wid: wid(api, &flow, &path.wid).await?, flow, caller })
    }
}

impl OnInstance {
    async fn set_pause(self, reason: &str, paused: bool) -> Result<Json<Paused>, Problem> {
        let scope = PauseScope::Instance(&self.caller.tenant, &self.flow, self.wid);
        let changed = self.store.set_pause(scope, paused, reason).await?;
        Ok(Json(Paused { paused, changed }))
    }
}

/// A flow that an operator acts on, looked up as [`OnInstance`] is.
pub(crate) struct OnFlow {
    caller: Caller,
    store: Store,
    flow: Flow,
}

impl FromRequestParts<Api> for OnFlow {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, api).await?;
        let Named(path) = Named::<FlowPath>::from_request_parts(parts, api).await?;
        caller.must(Action::write(Area::Jobs))?;
        Ok(OnFlow { store: caller.store(api), flow: api.store.flow(&caller.tenant, &path.flow).await?, caller })
    }
}

impl OnFlow {
    async fn set_pause(self, asked: &Pause, paused: bool) -> Result<Json<Paused>, Problem> {
        let scope = match &asked.trigger {
            Some(trigger) => PauseScope::Trigger(&self.caller.tenant, &self.flow, trigger),
            None => PauseScope::Flow(&self.caller.tenant, &self.flow),
        };
        let changed = self.store.set_pause(scope, paused, &asked.reason).await?;
        Ok(Json(Paused { paused, changed }))
    }
}

/// Retries an instance: an exception fires what its state satisfies, waiting jobs are due now
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/retry", tag = "instances",
    params(InstancePath),
    request_body = Option<Reason>,
    responses((status = 200, body = Retried), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn retry(
    OnInstance { store, flow, wid, .. }: OnInstance,
    OptionalDocument(asked): OptionalDocument<Reason>,
) -> Result<Json<Retried>, Problem> {
    let transitions = store.retry_instance(&flow, wid, &asked.reason).await?;
    Ok(Json(Retried { wid, transitions }))
}

/// Ends an instance: its pending jobs are dropped, it is final
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/cancel", tag = "instances",
    params(InstancePath),
    request_body = Option<Reason>,
    responses((status = 200, body = Operated), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn cancel(
    OnInstance { store, flow, wid, .. }: OnInstance,
    OptionalDocument(asked): OptionalDocument<Reason>,
) -> Result<Json<Operated>, Problem> {
    store.cancel_instance(&flow, wid, &asked.reason).await?;
    Ok(Json(Operated { wid, status: Status::of("F") }))
}

/// Drops a pending job of an instance without running it
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/skip", tag = "instances",
    params(InstancePath),
    request_body = Skip,
    responses((status = 200, body = Operated), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn skip(
    OnInstance { store, flow, wid, .. }: OnInstance,
    Document(asked): Document<Skip>,
) -> Result<Json<Operated>, Problem> {
    let status = store.skip_job(&flow, wid, &asked.transition, &asked.reason).await?;
    Ok(Json(Operated { wid, status: Status::of(&status) }))
}

/// Sets attributes of an exception by hand; what the new state satisfies is fired
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/state", tag = "instances",
    params(InstancePath),
    request_body = SetState,
    responses((status = 200, body = Operated), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn set_state(
    OnInstance { store, flow, wid, .. }: OnInstance,
    Document(asked): Document<SetState>,
) -> Result<Json<Operated>, Problem> {
    let status = store.set_state(&flow, wid, &asked.state, &asked.reason).await?;
    Ok(Json(Operated { wid, status: Status::of(&status) }))
}

/// Sends an exception back: the compensations of its steps are run, newest first
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/back", tag = "instances",
    params(InstancePath),
    request_body = GoBack,
    responses((status = 200, body = GoingBack), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn go_back(
    OnInstance { store, flow, wid, .. }: OnInstance,
    Document(asked): Document<GoBack>,
) -> Result<Json<GoingBack>, Problem> {
    let steps = store.go_back(&flow, wid, asked.to, &asked.reason).await?;
    Ok(Json(GoingBack { wid, steps }))
}

/// Removes a final instance with all that is recorded of it, but for the audit log
#[utoipa::path(delete, path = "/v1/flows/{flow}/instances/{wid}", tag = "instances",
    operation_id = "delete_instance", params(InstancePath),
    request_body = Reason,
    responses((status = 204), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn delete(
    OnInstance { caller, store, flow, wid }: OnInstance,
    Document(asked): Document<Reason>,
) -> Result<StatusCode, Problem> {
    caller.must(Action::write(Area::Flows))?;
    store.delete_instance(&flow, wid, &asked.reason).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Pauses an instance: nobody claims its jobs
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/pause", tag = "instances",
    params(InstancePath),
    request_body = Option<Reason>,
    responses((status = 200, body = Paused), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn pause(
    on: OnInstance,
    OptionalDocument(asked): OptionalDocument<Reason>,
) -> Result<Json<Paused>, Problem> {
    on.set_pause(&asked.reason, true).await
}

/// Resumes a paused instance
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/resume", tag = "instances",
    params(InstancePath),
    request_body = Option<Reason>,
    responses((status = 200, body = Paused), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn resume(
    on: OnInstance,
    OptionalDocument(asked): OptionalDocument<Reason>,
) -> Result<Json<Paused>, Problem> {
    on.set_pause(&asked.reason, false).await
}

/// The reasons why an instance's pending jobs are not being run
#[utoipa::path(get, path = "/v1/flows/{flow}/instances/{wid}/waiting", tag = "instances",
    params(InstancePath),
    responses((status = 200, body = List<Waiting>), (status = 404, body = Problem)))]
pub(crate) async fn waiting(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
) -> Result<Json<List<Waiting>>, Problem> {
    let (flow, wid) = caller.instance(&api, Action::read(Area::Jobs), &flow, &number).await?;
    api.store.instance_status(flow.flow_id, wid).await?;
    let waiting = api.store.waiting(flow.flow_id, wid).await?;
    Ok(Json(List::whole(waiting)))
}

/// Counts and lists a flow's exceptions that match; with `apply` they are retried
#[utoipa::path(post, path = "/v1/flows/{flow}/retry", tag = "flows", params(FlowPath),
    request_body = Option<RetryMatching>,
    responses((status = 200, body = RetriedMatching), (status = 404, body = Problem)))]
pub(crate) async fn retry_matching(
    OnFlow { store, flow, .. }: OnFlow,
    OptionalDocument(asked): OptionalDocument<RetryMatching>,
) -> Result<Json<RetriedMatching>, Problem> {
    let answer = store.retry_matching(&flow, &asked, RETRIED_MAX).await?;
    Ok(Json(answer))
}

/// Sends an event: sets open attributes of a running instance; with `Idempotency-Key` at most once for a key,
/// within a day
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/event", tag = "instances",
    params(InstancePath,
        ("Idempotency-Key" = Option<String>, Header, description = "A key of the client's choice, best a random UUID")),
    request_body = Event,
    responses((status = 200, body = Sent), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn event(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
    IdempotencyKey(key): IdempotencyKey,
    Document(asked): Document<Event>,
) -> Result<Json<Sent>, Problem> {
    let (flow, wid) = caller.instance(&api, Action::write(Area::Instances), &flow, &number).await?;
    let sent = caller.store(&api).send_event(&flow, wid, &asked.state, key.as_deref()).await?;
    Ok(Json(Sent { wid, sent }))
}

/// Lists what is paused in the tenant
#[utoipa::path(get, path = "/v1/pauses", tag = "flows", params(Page),
    responses((status = 200, body = List<PausedThing>)))]
pub(crate) async fn pauses(
    State(api): State<Api>,
    caller: Caller,
    Asked(asked): Asked<Page>,
) -> Result<Json<List<PausedThing>>, Problem> {
    caller.must(Action::read(Area::Jobs))?;
    let pauses = api.store.pauses(&caller.tenant).await?;
    page::cut(&asked, pauses, |pause: &PausedThing| {
        let (flow, trigger) = (pause.flow.as_deref(), pause.trigger.as_deref());
        let wid = pause.wid.map_or(0, Wid::get);
        let (flow, trigger) = (flow.unwrap_or_default(), trigger.unwrap_or_default());
        format!("{} {flow} {wid:010} {trigger}", pause.since)
    })
    .map(Json)
}

async fn set_tenant_pause(api: &Api, caller: &Caller, asked: &Reason, pause: bool) -> Result<Json<Paused>, Problem> {
    caller.must(Action::write(Area::Jobs))?;
    let scope = PauseScope::Tenant(&caller.tenant);
    let changed = caller.store(api).set_pause(scope, pause, &asked.reason).await?;
    Ok(Json(Paused { paused: pause, changed }))
}

/// Pauses the tenant: nobody claims its jobs
#[utoipa::path(post, path = "/v1/pause", tag = "flows", request_body = Option<Reason>,
    responses((status = 200, body = Paused), (status = 422, body = Problem)))]
pub(crate) async fn pause_tenant(
    State(api): State<Api>,
    caller: Caller,
    OptionalDocument(asked): OptionalDocument<Reason>,
) -> Result<Json<Paused>, Problem> {
    set_tenant_pause(&api, &caller, &asked, true).await
}

/// Resumes the paused tenant
#[utoipa::path(post, path = "/v1/resume", tag = "flows", request_body = Option<Reason>, responses((status = 200,
    body = Paused)))]
pub(crate) async fn resume_tenant(
    State(api): State<Api>,
    caller: Caller,
    OptionalDocument(asked): OptionalDocument<Reason>,
) -> Result<Json<Paused>, Problem> {
    set_tenant_pause(&api, &caller, &asked, false).await
}

/// Pauses a flow, or one of its triggers: nobody claims their jobs
#[utoipa::path(post, path = "/v1/flows/{flow}/pause", tag = "flows", params(FlowPath),
    request_body = Option<Pause>,
    responses((status = 200, body = Paused), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn pause_all(
    on: OnFlow,
    OptionalDocument(asked): OptionalDocument<Pause>,
) -> Result<Json<Paused>, Problem> {
    on.set_pause(&asked, true).await
}

/// Resumes a paused flow or trigger
#[utoipa::path(post, path = "/v1/flows/{flow}/resume", tag = "flows", params(FlowPath),
    request_body = Option<Pause>, responses((status = 200, body = Paused), (status = 404, body = Problem)))]
pub(crate) async fn resume_all(
    on: OnFlow,
    OptionalDocument(asked): OptionalDocument<Pause>,
) -> Result<Json<Paused>, Problem> {
    on.set_pause(&asked, false).await
}

//! Operators: retry, cancel, pause, resume, skip and set instances and flows; their schedules.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use wedflow_store::{Flow, Matching, NewSchedule, PauseScope};
use wedflow_tenancy::{Action, Area};

use crate::access::Caller;
use crate::body::{Document, IdempotencyKey};
use crate::documents::{List, Status};
use crate::path::{Named, wid};
use crate::problem::Problem;
use crate::state::Api;

/// Most exceptions that one request retries.
const RETRIED_MAX: i32 = 1_000;
/// Most instances that one backfill starts.
const BACKFILLED_MAX: usize = 1_000;

/// Why an operator acts.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reason {
    /// Kept in the trace and in the audit log.
    #[serde(default)]
    reason: String,
}

/// Transitions that were fired or hurried.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Retried {
    wid: i32,
    transitions: Vec<String>,
}

/// State of an instance after an operator's action.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Operated {
    wid: i32,
    status: Status,
}

/// State of a pause.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Paused {
    paused: bool,
    /// False: it was so already.
    changed: bool,
}

/// A job to skip.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Skip {
    transition: String,
    /// Kept in the trace and in the audit log.
    reason: String,
}

/// A state to set by hand.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetState {
    /// New values; the other attributes stay.
    #[schema(value_type = Object)]
    state: Map<String, Value>,
    /// Kept in the trace and in the audit log.
    reason: String,
}

/// Exceptions to retry.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RetryMatching {
    /// Only those that this transition's failure made.
    transition: Option<String>,
    /// Only those whose reason holds this text.
    message: Option<String>,
    /// Only those since this time (RFC 3339).
    since: Option<String>,
    /// Kept in the trace and in the audit log.
    #[serde(default)]
    reason: String,
    /// Count them only.
    #[serde(default)]
    dry_run: bool,
}

/// Result of retrying the exceptions that matched.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RetriedMatching {
    /// Exceptions that match, at most 1 000.
    matching: usize,
    /// Instances that were retried.
    retried: Vec<i32>,
    /// Instances that could not be, and why.
    refused: Vec<Refused>,
}

/// An instance that could not be retried.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Refused {
    wid: i32,
    reason: String,
}

/// Scope of a pause: the whole flow, or a trigger of it.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pause {
    /// Only this trigger: its name, its number or its transition.
    trigger: Option<String>,
    /// Kept in the audit log; needed to pause.
    #[serde(default)]
    reason: String,
}

/// A reason why a job waits.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Waiting {
    transition: String,
    /// `time`, `locked`, `siblings`, `quota`, `paused`, `circuit`, `no_host`, `no_component`, `not_runnable`, `no_worker`,
    /// `reservation` or `precedence`.
    code: String,
    text: String,
    hint: String,
    /// When it is due.
    due: Option<String>,
}

async fn found(
    api: &Api,
    caller: &Caller,
    flow: &str,
    number: &str,
) -> Result<(Flow, i32), Problem> {
    caller.must(Action::write(Area::Jobs))?;
    Ok((api.store.flow(&caller.tenant, flow).await?, wid(number)?))
}

/// Retries an instance: an exception fires what its state satisfies, waiting jobs are due now
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/retry", tag = "instances",
    params(("flow" = String, Path, description = "The flow's name"), ("wid" = i32, Path,
        description = "The instance's number")),
    request_body = Reason, responses((status = 200, body = Retried), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn retry(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
    Document(asked): Document<Reason>,
) -> Result<Json<Retried>, Problem> {
    let (flow, wid) = found(&api, &caller, &flow, &number).await?;
    let store = caller.store(&api);
    let transitions = store.retry_instance(&flow, wid, &asked.reason).await?;
    Ok(Json(Retried { wid, transitions }))
}

/// Ends an instance: its pending jobs are dropped, it is final
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/cancel", tag = "instances",
    params(("flow" = String, Path, description = "The flow's name"), ("wid" = i32, Path,
        description = "The instance's number")),
    request_body = Reason, responses((status = 200, body = Operated), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn cancel(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
    Document(asked): Document<Reason>,
) -> Result<Json<Operated>, Problem> {
    let (flow, wid) = found(&api, &caller, &flow, &number).await?;
    let store = caller.store(&api);
    store.cancel_instance(&flow, wid, &asked.reason).await?;
    Ok(Json(Operated {
        wid,
        status: Status::of("F"),
    }))
}

/// Drops a pending job of an instance without running it
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/skip", tag = "instances",
    params(("flow" = String, Path, description = "The flow's name"), ("wid" = i32, Path,
        description = "The instance's number")),
    request_body = Skip, responses((status = 200, body = Operated), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn skip(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
    Document(asked): Document<Skip>,
) -> Result<Json<Operated>, Problem> {
    let (flow, wid) = found(&api, &caller, &flow, &number).await?;
    let store = caller.store(&api);
    let status = store
        .skip_job(&flow, wid, &asked.transition, &asked.reason)
        .await?;
    Ok(Json(Operated {
        wid,
        status: Status::of(&status),
    }))
}

/// Sets attributes of an exception by hand; what the new state satisfies is fired
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/state", tag = "instances",
    params(("flow" = String, Path, description = "The flow's name"), ("wid" = i32, Path,
        description = "The instance's number")),
    request_body = SetState, responses((status = 200, body = Operated), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn set_state(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
    Document(asked): Document<SetState>,
) -> Result<Json<Operated>, Problem> {
    let (flow, wid) = found(&api, &caller, &flow, &number).await?;
    let store = caller.store(&api);
    let status = store
        .set_state(&flow, wid, &asked.state, &asked.reason)
        .await?;
    Ok(Json(Operated {
        wid,
        status: Status::of(&status),
    }))
}

/// State to which an exception goes back.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GoBack {
    /// The row of the trace.
    to: i32,
    /// Kept in the trace and in the audit log.
    reason: String,
}

/// Progress of an exception that goes back.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GoingBack {
    wid: i32,
    /// Steps to undo.
    steps: i32,
}

/// Sends an exception back: the compensations of its steps are run, newest first
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/back", tag = "instances",
    params(("flow" = String, Path, description = "The flow's name"), ("wid" = i32, Path,
        description = "The instance's number")),
    request_body = GoBack, responses((status = 200, body = GoingBack), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn go_back(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
    Document(asked): Document<GoBack>,
) -> Result<Json<GoingBack>, Problem> {
    let (flow, wid) = found(&api, &caller, &flow, &number).await?;
    let store = caller.store(&api);
    let steps = store.go_back(&flow, wid, asked.to, &asked.reason).await?;
    Ok(Json(GoingBack { wid, steps }))
}

/// Pauses an instance: nobody claims its jobs
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/pause", tag = "instances",
    params(("flow" = String, Path, description = "The flow's name"), ("wid" = i32, Path,
        description = "The instance's number")),
    request_body = Reason, responses((status = 200, body = Paused), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn pause(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
    Document(asked): Document<Reason>,
) -> Result<Json<Paused>, Problem> {
    let (flow, wid) = found(&api, &caller, &flow, &number).await?;
    let scope = PauseScope::Instance(&caller.tenant, &flow, wid);
    let changed = caller
        .store(&api)
        .set_pause(scope, true, &asked.reason)
        .await?;
    Ok(Json(Paused {
        paused: true,
        changed,
    }))
}

/// Resumes a paused instance
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/resume", tag = "instances",
    params(("flow" = String, Path, description = "The flow's name"), ("wid" = i32, Path,
        description = "The instance's number")),
    request_body = Reason, responses((status = 200, body = Paused), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn resume(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
    Document(asked): Document<Reason>,
) -> Result<Json<Paused>, Problem> {
    let (flow, wid) = found(&api, &caller, &flow, &number).await?;
    let scope = PauseScope::Instance(&caller.tenant, &flow, wid);
    let changed = caller
        .store(&api)
        .set_pause(scope, false, &asked.reason)
        .await?;
    Ok(Json(Paused {
        paused: false,
        changed,
    }))
}

/// The reasons why an instance's pending jobs are not being run
#[utoipa::path(get, path = "/v1/flows/{flow}/instances/{wid}/waiting", tag = "instances",
    params(("flow" = String, Path, description = "The flow's name"), ("wid" = i32, Path,
        description = "The instance's number")),
    responses((status = 200, body = List<Waiting>), (status = 404, body = Problem)))]
pub(crate) async fn waiting(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
) -> Result<Json<List<Waiting>>, Problem> {
    caller.must(Action::read(Area::Jobs))?;
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    let wid = wid(&number)?;
    api.store.instance_status(flow.flow_id, wid).await?;
    let waiting = api.store.waiting(flow.flow_id, wid).await?;
    Ok(Json(List::whole(
        waiting
            .into_iter()
            .map(|job| Waiting {
                transition: job.transition,
                code: job.code.to_owned(),
                text: job.text,
                hint: job.hint.to_owned(),
                due: job.due,
            })
            .collect(),
    )))
}

/// Retries a flow's exceptions that match, or counts them
#[utoipa::path(post, path = "/v1/flows/{flow}/retry", tag = "flows", params(("flow" = String, Path,
    description = "The flow's name")),
    request_body = RetryMatching, responses((status = 200, body = RetriedMatching), (status = 404, body = Problem)))]
pub(crate) async fn retry_matching(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Document(asked): Document<RetryMatching>,
) -> Result<Json<RetriedMatching>, Problem> {
    caller.must(Action::write(Area::Jobs))?;
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    let matching = Matching {
        transition: asked.transition,
        message: asked.message,
        since: asked.since,
    };
    let store = caller.store(&api);
    let found = store
        .matching_exceptions(&flow, &matching, RETRIED_MAX)
        .await?;
    let (mut retried, mut refused) = (Vec::new(), Vec::new());
    for (wid, ..) in found.iter().filter(|_| !asked.dry_run) {
        match store.retry_instance(&flow, *wid, &asked.reason).await {
            Ok(_) => retried.push(*wid),
            Err(error) => refused.push(Refused {
                wid: *wid,
                reason: error.to_string(),
            }),
        }
    }
    Ok(Json(RetriedMatching {
        matching: found.len(),
        retried,
        refused,
    }))
}

/// An event: open attributes to set.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Event {
    /// New values; the other attributes stay.
    #[schema(value_type = Object)]
    state: Map<String, Value>,
}

/// Result of sending an event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Sent {
    wid: i32,
    /// False: it was sent before under this key.
    sent: bool,
}

/// Sends an event: sets open attributes of a running instance; with `Idempotency-Key` at most once for a key,
/// within a day
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/event", tag = "instances",
    params(("flow" = String, Path, description = "The flow's name"), ("wid" = i32, Path,
        description = "The instance's number"),
        ("Idempotency-Key" = Option<String>, Header, description = "A key of the client's choice, best a random UUID")),
    request_body = Event, responses((status = 200, body = Sent), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn event(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
    IdempotencyKey(key): IdempotencyKey,
    Document(asked): Document<Event>,
) -> Result<Json<Sent>, Problem> {
    caller.must(Action::write(Area::Instances))?;
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    let wid = wid(&number)?;
    let sent = caller
        .store(&api)
        .send_event(&flow, wid, &asked.state, key.as_deref())
        .await?;
    Ok(Json(Sent { wid, sent }))
}

/// A present pause.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PausedThing {
    /// Flow; none for the whole tenant.
    flow: Option<String>,
    trigger: Option<String>,
    wid: Option<i32>,
    actor: String,
    reason: String,
    since: String,
}

/// Lists what is paused in the tenant
#[utoipa::path(get, path = "/v1/pauses", tag = "flows", responses((status = 200, body = List<PausedThing>)))]
pub(crate) async fn pauses(
    State(api): State<Api>,
    caller: Caller,
) -> Result<Json<List<PausedThing>>, Problem> {
    caller.must(Action::read(Area::Jobs))?;
    let pauses = api.store.pauses(&caller.tenant).await?;
    let pauses = pauses.into_iter().map(|pause| PausedThing {
        flow: pause.flow,
        trigger: pause.trigger,
        wid: pause.wid,
        actor: pause.actor,
        reason: pause.reason,
        since: pause.since,
    });
    Ok(Json(List::whole(pauses.collect())))
}

async fn set_tenant_pause(
    api: &Api,
    caller: &Caller,
    asked: &Reason,
    pause: bool,
) -> Result<Json<Paused>, Problem> {
    caller.must(Action::write(Area::Jobs))?;
    let scope = PauseScope::Tenant(&caller.tenant);
    let changed = caller
        .store(api)
        .set_pause(scope, pause, &asked.reason)
        .await?;
    Ok(Json(Paused {
        paused: pause,
        changed,
    }))
}

/// Pauses the tenant: nobody claims its jobs
#[utoipa::path(post, path = "/v1/pause", tag = "flows", request_body = Reason,
    responses((status = 200, body = Paused), (status = 422, body = Problem)))]
pub(crate) async fn pause_tenant(
    State(api): State<Api>,
    caller: Caller,
    Document(asked): Document<Reason>,
) -> Result<Json<Paused>, Problem> {
    set_tenant_pause(&api, &caller, &asked, true).await
}

/// Resumes the paused tenant
#[utoipa::path(post, path = "/v1/resume", tag = "flows", request_body = Reason, responses((status = 200,
    body = Paused)))]
pub(crate) async fn resume_tenant(
    State(api): State<Api>,
    caller: Caller,
    Document(asked): Document<Reason>,
) -> Result<Json<Paused>, Problem> {
    set_tenant_pause(&api, &caller, &asked, false).await
}

async fn pause_flow(
    api: &Api,
    caller: &Caller,
    flow: &str,
    asked: &Pause,
    pause: bool,
) -> Result<Json<Paused>, Problem> {
    caller.must(Action::write(Area::Jobs))?;
    let flow = api.store.flow(&caller.tenant, flow).await?;
    let scope = match &asked.trigger {
        Some(trigger) => PauseScope::Trigger(&caller.tenant, &flow, trigger),
        None => PauseScope::Flow(&caller.tenant, &flow),
    };
    let changed = caller
        .store(api)
        .set_pause(scope, pause, &asked.reason)
        .await?;
    Ok(Json(Paused {
        paused: pause,
        changed,
    }))
}

/// Pauses a flow, or one of its triggers: nobody claims their jobs
#[utoipa::path(post, path = "/v1/flows/{flow}/pause", tag = "flows", params(("flow" = String, Path,
    description = "The flow's name")),
    request_body = Pause, responses((status = 200, body = Paused), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn pause_all(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Document(asked): Document<Pause>,
) -> Result<Json<Paused>, Problem> {
    pause_flow(&api, &caller, &flow, &asked, true).await
}

/// Resumes a paused flow or trigger
#[utoipa::path(post, path = "/v1/flows/{flow}/resume", tag = "flows", params(("flow" = String, Path,
    description = "The flow's name")),
    request_body = Pause, responses((status = 200, body = Paused), (status = 404, body = Problem)))]
pub(crate) async fn resume_all(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Document(asked): Document<Pause>,
) -> Result<Json<Paused>, Problem> {
    pause_flow(&api, &caller, &flow, &asked, false).await
}

/// A schedule, to be made or changed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PutSchedule {
    /// Minute, hour, day of month, month and weekday; or seconds in front of them.
    cron: String,
    /// The time zone, as in the IANA database; UTC when absent.
    zone: Option<String>,
    /// Initial values of the instances.
    #[serde(default)]
    #[schema(value_type = Object)]
    state: Map<String, Value>,
    /// Times that passed while no host ran: `skip`, `one` (when absent) or `all`.
    missed: Option<String>,
    /// While the instance started last is running: `start` (when absent) or `skip`.
    overlap: Option<String>,
    /// True while it starts no instances.
    #[serde(default)]
    paused: bool,
}

/// A schedule.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Schedule {
    name: String,
    cron: String,
    zone: String,
    missed: String,
    overlap: String,
    paused: bool,
    /// When the next instance is started.
    next_at: Option<String>,
    /// When one was started last.
    last_at: Option<String>,
    last_wid: Option<i32>,
    last_error: Option<String>,
}

/// A flow's schedules
#[utoipa::path(get, path = "/v1/flows/{flow}/schedules", tag = "flows", params(("flow" = String, Path,
    description = "The flow's name")),
    responses((status = 200, body = List<Schedule>), (status = 404, body = Problem)))]
pub(crate) async fn schedules(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
) -> Result<Json<List<Schedule>>, Problem> {
    caller.must(Action::read(Area::Flows))?;
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    let schedules = api.store.schedules(flow.flow_id).await?;
    let schedules = schedules.into_iter().map(|schedule| Schedule {
        name: schedule.name,
        cron: schedule.cron,
        zone: schedule.zone,
        missed: schedule.missed,
        overlap: schedule.overlap,
        paused: schedule.paused,
        next_at: schedule.next_at,
        last_at: schedule.last_at,
        last_wid: schedule.last_wid,
        last_error: schedule.last_error,
    });
    Ok(Json(List::whole(schedules.collect())))
}

/// Makes a schedule that starts instances, or changes the one of that name
#[utoipa::path(put, path = "/v1/flows/{flow}/schedules/{schedule}", tag = "flows",
    params(("flow" = String, Path, description = "The flow's name"), ("schedule" = String, Path,
        description = "The schedule's name")),
    request_body = PutSchedule, responses((status = 204), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn put_schedule(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, name)): Named<(String, String)>,
    Document(asked): Document<PutSchedule>,
) -> Result<axum::http::StatusCode, Problem> {
    caller.must(Action::write(Area::Flows))?;
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    let store = caller.store(&api);
    let schedule = NewSchedule {
        name: &name,
        cron: &asked.cron,
        zone: asked.zone.as_deref().unwrap_or("UTC"),
        state: &asked.state,
        missed: asked.missed.as_deref().unwrap_or("one"),
        overlap: asked.overlap.as_deref().unwrap_or("start"),
    };
    store
        .put_schedule(&flow, &schedule, wedflow_worker::schedule::next)
        .await?;
    store.pause_schedule(&flow, &name, asked.paused).await?;
    Ok(axum::http::StatusCode::NO_CONTENT)
}

/// Removes a schedule; its instances stay
#[utoipa::path(delete, path = "/v1/flows/{flow}/schedules/{schedule}", tag = "flows",
    params(("flow" = String, Path, description = "The flow's name"), ("schedule" = String, Path,
        description = "The schedule's name")),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn remove_schedule(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, name)): Named<(String, String)>,
) -> Result<axum::http::StatusCode, Problem> {
    caller.must(Action::write(Area::Flows))?;
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    caller.store(&api).remove_schedule(&flow, &name).await?;
    Ok(axum::http::StatusCode::NO_CONTENT)
}

async fn set_schedule_pause(
    api: &Api,
    caller: &Caller,
    (flow, name): (String, String),
    pause: bool,
) -> Result<axum::http::StatusCode, Problem> {
    caller.must(Action::write(Area::Flows))?;
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    caller
        .store(api)
        .pause_schedule(&flow, &name, pause)
        .await?;
    Ok(axum::http::StatusCode::NO_CONTENT)
}

/// Pauses a schedule: it starts nothing
#[utoipa::path(post, path = "/v1/flows/{flow}/schedules/{schedule}/pause", tag = "flows",
    params(("flow" = String, Path, description = "The flow's name"), ("schedule" = String, Path,
        description = "The schedule's name")),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn pause_schedule(
    State(api): State<Api>,
    caller: Caller,
    Named(named): Named<(String, String)>,
) -> Result<axum::http::StatusCode, Problem> {
    set_schedule_pause(&api, &caller, named, true).await
}

/// Resumes a paused schedule
#[utoipa::path(post, path = "/v1/flows/{flow}/schedules/{schedule}/resume", tag = "flows",
    params(("flow" = String, Path, description = "The flow's name"), ("schedule" = String, Path,
        description = "The schedule's name")),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn resume_schedule(
    State(api): State<Api>,
    caller: Caller,
    Named(named): Named<(String, String)>,
) -> Result<axum::http::StatusCode, Problem> {
    set_schedule_pause(&api, &caller, named, false).await
}

/// A span of time to make up for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Backfill {
    /// The first time (RFC 3339).
    from: String,
    /// The time before which it ends (RFC 3339).
    until: String,
}

/// Instances that were started.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Backfilled {
    started: Vec<i32>,
}

/// Starts an instance for each time of a schedule between two, at most 1 000
#[utoipa::path(post, path = "/v1/flows/{flow}/schedules/{schedule}/backfill", tag = "flows",
    params(("flow" = String, Path, description = "The flow's name"), ("schedule" = String, Path,
        description = "The schedule's name")),
    request_body = Backfill, responses((status = 200, body = Backfilled), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn backfill(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, name)): Named<(String, String)>,
    Document(asked): Document<Backfill>,
) -> Result<Json<Backfilled>, Problem> {
    caller.must(Action::write(Area::Flows))?;
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    let started = caller
        .store(&api)
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

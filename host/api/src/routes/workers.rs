//! Workers over HTTP: they claim jobs that no component performs, and report the results.

use std::time::Duration;

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;
use wedflow_model::{LeaseToken, Wid};
use wedflow_store::{Flow, PerformedTrigger, Store, StoreError, WorkerLease};
use wedflow_tenancy::{Action, Area};
use wedflow_worker::external::{self, WorkerResult};

use super::operate::FlowPath;
use crate::access::Caller;
use crate::body::Document;
use crate::documents::{
    ClaimJobs, CompleteJob, CompletedJob, ExtendLease, ExtendedLease, FailJob, FailedJob, LeasedJob, List, Status,
};
use crate::page;
use crate::path::{Named, wid};
use crate::polling::Poll;
use crate::problem::Problem;
use crate::sending;
use crate::state::Api;

/// Most seconds that a claim waits for a job.
const CLAIM_WAIT_S_MAX: u64 = 20;
/// Most jobs of one claim.
const CLAIMED_JOBS_MAX: i32 = 100;
/// Most transitions that one claim names.
const CLAIMED_TRANSITIONS_MAX: usize = 100;
/// Most characters of a worker's name.
const WORKER_CHARACTERS_MAX: usize = 100;
/// Most seconds of a lease.
const LEASE_S_MAX: i32 = 3_600;
/// Most seconds until the next attempt.
const AFTER_S_MAX: i32 = 86_400;

/// A job in an address.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct JobPath {
    /// The flow's name
    flow: String,
    /// The instance's number
    #[param(value_type = i32)]
    wid: String,
    /// The trigger's name, or its number where it has none
    trigger: String,
}

/// A job that a worker acts on, looked up after the token was found to allow it.
pub(crate) struct OnJob {
    store: Store,
    flow: Flow,
    wid: Wid,
    trigger: PerformedTrigger,
}

impl FromRequestParts<Api> for OnJob {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, api).await?;
        let Named(path) = Named::<JobPath>::from_request_parts(parts, api).await?;
        caller.must(Action::write(Area::Workers))?;
        let flow = api.store.flow(&caller.tenant, &path.flow).await?;
        Ok(OnJob {
            wid: wid(api, &flow, &path.wid).await?,
            trigger: api.store.performed_trigger(&flow, &path.trigger).await?,
            store: caller.store(api),
            flow,
        })
    }
}

impl OnJob {
    fn lease(&self, token: LeaseToken) -> WorkerLease<'_> {
        WorkerLease { flow: &self.flow, wid: self.wid, tgid: self.trigger.tgid, token }
    }

    /// Describes what a worker sent, so that only the same is answered as a repetition.
    fn asked(&self, act: &str, sent: &impl serde::Serialize) -> Value {
        json!([act, self.flow.flow_id, self.wid, self.trigger.tgid, sent])
    }
}

/// Claims due jobs that no component performs, for a worker: each is leased to it until a moment of its own. Waits for
/// one as long as `wait` says
#[utoipa::path(post, path = "/v1/flows/{flow}/jobs/claim", tag = "jobs", params(FlowPath),
    request_body = ClaimJobs,
    responses((status = 200, body = List<LeasedJob>), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn claim(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    headers: HeaderMap,
    Document(asked): Document<ClaimJobs>,
) -> Result<Response, Problem> {
    caller.must(Action::write(Area::Workers))?;
    if asked.transitions.iter().any(|name| name.starts_with('_')) {
        // Who serves an exception may set any attribute, as an operator does.
        caller.must(Action::write(Area::Jobs))?;
    }
    checked(&asked)?;
    let wait = page::wait_s(asked.wait, 0, CLAIM_WAIT_S_MAX)?;
    let may = Action::write(Area::Workers);
    let mut poll = Poll::begin(&api, &caller, &headers, may, Duration::from_secs(wait))?;
    let flow = poll.ask(api.store.flow(&caller.tenant, &name)).await?;
    let lease = asked.seconds.map(seconds);
    let jobs = asked.jobs.unwrap_or(1);
    let store = caller.store(&api);
    loop {
        let claim = store.lease_to_worker(&flow, &asked.transitions, jobs, &asked.worker, lease);
        let leased = poll.ask(claim).await?;
        if !leased.is_empty() || !poll.again().await? {
            let answer = Json(List::whole(leased)).into_response();
            return Ok(sending::counted(&api, &caller.tenant, answer).await);
        }
    }
}

/// Refuses a claim that is out of bounds.
fn checked(claim: &ClaimJobs) -> Result<(), Problem> {
    let named = |name: &String| !name.is_empty() && name.chars().count() <= WORKER_CHARACTERS_MAX;
    if !named(&claim.worker) || claim.worker.chars().any(char::is_control) {
        return Err(out_of_bounds("worker", "a name of 1 to 100 visible characters"));
    }
    let many = claim.transitions.len();
    if many == 0 || many > CLAIMED_TRANSITIONS_MAX || claim.transitions.iter().any(|name| name.contains('\0')) {
        return Err(out_of_bounds("transitions", "1 to 100 names"));
    }
    within("jobs", claim.jobs, 1, CLAIMED_JOBS_MAX)?;
    within("seconds", claim.seconds, 1, LEASE_S_MAX)
}

/// Refuses a number that is out of bounds.
fn within(name: &str, number: Option<i32>, least: i32, most: i32) -> Result<(), Problem> {
    match number {
        Some(number) if !(least..=most).contains(&number) => {
            Err(out_of_bounds(name, &format!("a number from {least} to {most}")))
        }
        _ => Ok(()),
    }
}

fn out_of_bounds(name: &str, wanted: &str) -> Problem {
    Problem::invalid("invalid_document", format!("{name} is not {wanted}"))
        .at(format!("/{name}"))
        .hint("GET /openapi.json describes the document.")
}

fn seconds(number: i32) -> Duration {
    Duration::from_secs(u64::try_from(number).unwrap_or_default())
}

/// Prolongs a worker's lease from now on, and keeps what it says of its progress, which the next attempt gets
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/jobs/{trigger}/extend", tag = "jobs", params(JobPath),
    request_body = ExtendLease,
    responses((status = 200, body = ExtendedLease), (status = 404, body = Problem),
        (status = 409, body = Problem, description = "The lease has ended")))]
pub(crate) async fn extend(on: OnJob, Document(asked): Document<ExtendLease>) -> Result<Json<ExtendedLease>, Problem> {
    within("seconds", asked.seconds, 1, LEASE_S_MAX)?;
    let lease = on.lease(asked.lease);
    let extended = (on.store).extend_lease(lease, asked.seconds.map(seconds), asked.progress.as_ref());
    Ok(Json(ExtendedLease { lease_ends: extended.await? }))
}

/// Commits the result of a job that a worker has, as a component's: values, or a SET clause. Once for its lease
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/jobs/{trigger}/complete", tag = "jobs", params(JobPath),
    request_body = CompleteJob,
    responses((status = 200, body = CompletedJob), (status = 404, body = Problem),
        (status = 409, body = Problem, description = "The lease has ended"), (status = 422, body = Problem)))]
pub(crate) async fn complete(on: OnJob, Document(sent): Document<CompleteJob>) -> Result<Json<CompletedJob>, Problem> {
    let result = match (&sent.state, &sent.clause) {
        (Some(values), None) => WorkerResult::Values(values),
        (None, Some(clause)) => WorkerResult::Clause(clause),
        _ => {
            return Err(out_of_bounds("state", "given, or clause in its place, and only one of them"));
        }
    };
    let asked = on.asked("complete", &sent);
    let lease = on.lease(sent.lease);
    let answer = external::complete(&on.store, lease, &on.trigger, result, &asked).await?;
    read(answer)
}

/// Records an attempt of a worker that changed nothing: the job is tried again as its trigger says, or its instance is
/// an exception. Once for its lease
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/jobs/{trigger}/fail", tag = "jobs", params(JobPath),
    request_body = FailJob,
    responses((status = 200, body = FailedJob), (status = 404, body = Problem),
        (status = 409, body = Problem, description = "The lease has ended")))]
pub(crate) async fn fail(on: OnJob, Document(sent): Document<FailJob>) -> Result<Json<FailedJob>, Problem> {
    within("after", sent.after, 0, AFTER_S_MAX)?;
    let asked = on.asked("fail", &sent);
    let terms = (sent.retry, sent.after.map(seconds));
    let answer = (on.store).fail_job(on.lease(sent.lease), &sent.message, terms, &asked);
    read(answer.await?)
}

/// Reads an answer of the database, whose statuses are letters.
fn read<T: serde::de::DeserializeOwned>(mut answer: Value) -> Result<Json<T>, Problem> {
    let status = answer["status"].as_str().map(Status::of);
    if let Some(status) = status {
        answer["status"] = json!(status);
    }
    let read = serde_json::from_value(answer);
    Ok(Json(read.map_err(StoreError::unreadable)?))
}

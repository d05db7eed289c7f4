//! A shadow run: a component that is not in use, over recorded attempts of the one that was.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use wedflow_model::{Limits, Wid};
use wedflow_store::{Flow, StoreError};
use wedflow_tenancy::{Action, Area};

use super::components::must_be_wasm;
use super::config::must_be_known;
use super::operate::FlowPath;
use crate::access::Caller;
use crate::application::Shadow;
use crate::body;
use crate::documents::{Attempt, Recording, ShadowFilter, ShadowRun};
use crate::path::{Asked, Named};
use crate::problem::Problem;
use crate::state::{Api, to_its_end};

/// Attempts that a shadow run looks at unless told.
const ATTEMPTS: i64 = 20;
/// Most attempts that a shadow run looks at.
const ATTEMPTS_MAX: i64 = 50;

/// Runs a component over the last attempts at a transition, as they were recorded, and says where it differs from the
/// component that made them. Nothing is changed, nothing is uploaded
#[utoipa::path(post, path = "/v1/flows/{flow}/shadow", tag = "components", operation_id = "shadow",
    params(FlowPath, ShadowFilter),
    request_body(content = Vec<u8>, content_type = "application/wasm"),
    responses((status = 200, body = ShadowRun), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 413, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn run(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Asked(asked): Asked<ShadowFilter>,
    request: Request,
) -> Result<Json<ShadowRun>, Problem> {
    caller.must(Action::read(Area::Instances))?;
    caller.must(Action::write(Area::Components))?;
    let (parts, body) = request.into_parts();
    must_be_wasm(&parts.headers)?;
    let transition = asked
        .transition
        .ok_or_else(|| Problem::invalid("invalid_query", "no transition is named").hint("Say ?transition=NAME."))?;
    let last = asked.last.unwrap_or(ATTEMPTS);
    if !(1..=ATTEMPTS_MAX).contains(&last) {
        let message = format!("a shadow run looks at 1 to {ATTEMPTS_MAX} attempts");
        return Err(Problem::invalid("invalid_query", message));
    }
    let Some(bench) = api.bench else {
        return Err(Problem::new(StatusCode::NOT_FOUND, "not_found", "this server makes no shadow runs")
            .hint("Make it on your machine: `wed replay FLOW --last N --transition NAME --with FILE`."));
    };
    let longest = api.times.request;
    let most = Limits::default().component_bytes;
    let kib = body::announced(&parts.headers).unwrap_or(most).min(most) >> 10;
    let kib = u32::try_from(kib).unwrap_or(u32::MAX);
    let room = api.uploading.wait(&caller.tenant, kib, longest).await?;
    let read = body::plain(&parts.headers, body, most, api.times).await?;
    let place = api.running.wait(&caller.tenant, 1, longest).await?;
    let asking = api.connections.wait(&caller.tenant, 1, longest).await?;
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    let attempts = recorded(&api, &flow, &transition, last).await?;
    if attempts.is_empty() {
        must_be_known(&api.store, flow.flow_id, std::slice::from_ref(&transition)).await?;
    }
    let shadow = Shadow {
        versions: versions_of(&api, &caller.tenant, &attempts).await?,
        tenant: caller.tenant.clone(),
        attributes: api.store.flow_shape(flow.flow_id).await?.attributes,
        flow: flow.name,
        transition,
        candidate: read.bytes.to_vec(),
        attempts,
    };
    drop(asking);
    let compared = to_its_end((room, place), (bench.run_shadow)(shadow)).await?;
    let refused = |reason| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "refused", reason);
    compared.map(Json).map_err(refused)
}

/// Reads the last attempts at a transition, with what it takes to run them again.
async fn recorded(api: &Api, flow: &Flow, transition: &str, last: i64) -> Result<Vec<(Wid, Recording)>, Problem> {
    let (store, flow_id) = (&api.store, flow.flow_id);
    let mut attempts = Vec::new();
    for (wid, seq, number) in store.last_attempts(flow_id, transition, last).await? {
        let made = store.made_attempts(flow_id, wid).await?;
        let is_meant = |one: &Attempt| one.seq == seq && one.number == number;
        if let Some(found) = made.into_iter().find(|one| is_meant(&one.attempt)) {
            let payload = match found.from_seq {
                Some(seq) => store.state_at(flow_id, wid, seq).await?,
                None => None,
            };
            attempts.push((wid, found.recording(payload, None)));
        }
    }
    Ok(attempts)
}

/// Reads the components that made attempts; one that is gone is left out.
async fn versions_of(
    api: &Api,
    tenant: &str,
    attempts: &[(Wid, Recording)],
) -> Result<Vec<((String, i32), Vec<u8>)>, Problem> {
    let numbers: BTreeSet<(String, i32)> =
        attempts.iter().filter_map(|(_, attempt)| attempt.component.clone().zip(attempt.version)).collect();
    let mut versions = Vec::new();
    for (name, version) in numbers {
        match api.store.version_bytes(tenant, &name, version).await {
            Ok(bytes) => versions.push(((name, version), bytes)),
            Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(versions)
}

//! Batches: an action on all instances of a flow that match: counted first, done when asked for.

use axum::Json;
use axum::extract::State;
use serde_json::Map;
use wedflow_model::Wid;
use wedflow_store::{Flow, PauseScope, Store, StoreError};
use wedflow_tenancy::{Action, Area};

use super::instances::{Filter, Wanted};
use super::operate::FlowPath;
use crate::access::Caller;
use crate::body::Document;
use crate::documents::{Act, Batch, Batched, Refused};
use crate::path::Named;
use crate::problem::Problem;
use crate::state::Api;

/// Most instances on which one request acts.
const ACTED_MAX: i64 = 1_000;

/// Retries, cancels, pauses, resumes or deletes the instances that match, sends them an event or skips a job of theirs, at
/// most 1,000; with `apply`, otherwise they are counted and listed
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/batch", tag = "instances", operation_id = "batch",
    params(FlowPath), request_body = Batch,
    responses((status = 200, body = Batched), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn run(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    Document(batch): Document<Batch>,
) -> Result<Json<Batched>, Problem> {
    caller.must(Action::write(match batch.act {
        Act::Send => Area::Instances,
        Act::Delete => Area::Flows,
        _ => Area::Jobs,
    }))?;
    let lacks = |what: &str, place: &str| {
        let problem = Problem::invalid("invalid_document", what);
        problem.at(place.to_owned())
    };
    match batch.act {
        Act::Skip if batch.transition.is_none() => {
            let problem = lacks("a job is skipped by its transition", "transition");
            return Err(problem.hint("Name the transition."));
        }
        Act::Send if batch.values.as_ref().is_none_or(Map::is_empty) => {
            let problem = lacks("an event sets open attributes", "values");
            return Err(problem.hint("Name open attributes with their values."));
        }
        _ => {}
    }
    let flow = api.store.flow(&caller.tenant, &name).await?;
    let filter = Filter {
        status: batch.status,
        state: batch.state.clone(),
        condition: batch.r#where.clone(),
        transition: batch.transition.clone(),
        key: None,
        changed_since: batch.changed_since.clone(),
        started_before: batch.started_before.clone(),
        started_since: None,
        oldest_first: true,
    };
    let wanted = Wanted::read(&api, &flow, filter).await?;
    let wanted = wanted.filter();
    let matching = api.store.count_instances(&flow, &wanted).await?;
    let found = api.store.wids_from(&flow, &wanted, batch.after, ACTED_MAX);
    let mut batched =
        Batched { applied: batch.apply, matching, instances: found.await?, done: Vec::new(), refused: Vec::new() };
    if batch.apply {
        let store = caller.definitions(&api);
        for wid in batched.instances.clone() {
            match act(&store, &caller.tenant, &flow, wid, &batch).await {
                Ok(()) => batched.done.push(wid),
                // The rule refuses this instance; the others are still tried.
                Err(StoreError::Refused(refusal)) => batched.refused.push(Refused { wid, reason: refusal.message }),
                Err(error) if error.is_transient() => return Err(error.into()),
                Err(error) => batched.refused.push(Refused { wid, reason: error.to_string() }),
            }
        }
    }
    Ok(Json(batched))
}

async fn act(store: &Store, tenant: &str, flow: &Flow, wid: Wid, batch: &Batch) -> Result<(), StoreError> {
    let reason = &batch.reason;
    let pause = |paused| store.set_pause(PauseScope::Instance(tenant, flow, wid), paused, reason);
    match batch.act {
        Act::Retry => drop(store.retry_instance(flow, wid, reason).await?),
        Act::Cancel => store.cancel_instance(flow, wid, reason).await?,
        Act::Pause => drop(pause(true).await?),
        Act::Resume => drop(pause(false).await?),
        Act::Skip => {
            let transition = batch.transition.as_deref().unwrap_or_default();
            store.skip_job(flow, wid, transition, reason).await?;
        }
        Act::Send => {
            let values = batch.values.clone().unwrap_or_default();
            store.send_event(flow, wid, &values, None).await?;
        }
        Act::Delete => store.delete_instance(flow, wid, reason).await?,
    }
    Ok(())
}

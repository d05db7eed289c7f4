//! Pending jobs.

use axum::Json;
use axum::extract::State;
use wedflow_model::{TriggerId, Wid};
use wedflow_store::Numbered;
use wedflow_tenancy::{Action, Area};

use super::operate::{FlowPath, InstancePath};
use crate::access::Caller;
use crate::documents::{Job, JobFilter, List};
use crate::page;
use crate::path::{Asked, Named, wid};
use crate::problem::Problem;
use crate::state::Api;

/// A flow's pending jobs, or those of one instance
#[utoipa::path(get, path = "/v1/flows/{flow}/jobs", tag = "jobs", params(FlowPath, JobFilter),
    responses((status = 200, body = List<Job>), (status = 404, body = Problem)))]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Asked(asked): Asked<JobFilter>,
) -> Result<Json<List<Job>>, Problem> {
    caller.must(Action::read(Area::Jobs))?;
    let limit = page::limit(asked.limit)?;
    let after = page::position::<2>(asked.cursor.as_deref())?
        .map(|[wid, tgid]| (Wid::new(page::small(wid)), TriggerId::new(page::small(tgid))));
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    if let Some(wid) = asked.wid {
        // One that is missing has no jobs, which must not look like an empty list.
        api.store.instance_status(flow.flow_id, wid).await?;
    }
    let fetch = |after, count| api.store.jobs(flow.flow_id, asked.wid, after, count);
    let placed = |job: Numbered<Job>| {
        let trigger = TriggerId::new(page::small(job.number));
        ((job.row.wid, trigger), job.row)
    };
    let (items, next) = page::part(limit, after, placed, fetch).await?;
    let next = next.map(|(wid, tgid)| page::cursor(&[i64::from(wid.get()), i64::from(tgid.get())]));
    Ok(Json(List { items, next }))
}

/// A pending job of an instance, by the name of its trigger
#[utoipa::path(get, path = "/v1/flows/{flow}/instances/{wid}/jobs/{trigger}", tag = "jobs",
    params(InstancePath,
        ("trigger" = String, Path, description = "The trigger's name, or its number where it has none")),
    responses((status = 200, body = Job), (status = 404, body = Problem)))]
pub(crate) async fn get(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number, trigger)): Named<(String, String, String)>,
) -> Result<Json<Job>, Problem> {
    let flow = caller.flow(&api, Action::read(Area::Jobs), &flow).await?;
    let instance = api.store.instance(&flow, wid(&api, &flow, &number).await?).await?;
    let jobs = api.store.jobs(flow.flow_id, Some(instance.wid), None, i64::MAX).await?;
    let found = jobs.into_iter().find(|job| job.row.trigger == trigger);
    found.map(|job| Json(job.row)).ok_or_else(|| Problem::missing("job", &trigger))
}

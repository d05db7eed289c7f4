//! An instance with all that a page about it shows, as one snapshot of the database has it.

use axum::Json;
use axum::extract::State;
use wedflow_tenancy::{Action, Area};

use super::operate::InstancePath;
use super::{conditions, explain, instances, jobs, operate};
use crate::access::Caller;
use crate::documents::{JobFilter, Overview, OverviewFilter, Page, TraceFilter, WhyFilter};
use crate::page;
use crate::path::{Asked, Named};
use crate::problem::Problem;
use crate::state::Api;

/// Most entries of a list of an overview.
const ENTRIES_MAX: i64 = 500;

/// An instance with its conditions, pending jobs, waits and attempts, all as they were at one moment
#[utoipa::path(get, path = "/v1/flows/{flow}/instances/{wid}/overview", tag = "instances",
    params(InstancePath, OverviewFilter),
    responses((status = 200, body = Overview), (status = 404, body = Problem)))]
pub(crate) async fn overview(
    State(api): State<Api>,
    caller: Caller,
    Named(path): Named<(String, String)>,
    Asked(asked): Asked<OverviewFilter>,
) -> Result<Json<Overview>, Problem> {
    caller.must(Action::read(Area::Instances))?;
    let rows = asked.rows.map(|rows| page::limit(Some(rows)));
    let rows = rows.transpose()?;
    let api = Api { store: api.store.snapshot().await?, ..api };
    let one = || (State(api.clone()), caller.clone(), Named(path.clone()));
    let (state, caller_of, named) = one();
    let Json(instance) = instances::get(state, caller_of, named).await?;
    let (state, caller_of, named) = one();
    let Json(conditions) = conditions::conditions(state, caller_of, named).await?;
    let entries = Page { cursor: None, limit: Some(ENTRIES_MAX) };
    let (state, caller_of, named) = one();
    let Json(attempts) = instances::attempts(state, caller_of, named, Asked(entries)).await?;
    let (mut jobs, mut waiting) = (None, None);
    if caller.may(Action::read(Area::Jobs)) {
        let which = JobFilter { wid: Some(instance.wid), limit: Some(ENTRIES_MAX), ..JobFilter::default() };
        let (state, caller_of, Named((flow, _))) = one();
        let list = jobs::list(state, caller_of, Named(flow), Asked(which));
        jobs = Some(list.await?.0.items);
        let (state, caller_of, named) = one();
        waiting = Some(operate::waiting(state, caller_of, named).await?.0.items);
    }
    let (mut why, mut trace) = (None, None);
    if let Some(rows) = rows {
        let (state, caller_of, named) = one();
        let which = Asked(WhyFilter::default());
        let Json(present) = explain::why(state, caller_of, named, which).await?;
        let before = present.seq.unwrap_or_default() - page::small(rows);
        let newest = Asked(TraceFilter { after: Some(before.max(0)), cursor: None, limit: Some(rows) });
        let (state, caller_of, named) = one();
        trace = Some(instances::trace(state, caller_of, named, newest).await?.0);
        why = Some(present);
    }
    Ok(Json(Overview { instance, conditions, jobs, waiting, attempts, why, trace }))
}

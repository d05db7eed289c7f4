//! A flow's definitions: what applying one would do, history, difference, roll back, re-match.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use wedflow_model::FlowDefinition;
use wedflow_tenancy::{Action, Area};
use wedflow_worker::difference::compare;

use super::operate::FlowPath;
use crate::access::Caller;
use crate::body::{Document, OptionalDocument};
use crate::documents::{
    AppliedFlow, Between, Difference, List, Page, Preview, Processes, Rematch, RematchResult, RollBack, RolledBack,
    Version, WorkPlan,
};
use crate::page;
use crate::path::{Asked, Named};
use crate::problem::Problem;
use crate::routes::flows;
use crate::state::Api;

/// Most instances that a preview names.
const REMATCHED_MAX: usize = 1_000;

/// Says what applying a definition would do, and which live instances would then fire what; changes nothing
#[utoipa::path(post, path = "/v1/flows/{flow}/preview", tag = "flows", params(FlowPath),
    request_body(content(
        (crate::documents::Definition = "application/json"),
        (String = "application/toml"),
    ), description = "See `wed explain flow-toml`; `name` is that of the path"),
    responses((status = 200, body = Preview), (status = 422, body = Problem)))]
pub(crate) async fn preview(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    headers: HeaderMap,
    sent: Body,
) -> Result<Json<Preview>, Problem> {
    must_preview(&caller)?;
    let definition = flows::definition(&api, &headers, &name, sent).await?;
    Ok(Json(previewed(&api, &caller, &definition).await?))
}

/// Refuses who may neither change flows nor operate on instances.
fn must_preview(caller: &Caller) -> Result<(), Problem> {
    if caller.may(Action::write(Area::Flows)) {
        return Ok(());
    }
    caller.must(Action::write(Area::Jobs))
}

/// Refuses who may not do what is asked: operators preview, developers apply.
fn must(caller: &Caller, apply: bool) -> Result<(), Problem> {
    if apply { caller.must(Action::write(Area::Flows)) } else { must_preview(caller) }
}

async fn previewed(api: &Api, caller: &Caller, definition: &wedflow_model::FlowDefinition) -> Result<Preview, Problem> {
    let (applied, mut instances) =
        wedflow_worker::definition::preview(&caller.definitions(api), &caller.tenant, definition).await?;
    let matching = instances.len();
    instances.truncate(REMATCHED_MAX);
    Ok(Preview { would_apply: applied, matching, instances })
}

/// Definitions that a flow had, newest first
#[utoipa::path(get, path = "/v1/flows/{flow}/versions", tag = "flows", params(FlowPath, Page),
    responses((status = 200, body = List<Version>), (status = 404, body = Problem)))]
pub(crate) async fn versions(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    Asked(asked): Asked<Page>,
) -> Result<Json<List<Version>>, Problem> {
    caller.must(Action::read(Area::Flows))?;
    let limit = page::limit(asked.limit)?;
    let before = page::position::<1>(asked.cursor.as_deref())?.map(|[last]| page::small(last));
    let flow = api.store.flow(&caller.tenant, &name).await?;
    let fetch = |before, count| api.store.flow_versions(flow.flow_id, before, count);
    let (items, next) = page::part(limit, before, |version: Version| (version.version, version), fetch).await?;
    let next = next.map(|last| page::cursor(&[i64::from(last)]));
    Ok(Json(List { items, next }))
}

/// Compares two definitions of a flow
#[utoipa::path(get, path = "/v1/flows/{flow}/diff", tag = "flows", params(FlowPath, Between),
    responses((status = 200, body = Difference), (status = 404, body = Problem)))]
pub(crate) async fn diff(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    Asked(between): Asked<Between>,
) -> Result<Json<Difference>, Problem> {
    let flow = caller.flow(&api, Action::read(Area::Flows), &name).await?;
    let (old, new) = api.store.two_versions(flow.flow_id, between.old, between.new).await?;
    let (old_version, new_version) = (old.version, new.version);
    let difference = compare(old, new).await?;
    Ok(Json(Difference { old: old_version, new: new_version, lines: difference.lines, left_out: difference.left_out }))
}

/// Says what applying an earlier definition of a flow again would do; with `apply` it is applied
#[utoipa::path(post, path = "/v1/flows/{flow}/rollback", tag = "flows", params(FlowPath),
    request_body = Option<RollBack>,
    responses((status = 200, body = RolledBack), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn roll_back(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    OptionalDocument(asked): OptionalDocument<RollBack>,
) -> Result<Json<RolledBack>, Problem> {
    must(&caller, asked.apply)?;
    let flow = api.store.flow(&caller.tenant, &name).await?;
    let store = caller.definitions(&api);
    let mut rolled_back = store.roll_back(flow.flow_id, asked.version, !asked.apply).await?;
    rolled_back.instances.truncate(REMATCHED_MAX);
    Ok(Json(rolled_back))
}

/// Lists what the present model would fire for live instances; with `apply` it is fired
#[utoipa::path(post, path = "/v1/flows/{flow}/rematch", tag = "flows", params(FlowPath),
    request_body = Option<Rematch>, responses((status = 200, body = RematchResult), (status = 404, body = Problem)))]
pub(crate) async fn rematch(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    OptionalDocument(asked): OptionalDocument<Rematch>,
) -> Result<Json<RematchResult>, Problem> {
    must(&caller, asked.apply)?;
    let flow = api.store.flow(&caller.tenant, &name).await?;
    let store = caller.definitions(&api);
    let mut instances = store.rematch(flow.flow_id, !asked.apply).await?;
    let matching = instances.len();
    instances.truncate(REMATCHED_MAX);
    Ok(Json(RematchResult { applied: asked.apply, matching, instances }))
}

/// Makes flows of processes, with their plans of work: all or none. Their definitions are those of the process language
#[utoipa::path(put, path = "/v1/processes", tag = "flows", request_body = Processes,
    responses((status = 200, body = List<AppliedFlow>), (status = 422, body = Problem)))]
pub(crate) async fn apply_processes(
    State(api): State<Api>,
    caller: Caller,
    Document(asked): Document<Processes>,
) -> Result<Json<List<AppliedFlow>>, Problem> {
    caller.must(Action::write(Area::Flows))?;
    let mut pairs = Vec::new();
    for process in asked.processes {
        let definition: FlowDefinition = serde_json::from_value(process.definition)
            .map_err(|error| Problem::invalid("invalid_document", error.to_string()))?;
        pairs.push((definition, process.plan));
    }
    let store = caller.store(&api);
    let applied = wedflow_worker::definition::apply_processes(&store, &caller.tenant, &pairs).await?;
    let applied = pairs.into_iter().zip(applied);
    let applied = applied.map(|((definition, _), applied)| AppliedFlow { flow: definition.name, applied });
    Ok(Json(List::whole(applied.collect())))
}

/// The plan of work of a flow that is a process
#[utoipa::path(get, path = "/v1/flows/{flow}/plan", tag = "flows", params(FlowPath),
    responses((status = 200, body = WorkPlan), (status = 404, body = Problem)))]
pub(crate) async fn plan(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
) -> Result<Json<WorkPlan>, Problem> {
    let flow = caller.flow(&api, Action::read(Area::Flows), &name).await?;
    let plan = api.store.work_plan(&flow).await?;
    Ok(Json(WorkPlan { plan }))
}

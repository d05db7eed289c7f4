//! A flow's definitions: what applying one would do, history, difference, roll back, re-match.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use wedflow_model::Wid;
use wedflow_store::{self as store, FlowVersion};
use wedflow_tenancy::{Action, Area};

use crate::access::Caller;
use crate::body::OptionalDocument;
use crate::documents::{Applied, List, Status};
use crate::path::{Asked, Named};
use crate::problem::Problem;
use crate::routes::flows;
use crate::state::Api;

/// Definitions that are looked through.
const VERSIONS_MAX: i64 = 100;

/// Transitions that a live instance would fire, or fired.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Rematched {
    #[schema(value_type = i32)]
    wid: Wid,
    /// The transitions that are fired.
    fires: Vec<String>,
    becomes: Status,
}

/// Effect that applying a definition would have.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Preview {
    would_apply: Applied,
    /// Number of live instances that a re-match would then touch.
    matching: usize,
    /// These instances.
    instances: Vec<Rematched>,
}

/// Effect of rolling back: what it would do, or what it did.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RolledBack {
    /// True: the version was applied. False: a preview, nothing was changed.
    applied: bool,
    /// The version that the flow goes back to.
    version: i32,
    /// Changes of the definition.
    changes: Applied,
    /// Number of live instances that a re-match touches afterwards.
    matching: usize,
    /// These instances.
    instances: Vec<Rematched>,
}

/// Effect of the present model on live instances.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RematchResult {
    /// True: the transitions were fired. False: a preview, nothing was changed.
    applied: bool,
    /// Number of instances that fire something, or whose status changes.
    matching: usize,
    /// These instances.
    instances: Vec<Rematched>,
}

/// A definition that a flow had.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Version {
    /// The flow's version after it was applied.
    version: i32,
    applied_at: String,
    /// Actor who applied it.
    actor: String,
    #[schema(value_type = Object)]
    definition: serde_json::Value,
}

/// Versions to compare.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Between {
    /// The older version; the one before the newest when absent.
    old: Option<i32>,
    /// The newer version; the newest when absent.
    new: Option<i32>,
}

/// Differences of two versions.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Difference {
    old: i32,
    new: i32,
    /// Lines of TOML that only one of them has, with `-` or `+` and the attribute, trigger or transition in front.
    lines: Vec<String>,
}

/// Version to go back to.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RollBack {
    /// The version; the one before the newest when absent.
    version: Option<i32>,
    /// Do it; otherwise it is shown only.
    #[serde(default)]
    apply: bool,
}

/// Choice between a preview and firing by the present model.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rematch {
    /// Do it; otherwise it is shown only.
    #[serde(default)]
    apply: bool,
}

fn rematched(rows: Vec<store::Rematched>) -> Vec<Rematched> {
    rows.into_iter()
        .map(|one| Rematched {
            wid: one.wid,
            fires: one.fires,
            becomes: Status::of(&one.becomes),
        })
        .collect()
}

/// Says what applying a definition would do, and which live instances would then fire what; changes nothing
#[utoipa::path(post, path = "/v1/flows/{flow}/preview", tag = "flows", params(("flow" = String, Path,
    description = "The flow's name")),
    request_body(content(
        (crate::definition::Definition = "application/json"),
        (String = "application/toml"),
    ), description = "See docs/reference/flow-toml.md; `name` is that of the path"),
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
    if apply {
        caller.must(Action::write(Area::Flows))
    } else {
        must_preview(caller)
    }
}

async fn previewed(
    api: &Api,
    caller: &Caller,
    definition: &wedflow_model::FlowDefinition,
) -> Result<Preview, Problem> {
    let (applied, rows) =
        wedflow_worker::definition::preview(&caller.store(api), &caller.tenant, definition).await?;
    Ok(Preview {
        would_apply: applied.into(),
        matching: rows.len(),
        instances: rematched(rows),
    })
}

/// Definitions that a flow had, newest first
#[utoipa::path(get, path = "/v1/flows/{flow}/versions", tag = "flows", params(("flow" = String, Path,
    description = "The flow's name")),
    responses((status = 200, body = List<Version>), (status = 404, body = Problem)))]
pub(crate) async fn versions(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
) -> Result<Json<List<Version>>, Problem> {
    caller.must(Action::read(Area::Flows))?;
    let flow = api.store.flow(&caller.tenant, &name).await?;
    let versions = api.store.flow_versions(flow.flow_id, VERSIONS_MAX).await?;
    let versions = versions.into_iter().map(|version| Version {
        version: version.version,
        applied_at: version.applied_at,
        actor: version.actor,
        definition: version.definition,
    });
    Ok(Json(List::whole(versions.collect())))
}

fn pick(
    versions: &[FlowVersion],
    wanted: Option<i32>,
    otherwise: usize,
) -> Result<&FlowVersion, Problem> {
    let found = match wanted {
        Some(number) => versions.iter().find(|version| version.version == number),
        None => versions.get(otherwise),
    };
    found.ok_or_else(|| {
        let number = wanted.map_or_else(|| "before the newest".to_owned(), |n| n.to_string());
        Problem::missing("version", &number).hint("GET /v1/flows/{flow}/versions lists them.")
    })
}

fn text_of(version: &FlowVersion) -> Result<String, Problem> {
    toml::to_string(&version.read()?).map_err(|_| Problem::internal())
}

/// Compares two definitions of a flow
#[utoipa::path(get, path = "/v1/flows/{flow}/diff", tag = "flows",
    params(("flow" = String, Path, description = "The flow's name"), Between),
    responses((status = 200, body = Difference), (status = 404, body = Problem)))]
pub(crate) async fn diff(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    Asked(between): Asked<Between>,
) -> Result<Json<Difference>, Problem> {
    caller.must(Action::read(Area::Flows))?;
    let flow = api.store.flow(&caller.tenant, &name).await?;
    let versions = api.store.flow_versions(flow.flow_id, VERSIONS_MAX).await?;
    let (old, new) = (
        pick(&versions, between.old, 1)?,
        pick(&versions, between.new, 0)?,
    );
    Ok(Json(Difference {
        old: old.version,
        new: new.version,
        lines: wedflow_worker::definition::differing(&text_of(old)?, &text_of(new)?),
    }))
}

/// Says what applying an earlier definition of a flow again would do; with `apply` it is applied
#[utoipa::path(post, path = "/v1/flows/{flow}/rollback", tag = "flows", params(("flow" = String, Path,
    description = "The flow's name")),
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
    let store = caller.store(&api);
    let rolled_back = store
        .roll_back(flow.flow_id, asked.version, !asked.apply)
        .await?;
    Ok(Json(RolledBack {
        applied: asked.apply,
        version: rolled_back.version,
        changes: rolled_back.applied.into(),
        matching: rolled_back.instances.len(),
        instances: rematched(rolled_back.instances),
    }))
}

/// Lists what the present model would fire for live instances; with `apply` it is fired
#[utoipa::path(post, path = "/v1/flows/{flow}/rematch", tag = "flows", params(("flow" = String, Path,
    description = "The flow's name")),
    request_body = Option<Rematch>, responses((status = 200, body = RematchResult), (status = 404, body = Problem)))]
pub(crate) async fn rematch(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    OptionalDocument(asked): OptionalDocument<Rematch>,
) -> Result<Json<RematchResult>, Problem> {
    must(&caller, asked.apply)?;
    let flow = api.store.flow(&caller.tenant, &name).await?;
    let rows = caller
        .store(&api)
        .rematch(flow.flow_id, !asked.apply)
        .await?;
    Ok(Json(RematchResult {
        applied: asked.apply,
        matching: rows.len(),
        instances: rematched(rows),
    }))
}

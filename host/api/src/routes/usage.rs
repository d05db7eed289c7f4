//! A tenant's quotas and use.

use axum::Json;
use axum::extract::State;
use wedflow_tenancy::{Action, Area};

use crate::access::Caller;
use crate::documents::{Host, List, Usage};
use crate::problem::Problem;
use crate::state::Api;

/// The tenant's limits, and what it uses of them
#[utoipa::path(get, path = "/v1/usage", tag = "settings",
    responses((status = 200, body = List<Usage>), (status = 403, body = Problem)))]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
) -> Result<Json<List<Usage>>, Problem> {
    caller.must(Action::read(Area::Usage))?;
    let quotas = api.store.quotas(&caller.tenant).await?;
    Ok(Json(List::whole(
        quotas.into_iter().map(Into::into).collect(),
    )))
}

/// The hosts, with the tenant's jobs that each has in flight
#[utoipa::path(get, path = "/v1/hosts", tag = "settings", operation_id = "tenant_hosts",
    responses((status = 200, body = List<Host>), (status = 403, body = Problem)))]
pub(crate) async fn hosts(
    State(api): State<Api>,
    caller: Caller,
) -> Result<Json<List<Host>>, Problem> {
    caller.must(Action::read(Area::Usage))?;
    Ok(Json(List::whole(
        api.store.tenant_hosts(&caller.tenant).await?,
    )))
}

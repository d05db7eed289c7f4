//! Settings of a tenant that its admins may change.

use axum::Json;
use axum::extract::State;
use wedflow_tenancy::{Action, Area};

use crate::access::Caller;
use crate::body::Document;
use crate::documents::{NewSettings, Settings};
use crate::problem::Problem;
use crate::state::Api;

/// The tenant's settings
#[utoipa::path(get, path = "/v1/settings", tag = "settings",
    responses((status = 200, body = Settings), (status = 403, body = Problem)))]
pub(crate) async fn get(State(api): State<Api>, caller: Caller) -> Result<Json<Settings>, Problem> {
    caller.must(Action::read(Area::Settings))?;
    settings(&api, &caller).await
}

/// Changes the tenant's settings
#[utoipa::path(patch, path = "/v1/settings", tag = "settings", request_body = NewSettings,
    responses((status = 200, body = Settings), (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn change(
    State(api): State<Api>,
    caller: Caller,
    Document(new): Document<NewSettings>,
) -> Result<Json<Settings>, Problem> {
    caller.must(Action::write(Area::Settings))?;
    caller.store(&api).set_tenant(&caller.tenant, &new).await?;
    settings(&api, &caller).await
}

async fn settings(api: &Api, caller: &Caller) -> Result<Json<Settings>, Problem> {
    let tenant = api.store.tenant(&caller.tenant).await?;
    Ok(Json(Settings { tenant: tenant.name, description: tenant.description, token_days: tenant.token_days }))
}

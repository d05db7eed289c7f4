//! The caller's own identity.

use axum::Json;
use axum::extract::State;
use wedflow_tenancy::{Action, Area};

use super::work::person;
use crate::access::Caller;
use crate::documents::Me;
use crate::problem::Problem;
use crate::state::Api;

/// Tells who the caller is and what it may do
#[utoipa::path(get, path = "/v1/me", tag = "tokens",
    responses((status = 200, body = Me), (status = 401, body = Problem)))]
pub(crate) async fn me(State(api): State<Api>, caller: Caller) -> Result<Json<Me>, Problem> {
    let may = Area::ALL
        .iter()
        .copied()
        .flat_map(|area| [Action::read(area), Action::write(area)])
        .filter(|action| caller.may(*action))
        .map(|action| action.to_string())
        .collect();
    Ok(Json(Me {
        person: api.store.is_person(person(&caller)).await?,
        tenant: caller.tenant.clone(),
        user: caller.user.clone(),
        role: caller.role.to_string(),
        token: caller.token.clone(),
        scopes: caller.scopes.iter().map(ToString::to_string).collect(),
        may,
        flows: caller.flows.clone(),
    }))
}

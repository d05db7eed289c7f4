//! The installation: tenants, their limits, hosts, status, retention. For tokens of operators.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};
use wedflow_store::{self as store, PauseScope};
use wedflow_tenancy::{Role, Scope, TokenError, TokenRequest, issue};

use crate::access::Operator;
use crate::body::{Document, OptionalDocument};
use crate::documents::{List, MadeTenant, NewSettings, NewTenant, Page, Paused, Reason, Tenant, TenantChange, Usage};
use crate::page;
use crate::path::{Asked, Named};
use crate::problem::{Problem, no_directory};
use crate::state::Api;

/// Life of the token of a new tenant's admin, in days.
const ADMIN_DAYS: i32 = 90;

/// The state of the installation
#[utoipa::path(get, path = "/v1/installation", tag = "installation", operation_id = "status",
    responses((status = 200, body = Value)))]
pub(crate) async fn status(State(api): State<Api>, _: Operator) -> Result<Json<Value>, Problem> {
    let mut status = api.store.for_status().installation().await?;
    status["version"] = env!("CARGO_PKG_VERSION").into();
    Ok(Json(status))
}

/// The hosts
#[utoipa::path(get, path = "/v1/installation/hosts", tag = "installation", operation_id = "hosts",
    responses((status = 200, body = List<Value>)))]
pub(crate) async fn hosts(State(api): State<Api>, _: Operator) -> Result<Json<List<Value>>, Problem> {
    let mut status = api.store.installation().await?;
    let hosts = status["hosts"].take();
    Ok(Json(List::whole(hosts.as_array().cloned().unwrap_or_default())))
}

/// The tenants
#[utoipa::path(get, path = "/v1/installation/tenants", tag = "installation", operation_id = "tenants",
    params(Page), responses((status = 200, body = List<Tenant>)))]
pub(crate) async fn tenants(
    State(api): State<Api>,
    _: Operator,
    Asked(asked): Asked<Page>,
) -> Result<Json<List<Tenant>>, Problem> {
    let tenants = api.store.tenants().await?;
    page::cut(&asked, tenants, |tenant: &Tenant| tenant.name.clone()).map(Json)
}

/// Makes a tenant, with an admin and a token for that one where asked for
#[utoipa::path(post, path = "/v1/installation/tenants", tag = "installation", operation_id = "create_tenant",
    request_body = NewTenant,
    responses((status = 201, body = MadeTenant), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn create(
    State(api): State<Api>,
    operator: Operator,
    Document(new): Document<NewTenant>,
) -> Result<(StatusCode, Json<MadeTenant>), Problem> {
    operator.must_write()?;
    if new.cluster.is_some() {
        return Err(no_directory());
    }
    let store = operator.store(&api);
    store.create_tenant(&new.name, &new.description).await?;
    let admin_token = match &new.admin {
        None => None,
        Some(admin) => match make_admin(&store, &new.name, admin).await {
            Ok(token) => Some(token),
            Err(problem) => {
                // All of it or nothing: the name is free for the next try.
                store.drop_tenant(&new.name).await?;
                return Err(problem);
            }
        },
    };
    let tenant = api.store.tenant(&new.name).await?;
    let made = MadeTenant { tenant, admin_token };
    Ok((StatusCode::CREATED, Json(made)))
}

/// Makes a tenant's admin; returns a token of that user.
async fn make_admin(store: &store::Store, tenant: &str, admin: &str) -> Result<String, Problem> {
    store.create_user(tenant, admin, Role::Admin.name()).await?;
    let request =
        TokenRequest { tenant, user: admin, name: "first", scopes: &[Scope::ALL], flows: &[], days: ADMIN_DAYS };
    match issue(store, None, &request).await {
        Ok(issued) => Ok(issued.secret.reveal().to_owned()),
        Err(TokenError::Store(error)) => Err(error.into()),
        Err(_) => Err(Problem::internal()),
    }
}

/// A tenant
#[utoipa::path(get, path = "/v1/installation/tenants/{tenant}", tag = "installation", operation_id = "tenant",
    params(("tenant" = String, Path, description = "The tenant's name")),
    responses((status = 200, body = Tenant), (status = 404, body = Problem)))]
pub(crate) async fn tenant(
    State(api): State<Api>,
    _: Operator,
    Named(name): Named<String>,
) -> Result<Json<Tenant>, Problem> {
    Ok(Json(api.store.tenant(&name).await?))
}

/// Changes a tenant: description, life of tokens; suspends or resumes it
#[utoipa::path(patch, path = "/v1/installation/tenants/{tenant}", tag = "installation",
    operation_id = "change_tenant", params(("tenant" = String, Path, description = "The tenant's name")),
    request_body = TenantChange,
    responses((status = 200, body = Tenant), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn change(
    State(api): State<Api>,
    operator: Operator,
    Named(name): Named<String>,
    Document(change): Document<TenantChange>,
) -> Result<Json<Tenant>, Problem> {
    operator.must_write()?;
    let store = operator.store(&api);
    if change.description.is_some() || change.token_days.is_some() {
        let settings = NewSettings { description: change.description, token_days: change.token_days };
        store.set_tenant(&name, &settings).await?;
    }
    if let Some(suspended) = change.suspended {
        store.suspend_tenant(&name, suspended).await?;
    }
    Ok(Json(api.store.tenant(&name).await?))
}

/// Removes a tenant with everything of it
#[utoipa::path(delete, path = "/v1/installation/tenants/{tenant}", tag = "installation",
    operation_id = "delete_tenant", params(("tenant" = String, Path, description = "The tenant's name")),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn delete(
    State(api): State<Api>,
    operator: Operator,
    Named(name): Named<String>,
) -> Result<StatusCode, Problem> {
    operator.must_write()?;
    operator.store(&api).drop_tenant(&name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Pauses a tenant: nobody claims its jobs
#[utoipa::path(post, path = "/v1/installation/tenants/{tenant}/pause", tag = "installation",
    operation_id = "pause_a_tenant", params(("tenant" = String, Path, description = "The tenant's name")),
    request_body = Option<Reason>,
    responses((status = 200, body = Paused), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn pause(
    State(api): State<Api>,
    operator: Operator,
    Named(name): Named<String>,
    OptionalDocument(asked): OptionalDocument<Reason>,
) -> Result<Json<Paused>, Problem> {
    set_pause(&api, &operator, &name, true, &asked.reason).await
}

/// Resumes a paused tenant
#[utoipa::path(post, path = "/v1/installation/tenants/{tenant}/resume", tag = "installation",
    operation_id = "resume_a_tenant", params(("tenant" = String, Path, description = "The tenant's name")),
    request_body = Option<Reason>, responses((status = 200, body = Paused), (status = 404, body = Problem)))]
pub(crate) async fn resume(
    State(api): State<Api>,
    operator: Operator,
    Named(name): Named<String>,
    OptionalDocument(asked): OptionalDocument<Reason>,
) -> Result<Json<Paused>, Problem> {
    set_pause(&api, &operator, &name, false, &asked.reason).await
}

async fn set_pause(
    api: &Api,
    operator: &Operator,
    tenant: &str,
    paused: bool,
    reason: &str,
) -> Result<Json<Paused>, Problem> {
    operator.must_write()?;
    let scope = PauseScope::Tenant(tenant);
    let changed = operator.store(api).set_pause(scope, paused, reason).await?;
    Ok(Json(Paused { paused, changed }))
}

/// A tenant's limits, and what it uses of them
#[utoipa::path(get, path = "/v1/installation/tenants/{tenant}/quotas", tag = "installation",
    operation_id = "quotas", params(("tenant" = String, Path, description = "The tenant's name")),
    responses((status = 200, body = List<Usage>), (status = 404, body = Problem)))]
pub(crate) async fn quotas(
    State(api): State<Api>,
    _: Operator,
    Named(name): Named<String>,
) -> Result<Json<List<Usage>>, Problem> {
    Ok(Json(List::whole(api.store.quotas(&name).await?)))
}

/// Sets limits of a tenant by their names; null takes a limit away
#[utoipa::path(patch, path = "/v1/installation/tenants/{tenant}/quotas", tag = "installation",
    operation_id = "set_quotas", params(("tenant" = String, Path, description = "The tenant's name")),
    request_body(content = Object),
    responses((status = 200, body = List<Usage>), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn set_quotas(
    State(api): State<Api>,
    operator: Operator,
    Named(name): Named<String>,
    Document(change): Document<BTreeMap<String, Option<i64>>>,
) -> Result<Json<List<Usage>>, Problem> {
    operator.must_write()?;
    operator.store(&api).set_quotas(&name, &change).await?;
    Ok(Json(List::whole(api.store.quotas(&name).await?)))
}

/// Retention times: intervals in Postgres's notation; null: for ever
#[utoipa::path(get, path = "/v1/installation/retention", tag = "installation", operation_id = "retention",
    responses((status = 200, body = Value)))]
pub(crate) async fn retention(State(api): State<Api>, _: Operator) -> Result<Json<Value>, Problem> {
    Ok(Json(json!(api.store.retention().await?)))
}

/// Sets how long things of some kinds are kept; null: for ever
#[utoipa::path(patch, path = "/v1/installation/retention", tag = "installation", operation_id = "set_retention",
    request_body(content = Object),
    responses((status = 200, body = Value), (status = 422, body = Problem)))]
pub(crate) async fn set_retention(
    State(api): State<Api>,
    operator: Operator,
    Document(wanted): Document<BTreeMap<String, Option<String>>>,
) -> Result<Json<Value>, Problem> {
    operator.must_write()?;
    let wanted: Vec<_> = (wanted.iter()).map(|(kind, keep)| (kind.as_str(), keep.as_deref())).collect();
    operator.store(&api).set_retention(&wanted).await?;
    Ok(Json(json!(api.store.retention().await?)))
}

//! Users and their roles.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use wedflow_tenancy::{Action, Area, Role};

use crate::access::Caller;
use crate::body::Document;
use crate::documents::{List, NewRole, NewUser, Page, User};
use crate::page;
use crate::path::{Asked, Named};
use crate::problem::Problem;
use crate::state::Api;

/// The users
#[utoipa::path(get, path = "/v1/users", tag = "users",
    params(Page), responses((status = 200, body = List<User>), (status = 403, body = Problem)))]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    Asked(asked): Asked<Page>,
) -> Result<Json<List<User>>, Problem> {
    caller.must(Action::read(Area::Users))?;
    let users = api.store.users(&caller.tenant, None).await?;
    page::cut(&asked, users, |user: &User| user.name.clone()).map(Json)
}

/// Makes a user
#[utoipa::path(post, path = "/v1/users", tag = "users", request_body = NewUser,
    responses((status = 201, body = User), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn create(
    State(api): State<Api>,
    caller: Caller,
    Document(new): Document<NewUser>,
) -> Result<(StatusCode, Json<User>), Problem> {
    caller.must(Action::write(Area::Users))?;
    let role = role(&new.role)?;
    caller.store(&api).create_user(&caller.tenant, &new.name, role.name()).await?;
    let user = api.store.user(&caller.tenant, &new.name).await?;
    Ok((StatusCode::CREATED, Json(user)))
}

/// A user
#[utoipa::path(get, path = "/v1/users/{user}", tag = "users", params(("user" = String, Path,
    description = "The user's name")),
    responses((status = 200, body = User), (status = 404, body = Problem)))]
pub(crate) async fn get(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
) -> Result<Json<User>, Problem> {
    caller.must(Action::read(Area::Users))?;
    Ok(Json(api.store.user(&caller.tenant, &name).await?))
}

/// Gives a user another role
#[utoipa::path(patch, path = "/v1/users/{user}", tag = "users", params(("user" = String, Path,
    description = "The user's name")),
    request_body = NewRole, responses((status = 200, body = User), (status = 404, body = Problem)))]
pub(crate) async fn change(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    Document(new): Document<NewRole>,
) -> Result<Json<User>, Problem> {
    caller.must(Action::write(Area::Users))?;
    let role = role(&new.role)?;
    caller.store(&api).set_role(&caller.tenant, &name, role.name()).await?;
    Ok(Json(api.store.user(&caller.tenant, &name).await?))
}

/// Removes a user with the user's tokens
#[utoipa::path(delete, path = "/v1/users/{user}", tag = "users", params(("user" = String, Path,
    description = "The user's name")),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn delete(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
) -> Result<StatusCode, Problem> {
    caller.must(Action::write(Area::Users))?;
    caller.store(&api).drop_user(&caller.tenant, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn role(text: &str) -> Result<Role, Problem> {
    text.parse().map_err(|message: String| {
        Problem::invalid("invalid_document", message).hint("Choose one of them.").at("role".to_owned())
    })
}

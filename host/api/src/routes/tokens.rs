//! Tokens: one's own, or, for admins, everybody's.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use wedflow_tenancy::{Action, Area, Issued, Scope, ScopeError, TokenError, TokenRequest, issue, rotate as replace};

use crate::access::Caller;
use crate::body::{Document, OptionalDocument};
use crate::documents::{IssuedToken, List, NewToken, Page, Rotation, Token};
use crate::page;
use crate::path::{Asked, Named};
use crate::problem::Problem;
use crate::state::Api;

/// Life of a token in days when the request names none.
const USUAL_DAYS: i32 = 90;
/// Most scopes of a token.
const SCOPES_MAX: usize = 30;
/// The longest time that two tokens of a name are live, in hours.
const MOST_OVERLAP: u32 = 24 * 30;

/// Returns the user whose tokens the caller may see; none when it may see everybody's.
fn whose(caller: &Caller, action: fn(Area) -> Action) -> Result<Option<&str>, Problem> {
    if caller.may(action(Area::AllTokens)) {
        return Ok(None);
    }
    caller.must(action(Area::Tokens))?;
    Ok(Some(&caller.user))
}

/// A token that the caller may deal with. Somebody else's is as good as missing.
async fn find(api: &Api, caller: &Caller, action: fn(Area) -> Action, id: &str) -> Result<Token, Problem> {
    let whose = whose(caller, action)?;
    let token = api.store.token(&caller.tenant, id).await?;
    match whose {
        Some(user) if token.user != user => Err(Problem::missing("token", id)),
        _ => Ok(token),
    }
}

/// The tokens: one's own; for admins everybody's
#[utoipa::path(get, path = "/v1/tokens", tag = "tokens",
    params(Page), responses((status = 200, body = List<Token>), (status = 403, body = Problem)))]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    Asked(asked): Asked<Page>,
) -> Result<Json<List<Token>>, Problem> {
    let whose = whose(&caller, Action::read)?;
    let tokens = api.store.tokens(&caller.tenant, whose).await?;
    page::cut(&asked, tokens, Token::place).map(Json)
}

/// A token, without its secret
#[utoipa::path(get, path = "/v1/tokens/{token}", tag = "tokens", params(("token" = String, Path,
    description = "The token's id")),
    responses((status = 200, body = Token), (status = 404, body = Problem)))]
pub(crate) async fn get(
    State(api): State<Api>,
    caller: Caller,
    Named(id): Named<String>,
) -> Result<Json<Token>, Problem> {
    Ok(Json(find(&api, &caller, Action::read, &id).await?))
}

/// Makes a token. Its secret is in this answer and nowhere else
#[utoipa::path(post, path = "/v1/tokens", tag = "tokens", request_body = NewToken,
    responses((status = 201, body = IssuedToken), (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn create(
    State(api): State<Api>,
    caller: Caller,
    Document(new): Document<NewToken>,
) -> Result<(StatusCode, Json<IssuedToken>), Problem> {
    caller.must(Action::write(Area::Tokens))?;
    let user = match &new.user {
        Some(user) if *user != caller.user => {
            caller.must(Action::write(Area::AllTokens))?;
            user
        }
        _ => &caller.user,
    };
    if new.flows.len() > SCOPES_MAX {
        return Err(Problem::invalid("invalid_document", format!("there are more than {SCOPES_MAX} flows"))
            .hint("Make a token for each group of flows.")
            .at("flows".to_owned()));
    }
    if new.scopes.len() > SCOPES_MAX {
        return Err(Problem::invalid("invalid_document", format!("there are more than {SCOPES_MAX} scopes"))
            .hint(ScopeError::hint())
            .at("scopes".to_owned()));
    }
    let scopes: Vec<Scope> =
        new.scopes.iter().map(|scope| scope.parse()).collect::<Result<_, ScopeError>>().map_err(|error| {
            Problem::invalid("invalid_document", error.to_string()).hint(ScopeError::hint()).at("scopes".to_owned())
        })?;
    let request = TokenRequest {
        tenant: &caller.tenant,
        user,
        name: &new.name,
        scopes: &scopes,
        flows: &new.flows,
        days: new.days.unwrap_or(USUAL_DAYS),
    };
    let issued = issue(&caller.store(&api), Some(&caller), &request).await.map_err(refused)?;
    Ok((StatusCode::CREATED, Json(told(issued))))
}

/// Replaces a token: the answer has the new one; the old one stays valid for a while, so that whoever uses it
/// can change over
#[utoipa::path(post, path = "/v1/tokens/{token}/rotate", tag = "tokens", params(("token" = String, Path,
    description = "The token's id")),
    request_body = Option<Rotation>,
    responses((status = 201, body = IssuedToken), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn rotate(
    State(api): State<Api>,
    caller: Caller,
    Named(id): Named<String>,
    OptionalDocument(rotation): OptionalDocument<Rotation>,
) -> Result<(StatusCode, Json<IssuedToken>), Problem> {
    find(&api, &caller, Action::write, &id).await?;
    let hours = rotation.overlap_hours.unwrap_or(24);
    if hours > MOST_OVERLAP {
        return Err(Problem::invalid("invalid_document", format!("overlap_hours is more than {MOST_OVERLAP}"))
            .hint("Give fewer hours.")
            .at("overlap_hours".to_owned()));
    }
    let issued = replace(
        &caller.store(&api),
        Some(&caller),
        &caller.tenant,
        &id,
        rotation.days,
        Some(&format!("{hours} hours")),
    )
    .await
    .map_err(refused)?;
    Ok((StatusCode::CREATED, Json(told(issued))))
}

/// Ends a token at once
#[utoipa::path(delete, path = "/v1/tokens/{token}", tag = "tokens", params(("token" = String, Path,
    description = "The token's id")),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn revoke(
    State(api): State<Api>,
    caller: Caller,
    Named(id): Named<String>,
) -> Result<StatusCode, Problem> {
    let token = find(&api, &caller, Action::write, &id).await?;
    let scopes: Vec<Scope> = (token.scopes.iter()).filter_map(|scope| scope.parse().ok()).collect();
    if !caller.may(Action::write(Area::AllTokens)) && !caller.covers(&scopes) {
        return Err(refused(TokenError::TooMuch));
    }
    caller.store(&api).revoke_token(&caller.tenant, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn told(issued: Issued) -> IssuedToken {
    IssuedToken { secret: issued.secret.reveal().to_owned(), token: issued.token }
}

fn refused(error: TokenError) -> Problem {
    match error {
        TokenError::Store(error) => error.into(),
        TokenError::TooMuch => Problem::new(StatusCode::FORBIDDEN, "not_permitted", TokenError::TooMuch.to_string())
            .hint("Ask for scopes that this token has itself; GET /v1/me lists them."),
        TokenError::NoScope => Problem::invalid("invalid_document", TokenError::NoScope.to_string())
            .hint(ScopeError::hint())
            .at("scopes".to_owned()),
    }
}

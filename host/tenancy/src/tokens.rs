//! Making and replacing tokens.

use std::collections::BTreeSet;

use wedflow_documents::Token;
use wedflow_store::{NewToken, Store, StoreError};

use crate::{Identity, Scope, Secret};

/// Default time for which the old one of two tokens stays valid, in Postgres's notation.
pub(crate) const OVERLAP: &str = "24 hours";

/// A token that is asked for.
#[derive(Debug, Clone)]
pub struct TokenRequest<'a> {
    /// The tenant's name.
    pub tenant: &'a str,
    /// The user who gets it.
    pub user: &'a str,
    /// The user's name for it.
    pub name: &'a str,
    /// The scopes.
    pub scopes: &'a [Scope],
    /// Flows that it is for; empty: everything that its scopes allow.
    pub flows: &'a [String],
    /// The lifetime in days.
    pub days: i32,
}

/// A token that was made. The secret is nowhere else.
#[derive(Debug, Clone)]
pub struct Issued {
    /// The token itself, to be shown once.
    pub secret: Secret,
    /// The stored row.
    pub token: Token,
}

/// Why a token is not made.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// A token cannot be made by one that may do less.
    #[error("a token cannot make another one that may do more than itself")]
    TooMuch,
    /// The token would have no scope.
    #[error("a token needs a scope")]
    NoScope,
    /// The database refused it, or did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Makes a token; `by` whom, or by the operator.
///
/// # Errors
/// [`TokenError`].
pub async fn issue(store: &Store, by: Option<&Identity>, request: &TokenRequest<'_>) -> Result<Issued, TokenError> {
    if request.scopes.is_empty() {
        return Err(TokenError::NoScope);
    }
    let scopes: BTreeSet<Scope> = request.scopes.iter().copied().collect();
    let scopes = Vec::from_iter(scopes);
    if by.is_some_and(|by| !by.covers(&scopes) || !by.covers_flows(request.flows)) {
        return Err(TokenError::TooMuch);
    }
    let secret = Secret::random();
    let scopes: Vec<String> = scopes.iter().map(Scope::to_string).collect();
    let new = NewToken {
        user: request.user,
        name: request.name,
        prefix: secret.prefix(),
        hash: &secret.hash(),
        scopes: &scopes,
        flows: request.flows,
        days: request.days,
    };
    let token = store.create_token(request.tenant, &new).await?;
    Ok(Issued { secret, token })
}

/// Replaces a live token by one with the same name and scopes, which lives for `days`, or as long as the old one was
/// to live; the old one goes
/// on for `overlap` (Postgres's notation, 24 hours by default), at most to its end.
///
/// # Errors
/// [`TokenError`].
pub async fn rotate(
    store: &Store,
    by: Option<&Identity>,
    tenant: &str,
    id: &str,
    days: Option<i32>,
    overlap: Option<&str>,
) -> Result<Issued, TokenError> {
    let old = store.token(tenant, id).await?;
    let scopes: Vec<Scope> = old.scopes.iter().filter_map(|scope| scope.parse().ok()).collect();
    if by.is_some_and(|by| !by.covers(&scopes) || !by.covers_flows(&old.flows)) {
        return Err(TokenError::TooMuch);
    }
    let days = match days {
        Some(days) => days,
        None => store.token_days(tenant, id).await?,
    };
    let secret = Secret::random();
    let new = NewToken {
        user: &old.user,
        name: &old.name,
        prefix: secret.prefix(),
        hash: &secret.hash(),
        scopes: &old.scopes,
        flows: &old.flows,
        days,
    };
    let token = store.rotate_token(tenant, id, &new, overlap.unwrap_or(OVERLAP)).await?;
    Ok(Issued { secret, token })
}

//! Names and numbers in addresses.

use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use wedflow_model::Wid;
use wedflow_store::Flow;

use crate::problem::Problem;
use crate::state::Api;

/// The variable parts of a path. What cannot be one names nothing, so the answer is that of a missing
/// thing.
pub(crate) struct Named<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Named<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        // The database keeps no such character.
        if parts.uri.path().contains("%00") {
            return Err(Problem::missing("thing", parts.uri.path()));
        }
        match Path::from_request_parts(parts, state).await {
            Ok(Path(value)) => Ok(Named(value)),
            Err(PathRejection::FailedToDeserializePathParams(_)) => Err(Problem::missing("thing", parts.uri.path())),
            Err(_) => Err(Problem::internal()),
        }
    }
}

/// Finds an instance by its number, or by `key:` and its business key: the one that is not final, else the last one.
pub(crate) async fn wid(api: &Api, flow: &Flow, text: &str) -> Result<Wid, Problem> {
    let found = match text.strip_prefix("key:") {
        Some(key) => api.store.instance_with_key(flow, key, false).await?,
        None => text.parse().ok().filter(|wid: &Wid| wid.get() > 0),
    };
    found.ok_or_else(|| Problem::missing("instance", text))
}

/// Query parameters of a request.
pub(crate) struct Asked<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(value)) => Ok(Asked(value)),
            Err(error) => {
                let said = error.body_text();
                let said = said.split_once("query string: ").map_or(said.as_str(), |(_, what)| what);
                Err(Problem::new(StatusCode::BAD_REQUEST, "invalid_query", said)
                    .hint("GET /openapi.json describes the parameters."))
            }
        }
    }
}

//! Health, readiness and version of the service.

use std::sync::LazyLock;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::problem::Problem;
use crate::state::Api;

/// The process lives
#[utoipa::path(get, path = "/health/live", tag = "health", security(()), responses((status = 200)))]
pub(crate) async fn live() -> Json<Value> {
    Json(json!({ "live": true }))
}

/// The database answers and takes writes
#[utoipa::path(get, path = "/health/ready", tag = "health", security(()),
    responses((status = 200), (status = 503, body = Problem)))]
pub(crate) async fn ready(State(api): State<Api>) -> Result<Json<Value>, Problem> {
    let asked = tokio::time::timeout(std::time::Duration::from_secs(2), api.health.ping()).await;
    match asked {
        Ok(Ok(())) => Ok(Json(json!({ "ready": true, "writes": true }))),
        Ok(Err(error)) if error.code() == Some("25006") => Err(Problem::read_only()),
        _ => Err(Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "database",
            "the database does not answer",
        )
        .hint("Try again in a moment.")),
    }
}

/// This description
#[utoipa::path(get, path = "/openapi.json", tag = "health", security(()), responses((status = 200)))]
pub(crate) async fn openapi() -> Json<&'static Value> {
    // Anybody may ask, so it is made once.
    static DESCRIPTION: LazyLock<Value> = LazyLock::new(super::description);
    Json(&DESCRIPTION)
}

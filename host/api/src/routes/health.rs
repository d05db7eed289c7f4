//! Health, readiness and version of the service.

use std::sync::LazyLock;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::connections::ClientAddress;
use crate::problem::Problem;
use crate::state::Api;

/// Descriptions that an address may ask for in a second.
const DESCRIPTIONS_PER_SECOND: u32 = 10;

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
        _ => Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "database", "the database does not answer")
            .hint("Try again in a moment.")),
    }
}

/// The description's bytes and their tag, made once: anybody may ask for them.
static DESCRIPTION: LazyLock<(Bytes, HeaderValue)> = LazyLock::new(|| {
    let bytes = super::description().to_string().into_bytes();
    let digest = HEXLOWER.encode(&Sha256::digest(&bytes)[..16]);
    let tag = HeaderValue::from_str(&format!("\"{digest}\""));
    (Bytes::from(bytes), tag.unwrap_or(HeaderValue::from_static("\"0\"")))
});

/// This description, with an `ETag`
#[utoipa::path(get, path = "/openapi.json", tag = "health", security(()),
    params(("If-None-Match" = Option<String>, Header, description = "The ETag of the answer that the client has")),
    responses((status = 200), (status = 304, description = "The client has it already")))]
pub(crate) async fn openapi(
    State(api): State<Api>,
    client: Option<Extension<ClientAddress>>,
    headers: HeaderMap,
) -> Response {
    let (bytes, tag) = &*DESCRIPTION;
    let told = [(header::ETAG, tag.clone())];
    if headers.get(header::IF_NONE_MATCH) == Some(tag) {
        return (StatusCode::NOT_MODIFIED, told).into_response();
    }
    if let Some(Extension(ClientAddress(address))) = client
        && let Some(refusal) = (api.rates.count_address(address, DESCRIPTIONS_PER_SECOND)).refusal()
    {
        return refusal;
    }
    let json = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    (told, [json], bytes.clone()).into_response()
}

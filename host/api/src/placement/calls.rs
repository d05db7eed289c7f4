//! The API of a cluster, called in this process.

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tower::ServiceExt;

use super::places::{Places, ServedCluster, cluster_down};
use super::resend::Again;
use crate::access::invalid_token;
use crate::problem::{Elsewhere, moving};

/// Answers what every cluster answers alike.
pub(super) async fn anywhere(places: &Places, request: Request) -> Response {
    let clusters = places.clusters();
    let up = clusters.iter().find(|cluster| cluster.is_up());
    match up.or(clusters.first()) {
        Some(cluster) => call(cluster, request).await,
        None => cluster_down("this server serves no cluster".to_owned()).into_response(),
    }
}

/// Calls the API of a cluster.
pub(super) async fn call(cluster: &ServedCluster, request: Request) -> Response {
    let Ok(response) = cluster.router.clone().oneshot(request).await;
    response
}

/// Answers at the cluster that a tenant is on. Where that one refuses a tenant that has left, the directory is asked
/// anew, and the request is sent once more at the new place.
pub(super) async fn at_place(places: &Places, tenant: &str, request: Request) -> Response {
    let answered = async {
        let place = (places.place(tenant).await?).ok_or_else(invalid_token)?;
        let (first, again) = Again::of(request);
        let response = call(places.serving(&place)?.as_ref(), first).await;
        if response.extensions().get::<Elsewhere>().is_none() {
            return Ok(response);
        }
        let now = (places.place_anew(tenant).await?).ok_or_else(invalid_token)?;
        let is_refused = response.status() == StatusCode::MISDIRECTED_REQUEST;
        match (now.cluster == place.cluster, again.request()) {
            // It has left; the directory records that in a moment.
            (true, _) if is_refused => Err(moving()),
            (true, _) => Ok(response),
            // Nothing was done: who asked may ask again.
            (false, None) => Err(moving()),
            (false, Some(request)) => Ok(call(places.serving(&now)?.as_ref(), request).await),
        }
    };
    answered.await.unwrap_or_else(IntoResponse::into_response)
}

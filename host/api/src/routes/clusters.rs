//! Clusters of the directory. For tokens of operators.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use wedflow_store::{ClusterRow, Directory, without_password};

use crate::access::Operator;
use crate::body::Document;
use crate::documents::{Cluster, ClusterAdded, ClusterChange, List, PutCluster};
use crate::path::Named;
use crate::problem::{Problem, no_directory};
use crate::state::Api;

fn directory(api: &Api) -> Result<&Directory, Problem> {
    api.directory.as_ref().ok_or_else(no_directory)
}

fn as_document(row: ClusterRow) -> Cluster {
    Cluster {
        url: without_password(&row.url),
        read_url: row.read_url.as_deref().map(without_password),
        name: row.name,
        state: row.state,
        tenants: row.tenants,
    }
}

/// The clusters, of a server with a directory
#[utoipa::path(get, path = "/v1/installation/clusters", tag = "installation", operation_id = "clusters",
    responses((status = 200, body = List<Cluster>), (status = 409, body = Problem)))]
pub(crate) async fn list(State(api): State<Api>, _: Operator) -> Result<Json<List<Cluster>>, Problem> {
    let clusters = directory(&api)?.clusters().await?;
    Ok(Json(List::whole(clusters.into_iter().map(as_document).collect())))
}

/// Adds a cluster with the tenants on it, or gives it another address of the same database, or of its replica. Servers
/// serve it within seconds
#[utoipa::path(put, path = "/v1/installation/clusters/{cluster}", tag = "installation", operation_id = "put_cluster",
    params(("cluster" = String, Path, description = "The cluster's name")), request_body = PutCluster,
    responses((status = 200, body = ClusterAdded), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn put(
    State(api): State<Api>,
    operator: Operator,
    Named(name): Named<String>,
    Document(asked): Document<PutCluster>,
) -> Result<Json<ClusterAdded>, Problem> {
    operator.must_write()?;
    let addresses = (asked.url.as_str(), asked.read_url.as_deref());
    let added = directory(&api)?.add_cluster(&name, addresses, asked.check);
    let added = added.await?;
    Ok(Json(ClusterAdded { name, taken: added.taken, skipped: added.skipped }))
}

/// Drains a cluster, or opens it: one that is draining takes no new tenants, and keeps those on it
#[utoipa::path(patch, path = "/v1/installation/clusters/{cluster}", tag = "installation",
    operation_id = "change_cluster", params(("cluster" = String, Path, description = "The cluster's name")),
    request_body = ClusterChange,
    responses((status = 200, body = Cluster), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn change(
    State(api): State<Api>,
    operator: Operator,
    Named(name): Named<String>,
    Document(change): Document<ClusterChange>,
) -> Result<Json<Cluster>, Problem> {
    operator.must_write()?;
    let changed = directory(&api)?.set_draining(&name, change.draining);
    Ok(Json(as_document(changed.await?)))
}

/// Takes a cluster without tenants out of the directory; its database stays
#[utoipa::path(delete, path = "/v1/installation/clusters/{cluster}", tag = "installation",
    operation_id = "delete_cluster", params(("cluster" = String, Path, description = "The cluster's name")),
    responses((status = 204), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn remove(
    State(api): State<Api>,
    operator: Operator,
    Named(name): Named<String>,
) -> Result<StatusCode, Problem> {
    operator.must_write()?;
    directory(&api)?.remove_cluster(&name).await?;
    Ok(StatusCode::NO_CONTENT)
}

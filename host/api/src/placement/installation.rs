//! Requests of operators over all clusters: lists of one cluster after the other, the state of all, and what is about
//! a tenant at the cluster that it is on.

use std::collections::HashSet;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, http::request::Parts};
use futures::future::join_all;
use serde_json::{Map, Value, json};
use url::form_urlencoded::{Serializer, byte_serialize, parse};
use wedflow_store::TenantPlace;

use super::calls::{anywhere, at_place, call};
use super::places::{Places, ServedCluster, cluster_down, directory_down};
use crate::access::{Operator, Vouched, secret_of};
use crate::body::json as read_json;
use crate::connections::ClientAddress;
use crate::documents::NewTenant;
use crate::page::{text_cursor, text_position};
use crate::problem::{Problem, too_long};

/// Path of requests of operators.
pub(super) const INSTALLATION: &str = "/v1/installation";
/// Most bytes of an answer of a cluster that is put together with others.
const ANSWER_BYTES_MAX: usize = 16 << 20;
/// Most bytes of a request that is looked into.
const REQUEST_BYTES_MAX: usize = 1 << 20;
/// Longest wait for such a request.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(20);
/// Header with the clusters that a list lacks.
const CLUSTERS_DOWN: &str = "wedflow-clusters-down";

/// Answers a request of an operator.
pub(super) async fn answer(places: &Places, mut request: Request) -> Result<Response, Problem> {
    let operator = match request.extensions().get::<Vouched>().cloned() {
        Some(Vouched(operator)) => operator,
        None => {
            let secret = secret_of(request.headers().get(header::AUTHORIZATION))?;
            let client = request.extensions().get::<ClientAddress>().copied();
            Operator::bearer(places.operator(&secret, client).await?)
        }
    };
    request.extensions_mut().insert(Vouched(operator.clone()));
    let path = request.uri().path().to_owned();
    let below: Vec<&str> = (path[INSTALLATION.len()..].split('/')).filter(|part| !part.is_empty()).collect();
    let method = request.method().clone();
    match (method.as_str(), &below[..]) {
        ("GET", []) => Ok(status(places, request).await),
        ("GET", ["tenants" | "hosts" | "receipts"]) => list(places, request).await,
        ("POST", ["tenants"]) => create(places, &operator, request).await,
        ("DELETE", ["tenants", tenant]) => delete(places, tenant, request).await,
        (_, ["tenants", tenant, ..]) => {
            known_place(places, tenant).await?;
            named(places, tenant, at_place(places, tenant, request).await).await
        }
        (_, ["retention"]) => everywhere(places, request).await,
        _ => Ok(anywhere(places, request).await),
    }
}

/// Returns the place of a tenant, which there is.
async fn known_place(places: &Places, tenant: &str) -> Result<TenantPlace, Problem> {
    let place = places.place(tenant).await?;
    place.ok_or_else(|| Problem::missing("tenant", tenant))
}

/// Names the cluster in an answer that is a tenant.
async fn named(places: &Places, tenant: &str, response: Response) -> Result<Response, Problem> {
    let place = known_place(places, tenant).await?;
    changed(response, |answer| {
        if answer.get("created_at").is_some() {
            answer["cluster"] = place.cluster.into();
        }
    })
    .await
}

/// Changes the document of an answer that is no refusal.
async fn changed(response: Response, change: impl FnOnce(&mut Value)) -> Result<Response, Problem> {
    if !response.status().is_success() || response.status() == StatusCode::NO_CONTENT {
        return Ok(response);
    }
    let (mut parts, body) = response.into_parts();
    let mut answer = document(body).await?;
    change(&mut answer);
    parts.headers.remove(header::CONTENT_LENGTH);
    Ok(Response::from_parts(parts, Body::from(answer.to_string())))
}

async fn document(body: Body) -> Result<Value, Problem> {
    let bytes = to_bytes(body, ANSWER_BYTES_MAX).await;
    let bytes = bytes.map_err(|_| Problem::internal())?;
    serde_json::from_slice(&bytes).map_err(|_| Problem::internal())
}

/// Asks a cluster the same with another query.
async fn ask(cluster: &ServedCluster, parts: &Parts, query: &str) -> Result<Response, Problem> {
    if !cluster.is_up() {
        let name = &cluster.name;
        return Err(cluster_down(format!("cluster \"{name}\" does not answer")));
    }
    let mut parts = parts.clone();
    let path = parts.uri.path();
    let uri = match query.is_empty() {
        true => path.to_owned(),
        false => format!("{path}?{query}"),
    };
    parts.uri = uri.parse::<Uri>().map_err(|_| Problem::internal())?;
    Ok(call(cluster, Request::from_parts(parts, Body::empty())).await)
}

/// Answers with a part of a list, of one cluster; the next part continues there, or at the next cluster. A header names
/// the clusters that do not answer.
async fn list(places: &Places, request: Request) -> Result<Response, Problem> {
    let (parts, _) = request.into_parts();
    let (mut query, at, cursor) = asked_part(&parts)?;
    let clusters = places.clusters();
    let mut rest = (clusters.iter()).filter(|cluster| cluster.name.as_str() >= at.as_str() && cluster.is_up());
    let Some(cluster) = rest.next() else {
        return Err(cluster_down("no cluster answers".to_owned()));
    };
    if !cursor.is_empty() && cluster.name == at {
        query.push_str("&cursor=");
        query.extend(byte_serialize(cursor.as_bytes()));
    }
    let response = ask(cluster, &parts, query.trim_start_matches('&')).await?;
    if !response.status().is_success() {
        return Ok(response);
    }
    let mut part = document(response.into_body()).await?;
    let next = match part["next"].as_str() {
        Some(cursor) => Some(format!("{}\n{cursor}", cluster.name)),
        None => rest.next().map(|cluster| format!("{}\n", cluster.name)),
    };
    let items = part["items"].as_array_mut().map(std::mem::take);
    let items = with_cluster(places, cluster, items.unwrap_or_default()).await;
    let mut list = json!({ "items": items });
    if let Some(next) = next {
        list["next"] = text_cursor(&next).into();
    }
    let mut response = Json(list).into_response();
    let down = down(places).join(", ");
    if let Ok(value) = HeaderValue::from_str(&down)
        && !value.is_empty()
    {
        response.headers_mut().insert(CLUSTERS_DOWN, value);
    }
    Ok(response)
}

/// Reads the part of a list that is asked for: the rest of the query, the cluster, its own cursor.
fn asked_part(parts: &Parts) -> Result<(String, String, String), Problem> {
    let mut query = Serializer::new(String::new());
    let mut cursor = None;
    for (name, value) in parse(parts.uri.query().unwrap_or_default().as_bytes()) {
        match name == "cursor" {
            true => cursor = Some(value.into_owned()),
            false => {
                query.append_pair(&name, &value);
            }
        }
    }
    let position = text_position(cursor.as_deref())?.unwrap_or_default();
    let (at, cursor) = position.split_once('\n').unwrap_or((&position, ""));
    Ok((query.finish(), at.to_owned(), cursor.to_owned()))
}

/// Names the cluster in each entry of a list, and leaves out tenants that live on another one.
async fn with_cluster(places: &Places, cluster: &ServedCluster, mut items: Vec<Value>) -> Vec<Value> {
    let is_tenant = |item: &Value| item.get("created_at").is_some();
    let names: Vec<String> = (items.iter().filter(|item| is_tenant(item)))
        .filter_map(|item| item["name"].as_str().map(str::to_owned))
        .collect();
    if !names.is_empty() {
        let here: Option<HashSet<String>> = (places.directory.places(&names).await.ok())
            .map(|known| known.into_iter().filter(|place| place.cluster == cluster.name))
            .map(|here| here.map(|place| place.tenant).collect());
        items.retain(|item| match &here {
            Some(here) => item["name"].as_str().is_some_and(|name| here.contains(name)),
            // The directory does not answer.
            None => item["moving"].is_null(),
        });
    }
    for item in &mut items {
        item["cluster"] = cluster.name.as_str().into();
    }
    items
}

/// Names the clusters that do not answer.
fn down(places: &Places) -> Vec<String> {
    (places.clusters().iter()).filter(|cluster| !cluster.is_up()).map(|cluster| cluster.name.clone()).collect()
}

/// Makes a tenant on the cluster that is named, or on the open one with the fewest tenants. Its place is taken in the
/// directory before, so that no two clusters make it.
async fn create(places: &Places, operator: &Operator, request: Request) -> Result<Response, Problem> {
    operator.must_write()?;
    let (mut parts, body) = request.into_parts();
    let reading = tokio::time::timeout(REQUEST_TIME_MAX, to_bytes(body, REQUEST_BYTES_MAX));
    let bytes = reading.await.map_err(|_| too_long())?;
    let bytes = bytes.map_err(|_| too_large())?;
    let new: NewTenant = read_json(&bytes)?;
    let among: Vec<String> = match &new.cluster {
        Some(cluster) => vec![cluster.clone()],
        None => {
            (places.clusters().iter()).filter(|cluster| cluster.is_up()).map(|cluster| cluster.name.clone()).collect()
        }
    };
    if let Some(cluster) = &new.cluster {
        let row = places.directory.cluster(cluster).await;
        row.map_err(directory_down)?;
    }
    let claimed = places.directory.claim_place(&new.name, &among).await;
    let (place, is_new) = claimed.map_err(directory_down)?;
    if new.cluster.as_ref().is_some_and(|cluster| *cluster != place.cluster) {
        return Err(elsewhere(&place));
    }
    let new = NewTenant { cluster: None, ..new };
    parts.headers.remove(header::CONTENT_LENGTH);
    let body = serde_json::to_vec(&new).map_err(|_| Problem::internal())?;
    let request = Request::from_parts(parts, Body::from(body));
    let response = match places.serving(&place) {
        Ok(cluster) => call(&cluster, request).await,
        Err(problem) => problem.into_response(),
    };
    if response.status() != StatusCode::CREATED && is_new {
        let forgotten = places.directory.forget_place(&new.name).await;
        forgotten.map_err(directory_down)?;
        places.forget(&new.name);
    }
    changed(response, |made| made["tenant"]["cluster"] = place.cluster.into()).await
}

fn too_large() -> Problem {
    Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "too_large",
        format!("the body is longer than {REQUEST_BYTES_MAX} bytes, or was cut"),
    )
    .hint("GET /openapi.json describes the document.")
}

/// Refuses to make a tenant that is on another cluster.
fn elsewhere(place: &TenantPlace) -> Problem {
    let TenantPlace { tenant, cluster, .. } = place;
    Problem::new(
        StatusCode::CONFLICT,
        "23505",
        format!("there is a tenant \"{tenant}\" already, on cluster \"{cluster}\""),
    )
    .hint("Choose another name, or move it: `wed tenant move TENANT --to-cluster NAME`.")
}

/// Deletes a tenant at its cluster, and then its place.
async fn delete(places: &Places, tenant: &str, request: Request) -> Result<Response, Problem> {
    known_place(places, tenant).await?;
    let response = at_place(places, tenant, request).await;
    if matches!(response.status(), StatusCode::NO_CONTENT | StatusCode::NOT_FOUND) {
        let forgotten = places.directory.forget_place(tenant).await;
        forgotten.map_err(directory_down)?;
        places.forget(tenant);
    }
    Ok(response)
}

/// Asks or sets at all clusters what is the same at all. Calls one after another; the first refusal is the answer.
async fn everywhere(places: &Places, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let reading = tokio::time::timeout(REQUEST_TIME_MAX, to_bytes(body, REQUEST_BYTES_MAX));
    let bytes = reading.await.map_err(|_| too_long())?;
    let bytes = bytes.map_err(|_| too_large())?;
    if let [cluster, ..] = &down(places)[..]
        && parts.method != Method::GET
    {
        return Err(cluster_down(format!("cluster \"{cluster}\" does not answer")));
    }
    let clusters = places.clusters();
    let mut answers: Vec<(&str, Value)> = Vec::new();
    for cluster in clusters.iter().filter(|cluster| cluster.is_up()) {
        let request = Request::from_parts(parts.clone(), Body::from(bytes.clone()));
        let response = call(cluster, request).await;
        if !response.status().is_success() {
            return Ok(response);
        }
        answers.push((&cluster.name, document(response.into_body()).await?));
    }
    let Some((first, answer)) = answers.first() else {
        return Err(cluster_down("no cluster answers".to_owned()));
    };
    match answers.iter().find(|(_, other)| other != answer) {
        None => Ok(Json(answer).into_response()),
        Some((other, _)) => Err(Problem::new(
            StatusCode::CONFLICT,
            "WF028",
            format!("clusters \"{first}\" and \"{other}\" differ in this"),
        )
        .hint("Set it again: it is set at all clusters.")),
    }
}

/// Answers with the state of all clusters: hosts and problems of each, queues added up.
async fn status(places: &Places, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let rows = places.directory.clusters().await.unwrap_or_default();
    let clusters = places.clusters();
    let asked = clusters.iter().map(|cluster| ask(cluster, &parts, ""));
    let answers = join_all(asked).await;
    let mut whole = json!({ "version": env!("CARGO_PKG_VERSION"), "clusters": [], "hosts": [], "queue": {},
        "problems": [] });
    if rows.is_empty() {
        push(
            &mut whole["problems"],
            json!({ "code": "directory_down",
            "text": "the directory of clusters does not answer, or has none",
            "hint": "Tenants whose places are known are served; look at the directory's database." }),
        );
    }
    for (cluster, answer) in clusters.iter().zip(answers) {
        let name = cluster.name.as_str();
        let row = rows.iter().find(|row| row.name == name);
        let status = match answer {
            Ok(response) if response.status().is_success() => document(response.into_body()).await,
            Ok(response) => Err(cluster_down(format!("it answers {}", response.status()))),
            Err(problem) => Err(problem),
        };
        push(
            &mut whole["clusters"],
            json!({ "name": name, "answers": status.is_ok(),
            "state": row.map(|row| &row.state), "tenants": row.map(|row| row.tenants),
            "server": status.as_ref().ok().map(|status| &status["server"]),
            "database_bytes": status.as_ref().ok().map(|status| &status["database_bytes"]) }),
        );
        match status {
            Ok(status) => add_status(&mut whole, name, status),
            Err(_) => push(
                &mut whole["problems"],
                json!({ "code": "cluster_down", "cluster": name,
                "text": format!("cluster {name} does not answer"),
                "hint": "Its tenants wait; those of other clusters are served. Look at its database." }),
            ),
        }
    }
    Json(whole).into_response()
}

fn push(list: &mut Value, item: Value) {
    if let Some(list) = list.as_array_mut() {
        list.push(item);
    }
}

/// Adds the state of one cluster to that of all.
fn add_status(whole: &mut Value, name: &str, mut status: Value) {
    for kind in ["hosts", "problems"] {
        let items = status[kind].as_array_mut().map(std::mem::take);
        for mut item in items.unwrap_or_default() {
            item["cluster"] = name.into();
            push(&mut whole[kind], item);
        }
    }
    let none = Map::new();
    for (figure, value) in status["queue"].as_object().unwrap_or(&none) {
        let (sum, value) = (whole["queue"][figure].as_f64(), value.as_f64());
        let (sum, value) = (sum.unwrap_or_default(), value.unwrap_or_default());
        // An age of all is the largest one.
        let sum = match figure.ends_with("_s") {
            true => sum.max(value),
            false => sum + value,
        };
        whole["queue"][figure] = match sum.fract() == 0.0 {
            true => json!(sum as i64),
            false => json!(sum),
        };
    }
}

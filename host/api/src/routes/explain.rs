//! Why something fired or did not, what would happen if, and the graph of a flow.

use axum::Json;
use axum::extract::State;
use wedflow_tenancy::{Action, Area};

use super::operate::{FlowPath, InstancePath, OnInstance};
use crate::access::Caller;
use crate::body::Document;
use crate::documents::{
    AssumedAct, AssumedCondition, Assumption, ConditionPreview, ForeseenAct, Graph, WhatIf, Why, WhyFilter,
};
use crate::path::{Asked, Named, wid};
use crate::problem::Problem;
use crate::state::Api;

/// Says why an instance's triggers fired or did not: each condition clause by clause, over the present or a past state
#[utoipa::path(get, path = "/v1/flows/{flow}/instances/{wid}/why", tag = "instances", params(InstancePath, WhyFilter),
    responses((status = 200, body = Why), (status = 404, body = Problem)))]
pub(crate) async fn why(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
    Asked(which): Asked<WhyFilter>,
) -> Result<Json<Why>, Problem> {
    let flow = caller.flow(&api, Action::read(Area::Instances), &flow).await?;
    Ok(Json(api.store.why(&flow, wid(&api, &flow, &number).await?, &which).await?))
}

/// Says what would become of an instance whose attributes had other values: changes nothing
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/what-if", tag = "instances", params(InstancePath),
    request_body = Assumption,
    responses((status = 200, body = WhatIf), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn what_if(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
    Document(assumed): Document<Assumption>,
) -> Result<Json<WhatIf>, Problem> {
    let (flow, wid) = caller.instance(&api, Action::read(Area::Instances), &flow, &number).await?;
    let transition = assumed.transition.as_deref();
    let store = &api.store;
    let answer = store.what_if(&flow, wid, &assumed.state, transition).await?;
    Ok(Json(answer))
}

/// Says what skipping a job, cancelling or going back would do to an instance; nothing is changed
#[utoipa::path(post, path = "/v1/flows/{flow}/instances/{wid}/foresee", tag = "instances", params(InstancePath),
    request_body = AssumedAct,
    responses((status = 200, body = ForeseenAct), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn foresee(
    OnInstance { store, flow, wid, .. }: OnInstance,
    Document(assumed): Document<AssumedAct>,
) -> Result<Json<ForeseenAct>, Problem> {
    Ok(Json(store.foresee_act(&flow, wid, &assumed).await?))
}

/// Compares a trigger's condition with another one over the live instances: changes nothing
#[utoipa::path(post, path = "/v1/flows/{flow}/what-if", tag = "flows", params(FlowPath),
    request_body = AssumedCondition,
    responses((status = 200, body = ConditionPreview), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn what_if_condition(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Document(assumed): Document<AssumedCondition>,
) -> Result<Json<ConditionPreview>, Problem> {
    let flow = caller.flow(&api, Action::write(Area::Flows), &flow).await?;
    Ok(Json(api.store.what_if_condition(&flow, &assumed).await?))
}

/// The graph of a flow: its triggers, and an edge where one writes what the other's condition reads
#[utoipa::path(get, path = "/v1/flows/{flow}/graph", tag = "flows", params(FlowPath),
    responses((status = 200, body = Graph), (status = 404, body = Problem)))]
pub(crate) async fn graph(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
) -> Result<Json<Graph>, Problem> {
    let flow = caller.flow(&api, Action::read(Area::Flows), &flow).await?;
    Ok(Json(api.store.graph(&flow).await?))
}

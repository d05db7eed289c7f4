//! Constraints: reservations of instances, stock of resources, and the order of tasks.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use wedflow_model::Wid;
use wedflow_tenancy::{Action, Area};

use super::operate::FlowPath;
use crate::access::Caller;
use crate::body::Document;
use crate::documents::{Finding, List, Page, Reservation, Resource, SetResource, TaskOrder};
use crate::page;
use crate::path::{Asked, Named};
use crate::problem::Problem;
use crate::state::Api;

/// Most rows that are looked through.
const LISTED_MAX: i64 = 10_000;

/// Reservations of a flow's instances, held and waited for
#[utoipa::path(get, path = "/v1/flows/{flow}/reservations", tag = "flows", params(FlowPath, Page),
    responses((status = 200, body = List<Reservation>), (status = 404, body = Problem)))]
pub(crate) async fn reservations(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Asked(asked): Asked<Page>,
) -> Result<Json<List<Reservation>>, Problem> {
    let flow = caller.flow(&api, Action::read(Area::Jobs), &flow).await?;
    let rows = api.store.reservations(&flow, LISTED_MAX).await?;
    page::cut(&asked, rows, |row: &Reservation| {
        let resource = row.resource.as_deref().unwrap_or_default();
        format!("{} {:010} {} {resource} {}", row.asked_at, row.wid.get(), row.transition, row.key)
    })
    .map(Json)
}

/// Parts of a flow's definition that cannot work, or not as they were meant
#[utoipa::path(get, path = "/v1/flows/{flow}/lint", tag = "flows", params(FlowPath),
    responses((status = 200, body = List<Finding>), (status = 404, body = Problem)))]
pub(crate) async fn lint(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
) -> Result<Json<List<Finding>>, Problem> {
    let flow = caller.flow(&api, Action::read(Area::Flows), &flow).await?;
    Ok(Json(List::whole(api.store.lint(&flow).await?)))
}

/// Stock of the keys that a flow reserves by quantity
#[utoipa::path(get, path = "/v1/flows/{flow}/resources", tag = "flows", params(FlowPath, Page),
    responses((status = 200, body = List<Resource>), (status = 404, body = Problem)))]
pub(crate) async fn resources(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Asked(asked): Asked<Page>,
) -> Result<Json<List<Resource>>, Problem> {
    let flow = caller.flow(&api, Action::read(Area::Flows), &flow).await?;
    let rows = api.store.resources(&flow, LISTED_MAX).await?;
    page::cut(&asked, rows, |row: &Resource| format!("{} {}", row.resource.as_deref().unwrap_or_default(), row.key))
        .map(Json)
}

/// Sets the stock of a key; requests that wait for more are served
#[utoipa::path(put, path = "/v1/flows/{flow}/resources", tag = "flows", params(FlowPath),
    request_body = SetResource,
    responses((status = 204), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn set_resource(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Document(asked): Document<SetResource>,
) -> Result<StatusCode, Problem> {
    let flow = caller.flow(&api, Action::write(Area::Flows), &flow).await?;
    let store = caller.store(&api);
    store
        .set_resource(
            &flow,
            asked.resource.as_deref(),
            &asked.key,
            &asked.capacity,
            asked.minimum.as_deref().unwrap_or("0"),
        )
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The orders of tasks that were added to a flow while it runs
#[utoipa::path(get, path = "/v1/flows/{flow}/order", tag = "flows", params(FlowPath, Page),
    responses((status = 200, body = List<TaskOrder>), (status = 404, body = Problem)))]
pub(crate) async fn orders(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Asked(asked): Asked<Page>,
) -> Result<Json<List<TaskOrder>>, Problem> {
    let flow = caller.flow(&api, Action::read(Area::Flows), &flow).await?;
    let rows = api.store.task_orders(&flow, LISTED_MAX).await?;
    page::cut(&asked, rows, |row: &TaskOrder| {
        format!("{} {:010} {}", row.trigger, row.wid.map_or(0, Wid::get), row.after)
    })
    .map(Json)
}

/// Adds an order of tasks, of one instance or of all
#[utoipa::path(post, path = "/v1/flows/{flow}/order", tag = "flows", params(FlowPath),
    request_body = TaskOrder,
    responses((status = 204), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn add_order(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Document(asked): Document<TaskOrder>,
) -> Result<StatusCode, Problem> {
    let flow = caller.flow(&api, Action::write(Area::Flows), &flow).await?;
    let store = caller.store(&api);
    store.add_order(&flow, &asked.trigger, &asked.after, asked.wid).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Drops an order of tasks that was added
#[utoipa::path(post, path = "/v1/flows/{flow}/order/drop", tag = "flows", params(FlowPath),
    request_body = TaskOrder, responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn drop_order(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Document(asked): Document<TaskOrder>,
) -> Result<StatusCode, Problem> {
    let flow = caller.flow(&api, Action::write(Area::Flows), &flow).await?;
    let store = caller.store(&api);
    let dropped = store.drop_order(&flow, &asked.trigger, &asked.after, asked.wid).await?;
    if !dropped {
        return Err(wedflow_store::StoreError::NotFound {
            kind: "order of tasks",
            name: format!("{} after {}", asked.trigger, asked.after),
            similar: None,
        }
        .into());
    }
    Ok(StatusCode::NO_CONTENT)
}

//! Constraints: reservations of instances, stock of resources, and the order of tasks.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wedflow_model::Wid;
use wedflow_tenancy::{Action, Area};

use crate::access::Caller;
use crate::body::Document;
use crate::documents::List;
use crate::path::Named;
use crate::problem::Problem;
use crate::state::Api;

/// Most rows that are answered.
const LISTED_MAX: i64 = 1_000;

/// A key that an instance holds, or waits for.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Reservation {
    #[schema(value_type = i32)]
    wid: Wid,
    transition: String,
    /// The resource that flows share; none: the flow's own.
    resource: Option<String>,
    key: String,
    /// Quantity; none: exclusive.
    amount: Option<String>,
    /// False: it waits, and holds nothing of what it asked for.
    held: bool,
    /// Keys or tasks that are waited for, with their holders.
    waits_for: Option<String>,
    /// When it was asked for.
    asked_at: String,
}

/// Stock of a key that is reserved by quantity.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Resource {
    /// The resource that flows share; none: the flow's own.
    resource: Option<String>,
    key: String,
    capacity: String,
    /// Minimum that is always left.
    minimum: String,
    /// Quantity held.
    held: String,
}

/// New stock of a key.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetResource {
    /// The resource that flows share; the flow's own when absent.
    resource: Option<String>,
    key: String,
    /// A number.
    capacity: f64,
    /// Minimum that is always left; 0 when absent.
    minimum: Option<f64>,
}

/// An order of tasks.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskOrder {
    /// The trigger that waits: its name, or its transition's.
    trigger: String,
    /// The triggers that come first, with AND, OR and parentheses.
    after: String,
    /// Only of this instance; of all when absent.
    #[schema(value_type = Option<i32>)]
    wid: Option<Wid>,
}

/// Reservations of a flow's instances, held and waited for
#[utoipa::path(get, path = "/v1/flows/{flow}/reservations", tag = "flows", params(("flow" = String, Path,
    description = "The flow's name")),
    responses((status = 200, body = List<Reservation>), (status = 404, body = Problem)))]
pub(crate) async fn reservations(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
) -> Result<Json<List<Reservation>>, Problem> {
    caller.must(Action::read(Area::Jobs))?;
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    let rows = api.store.reservations(&flow, LISTED_MAX).await?;
    let rows = rows.into_iter().map(|row| Reservation {
        wid: row.wid,
        transition: row.transition,
        resource: row.resource,
        key: row.key,
        amount: row.amount,
        held: row.held,
        waits_for: row.waits_for,
        asked_at: row.asked_at,
    });
    Ok(Json(List::whole(rows.collect())))
}

/// Stock of the keys that a flow reserves by quantity
#[utoipa::path(get, path = "/v1/flows/{flow}/resources", tag = "flows", params(("flow" = String, Path,
    description = "The flow's name")),
    responses((status = 200, body = List<Resource>), (status = 404, body = Problem)))]
pub(crate) async fn resources(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
) -> Result<Json<List<Resource>>, Problem> {
    caller.must(Action::read(Area::Flows))?;
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    let rows = api.store.resources(&flow, LISTED_MAX).await?;
    let rows = rows.into_iter().map(|row| Resource {
        resource: row.resource,
        key: row.key,
        capacity: row.capacity,
        minimum: row.minimum,
        held: row.held,
    });
    Ok(Json(List::whole(rows.collect())))
}

/// Sets the stock of a key; requests that wait for more are served
#[utoipa::path(put, path = "/v1/flows/{flow}/resources", tag = "flows", params(("flow" = String, Path,
    description = "The flow's name")),
    request_body = SetResource,
    responses((status = 204), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn set_resource(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Document(asked): Document<SetResource>,
) -> Result<StatusCode, Problem> {
    caller.must(Action::write(Area::Flows))?;
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    let (capacity, minimum) = (
        asked.capacity.to_string(),
        asked.minimum.unwrap_or_default().to_string(),
    );
    let store = caller.store(&api);
    store
        .set_resource(
            &flow,
            asked.resource.as_deref(),
            &asked.key,
            &capacity,
            &minimum,
        )
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The orders of tasks that were added to a flow while it runs
#[utoipa::path(get, path = "/v1/flows/{flow}/order", tag = "flows", params(("flow" = String, Path,
    description = "The flow's name")),
    responses((status = 200, body = List<TaskOrder>), (status = 404, body = Problem)))]
pub(crate) async fn orders(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
) -> Result<Json<List<TaskOrder>>, Problem> {
    caller.must(Action::read(Area::Flows))?;
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    let rows = api.store.task_orders(&flow, LISTED_MAX).await?;
    let rows = rows.into_iter().map(|row| TaskOrder {
        trigger: row.trigger,
        after: row.after,
        wid: row.wid,
    });
    Ok(Json(List::whole(rows.collect())))
}

/// Adds an order of tasks, of one instance or of all
#[utoipa::path(post, path = "/v1/flows/{flow}/order", tag = "flows", params(("flow" = String, Path,
    description = "The flow's name")),
    request_body = TaskOrder,
    responses((status = 204), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn add_order(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Document(asked): Document<TaskOrder>,
) -> Result<StatusCode, Problem> {
    caller.must(Action::write(Area::Flows))?;
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    let store = caller.store(&api);
    store
        .add_order(&flow, &asked.trigger, &asked.after, asked.wid)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Drops an order of tasks that was added
#[utoipa::path(post, path = "/v1/flows/{flow}/order/drop", tag = "flows", params(("flow" = String, Path,
    description = "The flow's name")),
    request_body = TaskOrder, responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn drop_order(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Document(asked): Document<TaskOrder>,
) -> Result<StatusCode, Problem> {
    caller.must(Action::write(Area::Flows))?;
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    let store = caller.store(&api);
    let dropped = store
        .drop_order(&flow, &asked.trigger, &asked.after, asked.wid)
        .await?;
    if !dropped {
        return Err(wedflow_store::StoreError::NotFound {
            kind: "order of tasks",
            name: asked.after,
        }
        .into());
    }
    Ok(StatusCode::NO_CONTENT)
}

//! Conditions over an instance's present state: why something is fired, or nothing.

use axum::Json;
use axum::extract::State;
use wedflow_tenancy::{Action, Area};

use super::operate::InstancePath;
use crate::access::Caller;
use crate::documents::{Condition, Conditions, Status};
use crate::path::Named;
use crate::problem::Problem;
use crate::state::Api;

/// The conditions that an instance's present state satisfies, and those that it does not
#[utoipa::path(get, path = "/v1/flows/{flow}/instances/{wid}/conditions", tag = "instances",
    params(InstancePath),
    responses((status = 200, body = Conditions), (status = 404, body = Problem)))]
pub(crate) async fn conditions(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
) -> Result<Json<Conditions>, Problem> {
    let (flow, wid) = caller.instance(&api, Action::read(Area::Instances), &flow, &number).await?;
    let status = api.store.instance_status(flow.flow_id, wid).await?;
    let reason = api.store.reason_of_status(&flow, wid, &status).await?;
    let conditions = api.store.conditions(&flow, wid).await?;
    let items = conditions.into_iter().map(|one| Condition {
        trigger: one.trigger,
        condition: one.condition,
        r#final: one.is_final,
        holds: one.holds,
        fault: one.fault,
    });
    Ok(Json(Conditions { status: Status::of(&status), reason, items: items.collect() }))
}

//! Queries over the tables of a flow.

use axum::Json;
use axum::extract::State;
use wedflow_tenancy::{Action, Area};

use super::operate::FlowPath;
use crate::access::Caller;
use crate::body::Document;
use crate::documents::{Query, QueryResult};
use crate::path::Named;
use crate::problem::Problem;
use crate::state::Api;

/// Rows of an answer, where the query does not say.
const ROWS_DEFAULT: i32 = 100;
/// Rows of an answer.
const ROWS_MAX: i32 = 1000;

/// Runs a read-only query over the tables of a flow, with the rights of the flow's own role, for 2 seconds at most
#[utoipa::path(post, path = "/v1/flows/{flow}/query", tag = "flows", params(FlowPath),
    request_body = Query,
    responses((status = 200, body = QueryResult), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn query(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Document(asked): Document<Query>,
) -> Result<Json<QueryResult>, Problem> {
    // A session of the flow's role may lock jobs, and end sessions of its workers.
    caller.must(Action::write(Area::Jobs))?;
    caller.must(Action::read(Area::Flows))?;
    caller.must(Action::read(Area::Instances))?;
    let limit = asked.limit.unwrap_or(ROWS_DEFAULT);
    let rows = usize::try_from(limit).ok();
    let rows = rows.filter(|_| (1..=ROWS_MAX).contains(&limit)).ok_or_else(|| {
        let message = format!("limit is {limit}, and may be 1 to {ROWS_MAX}");
        Problem::invalid("invalid_document", message)
    })?;
    let store = caller.store(&api);
    let flow = store.flow(&caller.tenant, &flow).await?;
    Ok(Json(store.query(&caller.tenant, &flow, &asked.sql, rows).await?))
}

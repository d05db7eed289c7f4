//! The audit log.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;
use wedflow_tenancy::{Action, Area};

use crate::access::Caller;
use crate::documents::{AuditEntry, List};
use crate::page;
use crate::path::Asked;
use crate::problem::Problem;
use crate::state::Api;

/// Filters of the audit log.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// Not older than this: a time (RFC 3339), or a span counted back from now, such as `2 hours`.
    since: Option<String>,
    /// End of the part before: its `next`.
    cursor: Option<String>,
    /// Maximum number of entries, 1 to 500.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<i64>,
}

/// Lists the tenant's audit log, newest first
#[utoipa::path(get, path = "/v1/audit", tag = "audit", params(Which),
    responses((status = 200, body = List<AuditEntry>), (status = 403, body = Problem)))]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    Asked(which): Asked<Which>,
) -> Result<Json<List<AuditEntry>>, Problem> {
    caller.must(Action::read(Area::Audit))?;
    let limit = page::limit(which.limit)?;
    // The numbers count beyond the tenant: they are shown only as the next cursor.
    let before = page::position::<1>(which.cursor.as_deref())?.map(|[number]| number);
    let (tenant, since) = (Some(caller.tenant.as_str()), which.since.as_deref());
    let fetch = |before, count| api.store.audit(tenant, since, before, count);
    let (items, next) = page::part(limit, before, |entry| entry.audit_id, fetch).await?;
    let next = next.map(|last| page::cursor(&[last]));
    Ok(Json(List { items, next }))
}

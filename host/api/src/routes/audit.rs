//! The audit log.

use axum::Json;
use axum::extract::State;
use wedflow_tenancy::{Action, Area};

use crate::access::Caller;
use crate::documents::{AuditEntry, AuditFilter, List};
use crate::page;
use crate::path::Asked;
use crate::problem::Problem;
use crate::state::Api;

/// Lists the tenant's audit log, newest first
#[utoipa::path(get, path = "/v1/audit", tag = "audit", params(AuditFilter),
    responses((status = 200, body = List<AuditEntry>), (status = 403, body = Problem)))]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    Asked(which): Asked<AuditFilter>,
) -> Result<Json<List<AuditEntry>>, Problem> {
    caller.must(Action::read(Area::Audit))?;
    let limit = page::limit(which.limit)?;
    // The numbers count beyond the tenant: they are shown only as the next cursor.
    let before = page::position::<1>(which.cursor.as_deref())?.map(|[number]| number);
    let (tenant, since) = (Some(caller.tenant.as_str()), which.since.as_deref());
    let fetch = |before, count| api.store.audit(tenant, since, before, count);
    let (items, next) = page::part(limit, before, |entry| (entry.number, entry.row), fetch).await?;
    let next = next.map(|last| page::cursor(&[last]));
    Ok(Json(List { items, next }))
}

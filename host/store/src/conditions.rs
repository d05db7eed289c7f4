//! Conditions over the present state of an instance: why something is fired, or nothing.

use serde::Serialize;
use sqlx::{AssertSqlSafe, FromRow};
use wedflow_model::Wid;

use crate::flows::Flow;
use crate::{Store, StoreError};

/// An enabled condition, evaluated over an instance's present state.
#[derive(Debug, Clone, PartialEq, Eq, FromRow, Serialize)]
pub struct Condition {
    /// The trigger's name, or its transition's; `final` for the final condition.
    pub trigger: String,
    /// The condition, as it was written.
    pub condition: String,
    /// True for the final condition.
    #[sqlx(rename = "cfinal")]
    #[serde(rename = "final")]
    pub is_final: bool,
    /// True if the state satisfies it; none where a condition cannot be evaluated.
    pub holds: Option<bool>,
    /// Why a condition cannot be evaluated.
    pub fault: Option<String>,
}

impl Store {
    /// Evaluates the enabled conditions of a flow over an instance's present state, the final one last.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn conditions(&self, flow: &Flow, wid: Wid) -> Result<Vec<Condition>, StoreError> {
        Ok(sqlx::query_as(AssertSqlSafe(format!(
            "SELECT CASE WHEN w.cfinal THEN 'final' ELSE coalesce(nullif(w.tgname, ''), w.trname) END AS trigger, \
               w.cpred AS condition, w.cfinal, r.fault, \
               CASE WHEN r.fault IS NULL THEN CASE WHEN w.cfinal THEN r.final \
                 ELSE w.tgid IN (SELECT (f & 4294967295)::integer FROM unnest(r.fired) f) END END AS holds \
             FROM unnest(wed.as_it_stands($1, $2)) r CROSS JOIN \"{}\".wed_trig w \
             WHERE w.enabled ORDER BY w.cfinal, w.tgid",
            flow.schema_name
        )))
        .persistent(false)
        .bind(flow.flow_id)
        .bind(wid)
        .fetch_all(&self.pool)
        .await?)
    }

    /// Returns why an instance became an exception the last time, as its trace says.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn exception_reason(
        &self,
        flow: &Flow,
        wid: Wid,
    ) -> Result<Option<String>, StoreError> {
        let reason = sqlx::query_scalar(
            "SELECT note FROM wed.trace WHERE flow_id = $1 AND wid = $2 AND status = 'E' AND '_EXCPT' = ANY (trf) \
             ORDER BY seq DESC LIMIT 1",
        )
        .bind(flow.flow_id)
        .bind(wid);
        Ok(reason.fetch_optional(&self.pool).await?.flatten())
    }
}

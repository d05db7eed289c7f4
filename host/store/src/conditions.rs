//! Conditions over the present state of an instance: why something is fired, or nothing.

use serde::Serialize;
use sqlx::FromRow;
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
    /// [`StoreError::Refused`] with `WF040` when there is no such instance.
    pub async fn conditions(&self, flow: &Flow, wid: Wid) -> Result<Vec<Condition>, StoreError> {
        let conditions = sqlx::query_as("SELECT * FROM wed.conditions_of($1, $2)").bind(flow.flow_id).bind(wid);
        Ok(conditions.fetch_all(&self.pool).await?)
    }

    /// Returns why an instance is an exception or was cancelled, as its trace says; none for a status of another kind.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn reason_of_status(&self, flow: &Flow, wid: Wid, status: &str) -> Result<Option<String>, StoreError> {
        let reason = sqlx::query_scalar(
            "SELECT note FROM wed.trace WHERE flow_id = $1 AND wid = $2 AND status::text = $3 \
             AND (status = 'E' AND ('_EXCPT' = ANY (trf) OR trw = '_BACK') OR trw = '_CANCEL') \
             ORDER BY seq DESC LIMIT 1",
        )
        .bind(flow.flow_id)
        .bind(wid)
        .bind(status);
        Ok(reason.fetch_optional(&self.pool).await?.flatten())
    }
}

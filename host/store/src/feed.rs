//! The feed of events: the trace of flows in the order of their transactions.

use sqlx::FromRow;
use wedflow_documents::FeedEvent;
use wedflow_model::FlowId;

use crate::statements::statements;
use crate::{Store, StoreError};

/// Position in a feed: transaction, flow, instance, row. An event is behind all that were before it, whoever commits.
pub type FeedPosition = [i64; 4];

/// An event of a feed, with its position.
#[derive(Debug, Clone, FromRow)]
pub struct FeedRow {
    position: Vec<i64>,
    /// The event.
    #[sqlx(flatten)]
    pub event: FeedEvent,
}

impl FeedRow {
    /// Returns its position.
    pub fn position(&self) -> FeedPosition {
        as_position(&self.position)
    }
}

fn as_position(numbers: &[i64]) -> FeedPosition {
    numbers.try_into().unwrap_or_default()
}

statements! {
    /// Reads events of some flows after a position, oldest first.
    pub feed(&self, flows: &[FlowId], after: FeedPosition, limit: i64) -> Vec<FeedRow>
        = rows "SELECT *, 'instance.' || CASE WHEN seq = 1 THEN 'started' WHEN status = 'F' THEN 'final' \
            WHEN status = 'E' THEN 'exception' ELSE 'changed' END AS kind FROM wed.feed($1, $2, $3::integer)", flows,
            &after[..], limit;

    /// Returns the numbers of a tenant's flows.
    pub flow_numbers(&self, tenant: &str) -> Vec<FlowId>
        = all "SELECT f.flow_id FROM wed.flow f JOIN wed.tenant t USING (tenant_id) WHERE t.name = $1 ORDER BY 1",
            tenant;
}

impl Store {
    /// Returns the position at which the feed of a tenant's flows ends now.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn feed_end(&self, flows: &[FlowId]) -> Result<FeedPosition, StoreError> {
        let end: Vec<i64> = sqlx::query_scalar("SELECT wed.feed_end($1)").bind(flows).fetch_one(&self.pool).await?;
        Ok(as_position(&end))
    }
}

//! The feed of events: the trace of flows in the order of their transactions.

use sqlx::FromRow;
use wedflow_model::{FlowId, Wid};

use crate::{Store, StoreError};

/// Position in a feed: transaction, flow, instance, row. An event is behind all that were before it, whoever commits.
pub type FeedPosition = [i64; 4];

/// An event of a feed.
#[derive(Debug, Clone, FromRow)]
pub struct FeedRow {
    /// Position.
    position: Vec<i64>,
    /// The flow's name.
    pub flow: String,
    /// The instance.
    pub wid: Wid,
    /// Business key of the instance.
    pub key: Option<String>,
    /// Row of the trace.
    pub seq: i32,
    /// `R` regular, `F` final, `E` exception.
    pub status: String,
    /// The transition that wrote the state; none for the initial one.
    pub transition: Option<String>,
    /// The transitions that the state fired.
    pub fired: Vec<String>,
    /// When, RFC 3339.
    pub at: String,
    /// Writer.
    pub writer: String,
    /// Why, for rows that no transition wrote.
    pub note: Option<String>,
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

impl Store {
    /// Reads events of some flows after a position, oldest first.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn feed(
        &self,
        flows: &[FlowId],
        after: FeedPosition,
        limit: i64,
    ) -> Result<Vec<FeedRow>, StoreError> {
        Ok(
            sqlx::query_as("SELECT * FROM wed.feed($1, $2, $3::integer)")
                .bind(flows)
                .bind(&after[..])
                .bind(limit)
                .fetch_all(&self.pool)
                .await?,
        )
    }

    /// Returns the position at which feeds end now.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn feed_end(&self) -> Result<FeedPosition, StoreError> {
        let end: Vec<i64> = sqlx::query_scalar("SELECT wed.feed_end()")
            .fetch_one(&self.pool)
            .await?;
        Ok(as_position(&end))
    }

    /// Returns the numbers of a tenant's flows.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn flow_numbers(&self, tenant: &str) -> Result<Vec<FlowId>, StoreError> {
        Ok(sqlx::query_scalar(
            "SELECT f.flow_id FROM wed.flow f JOIN wed.tenant t USING (tenant_id) WHERE t.name = $1 ORDER BY 1",
        )
        .bind(tenant)
        .fetch_all(&self.pool)
        .await?)
    }
}

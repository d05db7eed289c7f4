//! Constraints: reservations and their queue, stock of resources, and the order of tasks.

use serde::Serialize;
use sqlx::FromRow;
use wedflow_documents::Finding;
use wedflow_model::Wid;

use crate::rows::documents;
use crate::{Flow, Store, StoreError};

/// A key that an instance holds, or waits for.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Reservation {
    /// The instance.
    pub wid: Wid,
    /// The transition.
    pub transition: String,
    /// The resource; none: the flow's own.
    pub resource: Option<String>,
    /// The key.
    pub key: String,
    /// Quantity; none: exclusive.
    pub amount: Option<String>,
    /// True if it is held; else the request waits and holds nothing.
    pub held: bool,
    /// Keys or tasks that are waited for, with their holders.
    pub waits_for: Option<String>,
    /// When it was asked for, RFC 3339.
    pub asked_at: String,
}

/// Stock of a key that is reserved by quantity.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Resource {
    /// The resource; none: the flow's own.
    pub resource: Option<String>,
    /// The key.
    pub key: String,
    /// Capacity.
    pub capacity: String,
    /// Minimum that is always left.
    pub minimum: String,
    /// Quantity held.
    pub held: String,
}

/// An order of tasks that was added while the flow runs.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct TaskOrder {
    /// The instance; none: all.
    pub wid: Option<Wid>,
    /// The trigger that waits.
    pub trigger: String,
    /// The triggers that come first: names with AND, OR and parentheses.
    pub after: String,
    /// Actor who added it.
    pub actor: String,
}

impl Store {
    /// Looks for what of a flow's definition cannot work, or not as it was meant.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn lint(&self, flow: &Flow) -> Result<Vec<Finding>, StoreError> {
        let rows =
            sqlx::query_as("SELECT code, place, text, hint, state, certain FROM wed.lint($1)")
                .bind(flow.flow_id)
                .fetch_all(&self.pool)
                .await?;
        Ok(documents(rows))
    }

    /// Lists what a flow's instances hold and wait for, in order of arrival.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn reservations(
        &self,
        flow: &Flow,
        limit: i64,
    ) -> Result<Vec<Reservation>, StoreError> {
        Ok(sqlx::query_as(
            "SELECT r.wid, t.trname AS transition, CASE WHEN v.resource LIKE '#%' THEN NULL ELSE v.resource END AS \
             resource, \
               v.key, v.amount::text AS amount, coalesce(v.held, false) AS held, \
               CASE WHEN NOT v.held THEN wed.waits_on(r.flow_id, r.wid, r.tgid) END AS waits_for, \
               to_char(r.asked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') AS asked_at \
             FROM wed.request r JOIN wed.reservation v USING (request_id) JOIN wed.trigger t ON t.tgid = r.tgid \
             WHERE r.flow_id = $1 AND r.state NOT IN ('f', 'c') ORDER BY r.request_id, v.key LIMIT $2",
        )
        .bind(flow.flow_id)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?)
    }

    /// Lists the stock of the keys that a flow counts.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn resources(&self, flow: &Flow, limit: i64) -> Result<Vec<Resource>, StoreError> {
        Ok(
            sqlx::query_as("SELECT * FROM wed.resources_of($1) LIMIT $2")
                .bind(flow.flow_id)
                .bind(limit)
                .fetch_all(&self.pool)
                .await?,
        )
    }

    /// Sets the stock of a key, and its minimum. Requests that wait for more are served.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the minimum is more than there is, or the flow does not declare the resource.
    pub async fn set_resource(
        &self,
        flow: &Flow,
        resource: Option<&str>,
        key: &str,
        capacity: &str,
        minimum: &str,
    ) -> Result<(), StoreError> {
        let call =
            sqlx::query_scalar("SELECT wed.set_resource($1, $2, $3, $4::numeric, $5::numeric, $6)")
                .bind(flow.flow_id)
                .bind(resource)
                .bind(key)
                .bind(capacity)
                .bind(minimum)
                .bind(&self.actor);
        self.call(call).await
    }

    /// Lists the orders of tasks that were added to a flow while it runs.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn task_orders(&self, flow: &Flow, limit: i64) -> Result<Vec<TaskOrder>, StoreError> {
        Ok(sqlx::query_as(
            "SELECT p.wid, coalesce(t.tgname, t.trname) AS trigger, p.after, p.actor FROM wed.precedence p \
             JOIN wed.trigger t USING (tgid) WHERE p.flow_id = $1 ORDER BY p.precedence_id LIMIT $2",
        )
        .bind(flow.flow_id)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?)
    }

    /// Adds an order of tasks, of one instance or (none) of all.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when it cannot be read or has a cycle, which is named.
    pub async fn add_order(
        &self,
        flow: &Flow,
        trigger: &str,
        after: &str,
        wid: Option<Wid>,
    ) -> Result<(), StoreError> {
        let call = sqlx::query_scalar::<_, i32>("SELECT wed.add_order($1, $2, $3, $4, $5)")
            .bind(flow.flow_id)
            .bind(trigger)
            .bind(after)
            .bind(wid)
            .bind(&self.actor);
        self.call(call).await.map(drop)
    }

    /// Drops an order that was added; what waited for nothing else is due. False: there was none.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when there is no such instance.
    pub async fn drop_order(
        &self,
        flow: &Flow,
        trigger: &str,
        after: &str,
        wid: Option<Wid>,
    ) -> Result<bool, StoreError> {
        let call = sqlx::query_scalar("SELECT wed.drop_order($1, $2, $3, $4, $5)")
            .bind(flow.flow_id)
            .bind(trigger)
            .bind(after)
            .bind(wid)
            .bind(&self.actor);
        self.call(call).await
    }
}

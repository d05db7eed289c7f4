//! Constraints: reservations and their queue, stock of resources, and the order of tasks.

use wedflow_documents::{Finding, Reservation, Resource, TaskOrder};
use wedflow_model::Wid;

use crate::statements::statements;
use crate::{Flow, Store, StoreError};

statements! {
    /// Looks for what of a flow's definition cannot work, or not as it was meant.
    pub lint(&self, flow: &Flow) -> Vec<Finding>
        = rows "SELECT code, place, text, hint, state, certain FROM wed.lint($1)", flow.flow_id;

    /// Lists what a flow's instances hold and wait for, in order of arrival.
    pub reservations(&self, flow: &Flow, limit: i64) -> Vec<Reservation>
        = rows "SELECT r.wid, t.trname AS transition, CASE WHEN v.resource LIKE '#%' THEN NULL ELSE v.resource END AS \
            resource, \
              v.key, v.amount::text AS amount, coalesce(v.held, false) AS held, \
              CASE WHEN NOT v.held THEN wed.waits_on(r.flow_id, r.wid, r.tgid) END AS waits_for, \
              wed.rfc3339(r.asked_at) AS asked_at \
            FROM wed.request r JOIN wed.reservation v USING (request_id) JOIN wed.trigger t ON t.tgid = r.tgid \
            WHERE r.flow_id = $1 AND r.state NOT IN ('f', 'c') ORDER BY r.request_id, v.key LIMIT $2", flow.flow_id,
            limit;

    /// Lists the stock of the keys that a flow counts.
    pub resources(&self, flow: &Flow, limit: i64) -> Vec<Resource>
        = rows "SELECT * FROM wed.resources_of($1) LIMIT $2", flow.flow_id, limit;

    /// Sets the stock of a key, and its minimum. Requests that wait for more are served.
    /// Errors: [`StoreError::Refused`] when the minimum is more than there is, or the flow does not declare the
    /// resource.
    pub set_resource(&self, flow: &Flow, resource: Option<&str>, key: &str, capacity: &str, minimum: &str) -> ()
        = call "SELECT wed.set_resource($1, $2, $3, $4::numeric, $5::numeric, $6)", flow.flow_id, resource, key,
            capacity, minimum, &self.actor;

    /// Lists the orders of tasks that were added to a flow while it runs.
    pub task_orders(&self, flow: &Flow, limit: i64) -> Vec<TaskOrder>
        = rows "SELECT p.wid, coalesce(t.tgname, t.trname) AS trigger, p.after, p.actor FROM wed.precedence p \
            JOIN wed.trigger t USING (tgid) WHERE p.flow_id = $1 ORDER BY p.precedence_id LIMIT $2", flow.flow_id,
            limit;

    /// Drops an order that was added; what waited for nothing else is due. False: there was none.
    /// Errors: [`StoreError::Refused`] when there is no such instance.
    pub drop_order(&self, flow: &Flow, trigger: &str, after: &str, wid: Option<Wid>) -> bool
        = call "SELECT wed.drop_order($1, $2, $3, $4, $5)", flow.flow_id, trigger, after, wid, &self.actor;
}

impl Store {
    /// Adds an order of tasks, of one instance or (none) of all.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when it cannot be read or has a cycle, which is named.
    pub async fn add_order(&self, flow: &Flow, trigger: &str, after: &str, wid: Option<Wid>) -> Result<(), StoreError> {
        let call = sqlx::query_scalar::<_, i32>("SELECT wed.add_order($1, $2, $3, $4, $5)")
            .bind(flow.flow_id)
            .bind(trigger)
            .bind(after)
            .bind(wid)
            .bind(&self.actor);
        self.call(call).await.map(drop)
    }
}

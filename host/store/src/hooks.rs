//! Inbound hooks of flows.

use serde_json::{Map, Value as Json};
use sqlx::FromRow;
use wedflow_documents::{Hook, PutHook};

use crate::statements::statements;
use crate::{Flow, Store, StoreError};

/// A hook that a message was posted to.
#[derive(Debug, Clone, FromRow)]
pub struct PostedHook {
    /// Number.
    pub hook_id: i32,
    /// Name of the tenant.
    pub tenant: String,
    /// Name of the hook within its flow.
    pub name: String,
    /// `standard` or `github`.
    pub scheme: String,
    /// The secret that messages are signed with.
    pub secret: String,
    /// The secret before it, while messages that are signed with it are taken.
    pub old_secret: Option<String>,
    /// JSON pointer to the business key.
    pub key: Option<String>,
    /// Attributes, each with a JSON pointer.
    pub attributes: Json,
    /// Requests that the tenant may make in a second.
    pub requests_per_second: Option<i64>,
    /// True for a tenant that is suspended.
    pub suspended: bool,
    /// `leaving`, `left` or `arriving`, of a tenant on its way to another database.
    pub moving: Option<String>,
}

statements! {
    /// Makes a hook of a flow, or changes the one of that name; its secret stays without one. Returns its path.
    /// Errors: [`StoreError::Refused`] for an attribute that the flow has not, or beyond 50 hooks of the flow.
    pub set_hook(&self, flow: &Flow, name: &str, hook: &PutHook, secret: Option<&str>) -> String
        = call "SELECT '/v1/hooks/' || wed.set_hook($1, $2, $3, $4::jsonb #>> '{}', $5, $6::jsonb #>> '{}', $7, $8)", flow.flow_id,
            &*self.actor, name, sqlx::types::Json(hook.scheme), secret, sqlx::types::Json(hook.acts), &hook.key,
            sqlx::types::Json(&hook.attributes);

    /// Lets an event that a hook received start an instance or set attributes, once for its number within a day.
    /// Errors: [`StoreError::Refused`] with `WF040` where no instance runs under the key, and those of starts
    /// and events.
    pub take_event(&self, hook: &PostedHook, event: &str, values: Map<String, Json>, key: Option<&str>) -> Json
        = call "SELECT wed.take_event($1, $2, $3, $4)", hook.hook_id, event, Json::Object(values), key;
}

impl Store {
    /// Lists a flow's hooks by name.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn hooks(&self, flow: &Flow) -> Result<Vec<Hook>, StoreError> {
        Ok(sqlx::query_as(
            "SELECT name, '/v1/hooks/' || address AS path, to_jsonb(scheme) AS scheme, to_jsonb(acts) AS acts, key, attributes, \
               actor, wed.rfc3339(since) AS since \
             FROM wed.hook WHERE flow_id = $1 ORDER BY name",
        )
        .bind(flow.flow_id)
        .fetch_all(&self.pool)
        .await?)
    }

    /// Replaces the secret of a hook; messages that are signed with the old one are taken for so long, such as
    /// `24 hours`. Returns its path.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], and [`StoreError::Refused`] for more than 30 days.
    pub async fn rotate_hook(
        &self,
        flow: &Flow,
        name: &str,
        secret: &str,
        overlap: &str,
    ) -> Result<String, StoreError> {
        let call = sqlx::query_scalar("SELECT '/v1/hooks/' || wed.rotate_hook($1, $2, $3, $4, $5::interval)")
            .bind(flow.flow_id)
            .bind(&*self.actor)
            .bind(name)
            .bind(secret)
            .bind(overlap);
        let address: Option<String> = self.call(call).await?;
        address.ok_or_else(|| StoreError::not_found("hook", name))
    }

    /// Removes a hook.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn remove_hook(&self, flow: &Flow, name: &str) -> Result<(), StoreError> {
        let call =
            sqlx::query_scalar("SELECT wed.remove_hook($1, $2, $3)").bind(flow.flow_id).bind(&*self.actor).bind(name);
        match self.call(call).await? {
            true => Ok(()),
            false => Err(StoreError::not_found("hook", name)),
        }
    }

    /// Finds the hook that a message is posted to.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn posted_hook(&self, address: &str) -> Result<PostedHook, StoreError> {
        sqlx::query_as(
            "SELECT h.hook_id, t.name AS tenant, h.name, h.scheme, h.secret, h.key, h.attributes, \
               CASE WHEN h.old_until > clock_timestamp() THEN h.old_secret END AS old_secret, \
               q.requests_per_second::bigint AS requests_per_second, t.suspended_at IS NOT NULL AS suspended, t.moving \
             FROM wed.hook h JOIN wed.flow f USING (flow_id) JOIN wed.tenant t USING (tenant_id) \
             LEFT JOIN wed.quota q USING (tenant_id) WHERE h.address = $1",
        )
        .bind(address)
        .fetch_optional(&self.pool)
        .await?
        .ok_or_else(|| StoreError::not_found("hook", address))
    }
}

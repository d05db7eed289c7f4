//! Tenants: made, suspended, resumed, removed.

use serde_json::json;
use wedflow_documents::{NewSettings, Tenant};
use wedflow_model::{FlowId, TenantId};

use crate::audit::note;
use crate::{Store, StoreError};

/// Number of searches for sessions of a suspended tenant that logged in at the last moment.
const LAST_LOOKS: u32 = 10;

impl Store {
    /// Makes a tenant.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the name is taken or not allowed.
    pub async fn create_tenant(&self, name: &str, description: &str) -> Result<(), StoreError> {
        crate::error::check_description(description)?;
        let mut transaction = self.begin().await?;
        sqlx::query("INSERT INTO wed.tenant (name, description) VALUES ($1, $2)")
            .bind(name)
            .bind(description)
            .execute(&mut *transaction)
            .await
            .map_err(|error| crate::error::about_name(error.into(), "tenant", name))?;
        self.commit_noted(transaction, name, "tenant.create", name, json!({})).await
    }

    /// All tenants, by name.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn tenants(&self) -> Result<Vec<Tenant>, StoreError> {
        self.tenants_where(None).await
    }

    /// The tenant of that name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn tenant(&self, name: &str) -> Result<Tenant, StoreError> {
        self.tenants_where(Some(name)).await?.pop().ok_or_else(|| StoreError::not_found("tenant", name))
    }

    /// The number of the tenant of that name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn tenant_number(&self, name: &str) -> Result<TenantId, StoreError> {
        sqlx::query_scalar("SELECT tenant_id FROM wed.tenant WHERE name = $1")
            .bind(name)
            .fetch_optional(&self.pool)
            .await?
            .ok_or_else(|| StoreError::not_found("tenant", name))
    }

    async fn tenants_where(&self, name: Option<&str>) -> Result<Vec<Tenant>, StoreError> {
        Ok(sqlx::query_as(
            "SELECT t.name, t.description, t.suspended_at IS NOT NULL AS suspended, t.moving, t.moved_to, \
               t.token_days, wed.rfc3339(t.created_at) AS created_at, \
               (SELECT count(*) FROM wed.flow f WHERE f.tenant_id = t.tenant_id) AS flows, \
               (SELECT count(*) FROM wed.component c WHERE c.tenant_id = t.tenant_id) AS components, \
               (SELECT count(*) FROM wed.user u WHERE u.tenant_id = t.tenant_id) AS users, NULL::text AS cluster \
             FROM wed.tenant t WHERE $1::text IS NULL OR t.name = $1 ORDER BY t.name",
        )
        .bind(name)
        .fetch_all(&self.pool)
        .await?)
    }

    /// Suspends a tenant, or resumes it: its flows' roles may not log in and are logged out, hosts claim
    /// none of its jobs. Whoever speaks for it must ask [`Bearer::suspended`](crate::Bearer).
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn suspend_tenant(&self, name: &str, suspend: bool) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let tenant_id = tenant_id(&mut transaction, name).await?;
        sqlx::query("SELECT wed.suspend_tenant($1, $2)")
            .bind(tenant_id)
            .bind(suspend)
            .execute(&mut *transaction)
            .await?;
        let action = if suspend { "tenant.suspend" } else { "tenant.resume" };
        self.commit_noted(transaction, name, action, name, json!({})).await?;
        // Nobody logs in any more; who does so just now is met by the next look.
        let mut looks = 0;
        while suspend && looks < LAST_LOOKS && self.end_sessions(tenant_id).await? > 0 {
            looks += 1;
        }
        let flows: Vec<FlowId> =
            sqlx::query_scalar("SELECT flow_id FROM wed.flow WHERE tenant_id = $1 ORDER BY flow_id")
                .bind(tenant_id)
                .fetch_all(&self.pool)
                .await?;
        for flow in flows {
            sqlx::query("SELECT wed.compile($1)").bind(flow).execute(&self.pool).await?;
        }
        Ok(())
    }

    async fn end_sessions(&self, tenant_id: TenantId) -> Result<i64, StoreError> {
        Ok(sqlx::query_scalar("SELECT wed.end_sessions($1)").bind(tenant_id).fetch_one(&self.pool).await?)
    }

    /// Removes a tenant with everything of it: flows with their instances, history and roles, components,
    /// users, tokens. The audit log keeps what was done.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn drop_tenant(&self, name: &str) -> Result<(), StoreError> {
        // Sessions of its roles must be gone before their tables can be.
        self.suspend_tenant(name, true).await?;
        let mut transaction = self.begin().await?;
        let tenant_id = tenant_id(&mut transaction, name).await?;
        note(&mut transaction, &self.actor, Some(name), "tenant.delete", name, json!({})).await?;
        sqlx::query("SELECT wed.drop_tenant($1)").bind(tenant_id).execute(&mut *transaction).await?;
        transaction.commit().await?;
        self.remove_residue(crate::flows::RESIDUE_WAIT).await
    }

    /// Sets what of a tenant its admins may set.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Refused`] for a number of days beyond 1 to 3660.
    pub async fn set_tenant(&self, name: &str, settings: &NewSettings) -> Result<(), StoreError> {
        if let Some(description) = &settings.description {
            crate::error::check_description(description)?;
        }
        let mut transaction = self.begin().await?;
        let tenant_id = tenant_id(&mut transaction, name).await?;
        sqlx::query(
            "UPDATE wed.tenant SET description = coalesce($2, description), token_days = coalesce($3, token_days) \
             WHERE tenant_id = $1",
        )
        .bind(tenant_id)
        .bind(&settings.description)
        .bind(settings.token_days)
        .execute(&mut *transaction)
        .await
        .map_err(|error| match StoreError::from(error) {
            StoreError::Refused(refusal) if refusal.code == "23514" => StoreError::refused(
                "WF023",
                "token_days is not between 1 and 3660",
                "Give a number of days in these bounds.",
            ),
            other => other,
        })?;
        self.commit_noted(transaction, name, "tenant.set", name, serde_json::to_value(settings).unwrap_or_default())
            .await
    }
}

/// The number of a tenant, whose row is held until the transaction ends.
pub(crate) async fn tenant_id(connection: &mut crate::Session, name: &str) -> Result<TenantId, StoreError> {
    sqlx::query_scalar("SELECT tenant_id FROM wed.tenant WHERE name = $1 FOR NO KEY UPDATE")
        .bind(name)
        .fetch_optional(connection)
        .await?
        .ok_or_else(|| StoreError::not_found("tenant", name))
}

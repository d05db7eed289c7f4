//! The users of a tenant.

use serde_json::json;
use wedflow_documents::User;
use wedflow_model::TenantId;

use crate::tenants::tenant_id;
use crate::{Store, StoreError};

impl Store {
    /// Makes a user.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for the tenant; [`StoreError::Refused`] when the name is taken or not
    /// allowed, or there is no such role.
    pub async fn create_user(&self, tenant: &str, name: &str, role: &str) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let tenant_id = tenant_id(&mut transaction, tenant).await?;
        sqlx::query("INSERT INTO wed.user (tenant_id, name, role) VALUES ($1, $2, $3)")
            .bind(tenant_id)
            .bind(name)
            .bind(role)
            .execute(&mut *transaction)
            .await
            .map_err(|error| crate::error::about_name(error.into(), "user", name))?;
        self.commit_noted(transaction, tenant, "user.create", name, json!({ "role": role })).await
    }

    /// Gives a user another role. It holds for the user's next request.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::LastAdmin`].
    pub async fn set_role(&self, tenant: &str, name: &str, role: &str) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let tenant_id = tenant_id(&mut transaction, tenant).await?;
        if role != "admin" {
            self.keep_an_admin(&mut transaction, tenant_id, name).await?;
        }
        let done = sqlx::query("UPDATE wed.user SET role = $3 WHERE tenant_id = $1 AND name = $2")
            .bind(tenant_id)
            .bind(name)
            .bind(role)
            .execute(&mut *transaction)
            .await?;
        if done.rows_affected() == 0 {
            return Err(StoreError::not_found("user", name));
        }
        self.commit_noted(transaction, tenant, "user.role", name, json!({ "role": role })).await
    }

    /// Removes a user with the user's tokens.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::LastAdmin`].
    pub async fn drop_user(&self, tenant: &str, name: &str) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let tenant_id = tenant_id(&mut transaction, tenant).await?;
        self.keep_an_admin(&mut transaction, tenant_id, name).await?;
        let done = sqlx::query("DELETE FROM wed.user WHERE tenant_id = $1 AND name = $2")
            .bind(tenant_id)
            .bind(name)
            .execute(&mut *transaction)
            .await?;
        if done.rows_affected() == 0 {
            return Err(StoreError::not_found("user", name));
        }
        self.commit_noted(transaction, tenant, "user.delete", name, json!({})).await
    }

    /// Refuses to let the last admin of a tenant go, whose row is held: only the operator could make
    /// another, so only the operator may.
    async fn keep_an_admin(
        &self,
        connection: &mut crate::Session,
        tenant_id: TenantId,
        name: &str,
    ) -> Result<(), StoreError> {
        if self.actor.starts_with("operator:") {
            return Ok(());
        }
        let last: bool = sqlx::query_scalar(
            "SELECT coalesce(array_agg(name) = ARRAY[$2], false) FROM wed.user WHERE tenant_id = $1 AND role = 'admin'",
        )
        .bind(tenant_id)
        .bind(name)
        .fetch_one(connection)
        .await?;
        if last {
            return Err(StoreError::LastAdmin(name.to_owned()));
        }
        Ok(())
    }

    /// The tenant's users, by name; the one of a name, when given.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no tenant of that name.
    pub async fn users(&self, tenant: &str, name: Option<&str>) -> Result<Vec<User>, StoreError> {
        let users: Vec<User> = sqlx::query_as(
            "SELECT u.name, u.role, wed.rfc3339(u.created_at) AS created_at \
             FROM wed.user u JOIN wed.tenant t USING (tenant_id) \
             WHERE t.name = $1 AND ($2::text IS NULL OR u.name = $2) ORDER BY u.name",
        )
        .bind(tenant)
        .bind(name)
        .fetch_all(&self.pool)
        .await?;
        if users.is_empty() && name.is_none() {
            self.tenant(tenant).await?;
        }
        Ok(users)
    }

    /// The user of that name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn user(&self, tenant: &str, name: &str) -> Result<User, StoreError> {
        self.users(tenant, Some(name)).await?.pop().ok_or_else(|| StoreError::not_found("user", name))
    }
}

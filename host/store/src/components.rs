//! Uploaded components: immutable versions under a tenant's name.

use serde::Serialize;
use serde_json::Value as Json;
use sqlx::{FromRow, PgConnection};
use wedflow_model::{ComponentId, TenantId};

use crate::{Store, StoreError};

/// A component to store, inspected and compiled once already.
#[derive(Debug, Clone)]
pub struct NewComponent<'a> {
    /// The tenant's name for it.
    pub name: &'a str,
    /// SHA-256 of the bytes, in hexadecimal.
    pub digest: &'a str,
    /// The component itself.
    pub bytes: &'a [u8],
    /// Manifest: name, SDK, transitions.
    pub manifest: &'a Json,
}

/// A version of a component, as listed.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Component {
    /// Number of the version, unique in the database.
    pub component_id: ComponentId,
    /// The tenant's name for it.
    pub name: String,
    /// 1 for the first upload of that name.
    pub version: i32,
    /// SHA-256 of the bytes, in hexadecimal.
    pub digest: String,
    /// Size in bytes.
    pub size: i32,
    /// Manifest: name, SDK, transitions.
    pub manifest: Json,
    /// When it was uploaded.
    pub created_at: String,
    /// True for the version in use.
    pub active: bool,
    /// `flow/transition` of every binding to the name; none for versions that are not in use.
    pub used_by: Vec<String>,
}

impl Store {
    /// Stores a component as the newest version of its name and resolves the bindings to it. The same
    /// bytes as the newest version's make no new version. Returns its number and version.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the name is not allowed; [`StoreError::NotFound`] for the tenant.
    pub async fn push_component(
        &self,
        tenant: &str,
        component: &NewComponent<'_>,
    ) -> Result<(ComponentId, i32), StoreError> {
        let mut transaction = self.begin().await?;
        let tenant_id: TenantId = sqlx::query_scalar(
            "SELECT tenant_id FROM wed.tenant WHERE name = $1 FOR NO KEY UPDATE",
        )
        .bind(tenant)
        .fetch_optional(&mut *transaction)
        .await?
        .ok_or_else(|| StoreError::not_found("tenant", tenant))?;
        let newest = newest_version(&mut transaction, tenant_id, component.name).await?;
        let version = match newest {
            Some((id, version, digest)) if digest == component.digest => {
                sqlx::query("SELECT wed.activate_component($1, $2, $3)")
                    .bind(tenant_id)
                    .bind(component.name)
                    .bind(version)
                    .execute(&mut *transaction)
                    .await?;
                transaction.commit().await?;
                return Ok((id, version));
            }
            Some((_, version, _)) => version + 1,
            None => 1,
        };
        let id = insert_version(&mut transaction, tenant_id, component, version).await?;
        resolve_bindings(&mut transaction, tenant_id, component.name).await?;
        crate::audit::note(
            &mut transaction,
            &self.actor,
            Some(tenant),
            "component.push",
            component.name,
            serde_json::json!({ "version": version, "digest": component.digest, "bytes": component.bytes.len() }),
        )
        .await?;
        transaction.commit().await?;
        Ok((id, version))
    }

    /// The tenant's components, every version, newest first within a name; of one name when given.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn components(
        &self,
        tenant: &str,
        name: Option<&str>,
    ) -> Result<Vec<Component>, StoreError> {
        Ok(sqlx::query_as(include_str!("../sql/components.sql"))
            .bind(tenant)
            .bind(name)
            .fetch_all(&self.pool)
            .await?)
    }

    /// Makes a version of a component the one in use; the one before the present when none is given.
    /// Returns it.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for the tenant, or when there is no such version.
    pub async fn activate_component(
        &self,
        tenant: &str,
        name: &str,
        version: Option<i32>,
    ) -> Result<i32, StoreError> {
        let mut transaction = self.begin().await?;
        let tenant_id = crate::tenants::tenant_id(&mut transaction, tenant).await?;
        let active: Option<i32> = sqlx::query_scalar("SELECT wed.activate_component($1, $2, $3)")
            .bind(tenant_id)
            .bind(name)
            .bind(version)
            .fetch_one(&mut *transaction)
            .await?;
        let active = active.ok_or_else(|| match version {
            Some(version) => {
                StoreError::not_found("component", format!("{name} version {version}"))
            }
            None => StoreError::not_found("earlier version of component", name),
        })?;
        let action = match version {
            Some(_) => "component.activate",
            None => "component.rollback",
        };
        let detail = serde_json::json!({ "version": active });
        crate::audit::note(
            &mut transaction,
            &self.actor,
            Some(tenant),
            action,
            name,
            detail,
        )
        .await?;
        transaction.commit().await?;
        Ok(active)
    }

    /// Removes versions that nothing uses, but for the newest `keep` of each name. Returns name and
    /// version of each that was removed.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for the tenant.
    pub async fn collect_components(
        &self,
        tenant: &str,
        keep: i32,
    ) -> Result<Vec<(String, i32)>, StoreError> {
        let mut transaction = self.begin().await?;
        let tenant_id = crate::tenants::tenant_id(&mut transaction, tenant).await?;
        let removed: Vec<(String, i32)> = sqlx::query_as(
            "SELECT name, version FROM wed.collect_components($1, $2) ORDER BY 1, 2",
        )
        .bind(tenant_id)
        .bind(keep)
        .fetch_all(&mut *transaction)
        .await?;
        for (name, version) in &removed {
            let detail = serde_json::json!({ "version": version });
            crate::audit::note(
                &mut transaction,
                &self.actor,
                Some(tenant),
                "component.remove",
                name,
                detail,
            )
            .await?;
        }
        transaction.commit().await?;
        Ok(removed)
    }

    /// A component's tenant, by name, and its bytes, for a host that has not compiled it yet.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn component_bytes(
        &self,
        component_id: ComponentId,
    ) -> Result<(String, Vec<u8>), StoreError> {
        sqlx::query_as(
            "SELECT t.name, c.bytes FROM wed.component c JOIN wed.tenant t USING (tenant_id) WHERE component_id = $1",
        )
        .bind(component_id)
        .fetch_optional(&self.pool)
        .await?
        .ok_or_else(|| StoreError::not_found("component", component_id))
    }
}

/// Returns number, version and digest of the newest version of a component.
async fn newest_version(
    connection: &mut PgConnection,
    tenant_id: TenantId,
    name: &str,
) -> Result<Option<(ComponentId, i32, String)>, StoreError> {
    Ok(sqlx::query_as(
        "SELECT component_id, version, digest FROM wed.component WHERE tenant_id = $1 AND name = $2 ORDER BY \
         version DESC LIMIT 1",
    )
    .bind(tenant_id)
    .bind(name)
    .fetch_optional(connection)
    .await?)
}

/// Inserts a version of a component and returns its number.
async fn insert_version(
    connection: &mut PgConnection,
    tenant_id: TenantId,
    component: &NewComponent<'_>,
    version: i32,
) -> Result<ComponentId, StoreError> {
    sqlx::query_scalar(
        "INSERT INTO wed.component (tenant_id, name, version, digest, bytes, manifest) \
         VALUES ($1, $2, $3, $4, $5, $6) RETURNING component_id",
    )
    .bind(tenant_id)
    .bind(component.name)
    .bind(version)
    .bind(component.digest)
    .bind(component.bytes)
    .bind(component.manifest)
    .fetch_one(connection)
    .await
    .map_err(|error| match StoreError::from(error) {
        StoreError::Refused(refusal) if refusal.code == "23514" => {
            StoreError::Refused(Box::new(crate::Refusal {
                message: format!("the component name \"{}\" is not allowed", component.name),
                detail: None,
                hint: Some(crate::NAME_HINT.to_owned()),
                ..*refusal
            }))
        }
        other => other,
    })
}

/// Resolves the bindings of all the tenant's flows that name a component.
async fn resolve_bindings(
    connection: &mut PgConnection,
    tenant_id: TenantId,
    component: &str,
) -> Result<(), StoreError> {
    sqlx::query(
        "SELECT wed.resolve_bindings(flow_id) FROM (SELECT DISTINCT flow_id FROM wed.binding b \
         JOIN wed.flow f USING (flow_id) WHERE f.tenant_id = $1 AND b.component_name = $2) x",
    )
    .bind(tenant_id)
    .bind(component)
    .execute(connection)
    .await?;
    Ok(())
}

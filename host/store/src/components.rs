//! Uploaded components: immutable versions under a tenant's name.

use crate::Session;
use serde_json::Value as Json;
use wedflow_documents::Component;
use wedflow_model::{ComponentId, TenantId};

use crate::statements::statements;
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
    /// Put it into use although a flow that fits the version in use does not fit it.
    pub is_forced: bool,
}

/// A component that was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredComponent {
    /// Version; that of the newest one when the bytes are the same.
    pub version: i32,
    /// False: it would have broken a flow, and the version before stays in use.
    pub is_active: bool,
    /// Parts of the flows that bind it which this version does not fit, for a person.
    pub faults: Vec<String>,
}

statements! {
    /// The tenant's components, every version, newest first within a name; of one name when given.
    pub components(&self, tenant: &str, name: Option<&str>) -> Vec<Component>
        = rows include_str!("../sql/components.sql"), tenant, name;
}

impl Store {
    /// Stores a component as the newest version of its name and resolves the bindings to it. The same
    /// bytes as the newest version's make no new version. One that would break a flow is not put into use unless it
    /// is forced.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the name is not allowed; [`StoreError::NotFound`] for the tenant.
    pub async fn push_component(
        &self,
        tenant: &str,
        component: &NewComponent<'_>,
    ) -> Result<StoredComponent, StoreError> {
        let mut transaction = self.begin().await?;
        let tenant_id: TenantId =
            sqlx::query_scalar("SELECT tenant_id FROM wed.tenant WHERE name = $1 FOR NO KEY UPDATE")
                .bind(tenant)
                .fetch_optional(&mut *transaction)
                .await?
                .ok_or_else(|| StoreError::not_found("tenant", tenant))?;
        let newest = newest_version(&mut transaction, tenant_id, component.name).await?;
        let known = faults(&mut transaction, tenant, component.name).await?;
        let former = active_version(&mut transaction, tenant_id, component.name).await?;
        let (version, is_new) = match newest {
            Some((version, digest)) if digest == component.digest => (version, false),
            Some((version, _)) => (version + 1, true),
            None => (1, true),
        };
        if is_new {
            insert_version(&mut transaction, tenant_id, component, version).await?;
        }
        activate(&mut transaction, tenant_id, component.name, version).await?;
        let found = faults(&mut transaction, tenant, component.name).await?;
        let breaks = found.iter().any(|fault| !known.contains(fault));
        let former = former.filter(|former| breaks && !component.is_forced && *former != version);
        if let Some(former) = former {
            activate(&mut transaction, tenant_id, component.name, former).await?;
        }
        let stored = StoredComponent { version, is_active: former.is_none(), faults: found };
        if !is_new {
            transaction.commit().await?;
            return Ok(stored);
        }
        let detail = serde_json::json!({
            "version": version, "digest": component.digest, "bytes": component.bytes.len(),
            "in_use": stored.is_active,
        });
        self.commit_noted(transaction, tenant, "component.push", component.name, detail).await?;
        Ok(stored)
    }

    /// Makes a version of a component the one in use; the one before the present when none is given.
    /// Returns it.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for the tenant, or when there is no such version.
    pub async fn activate_component(&self, tenant: &str, name: &str, version: Option<i32>) -> Result<i32, StoreError> {
        let mut transaction = self.begin().await?;
        let tenant_id = crate::tenants::tenant_id(&mut transaction, tenant).await?;
        let active: Option<i32> = sqlx::query_scalar("SELECT wed.activate_component($1, $2, $3)")
            .bind(tenant_id)
            .bind(name)
            .bind(version)
            .fetch_one(&mut *transaction)
            .await?;
        let Some(active) = active else {
            transaction.rollback().await?;
            return Err(match version {
                Some(version) => StoreError::not_found("component", format!("{name} version {version}")),
                None if self.components(tenant, Some(name)).await?.is_empty() => {
                    StoreError::not_found("component", name)
                }
                None => StoreError::not_found("earlier version of component", name),
            });
        };
        let action = match version {
            Some(_) => "component.activate",
            None => "component.rollback",
        };
        let detail = serde_json::json!({ "version": active });
        self.commit_noted(transaction, tenant, action, name, detail).await?;
        Ok(active)
    }

    /// Removes versions that nothing uses, but for the newest `keep` of each name. Returns name and
    /// version of each that was removed.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for the tenant.
    pub async fn collect_components(&self, tenant: &str, keep: i32) -> Result<Vec<(String, i32)>, StoreError> {
        let mut transaction = self.begin().await?;
        let tenant_id = crate::tenants::tenant_id(&mut transaction, tenant).await?;
        let removed: Vec<(String, i32)> =
            sqlx::query_as("SELECT name, version FROM wed.collect_components($1, $2) ORDER BY 1, 2")
                .bind(tenant_id)
                .bind(keep)
                .fetch_all(&mut *transaction)
                .await?;
        for (name, version) in &removed {
            let detail = serde_json::json!({ "version": version });
            crate::audit::note(&mut transaction, &self.actor, Some(tenant), "component.remove", name, detail).await?;
        }
        transaction.commit().await?;
        Ok(removed)
    }

    /// A component's tenant, by name, and its bytes, for a host that has not compiled it yet.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn component_bytes(&self, component_id: ComponentId) -> Result<(String, Vec<u8>), StoreError> {
        sqlx::query_as(
            "SELECT t.name, c.bytes FROM wed.component c JOIN wed.tenant t USING (tenant_id) WHERE component_id = $1",
        )
        .bind(component_id)
        .fetch_optional(&self.pool)
        .await?
        .ok_or_else(|| StoreError::not_found("component", component_id))
    }
}

impl Store {
    /// Returns the bytes of a version of a tenant's component.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn version_bytes(&self, tenant: &str, name: &str, version: i32) -> Result<Vec<u8>, StoreError> {
        sqlx::query_scalar(
            "SELECT c.bytes FROM wed.component c JOIN wed.tenant t USING (tenant_id) \
             WHERE t.name = $1 AND c.name = $2 AND c.version = $3",
        )
        .bind(tenant)
        .bind(name)
        .bind(version)
        .fetch_optional(&self.pool)
        .await?
        .ok_or_else(|| StoreError::not_found("component", format!("{name} version {version}")))
    }
}

/// Returns version and digest of the newest version of a component.
async fn newest_version(
    connection: &mut Session,
    tenant_id: TenantId,
    name: &str,
) -> Result<Option<(i32, String)>, StoreError> {
    Ok(sqlx::query_as(
        "SELECT version, digest FROM wed.component WHERE tenant_id = $1 AND name = $2 ORDER BY \
         version DESC LIMIT 1",
    )
    .bind(tenant_id)
    .bind(name)
    .fetch_optional(connection)
    .await?)
}

/// Inserts a version of a component.
async fn insert_version(
    connection: &mut Session,
    tenant_id: TenantId,
    component: &NewComponent<'_>,
    version: i32,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO wed.component (tenant_id, name, version, digest, bytes, manifest) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(tenant_id)
    .bind(component.name)
    .bind(version)
    .bind(component.digest)
    .bind(component.bytes)
    .bind(component.manifest)
    .execute(connection)
    .await
    .map(|_| ())
    .map_err(|error| match StoreError::from(error) {
        StoreError::Refused(refusal) if refusal.code == "23514" => StoreError::Refused(Box::new(crate::Refusal {
            message: format!("the component name \"{}\" is not allowed", component.name),
            detail: None,
            hint: Some(crate::NAME_HINT.to_owned()),
            ..*refusal
        })),
        other => other,
    })
}

/// Puts a version of a component into use.
async fn activate(
    connection: &mut Session,
    tenant_id: TenantId,
    component: &str,
    version: i32,
) -> Result<(), StoreError> {
    sqlx::query("SELECT wed.activate_component($1, $2, $3)")
        .bind(tenant_id)
        .bind(component)
        .bind(version)
        .execute(connection)
        .await?;
    Ok(())
}

/// Returns the version of a component that is in use.
async fn active_version(
    connection: &mut Session,
    tenant_id: TenantId,
    component: &str,
) -> Result<Option<i32>, StoreError> {
    Ok(sqlx::query_scalar(
        "SELECT version FROM wed.component WHERE tenant_id = $1 AND name = $2 \
         ORDER BY activated_at DESC, version DESC LIMIT 1",
    )
    .bind(tenant_id)
    .bind(component)
    .fetch_optional(connection)
    .await?)
}

/// Lists what of the flows that bind a component does not fit the version in use.
async fn faults(connection: &mut Session, tenant: &str, component: &str) -> Result<Vec<String>, StoreError> {
    Ok(sqlx::query_scalar("SELECT wed.component_faults($1, $2)")
        .bind(tenant)
        .bind(component)
        .fetch_all(connection)
        .await?)
}

//! Makes a flow what its definition says: attributes, triggers, bindings, versions.

use crate::Session;
use wedflow_documents::Applied;
use wedflow_model::{FlowDefinition, FlowId};

use crate::StoreError;

/// Makes a flow what its definition says, and reports what has changed. Creates the flow if it is missing; a flow
/// that is so already keeps its version. The definition that it has then is kept under its version.
pub(crate) async fn apply(
    connection: &mut Session,
    actor: &str,
    tenant: &str,
    definition: &FlowDefinition,
) -> Result<Applied, StoreError> {
    crate::error::check_description(&definition.description)?;
    let (flow_id, created) = find_or_create(connection, tenant, definition).await?;
    let sqlx::types::Json(mut applied): sqlx::types::Json<Applied> =
        sqlx::query_scalar("SELECT wed.apply_definition($1, $2, $3) || jsonb_build_object('created', $4)")
            .bind(flow_id)
            .bind(sqlx::types::Json(definition))
            .bind(actor)
            .bind(created)
            .fetch_one(&mut *connection)
            .await?;
    if created {
        applied.settings_changed.clear();
    }
    Ok(applied)
}

/// Locks the flow of this definition, or creates it. Returns its number, and true if it was created.
async fn find_or_create(
    connection: &mut Session,
    tenant: &str,
    definition: &FlowDefinition,
) -> Result<(FlowId, bool), StoreError> {
    let existing: Option<FlowId> = sqlx::query_scalar(
        "SELECT flow_id FROM wed.flow JOIN wed.tenant t USING (tenant_id) \
         WHERE t.name = $1 AND flow.name = $2 FOR NO KEY UPDATE OF flow",
    )
    .bind(tenant)
    .bind(&definition.name)
    .fetch_optional(&mut *connection)
    .await?;
    if let Some(found) = existing {
        return Ok((found, false));
    }
    let id = create_flow(connection, tenant, &definition.name, &definition.description).await?;
    Ok((id, true))
}

pub(crate) async fn binding_faults(connection: &mut Session, flow_id: FlowId) -> Result<Vec<String>, StoreError> {
    Ok(sqlx::query_scalar("SELECT wed.binding_faults($1)").bind(flow_id).fetch_all(connection).await?)
}

/// Percent-encodes what may not stand in a URI as it is.
pub(crate) fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
        out
    })
}

/// Makes an empty flow.
pub(crate) async fn create_flow(
    connection: &mut Session,
    tenant: &str,
    name: &str,
    description: &str,
) -> Result<FlowId, StoreError> {
    sqlx::query_scalar("SELECT wed.create_flow($1, $2, $3)")
        .bind(tenant)
        .bind(name)
        .bind(description)
        .fetch_one(connection)
        .await
        .map_err(|error| {
            let mut error = StoreError::from(error);
            if let StoreError::Refused(refusal) = &mut error {
                if refusal.code == "23505" {
                    refusal.message = format!("there is a flow \"{name}\" already");
                    refusal.hint = Some("Choose another name, or change that one with `wed flow apply`.".into());
                } else if refusal.code == "23514" {
                    refusal.message = format!("the flow name \"{name}\" is not allowed");
                    refusal.hint = Some(crate::NAME_HINT.to_owned());
                }
                if refusal.code.starts_with("23") {
                    refusal.detail = None;
                }
            }
            error
        })
}

/// Leaves a transition to a component, or to external workers.
pub(crate) async fn bind(
    connection: &mut Session,
    flow_id: FlowId,
    transition: &str,
    component: Option<&str>,
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM wed.subprocess WHERE flow_id = $1 AND trname = $2")
        .bind(flow_id)
        .bind(transition)
        .execute(&mut *connection)
        .await?;
    match component {
        Some(component) => {
            sqlx::query(
                "INSERT INTO wed.binding (flow_id, trname, component_name) VALUES ($1, $2, $3) \
                 ON CONFLICT (flow_id, trname) DO UPDATE SET component_name = excluded.component_name",
            )
            .bind(flow_id)
            .bind(transition)
            .bind(component)
            .execute(connection)
            .await?;
        }
        None => {
            sqlx::query("DELETE FROM wed.binding WHERE flow_id = $1 AND trname = $2")
                .bind(flow_id)
                .bind(transition)
                .execute(connection)
                .await?;
        }
    }
    Ok(())
}

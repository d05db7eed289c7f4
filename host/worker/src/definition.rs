//! A flow's definition, held against the guard before the database judges it: so that a condition is accepted by both
//! of them or not at all, whoever tries it.

use wedflow_guard::{CheckedPredicate, FlowAttributes, Rejection, RejectionCode};
use wedflow_model::{AttributeType, FlowDefinition};
use wedflow_store::{Applied, Place, Refusal, Store, StoreError};

/// Makes a flow what a definition says ([`Store::apply`]), if the guard takes its conditions.
///
/// # Errors
/// [`StoreError::Refused`] with the place for a bad predicate, name, type or default.
pub async fn apply(
    store: &Store,
    tenant: &str,
    definition: &FlowDefinition,
) -> Result<Applied, StoreError> {
    conditions(
        definition,
        kept_attributes(store, tenant, definition).await?,
    )?;
    store.apply(tenant, definition).await
}

/// Makes the flows of processes with their plans of work ([`Store::apply_processes`]), if the guard takes their
/// conditions.
///
/// # Errors
/// As [`apply`].
pub async fn apply_processes(
    store: &Store,
    tenant: &str,
    processes: &[(FlowDefinition, serde_json::Value)],
) -> Result<Vec<Applied>, StoreError> {
    for (definition, _) in processes {
        conditions(
            definition,
            kept_attributes(store, tenant, definition).await?,
        )?;
    }
    store.apply_processes(tenant, processes).await
}

/// Attributes that the flow has: they are kept, whether the definition names them or not.
async fn kept_attributes(
    store: &Store,
    tenant: &str,
    definition: &FlowDefinition,
) -> Result<Vec<(String, AttributeType)>, StoreError> {
    match store.flow(tenant, &definition.name).await {
        Ok(flow) => Ok(store.flow_shape(flow.flow_id).await?.attributes),
        Err(StoreError::NotFound { .. }) => Ok(Vec::new()),
        Err(other) => Err(other),
    }
}

fn conditions(
    definition: &FlowDefinition,
    mut attributes: Vec<(String, AttributeType)>,
) -> Result<(), StoreError> {
    for attribute in &definition.attributes {
        attributes.retain(|(name, _)| *name != attribute.name);
        attributes.push((attribute.name.clone(), attribute.kind.clone()));
    }
    let attributes = FlowAttributes::new(attributes);
    let conditions = definition.triggers.iter().map(|trigger| &trigger.when);
    for condition in conditions.chain(&definition.final_condition) {
        CheckedPredicate::parse(condition, &attributes)
            .map_err(|rejection| StoreError::Refused(Box::new(refusal(condition, rejection))))?;
    }
    Ok(())
}

/// What the guard says, as the database would say it.
fn refusal(condition: &str, rejection: Rejection) -> Refusal {
    let code = match rejection.code {
        RejectionCode::UnknownAttribute => "42703",
        RejectionCode::Syntax => "42601",
        RejectionCode::Type => "42804",
        _ => "WF011",
    };
    Refusal {
        code: code.to_owned(),
        message: format!("a condition is refused: {}", rejection.message),
        detail: None,
        hint: Some(rejection.hint).filter(|hint| !hint.is_empty()),
        place: Some(Place {
            fragment: condition.to_owned(),
            position: rejection.position,
        }),
    }
}

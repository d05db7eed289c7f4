//! A flow's definition, held against the guard before the database judges it: so that a condition is accepted by both
//! of them or not at all, whoever tries it.

use std::collections::HashSet;

use wedflow_guard::{CheckedPredicate, FlowAttributes, RefusalCode};
use wedflow_model::{AttributeType, FlowDefinition};
use wedflow_store::{
    Applied, CheckedCondition, Expected, Flow, FragmentPosition, Refusal, Rematched, Store, StoreError,
};

/// Makes a flow what a definition says ([`Store::apply`]), if the guard takes its conditions.
///
/// # Errors
/// [`StoreError::Refused`] with the place for a bad predicate, name, type or default.
pub async fn apply(store: &Store, tenant: &str, definition: &FlowDefinition) -> Result<Applied, StoreError> {
    let (applied, _) = apply_to(store, tenant, definition, &Expected::Anything).await?;
    Ok(applied)
}

/// Does the same if the flow is as the caller expects it; returns the tag of its definition, too ([`Store::apply_to`]).
///
/// # Errors
/// As [`apply`], and [`StoreError::Stale`].
pub async fn apply_to(
    store: &Store,
    tenant: &str,
    definition: &FlowDefinition,
    expected: &Expected,
) -> Result<(Applied, String), StoreError> {
    check(store, tenant, definition).await?;
    store.apply_to(tenant, definition, expected).await
}

/// Holds a definition's conditions against the guard.
///
/// # Errors
/// [`StoreError::Refused`] with the place of what the guard does not take.
pub async fn check(store: &Store, tenant: &str, definition: &FlowDefinition) -> Result<(), StoreError> {
    conditions(definition, kept_attributes(store, tenant, definition).await?)
}

/// Says what applying a definition would do, and which live instances would then fire what
/// ([`Store::preview_apply`]), if the guard takes its conditions. Changes nothing.
///
/// # Errors
/// As [`apply`].
pub async fn preview(
    store: &Store,
    tenant: &str,
    definition: &FlowDefinition,
) -> Result<(Applied, Vec<Rematched>), StoreError> {
    conditions(definition, kept_attributes(store, tenant, definition).await?)?;
    store.preview_apply(tenant, definition).await
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
        conditions(definition, kept_attributes(store, tenant, definition).await?)?;
    }
    store.apply_processes(tenant, processes).await
}

/// Refuses schedules whose pattern or zone is none, or never comes.
fn check_schedules(definition: &FlowDefinition) -> Result<(), StoreError> {
    let now = jiff::Timestamp::now().as_microsecond();
    for one in definition.schedules.iter().flatten() {
        let zone = one.zone.as_deref().unwrap_or("UTC");
        let wrong = match crate::schedule::next(&one.cron, zone, now) {
            Ok(Some(_)) => continue,
            Ok(None) => format!("\"{}\" names no day that ever comes", one.cron),
            Err(wrong) => wrong,
        };
        return Err(StoreError::refused(
            "WF044",
            format!("schedule {}: {wrong}", one.name),
            "For example: cron = \"0 9 * * MON-FRI\", zone = \"Europe/Berlin\".",
        ));
    }
    Ok(())
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

fn conditions(definition: &FlowDefinition, mut attributes: Vec<(String, AttributeType)>) -> Result<(), StoreError> {
    refuse_repeated(definition)?;
    check_schedules(definition)?;
    for attribute in &definition.attributes {
        attributes.retain(|(name, _)| *name != attribute.name);
        attributes.push((attribute.name.clone(), attribute.kind.clone()));
    }
    let attributes = FlowAttributes::new(attributes);
    let triggers = definition.triggers.iter();
    let conditions = triggers.map(|one| (format!("the condition of trigger {}", one.name), &one.when));
    let of_end = definition.final_condition.iter();
    let of_end = of_end.map(|condition| ("the final condition".to_owned(), condition));
    for (owner, condition) in conditions.chain(of_end) {
        CheckedPredicate::parse(condition, &attributes)
            .map_err(|refused| StoreError::Refused(Box::new(refusal(&owner, condition, refused))))?;
    }
    Ok(())
}

/// Refuses two attributes of one name as the database would, before a condition is judged by the wrong one of them.
fn refuse_repeated(definition: &FlowDefinition) -> Result<(), StoreError> {
    let mut names = HashSet::new();
    let repeated = (definition.attributes.iter()).find(|one| !names.insert(&one.name));
    match repeated {
        None => Ok(()),
        Some(attribute) => Err(StoreError::refused(
            "WF013",
            format!("the definition has more than one attribute \"{}\"", attribute.name),
            "Give each a name of its own.",
        )),
    }
}

/// Checks a condition over the attributes of a flow, for looking for instances.
///
/// # Errors
/// [`StoreError::Refused`] with the place of what the guard does not take.
pub async fn checked_condition(store: &Store, flow: &Flow, text: &str) -> Result<CheckedCondition, StoreError> {
    let shape = store.flow_shape(flow.flow_id).await?;
    let checked = CheckedPredicate::parse(text, &FlowAttributes::new(shape.attributes))
        .map_err(|refused| StoreError::Refused(Box::new(refusal("the condition", text, refused))))?;
    Ok(CheckedCondition::of_guard(checked.sql()))
}

/// Words a refusal of the guard as the database would.
fn refusal(owner: &str, condition: &str, refused: wedflow_guard::Refusal) -> Refusal {
    let code = match refused.code {
        RefusalCode::UnknownAttribute => "42703",
        RefusalCode::Syntax => "42601",
        RefusalCode::Type => "42804",
        _ => "WF011",
    };
    Refusal {
        code: code.to_owned(),
        message: format!("{owner} is refused: {}", refused.message),
        detail: None,
        hint: Some(refused.hint).filter(|hint| !hint.is_empty()),
        place: Some(FragmentPosition { fragment: condition.to_owned(), position: refused.position }),
    }
}

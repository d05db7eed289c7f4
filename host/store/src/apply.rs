//! Makes a flow what its definition says: attributes, triggers, bindings, versions.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value as Json;
use sqlx::{AssertSqlSafe, FromRow, PgConnection};
use wedflow_model::{FlowDefinition, FlowId, Numbering, TriggerDefinition, TriggerId, work_plan};

use crate::StoreError;

/// Effect of applying a definition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Applied {
    /// True if applying made the flow.
    pub created: bool,
    /// Attributes added.
    pub attributes_added: Vec<String>,
    /// Attributes whose default, type, numbering or openness changed.
    pub attributes_changed: Vec<String>,
    /// Attributes that the flow has and the definition does not name; they are left as they are.
    pub attributes_kept: Vec<String>,
    /// Triggers added.
    pub triggers_added: Vec<String>,
    /// Triggers changed.
    pub triggers_changed: Vec<String>,
    /// Triggers removed.
    pub triggers_removed: Vec<String>,
    /// Other settings that changed: `final`, `order`, `description`.
    pub settings_changed: Vec<String>,
    /// Transitions that were left to another component, or to one for the first time: `transition by component`.
    pub transitions_bound: Vec<String>,
    /// Transitions that are external workers' from now on.
    pub transitions_unbound: Vec<String>,
    /// Triggers that are disabled, and stay so.
    pub triggers_disabled: Vec<String>,
    /// Components that are bound but not uploaded; their transitions wait until they are.
    pub components_missing: Vec<String>,
    /// Parts of the definition that will not run, for a person.
    pub warnings: Vec<String>,
}

/// Makes a flow what its definition says, and reports what has changed. Creates the flow if it is missing; a flow
/// that is so already keeps its version.
pub(crate) async fn apply(
    connection: &mut PgConnection,
    tenant: &str,
    definition: &FlowDefinition,
) -> Result<Applied, StoreError> {
    crate::error::check_description(&definition.description)?;
    let mut applied = Applied::default();
    let (flow_id, schema) = find_or_create(connection, tenant, definition, &mut applied).await?;
    let before = present_definition(connection, flow_id).await?;
    sqlx::query("UPDATE wed.flow SET description = $2 WHERE flow_id = $1")
        .bind(flow_id)
        .bind(&definition.description)
        .execute(&mut *connection)
        .await?;

    // What is generated of a definition is made once, at its end.
    sqlx::query("SELECT set_config('wed.definition', 'whole', true)")
        .execute(&mut *connection)
        .await?;
    apply_attributes(connection, &schema, definition, &mut applied).await?;
    // A binding first, so that triggers find their components.
    report_bindings(connection, flow_id, definition, &mut applied).await?;
    replace_bindings(connection, flow_id, definition).await?;
    apply_triggers(connection, &schema, definition, &mut applied).await?;
    set_order_and_numbering(connection, flow_id, definition).await?;
    applied.components_missing = missing_components(connection, flow_id).await?;
    applied.triggers_disabled = disabled_triggers(connection, &schema, definition).await?;
    sqlx::query("SELECT set_config('wed.definition', '', true)")
        .execute(&mut *connection)
        .await?;
    sqlx::query("SELECT wed.update_components($1)")
        .bind(flow_id)
        .execute(&mut *connection)
        .await?;
    plan_work(connection, flow_id, definition).await?;
    let after = present_definition(connection, flow_id).await?;
    report_changes(&before, &after, &mut applied);
    if applied.created || after != before {
        sqlx::query("SELECT wed.compile($1)")
            .bind(flow_id)
            .execute(&mut *connection)
            .await?;
    }
    applied.warnings = binding_faults(connection, flow_id).await?;
    applied
        .warnings
        .extend(lint_texts(connection, flow_id).await?);
    Ok(applied)
}

/// Locks the flow of this definition, or creates it. Returns its number and its schema.
async fn find_or_create(
    connection: &mut PgConnection,
    tenant: &str,
    definition: &FlowDefinition,
    applied: &mut Applied,
) -> Result<(FlowId, String), StoreError> {
    let existing: Option<(FlowId, String)> = sqlx::query_as(
        "SELECT flow_id, schema_name FROM wed.flow JOIN wed.tenant t USING (tenant_id) \
         WHERE t.name = $1 AND flow.name = $2 FOR NO KEY UPDATE OF flow",
    )
    .bind(tenant)
    .bind(&definition.name)
    .fetch_optional(&mut *connection)
    .await?;
    if let Some(found) = existing {
        return Ok(found);
    }
    applied.created = true;
    let id = create_flow(
        connection,
        tenant,
        &definition.name,
        &definition.description,
    )
    .await?;
    let schema = sqlx::query_scalar("SELECT schema_name FROM wed.flow WHERE flow_id = $1")
        .bind(id)
        .fetch_one(&mut *connection)
        .await?;
    Ok((id, schema))
}

/// Returns the definition that the flow has now.
async fn present_definition(
    connection: &mut PgConnection,
    flow_id: FlowId,
) -> Result<Json, StoreError> {
    Ok(sqlx::query_scalar("SELECT wed.definition($1)")
        .bind(flow_id)
        .fetch_one(connection)
        .await?)
}

/// Reports the attributes and the settings of the flow that differ in two definitions of it.
fn report_changes(before: &Json, after: &Json, applied: &mut Applied) {
    let attributes = |of: &Json| of["attribute"].as_array().cloned().unwrap_or_default();
    let (old, new) = (attributes(before), attributes(after));
    for attribute in new {
        if let Some(known) = old.iter().find(|known| known["name"] == attribute["name"])
            && *known != attribute
        {
            let name = attribute["name"].as_str().unwrap_or_default();
            applied.attributes_changed.push(name.to_owned());
        }
    }
    if !applied.created {
        let changed = ["final", "order", "description"]
            .into_iter()
            .filter(|setting| before.get(setting) != after.get(setting));
        applied.settings_changed = changed.map(str::to_owned).collect();
    }
}

/// Reports the bindings that the definition adds or changes, and those that it removes.
async fn report_bindings(
    connection: &mut PgConnection,
    flow_id: FlowId,
    definition: &FlowDefinition,
    applied: &mut Applied,
) -> Result<(), StoreError> {
    let bound: Vec<(String, String)> = sqlx::query_as(
        "SELECT trname, component_name FROM wed.binding WHERE flow_id = $1 ORDER BY 1",
    )
    .bind(flow_id)
    .fetch_all(&mut *connection)
    .await?;
    for (transition, by) in &definition.transitions {
        if !bound.contains(&(transition.clone(), by.component.clone())) {
            let told = format!("{transition} by {}", by.component);
            applied.transitions_bound.push(told);
        }
    }
    for (transition, _) in bound {
        if !definition.transitions.contains_key(&transition) {
            applied.transitions_unbound.push(transition);
        }
    }
    Ok(())
}

/// Replaces the flow's bindings and grants by those of the definition.
async fn replace_bindings(
    connection: &mut PgConnection,
    flow_id: FlowId,
    definition: &FlowDefinition,
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM wed.binding WHERE flow_id = $1")
        .bind(flow_id)
        .execute(&mut *connection)
        .await?;
    sqlx::query("DELETE FROM wed.\"grant\" WHERE flow_id = $1")
        .bind(flow_id)
        .execute(&mut *connection)
        .await?;
    for (transition, by) in &definition.transitions {
        bind(connection, flow_id, transition, Some(&by.component)).await?;
        if by.files || !by.http.is_empty() {
            sqlx::query(
                "INSERT INTO wed.\"grant\" (flow_id, trname, files, http) VALUES ($1, $2, $3, $4)",
            )
            .bind(flow_id)
            .bind(transition)
            .bind(by.files)
            .bind(&by.http)
            .execute(&mut *connection)
            .await
            .map_err(|error| not_granted(error, transition))?;
        }
    }
    Ok(())
}

/// Sets the attribute that orders tasks, and how each attribute numbers new instances.
async fn set_order_and_numbering(
    connection: &mut PgConnection,
    flow_id: FlowId,
    definition: &FlowDefinition,
) -> Result<(), StoreError> {
    sqlx::query("SELECT wed.order_by_attribute($1, $2)")
        .bind(flow_id)
        .bind(&definition.order)
        .execute(&mut *connection)
        .await?;
    for attribute in &definition.attributes {
        sqlx::query("SELECT wed.set_numbering($1, $2, $3)")
            .bind(flow_id)
            .bind(&attribute.name)
            .bind(attribute.number.map(|kind| kind == Numbering::Gapless))
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// Lists the components that bindings of the flow name and that were never uploaded.
async fn missing_components(
    connection: &mut PgConnection,
    flow_id: FlowId,
) -> Result<Vec<String>, StoreError> {
    Ok(sqlx::query_scalar(
        "SELECT DISTINCT component_name FROM wed.binding b JOIN wed.flow f USING (flow_id) WHERE flow_id = $1 \
         AND NOT EXISTS (SELECT FROM wed.component c WHERE c.tenant_id = f.tenant_id AND c.name = b.component_name) \
         ORDER BY 1",
    )
    .bind(flow_id)
    .fetch_all(connection)
    .await?)
}

/// Lists the triggers that are disabled and of which the definition does not say so.
async fn disabled_triggers(
    connection: &mut PgConnection,
    schema: &str,
    definition: &FlowDefinition,
) -> Result<Vec<String>, StoreError> {
    let mut disabled: Vec<String> = sqlx::query_scalar(AssertSqlSafe(format!(
        "SELECT coalesce(tgname, tgid::text) FROM \"{schema}\".wed_trig WHERE NOT enabled ORDER BY 1"
    )))
    .persistent(false)
    .fetch_all(connection)
    .await?;
    disabled.retain(|name| {
        !(definition.triggers.iter())
            .any(|trigger| trigger.name == *name && trigger.enabled.is_some())
    });
    Ok(disabled)
}

/// Plans the people's work that a definition names; of a definition without any, forgets what an earlier one named.
async fn plan_work(
    connection: &mut PgConnection,
    flow_id: FlowId,
    definition: &FlowDefinition,
) -> Result<(), StoreError> {
    match work_plan(definition) {
        Some(plan) => {
            sqlx::query("SELECT wed.plan_work($1, $2)")
                .bind(flow_id)
                .bind(plan)
                .execute(connection)
                .await?;
        }
        None => {
            sqlx::query(
                "SELECT wed.plan_work($1, '{\"source\": \"definition\", \"tasks\": []}') FROM wed.work_plan \
                 WHERE flow_id = $1 AND plan ->> 'source' = 'definition' AND plan -> 'tasks' <> '[]'",
            )
            .bind(flow_id)
            .execute(connection)
            .await?;
        }
    }
    Ok(())
}

/// Names the trigger whose interval cannot be read.
fn of_trigger(error: sqlx::Error, trigger: &str) -> StoreError {
    let mut error = StoreError::from(error);
    if let StoreError::Refused(refusal) = &mut error
        && refusal.message.contains("type interval")
    {
        refusal.message = format!("trigger \"{trigger}\": {}", refusal.message);
        refusal.hint = Some(
            "Write timeout, backoff and delay as `10 minutes` or `1 hour 30 seconds`.".to_owned(),
        );
    }
    error
}

pub(crate) async fn binding_faults(
    connection: &mut PgConnection,
    flow_id: FlowId,
) -> Result<Vec<String>, StoreError> {
    Ok(sqlx::query_scalar("SELECT wed.binding_faults($1)")
        .bind(flow_id)
        .fetch_all(connection)
        .await?)
}

/// Certain findings of a look at a flow's definition, for a person.
async fn lint_texts(
    connection: &mut PgConnection,
    flow_id: FlowId,
) -> Result<Vec<String>, StoreError> {
    Ok(sqlx::query_scalar("SELECT wed.lint_texts($1)")
        .bind(flow_id)
        .fetch_all(connection)
        .await?)
}

/// Keeps a definition under the version that the flow has since it was applied; the first one of a version stays.
pub(crate) async fn keep_version(
    connection: &mut PgConnection,
    actor: &str,
    tenant: &str,
    definition: &FlowDefinition,
) -> Result<(), StoreError> {
    let document = serde_json::to_value(definition).unwrap_or_default();
    sqlx::query(
        "INSERT INTO wed.flow_version (flow_id, version, definition, actor) \
         SELECT f.flow_id, f.version, $3, $4 FROM wed.flow f JOIN wed.tenant t USING (tenant_id) \
         WHERE t.name = $1 AND f.name = $2 \
         ON CONFLICT (flow_id, version) DO NOTHING",
    )
    .bind(tenant)
    .bind(&definition.name)
    .bind(&document)
    .bind(actor)
    .execute(connection)
    .await?;
    Ok(())
}

/// Explains the error in a list of hosts and ports, for a person.
fn not_granted(error: sqlx::Error, transition: &str) -> StoreError {
    let mut error = StoreError::from(error);
    if let StoreError::Refused(refusal) = &mut error
        && refusal.code == "23514"
    {
        refusal.message = format!("`http` of the transition \"{transition}\" is not allowed");
        refusal.hint = Some(
            "Write at most 32 hosts with their ports, such as \"api.example.com:443\".".into(),
        );
        refusal.detail = None;
    }
    error
}

async fn apply_attributes(
    connection: &mut PgConnection,
    schema: &str,
    definition: &FlowDefinition,
    applied: &mut Applied,
) -> Result<(), StoreError> {
    let known: Vec<(String, String, Option<String>, bool)> = sqlx::query_as(AssertSqlSafe(
        format!("SELECT aname, atype, adv, open FROM \"{schema}\".wed_attr"),
    ))
    .persistent(false)
    .fetch_all(&mut *connection)
    .await?;
    let mut known: BTreeMap<String, (String, Option<String>, bool)> = known
        .into_iter()
        .map(|(name, kind, default, open)| (name, (kind, default, open)))
        .collect();
    for attribute in &definition.attributes {
        let kind = attribute.kind.to_string();
        match known.remove(&attribute.name) {
            None => {
                sqlx::query(AssertSqlSafe(format!(
                    "INSERT INTO \"{schema}\".wed_attr (aname, atype, adv, open) VALUES ($1, $2, $3, $4)"
                )))
                .persistent(false)
                .bind(&attribute.name)
                .bind(&kind)
                .bind(&attribute.default)
                .bind(attribute.open)
                .execute(&mut *connection)
                .await?;
                applied.attributes_added.push(attribute.name.clone());
            }
            Some(now) if now != (kind.clone(), attribute.default.clone(), attribute.open) => {
                sqlx::query(AssertSqlSafe(format!(
                    "UPDATE \"{schema}\".wed_attr SET atype = $2, adv = $3, open = $4 WHERE aname = $1"
                )))
                .persistent(false)
                .bind(&attribute.name)
                .bind(&kind)
                .bind(&attribute.default)
                .bind(attribute.open)
                .execute(&mut *connection)
                .await?;
            }
            Some(_) => {}
        }
    }
    applied.attributes_kept = known.into_keys().collect();
    Ok(())
}

/// A trigger that the flow has.
#[derive(FromRow)]
struct KnownTrigger {
    tgid: TriggerId,
    /// Empty for a trigger without a name.
    name: String,
    /// True for the flow's final condition.
    cfinal: bool,
}

/// Makes the flow's triggers and its final condition those of the definition.
async fn apply_triggers(
    connection: &mut PgConnection,
    schema: &str,
    definition: &FlowDefinition,
    applied: &mut Applied,
) -> Result<(), StoreError> {
    let known: Vec<KnownTrigger> = sqlx::query_as(AssertSqlSafe(format!(
        "SELECT tgid, coalesce(tgname, '') AS name, cfinal FROM \"{schema}\".wed_trig"
    )))
    .persistent(false)
    .fetch_all(&mut *connection)
    .await?;
    remove_triggers(connection, schema, &known, definition, applied).await?;
    for trigger in &definition.triggers {
        let tgid = known
            .iter()
            .rfind(|known| !known.cfinal && known.name == trigger.name)
            .map(|known| known.tgid);
        let is_changed = apply_trigger(connection, schema, tgid, trigger).await?;
        if tgid.is_none() {
            applied.triggers_added.push(trigger.name.clone());
        } else if is_changed {
            applied.triggers_changed.push(trigger.name.clone());
        }
    }
    // Afterwards, as a policy may name a trigger that follows in the definition.
    for trigger in &definition.triggers {
        set_policy(connection, schema, trigger).await?;
    }
    if let Some(condition) = &definition.final_condition {
        let tgid = known.iter().find(|known| known.cfinal);
        let tgid = tgid.map(|known| known.tgid);
        apply_final_condition(connection, schema, tgid, condition).await?;
    }
    Ok(())
}

/// Deletes the triggers, and the final condition, that the definition does not have.
async fn remove_triggers(
    connection: &mut PgConnection,
    schema: &str,
    known: &[KnownTrigger],
    definition: &FlowDefinition,
    applied: &mut Applied,
) -> Result<(), StoreError> {
    for trigger in known {
        let is_kept = if trigger.cfinal {
            definition.final_condition.is_some()
        } else {
            definition
                .triggers
                .iter()
                .any(|defined| defined.name == trigger.name)
        };
        if is_kept {
            continue;
        }
        sqlx::query(AssertSqlSafe(format!(
            "DELETE FROM \"{schema}\".wed_trig WHERE tgid = $1"
        )))
        .persistent(false)
        .bind(trigger.tgid)
        .execute(&mut *connection)
        .await?;
        applied.triggers_removed.push(trigger.name.clone());
    }
    Ok(())
}

/// Updates the trigger `tgid`, or inserts it if there is none. Returns true if a row was written.
async fn apply_trigger(
    connection: &mut PgConnection,
    schema: &str,
    tgid: Option<TriggerId>,
    trigger: &TriggerDefinition,
) -> Result<bool, StoreError> {
    let statement = match tgid {
        Some(_) => update_statement(schema),
        None => insert_statement(schema),
    };
    let done = sqlx::query(AssertSqlSafe(statement))
        .persistent(false)
        .bind(tgid)
        .bind(&trigger.name)
        .bind(&trigger.transition)
        .bind(&trigger.condition)
        .bind(&trigger.when)
        .bind(&trigger.timeout)
        .bind(trigger.attempts)
        .bind(&trigger.backoff)
        .bind(&trigger.delay)
        .bind(trigger.priority)
        .bind(trigger.recheck)
        .bind(&trigger.writes)
        .bind(&trigger.reserves)
        .bind(&trigger.quantity)
        .bind(&trigger.resource)
        .bind(&trigger.holds)
        .bind(trigger.consumes)
        .bind(&trigger.after)
        .bind(trigger.enabled)
        .execute(connection)
        .await
        .map_err(|error| of_trigger(error, &trigger.name))?;
    Ok(done.rows_affected() > 0)
}

/// Returns the statement that updates the trigger `$1`, unless it is the same already.
fn update_statement(schema: &str) -> String {
    format!(
        "UPDATE \"{schema}\".wed_trig SET tgname = $2, trname = $3, cname = $4, cpred = $5, timeout = $6::interval, \
         attempts = $7, backoff = $8::interval, delay = $9::interval, priority = $10, recheck = $11, writes = $12, \
         reserves = $13, quantity = $14, resource = $15, holds = $16, consumes = $17, after = $18, \
         enabled = coalesce($19, enabled) \
         WHERE tgid = $1 AND (trname, coalesce(cname, ''), cpred, timeout, attempts, backoff, delay, \
         priority, recheck, coalesce(writes, '{{}}'), \
         reserves, quantity, resource, holds, consumes, after, enabled) \
         IS DISTINCT FROM ($3, coalesce($4, ''), $5, coalesce($6::interval, '1 minute'), coalesce($7, 3), \
         coalesce($8::interval, '1 second'), \
         coalesce($9::interval, '0'), coalesce($10, 0), coalesce($11, true), coalesce($12, '{{}}'), \
         $13, $14, $15, $16, $17, $18, coalesce($19, enabled))"
    )
}

/// Returns the statement that inserts a trigger, with the parameters of [`update_statement`].
fn insert_statement(schema: &str) -> String {
    format!(
        "INSERT INTO \"{schema}\".wed_trig (tgid, tgname, trname, cname, cpred, timeout, attempts, backoff, \
         delay, priority, recheck, writes, \
         reserves, quantity, resource, holds, consumes, after, enabled) \
         VALUES ($1, $2, $3, $4, $5, $6::interval, $7, $8::interval, $9::interval, $10, $11, $12, $13, $14, \
         $15, $16, $17, $18, $19)"
    )
}

/// Sets the compensation and the deadline of a trigger.
async fn set_policy(
    connection: &mut PgConnection,
    schema: &str,
    trigger: &TriggerDefinition,
) -> Result<(), StoreError> {
    sqlx::query(AssertSqlSafe(format!(
        "SELECT wed.set_policy(g.flow_id, g.tgid, $2, $3::interval) \
         FROM \"{schema}\".wed_trig w JOIN wed.trigger g USING (tgid) WHERE w.tgname = $1"
    )))
    .persistent(false)
    .bind(&trigger.name)
    .bind(&trigger.compensation)
    .bind(&trigger.deadline)
    .execute(connection)
    .await?;
    Ok(())
}

/// Updates the final condition `tgid`, or inserts it if there is none.
async fn apply_final_condition(
    connection: &mut PgConnection,
    schema: &str,
    tgid: Option<TriggerId>,
    condition: &str,
) -> Result<(), StoreError> {
    let statement = match tgid {
        Some(_) => {
            format!("UPDATE \"{schema}\".wed_trig SET cpred = $2 WHERE tgid = $1 AND cpred <> $2")
        }
        None => {
            format!("INSERT INTO \"{schema}\".wed_trig (tgid, cpred, cfinal) VALUES ($1, $2, true)")
        }
    };
    sqlx::query(AssertSqlSafe(statement))
        .persistent(false)
        .bind(tgid)
        .bind(condition)
        .execute(connection)
        .await?;
    Ok(())
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
    connection: &mut PgConnection,
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
                    refusal.hint = Some(
                        "Choose another name, or change that one with `wed flow apply`.".into(),
                    );
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
    connection: &mut PgConnection,
    flow_id: FlowId,
    transition: &str,
    component: Option<&str>,
) -> Result<(), StoreError> {
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

//! Flows: attributes, triggers, bindings, and a flow's own door to the database.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;
use sqlx::{AssertSqlSafe, FromRow, PgConnection};
use wedflow_model::{AttributeType, FlowDefinition, FlowId, Numbering, TriggerId, Wid, work_plan};

use crate::audit::{note, note_flow};
use crate::{Store, StoreError};

/// How long who removes a flow waits for its history to be gone too.
pub(crate) const RESIDUE_WAIT: Duration = Duration::from_secs(5);

/// A flow, as listed.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Flow {
    /// Its number, unique in the database.
    pub flow_id: FlowId,
    /// Its name, unique in its tenant.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Raised by every change of its definition.
    pub version: i32,
    /// Instances that are neither final nor exceptions.
    pub regular: i64,
    /// Instances that are final.
    pub r#final: i64,
    /// Instances that are exceptions.
    pub exception: i64,
    /// Pending jobs.
    pub jobs: i64,
    #[serde(skip)]
    pub(crate) schema_name: String,
}

/// What a host must know of a flow to bind components to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowShape {
    /// The flow's number.
    pub flow_id: FlowId,
    /// The flow's name.
    pub name: String,
    /// The name of its tenant.
    pub tenant: String,
    /// The version this describes.
    pub version: i32,
    /// Whether its tenant is suspended: nothing of it is to be run. A suspension changes the version.
    pub suspended: bool,
    /// The schema of its own part of the gate.
    pub gate: String,
    /// Its attributes in the order of the columns.
    pub attributes: Vec<(String, AttributeType)>,
}

/// A trigger, as listed.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Trigger {
    /// Its number, unique in the database.
    pub tgid: TriggerId,
    /// Its name.
    pub tgname: Option<String>,
    /// Whether it is evaluated.
    pub enabled: bool,
    /// The transition it fires; none for the final condition.
    pub trname: Option<String>,
    /// The condition's name.
    pub cname: Option<String>,
    /// The condition.
    pub cpred: String,
    /// Whether it is the final condition.
    pub cfinal: bool,
    /// Time limit of an attempt, in Postgres's notation.
    pub timeout: String,
    /// The component bound to the transition; none: left to external workers.
    pub component: Option<String>,
}

/// What applying a definition did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Applied {
    /// Whether the flow was made by it.
    pub created: bool,
    /// Attributes added.
    pub attributes_added: Vec<String>,
    /// Attributes that the flow has and the definition does not name; they are left as they are.
    pub attributes_kept: Vec<String>,
    /// Triggers added.
    pub triggers_added: Vec<String>,
    /// Triggers changed.
    pub triggers_changed: Vec<String>,
    /// Triggers removed.
    pub triggers_removed: Vec<String>,
    /// Transitions that were left to another component, or to one for the first time: `transition by component`.
    pub transitions_bound: Vec<String>,
    /// Transitions that are external workers' from now on.
    pub transitions_unbound: Vec<String>,
    /// Triggers that are disabled, and stay so.
    pub triggers_disabled: Vec<String>,
    /// Components that are bound but not uploaded; their transitions wait until they are.
    pub components_missing: Vec<String>,
    /// What of the definition will not run, for a person.
    pub warnings: Vec<String>,
}

impl Store {
    /// Makes an empty flow.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the name is taken or not allowed, or the tenant is missing.
    pub async fn create_flow(
        &self,
        tenant: &str,
        name: &str,
        description: &str,
    ) -> Result<FlowId, StoreError> {
        crate::error::check_description(description)?;
        let mut transaction = self.pool.begin().await?;
        let flow_id = create_flow(&mut transaction, tenant, name, description).await?;
        note(
            &mut transaction,
            &self.actor,
            Some(tenant),
            "flow.create",
            name,
            serde_json::Value::Null,
        )
        .await?;
        transaction.commit().await?;
        Ok(flow_id)
    }

    /// The flow of that name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn flow(&self, tenant: &str, name: &str) -> Result<Flow, StoreError> {
        self.flows_where(tenant, Some(name))
            .await?
            .pop()
            .ok_or_else(|| StoreError::not_found("flow", name))
    }

    /// The tenant's flows, by name.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn flows(&self, tenant: &str) -> Result<Vec<Flow>, StoreError> {
        self.flows_where(tenant, None).await
    }

    async fn flows_where(&self, tenant: &str, name: Option<&str>) -> Result<Vec<Flow>, StoreError> {
        Ok(sqlx::query_as(include_str!("../sql/flows.sql"))
            .bind(tenant)
            .bind(name)
            .fetch_all(&self.pool)
            .await?)
    }

    /// Removes a flow with everything of it: instances, history, its role. What of a large one's history is
    /// not gone after some seconds is removed by the hosts, step by step; nobody sees it any more.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Refused`] while sessions of its role are connected.
    pub async fn drop_flow(&self, tenant: &str, name: &str) -> Result<(), StoreError> {
        let flow = self.flow(tenant, name).await?;
        let mut transaction = self.pool.begin().await?;
        let counts = serde_json::json!({
            "regular": flow.regular, "final": flow.r#final, "exception": flow.exception,
        });
        note(
            &mut transaction,
            &self.actor,
            Some(tenant),
            "flow.delete",
            name,
            counts,
        )
        .await?;
        sqlx::query("SELECT wed.drop_flow($1)")
            .bind(flow.flow_id)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        self.remove_residue(RESIDUE_WAIT).await
    }

    /// Removes what removed flows have left, a thousand instances at a time, for about so long.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn remove_residue(&self, most: Duration) -> Result<(), StoreError> {
        let until = Instant::now() + most;
        while sqlx::query_scalar("SELECT wed.remove_residue(1000)")
            .fetch_one(&self.pool)
            .await?
            && Instant::now() < until
        {}
        Ok(())
    }

    /// A Postgres URI whose session sees exactly this flow's tables, with this flow's rights.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn flow_url(&self, tenant: &str, name: &str) -> Result<String, StoreError> {
        let (role, password): (String, String) = sqlx::query_as(
            "SELECT role_name, role_password FROM wed.flow JOIN wed.tenant t USING (tenant_id) WHERE t.name = $1 AND flow.name = $2",
        )
        .bind(tenant)
        .bind(name)
        .fetch_optional(&self.pool)
        .await?
        .ok_or_else(|| StoreError::not_found("flow", name))?;
        let (host, port, database) = self.place();
        Ok(match self.options.get_socket() {
            // A socket's folder goes into the query part.
            Some(folder) => format!(
                "postgresql://{role}:{password}@/{}?host={}&port={port}",
                escaped(&database),
                escaped(&folder.to_string_lossy())
            ),
            None if host.starts_with('/') => {
                format!(
                    "postgresql://{role}:{password}@/{}?host={}&port={port}",
                    escaped(&database),
                    escaped(&host)
                )
            }
            None => format!(
                "postgresql://{role}:{password}@{host}:{port}/{}",
                escaped(&database)
            ),
        })
    }

    /// A flow's attributes as a host needs them.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when it was dropped meanwhile.
    pub async fn flow_shape(&self, flow_id: FlowId) -> Result<FlowShape, StoreError> {
        let mut transaction = self.pool.begin().await?;
        let (name, tenant, version, suspended, schema, gate): (String, String, i32, bool, String, String) = sqlx::query_as(
            "SELECT f.name, t.name, f.version, t.suspended_at IS NOT NULL, f.schema_name, f.shape_schema \
             FROM wed.flow f JOIN wed.tenant t USING (tenant_id) WHERE f.flow_id = $1 FOR KEY SHARE OF f",
        )
        .bind(flow_id)
        .fetch_optional(&mut *transaction)
        .await?
        .ok_or_else(|| StoreError::not_found("flow", flow_id))?;
        let rows: Vec<(String, String)> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT w.aname, w.atype FROM \"{schema}\".wed_attr w JOIN pg_attribute a ON a.attname = w.aname \
             WHERE a.attrelid = '\"{schema}\".wed_flow'::regclass ORDER BY a.attnum"
        )))
        .persistent(false)
        .fetch_all(&mut *transaction)
        .await?;
        let attributes = rows
            .into_iter()
            .map(|(name, kind)| {
                kind.parse()
                    .map(|kind| (name, kind))
                    .map_err(|error: wedflow_model::ValueError| {
                        StoreError::Other(sqlx::Error::Decode(Box::new(error)))
                    })
            })
            .collect::<Result<_, _>>()?;
        Ok(FlowShape {
            flow_id,
            name,
            tenant,
            version,
            suspended,
            gate,
            attributes,
        })
    }

    /// A flow's triggers, in order, with the final condition.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn triggers(&self, flow: &Flow) -> Result<Vec<Trigger>, StoreError> {
        Ok(sqlx::query_as(AssertSqlSafe(format!(
            "SELECT w.tgid, w.tgname, w.enabled, w.trname, w.cname, w.cpred, w.cfinal, w.timeout::text, b.component_name AS component \
             FROM \"{}\".wed_trig w LEFT JOIN wed.binding b ON b.flow_id = $1 AND b.trname = w.trname ORDER BY w.tgid",
            flow.schema_name
        )))
        .persistent(false)
        .bind(flow.flow_id)
        .fetch_all(&self.pool)
        .await?)
    }

    /// Makes a flow what a definition says, in one transaction: the flow if it is missing, attributes,
    /// triggers (by name), the final condition, bindings. Attributes are never dropped by it, because
    /// their values would be lost.
    ///
    /// # Errors
    /// [`StoreError::Refused`] with the place for a bad predicate, name, type or default.
    pub async fn apply(
        &self,
        tenant: &str,
        definition: &FlowDefinition,
    ) -> Result<Applied, StoreError> {
        // A session holds each change of a definition against every plan it keeps, and those that work keep
        // plans for each flow: definitions get a session of their own.
        let mut connection = self.pool.acquire().await?.detach();
        let mut transaction = sqlx::Connection::begin(&mut connection).await?;
        let applied = apply(&mut transaction, tenant, definition).await?;
        keep_version(&mut transaction, &self.actor, tenant, definition).await?;
        note(
            &mut transaction,
            &self.actor,
            Some(tenant),
            "flow.apply",
            &definition.name,
            serde_json::to_value(&applied).unwrap_or_default(),
        )
        .await?;
        transaction.commit().await?;
        Ok(applied)
    }

    /// Applies the flows of processes with their plans of work, all in one transaction.
    ///
    /// # Errors
    /// As [`Store::apply`], and [`StoreError::Refused`] for a plan that does not fit its flow.
    pub async fn apply_processes(
        &self,
        tenant: &str,
        processes: &[(FlowDefinition, serde_json::Value)],
    ) -> Result<Vec<Applied>, StoreError> {
        let mut connection = self.pool.acquire().await?.detach();
        let mut transaction = sqlx::Connection::begin(&mut connection).await?;
        let mut all = Vec::new();
        for (definition, plan) in processes {
            let applied = apply(&mut transaction, tenant, definition).await?;
            keep_version(&mut transaction, &self.actor, tenant, definition).await?;
            sqlx::query(
                "SELECT wed.plan_work(f.flow_id, $3) FROM wed.flow f JOIN wed.tenant t USING (tenant_id) \
                 WHERE t.name = $1 AND f.name = $2",
            )
            .bind(tenant)
            .bind(&definition.name)
            .bind(plan)
            .execute(&mut *transaction)
            .await?;
            note(
                &mut transaction,
                &self.actor,
                Some(tenant),
                "flow.apply",
                &definition.name,
                serde_json::to_value(&applied).unwrap_or_default(),
            )
            .await?;
            all.push(applied);
        }
        transaction.commit().await?;
        Ok(all)
    }

    /// Names of the roles that people of a tenant have.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn roles_of_people(&self, tenant: &str) -> Result<Vec<String>, StoreError> {
        Ok(sqlx::query_scalar(
            "SELECT DISTINCT r.name FROM wed.role_of_people r JOIN wed.membership USING (role_id) \
             JOIN wed.tenant t USING (tenant_id) WHERE t.name = $1 ORDER BY 1 LIMIT 1000",
        )
        .bind(tenant)
        .fetch_all(&self.pool)
        .await?)
    }

    /// Leaves a transition of a flow to a component of its tenant, or, with none, to external workers.
    ///
    /// # Errors
    /// Only those of the connection; the component need not exist yet.
    pub async fn bind(
        &self,
        flow_id: FlowId,
        transition: &str,
        component: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut transaction = self.pool.begin().await?;
        bind(&mut transaction, flow_id, transition, component).await?;
        sqlx::query("SELECT wed.resolve_bindings($1)")
            .bind(flow_id)
            .execute(&mut *transaction)
            .await?;
        note_flow(
            &mut transaction,
            &self.actor,
            flow_id,
            "flow.bind",
            Some(transition),
            serde_json::json!({ "component": component }),
        )
        .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// What of a flow's definition will not run, for a person: components that were not uploaded or do not fit.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn flow_warnings(&self, flow_id: FlowId) -> Result<Vec<String>, StoreError> {
        let mut connection = self.pool.acquire().await?;
        binding_faults(&mut connection, flow_id).await
    }

    /// After a change of the model: which live instances would fire what; without `preview`, fires it.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn rematch(
        &self,
        flow_id: FlowId,
        preview: bool,
    ) -> Result<Vec<(Wid, Vec<String>, String)>, StoreError> {
        let mut transaction = self.pool.begin().await?;
        let rows: Vec<_> = sqlx::query_as("SELECT wid, fires, becomes FROM wed.rematch($1, $2)")
            .bind(flow_id)
            .bind(preview)
            .fetch_all(&mut *transaction)
            .await?;
        if !preview {
            note_flow(
                &mut transaction,
                &self.actor,
                flow_id,
                "flow.rematch",
                None,
                serde_json::json!({ "instances": rows.len() }),
            )
            .await?;
        }
        transaction.commit().await?;
        Ok(rows)
    }
}

async fn create_flow(
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

async fn bind(
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

pub(crate) async fn apply(
    connection: &mut PgConnection,
    tenant: &str,
    definition: &FlowDefinition,
) -> Result<Applied, StoreError> {
    crate::error::check_description(&definition.description)?;
    let mut applied = Applied::default();
    let existing: Option<(FlowId, String)> = sqlx::query_as(
        "SELECT flow_id, schema_name FROM wed.flow JOIN wed.tenant t USING (tenant_id) \
         WHERE t.name = $1 AND flow.name = $2 FOR NO KEY UPDATE OF flow",
    )
    .bind(tenant)
    .bind(&definition.name)
    .fetch_optional(&mut *connection)
    .await?;
    let (flow_id, schema) = match existing {
        Some(found) => found,
        None => {
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
            (id, schema)
        }
    };
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
    // A binding first, so that triggers find their components.
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

    apply_triggers(connection, &schema, definition, &mut applied).await?;
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
    applied.components_missing = sqlx::query_scalar(
        "SELECT DISTINCT component_name FROM wed.binding b JOIN wed.flow f USING (flow_id) WHERE flow_id = $1 \
         AND NOT EXISTS (SELECT FROM wed.component c WHERE c.tenant_id = f.tenant_id AND c.name = b.component_name) \
         ORDER BY 1",
    )
    .bind(flow_id)
    .fetch_all(&mut *connection)
    .await?;
    applied.triggers_disabled = sqlx::query_scalar(AssertSqlSafe(format!(
        "SELECT coalesce(tgname, tgid::text) FROM \"{schema}\".wed_trig WHERE NOT enabled ORDER BY 1"
    )))
    .persistent(false)
    .fetch_all(&mut *connection)
    .await?;
    sqlx::query("SELECT set_config('wed.definition', '', true)")
        .execute(&mut *connection)
        .await?;
    sqlx::query("SELECT wed.resolve_bindings($1)")
        .bind(flow_id)
        .execute(&mut *connection)
        .await?;
    plan_work(connection, flow_id, definition).await?;
    applied.warnings = binding_faults(connection, flow_id).await?;
    applied
        .warnings
        .extend(lint_texts(connection, flow_id).await?);
    Ok(applied)
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

/// What of a flow's definition will not run, for a person.
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

async fn binding_faults(
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

/// Keeps a definition under the version that the flow has since it was applied.
async fn keep_version(
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
         ON CONFLICT (flow_id, version) DO UPDATE SET definition = excluded.definition, actor = excluded.actor",
    )
    .bind(tenant)
    .bind(&definition.name)
    .bind(&document)
    .bind(actor)
    .execute(connection)
    .await?;
    Ok(())
}

/// What is wrong with a list of hosts and ports, for a person.
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

async fn apply_triggers(
    connection: &mut PgConnection,
    schema: &str,
    definition: &FlowDefinition,
    applied: &mut Applied,
) -> Result<(), StoreError> {
    let known: Vec<(TriggerId, String, bool)> = sqlx::query_as(AssertSqlSafe(format!(
        "SELECT tgid, coalesce(tgname, ''), cfinal FROM \"{schema}\".wed_trig"
    )))
    .persistent(false)
    .fetch_all(&mut *connection)
    .await?;
    let named: BTreeMap<&str, TriggerId> = known
        .iter()
        .filter(|row| !row.2)
        .map(|row| (row.1.as_str(), row.0))
        .collect();
    let finals = known.iter().find(|row| row.2).map(|row| row.0);

    for (tgid, name, cfinal) in &known {
        let kept = if *cfinal {
            definition.final_condition.is_some()
        } else {
            definition
                .triggers
                .iter()
                .any(|trigger| trigger.name == *name)
        };
        if !kept {
            sqlx::query(AssertSqlSafe(format!(
                "DELETE FROM \"{schema}\".wed_trig WHERE tgid = $1"
            )))
            .persistent(false)
            .bind(tgid)
            .execute(&mut *connection)
            .await?;
            applied.triggers_removed.push(name.clone());
        }
    }
    for trigger in &definition.triggers {
        let statement = match named.get(trigger.name.as_str()) {
            Some(_) => format!(
                "UPDATE \"{schema}\".wed_trig SET tgname = $2, trname = $3, cname = $4, cpred = $5, timeout = $6::interval, \
                 attempts = $7, backoff = $8::interval, delay = $9::interval, priority = $10, recheck = $11, writes = $12, \
                 reserves = $13, quantity = $14, resource = $15, holds = $16, consumes = $17, after = $18 \
                 WHERE tgid = $1 AND (trname, coalesce(cname, ''), cpred, timeout, attempts, backoff, delay, priority, recheck, coalesce(writes, '{{}}'), \
                 reserves, quantity, resource, holds, consumes, after) \
                 IS DISTINCT FROM ($3, coalesce($4, ''), $5, coalesce($6::interval, '1 minute'), coalesce($7, 3), coalesce($8::interval, '1 second'), \
                 coalesce($9::interval, '0'), coalesce($10, 0), coalesce($11, true), coalesce($12, '{{}}'), \
                 $13, $14, $15, $16, $17, $18)"
            ),
            None => format!(
                "INSERT INTO \"{schema}\".wed_trig (tgid, tgname, trname, cname, cpred, timeout, attempts, backoff, delay, priority, recheck, writes, \
                 reserves, quantity, resource, holds, consumes, after) \
                 VALUES ($1, $2, $3, $4, $5, $6::interval, $7, $8::interval, $9::interval, $10, $11, $12, $13, $14, $15, $16, $17, $18)"
            ),
        };
        let done = sqlx::query(AssertSqlSafe(statement))
            .persistent(false)
            .bind(named.get(trigger.name.as_str()))
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
            .execute(&mut *connection)
            .await
            .map_err(|error| of_trigger(error, &trigger.name))?;
        if !named.contains_key(trigger.name.as_str()) {
            applied.triggers_added.push(trigger.name.clone());
        } else if done.rows_affected() > 0 {
            applied.triggers_changed.push(trigger.name.clone());
        }
    }
    for trigger in &definition.triggers {
        sqlx::query(AssertSqlSafe(format!(
            "SELECT wed.set_policy(g.flow_id, g.tgid, $2, $3::interval) \
             FROM \"{schema}\".wed_trig w JOIN wed.trigger g USING (tgid) WHERE w.tgname = $1"
        )))
        .persistent(false)
        .bind(&trigger.name)
        .bind(&trigger.compensation)
        .bind(&trigger.deadline)
        .execute(&mut *connection)
        .await?;
    }
    if let Some(condition) = &definition.final_condition {
        let statement = match finals {
            Some(_) => {
                format!(
                    "UPDATE \"{schema}\".wed_trig SET cpred = $2 WHERE tgid = $1 AND cpred <> $2"
                )
            }
            None => format!(
                "INSERT INTO \"{schema}\".wed_trig (tgid, cpred, cfinal) VALUES ($1, $2, true)"
            ),
        };
        sqlx::query(AssertSqlSafe(statement))
            .persistent(false)
            .bind(finals)
            .bind(condition)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// Percent-encodes what may not stand in a URI as it is.
fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
        out
    })
}

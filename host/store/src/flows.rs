//! Flows: attributes, triggers, bindings, and a flow's own door to the database.

use std::time::{Duration, Instant};

use crate::Session;
use sqlx::{AssertSqlSafe, FromRow, Row};
use wedflow_documents::{FlowSummary, Trigger};
use wedflow_model::{AttributeType, FlowDefinition, FlowId};

use crate::apply::{apply, bind, binding_faults, create_flow, escaped};
use crate::audit::note;
use crate::statements::statements;
use crate::{Applied, Store, StoreError};

/// Maximum wait, while a flow is removed, for its history to be removed too.
pub(crate) const RESIDUE_WAIT: Duration = Duration::from_secs(5);

/// A flow, found by its name.
#[derive(Debug, Clone, FromRow)]
pub struct Flow {
    /// Number, unique in the database.
    pub flow_id: FlowId,
    /// Name, unique in its tenant.
    pub name: String,
    pub(crate) schema_name: String,
}

/// Parts of a flow that a host must know to bind components to it.
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
    /// The version in which an attribute got another name or type or was removed: jobs and results of older ones are
    /// out of date.
    pub attributes_version: i32,
    /// True when the tenant is suspended: none of its jobs is run. A suspension changes the version.
    pub suspended: bool,
    /// The schema of its own part of the gate.
    pub gate: String,
    /// Attributes in the order of the columns.
    pub attributes: Vec<(String, AttributeType)>,
}

/// A flow that a caller expects to find before it is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// Whatever there is.
    Anything,
    /// No flow of the name.
    Nothing,
    /// A flow of the name.
    Some,
    /// A flow whose definition has one of these tags.
    Tags(Vec<String>),
}

/// Names of flows that a name without a flow is compared with at most.
const NAMES_COMPARED_MAX: i64 = 1_000;

/// Least likeness of a name that is suggested for another.
const LIKENESS_MIN: f64 = 0.85;

statements! {
    /// Returns true if a transition of a flow is left to a component, uploaded or not.
    pub is_bound(&self, flow_id: FlowId, transition: &str) -> bool
        = one "SELECT EXISTS (SELECT FROM wed.binding WHERE flow_id = $1 AND trname = $2)", flow_id, transition;

    /// Lists the parts of a tenant's flows that do not fit a component that they bind, for a person.
    pub component_warnings(&self, tenant: &str, component: &str) -> Vec<String>
        = all "SELECT wed.component_faults($1, $2)", tenant, component;
}

impl Store {
    /// Makes an empty flow.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the name is taken or not allowed, or the tenant is missing.
    pub async fn create_flow(&self, tenant: &str, name: &str, description: &str) -> Result<FlowId, StoreError> {
        crate::error::check_description(description)?;
        let mut transaction = self.begin().await?;
        let flow_id = create_flow(&mut transaction, tenant, name, description).await?;
        self.commit_noted(transaction, tenant, "flow.create", name, serde_json::Value::Null).await?;
        Ok(flow_id)
    }

    /// Finds the flow of that name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn flow(&self, tenant: &str, name: &str) -> Result<Flow, StoreError> {
        let flow = sqlx::query_as(
            "SELECT f.flow_id, f.name, f.schema_name FROM wed.flow f JOIN wed.tenant t USING (tenant_id) \
             WHERE t.name = $1 AND f.name = $2",
        )
        .bind(tenant)
        .bind(name)
        .fetch_optional(&self.pool)
        .await?;
        match flow {
            Some(flow) => Ok(flow),
            None => Err(StoreError::NotFound {
                kind: "flow",
                name: name.to_owned(),
                similar: self.similar_flow(tenant, name).await?,
            }),
        }
    }

    /// Finds the flow whose name is most like one that no flow has.
    async fn similar_flow(&self, tenant: &str, name: &str) -> Result<Option<String>, StoreError> {
        let names: Vec<String> = sqlx::query_scalar(
            "SELECT f.name FROM wed.flow f JOIN wed.tenant t USING (tenant_id) WHERE t.name = $1 ORDER BY 1 LIMIT $2",
        )
        .bind(tenant)
        .bind(NAMES_COMPARED_MAX)
        .fetch_all(&self.pool)
        .await?;
        let likeness = |other: &String| strsim::jaro_winkler(name, other);
        let nearest = names.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        Ok(nearest.filter(|one| likeness(one) >= LIKENESS_MIN))
    }

    /// Counts the instances and jobs of a flow.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn counted_flow(&self, tenant: &str, name: &str) -> Result<FlowSummary, StoreError> {
        let found = self.flows_where(tenant, Some(name)).await?.pop();
        found.ok_or_else(|| StoreError::not_found("flow", name))
    }

    /// Lists the tenant's flows by name, with their instances and jobs counted.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn flows(&self, tenant: &str) -> Result<Vec<FlowSummary>, StoreError> {
        self.flows_where(tenant, None).await
    }

    async fn flows_where(&self, tenant: &str, name: Option<&str>) -> Result<Vec<FlowSummary>, StoreError> {
        Ok(sqlx::query_as(include_str!("../sql/flows.sql")).bind(tenant).bind(name).fetch_all(&self.pool).await?)
    }

    /// Removes a flow with everything of it: instances, history, its role. What of a large one's history is
    /// not gone after some seconds is removed by the hosts, step by step; nobody sees it any more.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Refused`] while sessions of its role are connected.
    pub async fn drop_flow(&self, tenant: &str, name: &str) -> Result<(), StoreError> {
        self.drop_flow_if(tenant, name, &Expected::Anything).await
    }

    /// Does the same if the flow's definition is as the caller expects it.
    ///
    /// # Errors
    /// As [`Store::drop_flow`], and [`StoreError::Stale`].
    pub async fn drop_flow_if(&self, tenant: &str, name: &str, expected: &Expected) -> Result<(), StoreError> {
        let flow = self.flow(tenant, name).await?;
        let held = self.counted_flow(tenant, name).await?;
        let mut transaction = self.begin().await?;
        expect(&mut transaction, tenant, name, expected).await?;
        let counts = serde_json::json!({
            "regular": held.regular, "final": held.r#final, "exception": held.exception, "estimated": held.estimated,
        });
        note(&mut transaction, &self.actor, Some(tenant), "flow.delete", name, counts).await?;
        sqlx::query("SELECT wed.drop_flow($1)").bind(flow.flow_id).execute(&mut *transaction).await?;
        transaction.commit().await?;
        self.remove_residue(RESIDUE_WAIT).await
    }

    /// Removes what removed flows have left, a thousand instances at a time, for about so long.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn remove_residue(&self, most: Duration) -> Result<(), StoreError> {
        let until = Instant::now() + most;
        while sqlx::query_scalar("SELECT wed.remove_residue(1000)").fetch_one(&self.pool).await?
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
            "SELECT role_name, role_password FROM wed.flow JOIN wed.tenant t USING (tenant_id) WHERE t.name = $1 \
             AND flow.name = $2",
        )
        .bind(tenant)
        .bind(name)
        .fetch_optional(&self.pool)
        .await?
        .ok_or_else(|| StoreError::not_found("flow", name))?;
        let (host, port, database) = self.place();
        let servers = self.servers.authority(&self.options);
        Ok(match self.options.get_socket() {
            // A socket's folder goes into the query part.
            Some(folder) => format!(
                "postgresql://{role}:{password}@/{}?host={}&port={port}",
                escaped(&database),
                escaped(&folder.to_string_lossy())
            ),
            None if host.starts_with('/') => {
                format!("postgresql://{role}:{password}@/{}?host={}&port={port}", escaped(&database), escaped(&host))
            }
            None => format!("postgresql://{role}:{password}@{servers}/{}", escaped(&database)),
        })
    }

    /// A flow's attributes as a host needs them.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when it was dropped meanwhile.
    pub async fn flow_shape(&self, flow_id: FlowId) -> Result<FlowShape, StoreError> {
        // In one statement, so of one version; nothing of it is the tenant's, who could lock it.
        let row = sqlx::query(
            "SELECT f.name, t.name, f.version, f.attributes_version, t.suspended_at IS NOT NULL, f.shape_schema, \
               a.names, a.types \
             FROM wed.flow f JOIN wed.tenant t USING (tenant_id) \
             CROSS JOIN LATERAL (SELECT coalesce(array_agg(aname ORDER BY attnum), '{}') AS names, \
               coalesce(array_agg(atype ORDER BY attnum), '{}') AS types \
             FROM wed.attribute WHERE flow_id = f.flow_id) a \
             WHERE f.flow_id = $1",
        )
        .bind(flow_id)
        .fetch_optional(&self.pool)
        .await?
        .ok_or_else(|| StoreError::not_found("flow", flow_id))?;
        let (names, types): (Vec<String>, Vec<String>) = (row.try_get(6)?, row.try_get(7)?);
        let attributes = names
            .into_iter()
            .zip(types)
            .map(|(name, kind)| {
                kind.parse()
                    .map(|kind| (name, kind))
                    .map_err(|error: wedflow_model::ValueError| StoreError::Other(sqlx::Error::Decode(Box::new(error))))
            })
            .collect::<Result<_, _>>()?;
        Ok(FlowShape {
            flow_id,
            name: row.try_get(0)?,
            tenant: row.try_get(1)?,
            version: row.try_get(2)?,
            attributes_version: row.try_get(3)?,
            suspended: row.try_get(4)?,
            gate: row.try_get(5)?,
            attributes,
        })
    }

    /// A flow's triggers, in order, with the final condition.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn triggers(&self, flow: &Flow) -> Result<Vec<Trigger>, StoreError> {
        Ok(sqlx::query_as(AssertSqlSafe(format!(
            "SELECT w.tgname AS name, w.enabled, w.trname AS transition, w.cname AS condition, w.cpred AS \"when\", \
               w.cfinal AS final, w.timeout::text, b.component_name AS component \
             FROM \"{}\".wed_trig w LEFT JOIN wed.binding b ON b.flow_id = $1 AND b.trname = w.trname ORDER BY w.tgid",
            flow.schema_name
        )))
        .persistent(false)
        .bind(flow.flow_id)
        .fetch_all(&self.pool)
        .await?)
    }

    /// Reads a flow's present definition, whoever made it, and its tag.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn definition(&self, flow_id: FlowId) -> Result<(serde_json::Value, String), StoreError> {
        let mut connection = self.pool.acquire().await?;
        tagged_definition(&mut connection, flow_id).await
    }

    /// Makes a flow what a definition says, in one transaction: the flow if it is missing, attributes,
    /// triggers (by name), the final condition, bindings. Attributes are never dropped by it, because
    /// their values would be lost.
    ///
    /// # Errors
    /// [`StoreError::Refused`] with the place for a bad predicate, name, type or default.
    pub async fn apply(&self, tenant: &str, definition: &FlowDefinition) -> Result<Applied, StoreError> {
        let (applied, _) = self.apply_to(tenant, definition, &Expected::Anything).await?;
        Ok(applied)
    }

    /// Does what [`Store::apply`] does if the flow is as the caller expects it. Returns the tag of the definition that
    /// it has then, too.
    ///
    /// # Errors
    /// As [`Store::apply`]; [`StoreError::Stale`] when it is not.
    pub async fn apply_to(
        &self,
        tenant: &str,
        definition: &FlowDefinition,
        expected: &Expected,
    ) -> Result<(Applied, String), StoreError> {
        // A session holds each change of a definition against every plan it keeps, and those that work keep
        // plans for each flow: definitions get a session of their own.
        let mut transaction = self.begin_alone().await?;
        expect(&mut transaction, tenant, &definition.name, expected).await?;
        let applied = apply(&mut transaction, &self.actor, tenant, definition).await?;
        note(
            &mut transaction,
            &self.actor,
            Some(tenant),
            "flow.apply",
            &definition.name,
            serde_json::to_value(&applied).unwrap_or_default(),
        )
        .await?;
        let tag: String = sqlx::query_scalar(
            "SELECT left(encode(sha256(convert_to(wed.definition(f.flow_id)::text, 'UTF8')), 'hex'), 32) \
             FROM wed.flow f JOIN wed.tenant t USING (tenant_id) WHERE t.name = $1 AND f.name = $2",
        )
        .bind(tenant)
        .bind(&definition.name)
        .fetch_one(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok((applied, tag))
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
        let mut transaction = self.begin_alone().await?;
        let mut all = Vec::new();
        for (definition, plan) in processes {
            let mut applied = apply(&mut transaction, &self.actor, tenant, definition).await?;
            let changed: Vec<String> = sqlx::query_scalar(
                "SELECT wed.apply_plan(f.flow_id, $3) FROM wed.flow f JOIN wed.tenant t USING (tenant_id) \
                 WHERE t.name = $1 AND f.name = $2",
            )
            .bind(tenant)
            .bind(&definition.name)
            .bind(plan)
            .fetch_one(&mut *transaction)
            .await?;
            if !applied.created {
                applied.settings_changed.extend(changed);
            }
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

    /// Leaves a transition of a flow to a component of its tenant, or, with none, to external workers.
    ///
    /// # Errors
    /// Only those of the connection; the component need not exist yet.
    pub async fn bind(&self, flow_id: FlowId, transition: &str, component: Option<&str>) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        bind(&mut transaction, flow_id, transition, component).await?;
        sqlx::query("SELECT wed.resolve_bindings($1)").bind(flow_id).execute(&mut *transaction).await?;
        self.commit_noted_of(
            transaction,
            flow_id,
            "flow.bind",
            Some(transition),
            serde_json::json!({ "component": component }),
        )
        .await
    }

    /// Lists the parts of a flow's definition that will not run, for a person: components that were not uploaded or
    /// do not fit.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn flow_warnings(&self, flow_id: FlowId) -> Result<Vec<String>, StoreError> {
        let mut connection = self.pool.acquire().await?;
        binding_faults(&mut connection, flow_id).await
    }

    /// Matches live instances after a change of the model: returns what they would fire; without `preview`, fires it.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn rematch(&self, flow_id: FlowId, preview: bool) -> Result<Vec<crate::Rematched>, StoreError> {
        let mut transaction = self.begin().await?;
        let rows: Vec<_> = sqlx::query_as("SELECT wid, fires, becomes FROM wed.rematch($1, $2, $3)")
            .bind(flow_id)
            .bind(preview)
            .bind(&*self.actor)
            .fetch_all(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(rows)
    }
}

/// Reads a flow's definition and the tag of this state of it.
async fn tagged_definition(
    connection: &mut Session,
    flow_id: FlowId,
) -> Result<(serde_json::Value, String), StoreError> {
    Ok(sqlx::query_as(
        "SELECT d, left(encode(sha256(convert_to(d::text, 'UTF8')), 'hex'), 32) FROM wed.definition($1) d",
    )
    .bind(flow_id)
    .fetch_one(connection)
    .await?)
}

/// Holds the flow until the end of the transaction and compares it with what the caller expects.
async fn expect(connection: &mut Session, tenant: &str, name: &str, expected: &Expected) -> Result<(), StoreError> {
    if matches!(expected, Expected::Anything) {
        return Ok(());
    }
    let flow: Option<FlowId> = sqlx::query_scalar(
        "SELECT f.flow_id FROM wed.flow f JOIN wed.tenant t USING (tenant_id) \
         WHERE t.name = $1 AND f.name = $2 FOR NO KEY UPDATE OF f",
    )
    .bind(tenant)
    .bind(name)
    .fetch_optional(&mut *connection)
    .await?;
    let holds = match (expected, flow) {
        (Expected::Anything, _) | (Expected::Nothing, None) => true,
        (Expected::Some, found) => found.is_some(),
        (Expected::Tags(tags), Some(flow)) => {
            let (_, tag) = tagged_definition(connection, flow).await?;
            tags.contains(&tag)
        }
        (Expected::Nothing, Some(_)) | (Expected::Tags(_), None) => false,
    };
    holds.then_some(()).ok_or_else(|| StoreError::Stale(name.to_owned()))
}

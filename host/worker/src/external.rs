//! Results of workers over HTTP: checked as those of components are, and committed on the same way.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value as Json};
use wedflow_guard::{CheckedSetClause, FlowAttributes, SetClauseCache};
use wedflow_model::{Assignment, Measure, Scalar, Value};
use wedflow_store::{CommitGroup, CommitItem, FlowShape, PerformedTrigger, Store, StoreError, WorkerLease};

use crate::results::{Rendered, Shapes};

/// Result of a worker.
#[derive(Debug, Clone, Copy)]
pub enum WorkerResult<'a> {
    /// New values of attributes.
    Values(&'a Map<String, Json>),
    /// The right side of SET.
    Clause(&'a str),
}

/// Commits a worker's result if the guard takes it, once for its lease. `asked` is what the worker sent.
///
/// # Errors
/// [`StoreError::Refused`] with `refused` for what the guard does not take, and as [`Store::complete_job`].
pub async fn complete(
    store: &Store,
    lease: WorkerLease<'_>,
    trigger: &PerformedTrigger,
    result: WorkerResult<'_>,
    asked: &Json,
) -> Result<Json, StoreError> {
    let shape = store.flow_shape(lease.flow.flow_id).await?;
    let clause = judged(&shape, trigger, result)?;
    let kind = |name: &str| {
        let found = shape.attributes.iter().find(|(known, _)| known == name);
        found.map_or("text", |(_, kind)| kind.sql_name())
    };
    let gate = (shape.version, shape.gate.as_str());
    let Rendered { shape, literals } = Rendered::new(clause, gate, &Shapes::default(), kind);
    let item =
        CommitItem { wid: lease.wid, tgid: lease.tgid, token: lease.token, literals, measure: Measure::default() };
    let group = CommitGroup {
        flow: lease.flow.flow_id,
        version: shape.version,
        gate: Cow::Borrowed(&shape.gate),
        assigned: Cow::Borrowed(&shape.assigned),
        set: shape.set.as_deref().map(Cow::Borrowed),
        items: vec![Cow::Owned(item)],
    };
    store.complete_job(&group, asked).await
}

/// Holds a result against the guard and against what the trigger's transition may write.
fn judged(
    shape: &FlowShape,
    trigger: &PerformedTrigger,
    result: WorkerResult<'_>,
) -> Result<Arc<CheckedSetClause>, StoreError> {
    let writes: Option<BTreeSet<String>> = (trigger.writes.as_ref()).map(|writes| writes.iter().cloned().collect());
    let attributes = FlowAttributes::new(shape.attributes.iter().cloned());
    let guard = SetClauseCache::new(attributes, 1);
    let judged = match result {
        WorkerResult::Clause(text) => guard.judge_clause(text, writes.as_ref(), str::to_owned),
        WorkerResult::Values(values) => guard.judge_assignments(&assignments(shape, values)?, writes.as_ref()),
    };
    judged.map_err(refused)
}

/// Reads values by the types of their attributes. Texts are left to Postgres, whose notation is wider.
fn assignments(shape: &FlowShape, values: &Map<String, Json>) -> Result<Vec<Assignment>, StoreError> {
    let read = |(name, value): (&String, &Json)| {
        let kind = shape.attributes.iter().find(|(known, _)| known == name);
        let value = match (kind, value) {
            (_, Json::String(text)) => Value::Scalar(Scalar::Text(text.clone())),
            (Some((_, kind)), value) => Value::from_json(kind, value)
                .map_err(|error| refused(format!("attribute \"{name}\" has type {kind}: {error}")))?,
            // The guard says that there is no such attribute.
            (None, _) => Value::NULL,
        };
        Ok(Assignment { attribute: name.clone(), value })
    };
    values.iter().map(read).collect()
}

fn refused(message: String) -> StoreError {
    StoreError::refused("refused", message, "Send what a component's transition may answer.")
}

//! Finished transitions, and how they travel to the database: as rows of `wed.result_group`.

use std::borrow::Cow;
use std::sync::Arc;

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::PgRecordEncoder;
use sqlx::postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo};
use sqlx::{Encode, Postgres, Type};
use wedflow_model::{FlowId, LeaseToken, Measure, TriggerId, Wid};

/// Finished transitions of one flow with one shape of result.
#[derive(Debug, Clone)]
pub struct CommitGroup<'a> {
    /// The flow.
    pub flow: FlowId,
    /// The flow's version that the transitions were run for.
    pub version: i32,
    /// The schema of its part of the gate ([`crate::FlowShape::gate`]).
    pub gate: Cow<'a, str>,
    /// The attributes that are assigned. Without `set`, literal `n` of an item is the new value of
    /// attribute `n`, as text.
    pub assigned: Cow<'a, [Arc<str>]>,
    /// Checked clause, present when expressions are assigned too. Literal `n` of an item, counted from 1, stands in it
    /// as `_b._n`, as text.
    pub set: Option<Cow<'a, str>>,
    /// The transitions.
    pub items: Vec<Cow<'a, CommitItem>>,
}

/// Result of a finished transition.
#[derive(Debug, Clone)]
pub struct CommitItem {
    /// The instance.
    pub wid: Wid,
    /// The trigger.
    pub tgid: TriggerId,
    /// The claim's fencing token.
    pub token: LeaseToken,
    /// The clause's literals in Postgres's input notation.
    pub literals: Vec<Option<String>>,
    /// Fuel, memory and time that the attempt used.
    pub measure: Measure,
}

/// A group as a row of `wed.result_group`, its items in the order of their instances.
#[derive(Debug)]
pub(crate) struct GroupRow<'a> {
    group: &'a CommitGroup<'a>,
    items: Vec<ResultRow<'a>>,
}

/// An item as a row of `wed.result`.
#[derive(Debug, Clone, Copy)]
struct ResultRow<'a>(&'a CommitItem);

impl<'a> GroupRow<'a> {
    pub(crate) fn new(group: &'a CommitGroup<'a>) -> Self {
        let mut items: Vec<_> = group.items.iter().map(|item| ResultRow(item)).collect();
        items.sort_by_key(|row| row.0.wid);
        GroupRow { group, items }
    }

    pub(crate) fn flow(&self) -> FlowId {
        self.group.flow
    }
}

impl Type<Postgres> for GroupRow<'_> {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_name("wed.result_group")
    }
}

impl PgHasArrayType for GroupRow<'_> {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::array_of("wed.result_group")
    }
}

impl Encode<'_, Postgres> for GroupRow<'_> {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        let group = self.group;
        let assigned: Vec<&str> = group.assigned.iter().map(|name| &**name).collect();
        let mut row = PgRecordEncoder::new(buffer);
        row.encode(group.version)?;
        row.encode(&*group.gate)?;
        row.encode(assigned)?;
        row.encode(group.set.as_deref())?;
        row.encode(&*self.items)?;
        row.finish();
        Ok(IsNull::No)
    }
}

impl Type<Postgres> for ResultRow<'_> {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_name("wed.result")
    }
}

impl PgHasArrayType for ResultRow<'_> {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::array_of("wed.result")
    }
}

impl Encode<'_, Postgres> for ResultRow<'_> {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        let item = self.0;
        let mut row = PgRecordEncoder::new(buffer);
        row.encode(item.wid)?;
        row.encode(item.tgid)?;
        row.encode(item.token)?;
        row.encode(figure(item.measure.fuel))?;
        row.encode(figure(item.measure.elapsed_us))?;
        row.encode(figure(item.measure.memory_bytes))?;
        row.encode(&*item.literals)?;
        row.finish();
        Ok(IsNull::No)
    }
}

fn figure(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

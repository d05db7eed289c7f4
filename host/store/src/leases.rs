//! Jobs leased to workers over HTTP.

use std::time::Duration;

use serde_json::{Map, Value as Json};
use sqlx::FromRow;
use wedflow_documents::LeasedJob;
use wedflow_model::{LeaseToken, TriggerId, Wid};

use crate::results::GroupRow;
use crate::statements::statements;
use crate::{CommitGroup, Flow, Store, StoreError};

/// A trigger whose jobs a worker performs.
#[derive(Debug, Clone, FromRow)]
pub struct PerformedTrigger {
    /// Number.
    pub tgid: TriggerId,
    /// The transition that it fires.
    pub trname: String,
    /// Attributes that its transition may set; none: all.
    pub writes: Option<Vec<String>>,
}

/// A job of a worker, by what it was leased under.
#[derive(Debug, Clone, Copy)]
pub struct WorkerLease<'a> {
    /// The flow.
    pub flow: &'a Flow,
    /// The instance.
    pub wid: Wid,
    /// The trigger.
    pub tgid: TriggerId,
    /// The claim's fencing token.
    pub token: LeaseToken,
}

statements! {
    /// Prolongs a lease from now on, and keeps what the worker says of its progress. Returns when it ends, RFC 3339.
    /// Errors: [`StoreError::Refused`] with `WF026` when the lease has ended.
    pub extend_lease(
        &self, of: WorkerLease<'_>, lease: Option<Duration>, progress: Option<&Map<String, Json>>
    ) -> String
        = call "SELECT wed.extend_lease($1, $2, $3, $4, $5 * interval '1 second', $6)", of.flow.flow_id, of.wid,
            of.tgid, of.token, lease.map(|lease| lease.as_secs_f64()), progress.map(sqlx::types::Json);

    /// Commits a worker's result, a group of one item, once for its lease. `asked` is what the worker sent: a
    /// repetition is answered as the first was.
    /// Errors: [`StoreError::Refused`] with `WF026` when the lease has ended, and those of the gate.
    pub complete_job(&self, group: &CommitGroup<'_>, asked: &Json) -> Json
        = call "SELECT wed.complete_job($1, $2, $3, $4)", group.flow, GroupRow::new(group), &*self.actor, asked;

    /// Records a worker's attempt that changed nothing, once for its lease, as [`Store::complete_job`].
    /// Errors: [`StoreError::Refused`] with `WF026` when the lease has ended.
    pub fail_job(
        &self, of: WorkerLease<'_>, message: &str, (retry, after): (bool, Option<Duration>), asked: &Json
    ) -> Json
        = call "SELECT wed.fail_job($1, $2, $3, $4, $5, $6, $7, $8 * interval '1 second', $9)", of.flow.flow_id,
            of.wid, of.tgid, of.token, &*self.actor, message.replace('\0', "\u{fffd}"), retry,
            after.map(|after| after.as_secs_f64()), asked;
}

impl Store {
    /// Leases up to `limit` due jobs that no component performs to a worker; until their triggers' timeouts without
    /// `lease`.
    ///
    /// # Errors
    /// [`StoreError::Refused`] with `WF017` when workers of the tenant have too many already.
    pub async fn lease_to_worker(
        &self,
        flow: &Flow,
        transitions: &[String],
        limit: i32,
        worker: &str,
        lease: Option<Duration>,
    ) -> Result<Vec<LeasedJob>, StoreError> {
        Ok(sqlx::query_as(
            "SELECT wid, trigger, transition, token AS lease, attempt, attempts, lease_ends, seq, \
               state::json AS state, progress \
             FROM wed.lease_to_worker($1, $2, $3, $4, $5 * interval '1 second')",
        )
        .bind(flow.flow_id)
        .bind(transitions)
        .bind(limit)
        .bind(worker)
        .bind(lease.map(|lease| lease.as_secs_f64()))
        .fetch_all(&self.pool)
        .await?)
    }

    /// Finds a trigger by its name, or its number where it has none.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn performed_trigger(&self, flow: &Flow, name: &str) -> Result<PerformedTrigger, StoreError> {
        sqlx::query_as(
            "SELECT tgid, trname, writes FROM wed.trigger \
             WHERE flow_id = $1 AND coalesce(nullif(tgname, ''), tgid::text) = $2 AND trname IS NOT NULL",
        )
        .bind(flow.flow_id)
        .bind(name)
        .fetch_optional(&self.pool)
        .await?
        .ok_or_else(|| StoreError::not_found("job", name))
    }
}

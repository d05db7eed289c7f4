//! What a host does all day: claim, commit, fail, keep its leases.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row};
use wedflow_model::{
    ComponentId, FlowId, HostId, Job, JobKey, LeaseToken, Measure, TenantId, TriggerId, Wid,
};

use crate::{Store, StoreError};

/// A job that a host has claimed, with what it needs to find the component.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// The job.
    pub job: Job,
    /// The trigger's name; its number as text where it has none.
    pub trigger: String,
    /// The component to run.
    pub component_id: ComponentId,
    /// The flow's version when it was claimed: a binding made for another is out of date.
    pub flow_version: i32,
}

/// Finished transitions of one flow with one shape of result.
#[derive(Debug, Clone)]
pub struct CommitGroup<'a> {
    /// The flow.
    pub flow: FlowId,
    /// The schema of its part of the gate ([`crate::FlowShape::gate`]).
    pub gate: Cow<'a, str>,
    /// The attributes that are assigned. Without `set`, literal `n` of an item is the new value of
    /// attribute `n`, as text.
    pub assigned: Cow<'a, [Arc<str>]>,
    /// Where expressions are assigned too: the checked clause; literal `n` of an item, counted from
    /// 1, stands in it as `_b._n`, as text.
    pub set: Option<Cow<'a, str>>,
    /// How many literals each item has.
    pub literals: usize,
    /// The transitions.
    pub items: Vec<Cow<'a, CommitItem>>,
}

/// One finished transition.
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
    /// What the attempt used.
    pub measure: Measure,
}

/// An attempt that changes nothing.
#[derive(Debug, Clone, Serialize)]
pub struct FailedAttempt {
    /// The flow.
    pub flow: FlowId,
    /// The instance.
    pub wid: Wid,
    /// The trigger, for the log.
    pub tgid: TriggerId,
    /// The claim's fencing token.
    pub token: LeaseToken,
    /// The name of the outcome.
    pub outcome: String,
    /// What happened, for a person.
    #[serde(serialize_with = "storable")]
    pub message: String,
    /// Whether another attempt may be made.
    pub retry: bool,
    /// After which time, instead of the trigger's backoff; at most a day.
    #[serde(rename = "after_us", serialize_with = "microseconds")]
    pub after: Option<Duration>,
    /// Fuel consumed.
    pub fuel: u64,
    /// Wall-clock time in microseconds.
    #[serde(rename = "us")]
    pub elapsed_us: u64,
    /// Most linear memory held, in bytes.
    #[serde(rename = "mem")]
    pub memory_bytes: u64,
}

/// What is to be kept of an attempt beside its result, in the same transaction.
#[derive(Debug, Clone, Serialize)]
pub struct AttemptRecord {
    /// The flow.
    pub flow: FlowId,
    /// The instance.
    pub wid: Wid,
    /// The trigger.
    pub tgid: TriggerId,
    /// The claim's fencing token: nothing is kept of an attempt whose job is another's.
    pub token: LeaseToken,
    /// Whether to keep what is needed to run it again.
    pub keep: bool,
    /// When its time ended, as it was told: microseconds since 1970.
    pub deadline: i64,
    /// What the host answered it; none when that was too much to keep.
    pub answers: Option<serde_json::Value>,
    /// SHA-256 of what it answered.
    pub digest: Option<String>,
    /// What it logged.
    pub logs: Vec<LogLine>,
}

/// A line that a guest logged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogLine {
    /// `debug`, `info`, `warn` or `error`.
    pub severity: &'static str,
    /// The line.
    #[serde(serialize_with = "storable")]
    pub message: String,
    /// Named values beside it.
    pub fields: serde_json::Map<String, serde_json::Value>,
}

/// Writes a text as Postgres can keep it: its text holds no zero character.
fn storable<S: serde::Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    match text.contains('\0') {
        true => serializer.serialize_str(&text.replace('\0', "\u{fffd}")),
        false => serializer.serialize_str(text),
    }
}

/// Records as the database takes them: null when there are none.
fn records_json<'a>(
    records: &'a [&'a AttemptRecord],
) -> Option<sqlx::types::Json<&'a [&'a AttemptRecord]>> {
    (!records.is_empty()).then_some(sqlx::types::Json(records))
}

fn microseconds<S: serde::Serializer>(
    after: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let after = after.map(|after| i64::try_from(after.as_micros()).unwrap_or(i64::MAX));
    after.serialize(serializer)
}

/// What a round of housekeeping found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Jobs freed from hosts that are gone.
    pub abandoned: i64,
    /// External workers ended for holding a lock beyond the timeout.
    pub overdue: i64,
    /// Jobs skipped because their condition no longer holds.
    pub skipped: i64,
}

/// When there will be something to claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextDue {
    /// A job is due that nobody has claimed.
    pub waits: bool,
    /// In how long the next one is due that is not due yet; nothing when there is none.
    pub next: Option<Duration>,
}

/// From a row of `wed.claimed`, by position: to look names up in each row costs more than to read it.
impl FromRow<'_, PgRow> for Claimed {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let key = JobKey {
            flow: row.try_get(0)?,
            wid: row.try_get(1)?,
            tgid: row.try_get(2)?,
        };
        let trigger: Option<String> = row.try_get(3)?;
        let timeout: i64 = row.try_get(7)?;
        Ok(Claimed {
            trigger: match trigger {
                Some(name) if !name.is_empty() => name,
                _ => key.tgid.to_string(),
            },
            job: Job {
                key,
                transition: row.try_get(4)?,
                token: row.try_get(5)?,
                attempt: row.try_get(6)?,
                timeout: Duration::from_millis(u64::try_from(timeout).unwrap_or(0)),
                payload: row.try_get(8)?,
                fired_by: row.try_get(11)?,
            },
            component_id: row.try_get(9)?,
            flow_version: row.try_get(10)?,
        })
    }
}

/// The items of all groups, a vector for each parameter, ordered as the database wants them.
#[derive(Default)]
struct Columns<'a> {
    wids: Vec<Wid>,
    tgids: Vec<TriggerId>,
    tokens: Vec<LeaseToken>,
    fuel: Vec<i64>,
    elapsed_us: Vec<i64>,
    memory_bytes: Vec<i64>,
    literals: Vec<Option<&'a str>>,
}

impl<'a> Columns<'a> {
    fn add(&mut self, group: &'a CommitGroup<'_>) {
        let mut items: Vec<&CommitItem> = group.items.iter().map(|item| &**item).collect();
        items.sort_by_key(|item| item.wid);
        for item in &items {
            self.wids.push(item.wid);
            self.tgids.push(item.tgid);
            self.tokens.push(item.token);
            self.fuel.push(figure(item.measure.fuel));
            self.elapsed_us.push(figure(item.measure.elapsed_us));
            self.memory_bytes.push(figure(item.measure.memory_bytes));
        }
        for n in 0..group.literals {
            self.literals.extend(
                items
                    .iter()
                    .map(|item| item.literals.get(n).and_then(|literal| literal.as_deref())),
            );
        }
    }
}

fn each<'a, T>(groups: &[&'a CommitGroup<'_>], pick: impl Fn(&'a CommitGroup<'_>) -> T) -> Vec<T> {
    groups.iter().copied().map(pick).collect()
}

fn figure(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn count(value: usize) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

impl Store {
    /// Enters a host whose leases last `lease` unless [`Store::keep_host`] is called. Returns its number.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn enter_host(&self, name: &str, lease: Duration) -> Result<HostId, StoreError> {
        let host: HostId =
            sqlx::query_scalar("SELECT wed.enter_host($1, $2 * interval '1 second')")
                .bind(name)
                .bind(lease.as_secs_f64())
                .fetch_one(&self.pool)
                .await?;
        sqlx::query("UPDATE wed.host SET version = $2 WHERE host_id = $1")
            .bind(host)
            .bind(env!("CARGO_PKG_VERSION"))
            .execute(&self.pool)
            .await?;
        Ok(host)
    }

    /// Prolongs a host's leases. False: they are lost, and it must enter anew.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn keep_host(&self, host: HostId, lease: Duration) -> Result<bool, StoreError> {
        Ok(
            sqlx::query_scalar("SELECT wed.keep_host($1, $2 * interval '1 second')")
                .bind(host)
                .bind(lease.as_secs_f64())
                .fetch_one(&self.pool)
                .await?,
        )
    }

    /// Gives back all of a host's jobs and removes it.
    ///
    /// # Errors
    /// Only those of the connection; the leases then end by themselves.
    pub async fn leave_host(&self, host: HostId) -> Result<(), StoreError> {
        sqlx::query("SELECT wed.leave_host($1)")
            .bind(host)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Claims up to `limit` jobs that components can do, of all tenants in equal numbers.
    ///
    /// # Errors
    /// [`StoreError::Refused`] with `WF016` when the host's leases are lost.
    pub async fn claim(&self, host: HostId, limit: i32) -> Result<Vec<Claimed>, StoreError> {
        self.claim_share(host, limit, None, &[], &[]).await
    }

    /// The same, of one tenant at most `most`, and of those named in `without` none; where there is not enough
    /// for all, first of those that are not named in `busy`.
    ///
    /// # Errors
    /// The same.
    pub async fn claim_share(
        &self,
        host: HostId,
        limit: i32,
        most: Option<i32>,
        without: &[TenantId],
        busy: &[TenantId],
    ) -> Result<Vec<Claimed>, StoreError> {
        Ok(
            sqlx::query_as("SELECT * FROM wed.claim($1, $2, $3, $4, $5)")
                .bind(host)
                .bind(limit)
                .bind(most)
                .bind(without)
                .bind(busy)
                .fetch_all(&self.pool)
                .await?,
        )
    }

    /// Whose flows these are: each flow's number with its tenant's.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn tenants_of(
        &self,
        flows: &[FlowId],
    ) -> Result<Vec<(FlowId, TenantId)>, StoreError> {
        Ok(
            sqlx::query_as("SELECT flow_id, tenant_id FROM wed.flow WHERE flow_id = ANY ($1)")
                .bind(flows)
                .fetch_all(&self.pool)
                .await?,
        )
    }

    /// Tells what fuel some tenants' transitions used since the last time. Answers which tenants rest, since
    /// theirs is used up, and which may have only so many jobs in hand.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn tell_fuel(
        &self,
        tenants: &[TenantId],
        fuel: &[i64],
    ) -> Result<(Vec<TenantId>, Vec<TenantId>), StoreError> {
        Ok(
            sqlx::query_as("SELECT resting, limited FROM wed.tell_fuel($1, $2)")
                .bind(tenants)
                .bind(fuel)
                .fetch_one(&self.pool)
                .await?,
        )
    }

    /// Commits finished transitions, all or none, at most one of an instance. One round trip, one
    /// transaction, one fsync; `records` are kept in it. Returns the jobs that the new states fired,
    /// leased to this host already. With `careful`, an instance whose condition fails becomes an
    /// exception; without, that refuses the batch. Without `lease`, the fired jobs are left to whoever
    /// claims them, behind those that wait already, and nothing is returned.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the gate, a constraint or an expression refuses one of them: split
    /// the batch and try the parts. [`StoreError::Conflict`]: try those again that are still this
    /// host's ([`Store::still_held`]).
    pub async fn commit_recorded(
        &self,
        host: HostId,
        groups: &[CommitGroup<'_>],
        careful: bool,
        lease: bool,
        records: &[&AttemptRecord],
    ) -> Result<Vec<Claimed>, StoreError> {
        let mut groups: Vec<&CommitGroup<'_>> = groups.iter().collect();
        groups.sort_by_key(|group| group.flow);
        let mut columns = Columns::default();
        for group in &groups {
            columns.add(group);
        }
        let query = sqlx::query_as(
            // Records are kept by an argument, so that a batch without any is the same statement as ever.
            if records.is_empty() {
                "SELECT * FROM wed.settle(wed.write_states($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $15), \
                 $10, $11, $1, NULL, NULL, NULL, $12, $13, $14, $16)"
            } else {
                "SELECT * FROM wed.settle(wed.write_states(wed.keep_records($1, $17), $2, $3, $4, $5, $6, $7, $8, \
                 $9, $10, $15), $10, $11, $1, NULL, NULL, NULL, $12, $13, $14, $16)"
            },
        )
        .bind(host)
        .bind(each(&groups, |group| &*group.gate))
        .bind(each(&groups, |group| group.set.as_deref()))
        .bind(each(&groups, |group| count(group.items.len())))
        .bind(each(&groups, |group| count(group.assigned.len())))
        .bind(
            groups
                .iter()
                .flat_map(|group| group.assigned.iter().map(|name| &**name))
                .collect::<Vec<_>>(),
        )
        .bind(each(&groups, |group| count(group.literals)))
        .bind(columns.literals)
        .bind(columns.wids)
        .bind(columns.tgids)
        .bind(columns.tokens)
        .bind(columns.fuel)
        .bind(columns.elapsed_us)
        .bind(columns.memory_bytes)
        .bind(careful)
        .bind(lease);
        let query = match records_json(records) {
            Some(records) => query.bind(records),
            None => query,
        };
        Ok(query.fetch_all(&self.pool).await?)
    }

    /// Records attempts that changed nothing and decides what becomes of their jobs.
    ///
    /// # Errors
    /// [`StoreError::Conflict`]: try the same again.
    pub async fn fail_recorded(
        &self,
        host: HostId,
        attempts: &[FailedAttempt],
        records: &[&AttemptRecord],
    ) -> Result<(), StoreError> {
        let query = match records_json(records) {
            None => sqlx::query("SELECT wed.fail_batch($1, $2)")
                .bind(host)
                .bind(sqlx::types::Json(attempts)),
            Some(records) => sqlx::query("SELECT wed.fail_batch(wed.keep_records($1, $3), $2)")
                .bind(host)
                .bind(sqlx::types::Json(attempts))
                .bind(records),
        };
        query.execute(&self.pool).await?;
        Ok(())
    }

    /// [`Store::commit_recorded`] with nothing to keep.
    ///
    /// # Errors
    /// The same.
    pub async fn commit_batch(
        &self,
        host: HostId,
        groups: &[CommitGroup<'_>],
        careful: bool,
        lease: bool,
    ) -> Result<Vec<Claimed>, StoreError> {
        self.commit_recorded(host, groups, careful, lease, &[])
            .await
    }

    /// [`Store::fail_recorded`] with nothing to keep.
    ///
    /// # Errors
    /// The same.
    pub async fn fail_batch(
        &self,
        host: HostId,
        attempts: &[FailedAttempt],
    ) -> Result<(), StoreError> {
        self.fail_recorded(host, attempts, &[]).await
    }

    /// Tells every host that there may be work. A hint: hosts look by themselves too.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn tell_hosts(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT wed.tell_hosts()")
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Gives jobs back unrun.
    ///
    /// # Errors
    /// Only those of the connection; the leases then end by themselves.
    pub async fn release(&self, host: HostId, tokens: &[LeaseToken]) -> Result<(), StoreError> {
        sqlx::query("SELECT wed.release($1, $2)")
            .bind(host)
            .bind(tokens)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Gives back, unrun and for a while, jobs whose flow's table somebody has locked: their results could
    /// not be committed.
    ///
    /// # Errors
    /// Only those of the connection; the leases then end by themselves.
    pub async fn put_off(&self, host: HostId, tokens: &[LeaseToken]) -> Result<(), StoreError> {
        sqlx::query("SELECT wed.put_off($1, $2)")
            .bind(host)
            .bind(tokens)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Which of these claims are still this host's: after a commit whose answer was lost, those that are
    /// gone were committed (or taken away), and only the others may be committed again.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn still_held(
        &self,
        host: HostId,
        tokens: &[LeaseToken],
    ) -> Result<Vec<LeaseToken>, StoreError> {
        Ok(
            sqlx::query_scalar("SELECT token FROM wed.job WHERE host_id = $1 AND token = ANY ($2)")
                .bind(host)
                .bind(tokens)
                .fetch_all(&self.pool)
                .await?,
        )
    }

    /// The jobs among these instances that are leased to this host: what a commit whose answer was lost
    /// had fired.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn held_beside(
        &self,
        host: HostId,
        known: &[LeaseToken],
    ) -> Result<Vec<Claimed>, StoreError> {
        Ok(sqlx::query_as(
            "SELECT h.* FROM wed.held($1, ARRAY(SELECT ctid FROM wed.job WHERE host_id = $1 AND token <> ALL ($2))) h",
        )
        .bind(host)
        .bind(known)
        .fetch_all(&self.pool)
        .await?)
    }

    /// When there will be something to claim.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn next_due(&self) -> Result<NextDue, StoreError> {
        let (waits, millis): (bool, Option<i64>) =
            sqlx::query_as("SELECT waits, next_ms FROM wed.next_due()")
                .fetch_one(&self.pool)
                .await?;
        Ok(NextDue {
            waits,
            next: millis.map(|millis| Duration::from_millis(u64::try_from(millis).unwrap_or(0))),
        })
    }

    /// Housekeeping that any host may do for all: frees abandoned jobs, ends overdue external workers,
    /// skips stale jobs, counts what tenants near a limit use, weighs what they keep, removes what removed flows
    /// have left.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn sweep(&self) -> Result<Swept, StoreError> {
        // Each in a transaction of its own: an overrun is on record before its worker is ended.
        let abandoned = self.swept("SELECT wed.free_abandoned()").await?;
        self.swept("SELECT wed.count_overdue()").await?;
        let overdue = self.swept("SELECT wed.end_overdue()").await?;
        let skipped = self.swept("SELECT wed.skip_stale(1000)").await?;
        sqlx::query("SELECT wed.measure_usage(), wed.weigh_usage()")
            .execute(&self.pool)
            .await?;
        self.remove_residue(Duration::from_millis(200)).await?;
        Ok(Swept {
            abandoned,
            overdue,
            skipped,
        })
    }

    async fn swept(&self, statement: &'static str) -> Result<i64, StoreError> {
        Ok(sqlx::query_scalar(statement).fetch_one(&self.pool).await?)
    }

    /// Makes the trace's partitions of the next days and drops those that are older than what is kept.
    /// Returns how many were dropped. Any host may do it for all.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn roll_trace(&self) -> Result<i32, StoreError> {
        Ok(sqlx::query_scalar("SELECT wed.roll_trace()")
            .fetch_one(&self.pool)
            .await?)
    }

    /// How long history is kept, as Postgres writes an interval; nothing when for ever.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn trace_retention(&self) -> Result<Option<String>, StoreError> {
        Ok(sqlx::query_scalar("SELECT trace::text FROM wed.retention")
            .fetch_one(&self.pool)
            .await?)
    }

    /// Sets how long history is kept: a Postgres interval of at least a day, or nothing, for ever.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when it is no interval, or shorter than a day.
    pub async fn set_trace_retention(&self, keep: Option<&str>) -> Result<(), StoreError> {
        sqlx::query("UPDATE wed.retention SET trace = $1::interval")
            .bind(keep)
            .execute(&self.pool)
            .await?;
        Ok(())
    }
}

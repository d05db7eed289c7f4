//! Calls of a running host: claim, commit, fail, keep its leases.

use std::time::{Duration, SystemTime};

use serde::Serialize;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row};
use wedflow_model::{ComponentId, FlowId, HostId, Job, JobKey, LeaseToken, TenantId, TriggerId, Wid};

use crate::results::{CommitGroup, GroupRow};
use crate::statements::statements;
use crate::{Store, StoreError};

/// Reason for which a job waits whose instance or flow another session has locked.
const BEHIND_A_LOCK: &str = "a lock that another session holds on its instance or its flow";
/// Number of the interface between hosts and database that this program knows (`wed.interface_version`).
pub(crate) const INTERFACE: i32 = 2;

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
    /// Time at which the host claimed it; known only where spans are sent.
    pub taken_at: Option<SystemTime>,
}

/// An attempt that changes nothing.
#[derive(Debug, Clone, Serialize)]
pub struct FailedAttempt {
    /// The flow.
    pub flow: FlowId,
    /// The instance.
    pub wid: Wid,
    /// The claim's lease token.
    pub token: LeaseToken,
    /// The name of the outcome.
    pub outcome: String,
    /// Message for a person.
    #[serde(serialize_with = "storable")]
    pub message: String,
    /// True if another attempt may be made.
    pub retry: bool,
    /// Pause before the next attempt, instead of the trigger's backoff; at most a day.
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

/// Data to keep of an attempt besides its result, in the same transaction.
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
    /// True to keep the data to run it again.
    pub keep: bool,
    /// Deadline that the attempt was given, in microseconds since 1970.
    pub deadline: i64,
    /// Answers of the host; none when they were too large to keep.
    pub answers: Option<serde_json::Value>,
    /// SHA-256 of what it answered.
    pub digest: Option<String>,
    /// Log lines.
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
    /// Named values of the line.
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
fn records_json<'a>(records: &'a [&'a AttemptRecord]) -> Option<sqlx::types::Json<&'a [&'a AttemptRecord]>> {
    (!records.is_empty()).then_some(sqlx::types::Json(records))
}

fn microseconds<S: serde::Serializer>(after: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    let after = after.map(|after| i64::try_from(after.as_micros()).unwrap_or(i64::MAX));
    after.serialize(serializer)
}

/// Jobs that a claim left, and the time of the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextDue {
    /// A job is due that nobody has claimed.
    pub waits: bool,
    /// Time until the next job becomes due; none without one.
    pub next: Option<Duration>,
}

/// Reads a row of `wed.claimed` by position: looking up names in each row costs more than reading it.
impl FromRow<'_, PgRow> for Claimed {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let key = JobKey { flow: row.try_get(0)?, wid: row.try_get(1)?, tgid: row.try_get(2)? };
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
            taken_at: None,
        })
    }
}

statements! {
    /// Registers a host of a build of the program whose leases last `lease` unless [`Store::renew_lease`] is called;
    /// `places` are those to which its operator allows HTTP. Returns its number.
    /// Errors: [`StoreError::Refused`] with `WF019` when another version of the program has migrated the database.
    pub register_build(&self, name: &str, build: &str, lease: Duration, places: &[String]) -> HostId
        = one "SELECT wed.register_host($1, $2 * interval '1 second', $3, $4, $5)", name, lease.as_secs_f64(), build,
            INTERFACE, places;

    /// Returns an error when this program may not be a host of the database.
    /// Errors: As [`Store::register_host`].
    pub check_interface(&self) -> () = run "SELECT wed.refuse_other_interface($1)", INTERFACE;

    /// Prolongs a host's leases. False: they are lost, and it must register anew.
    /// Errors: As [`Store::register_host`].
    pub renew_lease(&self, host: HostId, lease: Duration) -> bool
        = one "SELECT wed.renew_lease($1, $2 * interval '1 second', $3)", host, lease.as_secs_f64(), INTERFACE;

    /// Gives back all of a host's jobs and removes it.
    /// Errors: Only those of the connection; the leases then end by themselves.
    pub leave_host(&self, host: HostId) -> () = run "SELECT wed.leave_host($1)", host;

    /// Claims as [`Store::claim`] does, of one tenant at most `most`, and of those named in `without` none; where there
    /// is not enough for all, first of those that are not named in `busy`.
    /// Errors: those of [`Store::claim`].
    pub claim_share(
        &self, host: HostId, limit: i32, most: Option<i32>, without: &[TenantId], busy: &[TenantId]
    ) -> Vec<Claimed>
        = rows "SELECT * FROM wed.claim($1, $2, $3, $4, $5)", host, limit, most, without, busy;

    /// Returns the tenant of each of these flows.
    pub tenants_of(&self, flows: &[FlowId]) -> Vec<(FlowId, TenantId)>
        = rows "SELECT flow_id, tenant_id FROM wed.flow WHERE flow_id = ANY ($1)", flows;

    /// Returns the names of a flow's tenant and of the flow.
    pub names_of(&self, flow: FlowId) -> Option<(String, String)>
        = optional_row "SELECT t.name, f.name FROM wed.flow f JOIN wed.tenant t USING (tenant_id) WHERE f.flow_id = $1",
            flow;

    /// Tells what fuel some tenants' transitions used since the last time. Answers which tenants rest, since
    /// theirs is used up, and which have a limit on jobs in flight.
    pub tell_fuel(&self, tenants: &[TenantId], fuel: &[i64]) -> (Vec<TenantId>, Vec<TenantId>)
        = row "SELECT resting, limited FROM wed.tell_fuel($1, $2)", tenants, fuel;

    /// Records attempts that changed nothing and decides what becomes of their jobs.
    /// Errors: [`StoreError::Conflict`]: try the same again.
    pub fail_recorded(&self, host: HostId, attempts: &[FailedAttempt], records: &[&AttemptRecord]) -> ()
        = run "SELECT wed.fail_attempts($1, $2, $3)", host, sqlx::types::Json(attempts), records_json(records);

    /// Tells every host that there may be work. A hint: hosts look by themselves too.
    pub tell_hosts(&self) -> () = run "SELECT wed.tell_hosts()";

    /// Gives jobs back unrun.
    /// Errors: Only those of the connection; the leases then end by themselves.
    pub release(&self, host: HostId, tokens: &[LeaseToken]) -> () = run "SELECT wed.release($1, $2)", host, tokens;

    /// Returns the claims that are still this host's. After a commit whose answer was lost, those that are gone were
    /// committed (or taken away), and only the others may be committed again.
    pub still_held(&self, host: HostId, tokens: &[LeaseToken]) -> Vec<LeaseToken>
        = all "SELECT token FROM wed.job WHERE host_id = $1 AND token = ANY ($2)", host, tokens;

    /// Rebuilds indexes of the pool of jobs that have become much larger than what they hold. Returns how many. Any
    /// host may do it for all.
    pub rebuild_indexes(&self) -> i32 = one "SELECT wed.rebuild_indexes()";

    /// Makes the trace's partitions of the next days and drops those that are older than what is kept.
    /// Returns how many were dropped. Any host may do it for all.
    pub roll_trace(&self) -> i32 = one "SELECT wed.roll_trace()";
}

impl Store {
    /// Registers a host of this version of the program ([`Store::register_build`]).
    ///
    /// # Errors
    /// As [`Store::register_build`].
    pub async fn register_host(&self, name: &str, lease: Duration) -> Result<HostId, StoreError> {
        self.register_build(name, env!("CARGO_PKG_VERSION"), lease, &[]).await
    }

    /// [`Store::claim_share`], and when there will be something to claim after it, in one round trip.
    ///
    /// # Errors
    /// The same.
    pub async fn claim_and_look(
        &self,
        host: HostId,
        limit: i32,
        most: Option<i32>,
        without: &[TenantId],
        busy: &[TenantId],
    ) -> Result<(Vec<Claimed>, NextDue), StoreError> {
        let rows = sqlx::query("SELECT (c.job).*, c.waits, c.next_ms FROM wed.claim_and_look($1, $2, $3, $4, $5) c")
            .bind(host)
            .bind(limit)
            .bind(most)
            .bind(without)
            .bind(busy)
            .fetch_all(&self.pool)
            .await?;
        let Some((last, jobs)) = rows.split_last() else {
            return Ok((Vec::new(), NextDue { waits: false, next: None }));
        };
        let next: Option<i64> = last.try_get("next_ms")?;
        let due = NextDue {
            waits: last.try_get("waits")?,
            next: next.map(|millis| Duration::from_millis(u64::try_from(millis).unwrap_or(0))),
        };
        let jobs = jobs.iter().map(Claimed::from_row);
        Ok((jobs.collect::<Result<_, _>>()?, due))
    }

    /// Claims up to `limit` jobs that components can do, of all tenants in equal numbers.
    ///
    /// # Errors
    /// [`StoreError::Refused`] with `WF016` when the host's leases are lost.
    pub async fn claim(&self, host: HostId, limit: i32) -> Result<Vec<Claimed>, StoreError> {
        self.claim_share(host, limit, None, &[], &[]).await
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
        let mut groups: Vec<GroupRow<'_>> = groups.iter().map(GroupRow::new).collect();
        groups.sort_by_key(GroupRow::flow);
        Ok(sqlx::query_as("SELECT * FROM wed.commit_results($1, $2, $3, $4, $5)")
            .bind(host)
            .bind(groups)
            .bind(careful)
            .bind(lease)
            .bind(records_json(records))
            .fetch_all(&self.pool)
            .await?)
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
        self.commit_recorded(host, groups, careful, lease, &[]).await
    }

    /// [`Store::fail_recorded`] with nothing to keep.
    ///
    /// # Errors
    /// The same.
    pub async fn fail_attempts(&self, host: HostId, attempts: &[FailedAttempt]) -> Result<(), StoreError> {
        self.fail_recorded(host, attempts, &[]).await
    }

    /// Gives jobs back unrun, to be claimed again after a pause: this host cannot run them, for a reason, or, without
    /// one, another session's lock is in the way.
    ///
    /// # Errors
    /// Only those of the connection; the leases then end by themselves.
    pub async fn put_off(
        &self,
        host: HostId,
        tokens: &[LeaseToken],
        not_runnable: Option<&str>,
        pause: Duration,
    ) -> Result<(), StoreError> {
        let reason = match not_runnable {
            Some(reason) => format!("it cannot run: {}", reason.replace('\0', "")),
            None => BEHIND_A_LOCK.to_owned(),
        };
        sqlx::query("SELECT wed.put_off($1, $2, $3, $4 * interval '1 second', $5)")
            .bind(host)
            .bind(tokens)
            .bind(reason)
            .bind(pause.as_secs_f64())
            .bind(not_runnable.is_some())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Says of jobs of this host, each with its flow, instance and lease token, that their results wait for a lock of
    /// another session. They stay leased. It waits for nobody; what it cannot write is left as it is.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn note_locked(&self, host: HostId, jobs: &[(FlowId, Wid, LeaseToken)]) -> Result<(), StoreError> {
        let flows: Vec<FlowId> = jobs.iter().map(|(flow, ..)| *flow).collect();
        let wids: Vec<Wid> = jobs.iter().map(|(_, wid, _)| *wid).collect();
        let tokens: Vec<LeaseToken> = jobs.iter().map(|(.., token)| *token).collect();
        sqlx::query("SELECT wed.note_locked($1, $2, $3, $4, $5)")
            .bind(host)
            .bind(flows)
            .bind(wids)
            .bind(tokens)
            .bind(BEHIND_A_LOCK)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Returns the jobs leased to this host whose tokens are not in `known`: what a commit whose answer was lost had
    /// fired.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn held_beside(&self, host: HostId, known: &[LeaseToken]) -> Result<Vec<Claimed>, StoreError> {
        Ok(sqlx::query_as(
            "SELECT h.* FROM wed.held($1, ARRAY(SELECT ctid FROM wed.job WHERE host_id = $1 AND token <> ALL ($2))) h",
        )
        .bind(host)
        .bind(known)
        .fetch_all(&self.pool)
        .await?)
    }

    /// Housekeeping that any host may do for all: ends surplus sessions and old transactions, keeps the queue of
    /// notifications free, counts what tenants near a limit use, weighs what they keep, removes what removed flows have
    /// left. Each step is a transaction of its own, and one that fails keeps no other from being made.
    ///
    /// # Errors
    /// The first that a step met, after all of them.
    pub async fn sweep(&self) -> Result<(), StoreError> {
        let mut first = Ok(());
        for statement in [
            "SELECT wed.end_surplus_sessions()",
            "SELECT wed.end_old_transactions()",
            "SELECT wed.empty_notifications()",
            "SELECT wed.measure_usage()",
            "SELECT wed.weigh_usage()",
        ] {
            let done = sqlx::query(statement).execute(&self.pool).await;
            if let (Ok(()), Err(error)) = (&first, done) {
                first = Err(error.into());
            }
        }
        self.remove_residue(Duration::from_millis(200)).await?;
        first
    }
}

//! Attempts that hosts made: what they came to, what they logged, and what it takes to run one again.

use serde::Serialize;
use serde_json::Value as Json;
use sqlx::{AssertSqlSafe, FromRow};
use wedflow_model::{ComponentId, FlowId, TriggerId, Wid};

use crate::times::RFC3339;
use crate::{Store, StoreError};

/// An attempt that a host made at a transition.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize)]
pub struct MadeAttempt {
    /// The trace row that it wrote; none when it changed nothing.
    pub seq: Option<i32>,
    /// The number of an attempt that changed nothing.
    pub attempt_id: Option<i64>,
    /// The trigger that fired.
    pub tgid: TriggerId,
    /// Trigger's name; its number as text where it has none.
    pub trigger: String,
    /// The transition.
    #[serde(rename = "transition")]
    pub trname: String,
    /// 1 for the first attempt.
    pub attempt: i32,
    /// The outcome's name.
    pub outcome: String,
    /// Message of an attempt that changed nothing.
    pub message: Option<String>,
    /// Fuel consumed.
    pub fuel: Option<i64>,
    /// Wall-clock time in microseconds.
    pub elapsed_us: Option<i64>,
    /// Most linear memory held, in bytes.
    pub memory_bytes: Option<i64>,
    /// The host.
    pub writer: String,
    /// When it was recorded (RFC 3339).
    pub tstmp: String,
    /// The same in microseconds since 1970.
    #[serde(skip)]
    pub at_us: i64,
    /// The trigger's time limit, in milliseconds; none when the trigger is gone.
    pub timeout_ms: Option<i64>,
    /// The component that ran, as far as is known.
    pub component_id: Option<ComponentId>,
    /// Component's name.
    pub component: Option<String>,
    /// Component's version.
    pub version: Option<i32>,
    /// True if the component is on record; else it is the version that was the newest then.
    pub exact: bool,
    /// The trace row whose state it was handed.
    pub from_seq: Option<i32>,
    /// True if the data to run it again was kept.
    #[serde(skip)]
    pub recorded: bool,
    /// When its time ended, as it was told: microseconds since 1970.
    #[serde(skip)]
    pub deadline: Option<i64>,
    /// Answers of its host, in order.
    #[serde(skip)]
    pub answers: Option<Json>,
    /// SHA-256 of what it answered.
    pub digest: Option<String>,
    /// The transaction that dealt with it.
    #[serde(skip)]
    pub xid: String,
}

/// A line that a guest logged.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize)]
pub struct AttemptLog {
    /// The transaction that dealt with the attempt.
    #[serde(skip)]
    pub xid: String,
    /// The trigger whose transition said it.
    #[serde(skip)]
    pub tgid: TriggerId,
    /// `debug`, `info`, `warn` or `error`.
    pub severity: String,
    /// The line.
    pub message: String,
    /// Named values of the line.
    pub fields: Json,
}

/// A job that waits, or is in somebody's hands.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize)]
pub struct PendingJob {
    /// The instance.
    pub wid: Wid,
    /// The transition.
    #[serde(rename = "transition")]
    pub trname: String,
    /// The trigger's name; its number as text where it has none.
    pub trigger: String,
    /// Attempts begun.
    pub attempt: i32,
    /// Maximum number of attempts.
    pub attempts: i32,
    /// When it is due, RFC 3339; none while it waits for something else than time.
    pub due: Option<String>,
    /// Holder of the job.
    pub lckid: Option<String>,
    /// Why it waits, where it is not for its time.
    pub waits_for: Option<String>,
    /// The component that does it; none when it is left to external workers.
    pub component: Option<String>,
}

impl AttemptLog {
    /// Returns whether the attempt logged it.
    pub fn is_of(&self, attempt: &MadeAttempt) -> bool {
        self.xid == attempt.xid && self.tgid == attempt.tgid
    }
}

impl Store {
    /// The attempts that hosts made at an instance's transitions, in order.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn made_attempts(
        &self,
        flow_id: FlowId,
        wid: Wid,
    ) -> Result<Vec<MadeAttempt>, StoreError> {
        self.attempts_page(flow_id, wid, 0, i64::MAX).await
    }

    /// Reads at most `limit` of them, behind the first `skipped`.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn attempts_page(
        &self,
        flow_id: FlowId,
        wid: Wid,
        skipped: i64,
        limit: i64,
    ) -> Result<Vec<MadeAttempt>, StoreError> {
        Ok(sqlx::query_as(AssertSqlSafe(format!(
            "SELECT seq, attempt_id, tgid, trigger, trname, attempt, outcome, message, fuel, elapsed_us, memory_bytes, \
               writer, to_char(tstmp AT TIME ZONE 'UTC', {RFC3339}) AS tstmp, \
               (extract(epoch FROM tstmp) * 1000000)::bigint AS at_us, timeout_ms, component_id, component, version, \
               exact, from_seq, recorded, deadline, answers, digest, xid::text AS xid \
             FROM wed.attempts_of($1, $2) LIMIT $4 OFFSET $3"
        )))
        .bind(flow_id)
        .bind(wid)
        .bind(skipped)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?)
    }

    /// Reads what some attempts at an instance's transitions logged, in order.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn logs_of(
        &self,
        flow_id: FlowId,
        wid: Wid,
        attempts: &[MadeAttempt],
    ) -> Result<Vec<AttemptLog>, StoreError> {
        let transactions: Vec<&str> = attempts.iter().map(|one| one.xid.as_str()).collect();
        Ok(sqlx::query_as(
            "SELECT xid::text AS xid, tgid, severity, message, fields FROM wed.log \
             WHERE flow_id = $1 AND wid = $2 AND xid::text = ANY ($3) ORDER BY log_id",
        )
        .bind(flow_id)
        .bind(wid)
        .bind(transactions)
        .fetch_all(&self.pool)
        .await?)
    }

    /// Returns the log lines of the attempts at an instance's transitions, in order.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn attempt_logs(
        &self,
        flow_id: FlowId,
        wid: Wid,
    ) -> Result<Vec<AttemptLog>, StoreError> {
        Ok(sqlx::query_as(
            "SELECT xid::text AS xid, tgid, severity, message, fields FROM wed.log \
             WHERE flow_id = $1 AND wid = $2 ORDER BY log_id",
        )
        .bind(flow_id)
        .bind(wid)
        .fetch_all(&self.pool)
        .await?)
    }

    /// The state that a trace row holds, as JSON text; none when there is no such row.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn state_at(
        &self,
        flow_id: FlowId,
        wid: Wid,
        seq: i32,
    ) -> Result<Option<String>, StoreError> {
        Ok(sqlx::query_scalar(
            "SELECT state FROM wed.trace WHERE flow_id = $1 AND wid = $2 AND seq = $3",
        )
        .bind(flow_id)
        .bind(wid)
        .bind(seq)
        .fetch_optional(&self.pool)
        .await?)
    }

    /// The instances of the last `limit` attempts at a transition that changed a state or failed by
    /// themselves, newest first: instance, trace row or number of the attempt.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn last_attempts(
        &self,
        flow_id: FlowId,
        transition: &str,
        limit: i64,
    ) -> Result<Vec<(Wid, Option<i32>, Option<i64>)>, StoreError> {
        Ok(sqlx::query_as(
            "SELECT wid, seq, attempt_id FROM ( \
               (SELECT wid, seq, NULL::bigint AS attempt_id, tstmp FROM wed.trace \
                WHERE flow_id = $1 AND trw = $2 AND writer LIKE 'host:%' ORDER BY tstmp DESC LIMIT $3) \
               UNION ALL \
               (SELECT wid, NULL, attempt_id, tstmp FROM wed.attempt \
                WHERE flow_id = $1 AND trname = $2 \
                  AND outcome NOT IN ('abandoned', 'given_up', 'skipped', 'not_runnable') \
                ORDER BY tstmp DESC LIMIT $3)) a \
             ORDER BY tstmp DESC LIMIT $3",
        )
        .bind(flow_id)
        .bind(transition)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?)
    }

    /// A flow's pending jobs, or those of one instance.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn pending_jobs(
        &self,
        flow_id: FlowId,
        wid: Option<Wid>,
        limit: i64,
    ) -> Result<Vec<PendingJob>, StoreError> {
        Ok(sqlx::query_as(AssertSqlSafe(format!(
            "SELECT j.wid, j.trname, coalesce(nullif(t.tgname, ''), j.tgid::text) AS trigger, j.attempt, t.attempts, \
               CASE WHEN isfinite(j.due) AND NOT wed.is_paused(j.due) \
                 THEN to_char(j.due AT TIME ZONE 'UTC', {RFC3339}) END AS due, \
               'host:' || j.host_id AS lckid, c.name AS component, \
               wed.waiting_reason(j.flow_id, j.wid, j.tgid) AS waits_for \
             FROM wed.job j JOIN wed.trigger t USING (tgid) LEFT JOIN wed.component c ON c.component_id = \
             j.component_id \
             WHERE j.flow_id = $1 AND ($2::integer IS NULL OR j.wid = $2) ORDER BY j.wid, j.tgid LIMIT $3"
        )))
        .bind(flow_id)
        .bind(wid)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?)
    }
}

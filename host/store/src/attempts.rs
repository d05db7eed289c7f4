//! Attempts that hosts made: what they came to, what they logged, and what it takes to run one again.

use serde_json::Value as Json;
use sqlx::FromRow;
use wedflow_documents::{Attempt, LogLine, Recording};
use wedflow_model::{FlowId, TriggerId, Wid};

use crate::statements::statements;
use crate::{Store, StoreError};

/// An attempt that a host made at a transition, with what it takes to run it again.
#[derive(Debug, Clone, FromRow)]
pub struct MadeAttempt {
    /// The attempt, without its log lines.
    #[sqlx(flatten)]
    pub attempt: Attempt,
    /// The trace row whose state it was handed.
    pub from_seq: Option<i32>,
    at_us: i64,
    timeout_ms: Option<i64>,
    exact: bool,
    recorded: bool,
    deadline: Option<i64>,
    answers: Option<Json>,
    digest: Option<String>,
    tgid: TriggerId,
    /// The transaction that dealt with it.
    xid: String,
}

impl MadeAttempt {
    /// Makes the document that it takes to run the attempt again, with the states that it was handed and wrote.
    pub fn recording(self, payload: Option<String>, written: Option<String>) -> Recording {
        let attempt = self.attempt;
        Recording {
            seq: attempt.seq,
            number: attempt.number,
            trigger: attempt.trigger,
            transition: attempt.transition,
            attempt: attempt.attempt,
            outcome: attempt.outcome,
            message: attempt.message,
            elapsed_us: attempt.elapsed_us,
            at_us: self.at_us,
            timeout_ms: self.timeout_ms,
            deadline: self.deadline,
            component: attempt.component,
            version: attempt.version,
            exact: self.exact,
            from_seq: self.from_seq,
            payload,
            written,
            recorded: self.recorded,
            answers: self.answers,
            digest: self.digest,
        }
    }
}

/// A log line, and the attempt that logged it.
#[derive(FromRow)]
struct OwnedLine {
    xid: String,
    tgid: TriggerId,
    #[sqlx(flatten)]
    line: LogLine,
}

statements! {
    /// The state that a trace row holds, as JSON text; none when there is no such row.
    pub state_at(&self, flow_id: FlowId, wid: Wid, seq: i32) -> Option<String>
        = optional "SELECT state FROM wed.trace WHERE flow_id = $1 AND wid = $2 AND seq = $3", flow_id, wid, seq;

    /// The instances of the last `limit` attempts at a transition that changed a state or failed by
    /// themselves, newest first: instance, trace row or number of the attempt.
    pub last_attempts(&self, flow_id: FlowId, transition: &str, limit: i64) -> Vec<(Wid, Option<i32>, Option<i64>)>
        = rows "SELECT wid, seq, attempt_id FROM ( \
              (SELECT wid, seq, NULL::bigint AS attempt_id, tstmp FROM wed.trace \
               WHERE flow_id = $1 AND trw = $2 AND writer LIKE 'host:%' ORDER BY tstmp DESC LIMIT $3) \
              UNION ALL \
              (SELECT wid, NULL, attempt_id, tstmp FROM wed.attempt \
               WHERE flow_id = $1 AND trname = $2 \
                 AND outcome NOT IN ('abandoned', 'given_up', 'skipped', 'not_runnable') \
               ORDER BY tstmp DESC LIMIT $3)) a \
            ORDER BY tstmp DESC LIMIT $3", flow_id, transition, limit;
}

impl Store {
    /// The attempts that hosts made at an instance's transitions, in order.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn made_attempts(&self, flow_id: FlowId, wid: Wid) -> Result<Vec<MadeAttempt>, StoreError> {
        self.attempts_page(flow_id, wid, 0, i64::MAX).await
    }

    async fn attempts_page(
        &self,
        flow_id: FlowId,
        wid: Wid,
        skipped: i64,
        limit: i64,
    ) -> Result<Vec<MadeAttempt>, StoreError> {
        Ok(sqlx::query_as(
            "SELECT seq, attempt_id AS number, tgid, trigger, trname AS transition, attempt, outcome, message, fuel, \
               elapsed_us, memory_bytes, writer, wed.rfc3339(tstmp) AS at, \
               (extract(epoch FROM tstmp) * 1000000)::bigint AS at_us, timeout_ms, component, version, \
               exact, from_seq, recorded, deadline, answers, digest, xid::text AS xid \
             FROM wed.attempts_of($1, $2) LIMIT $4 OFFSET $3",
        )
        .bind(flow_id)
        .bind(wid)
        .bind(skipped)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?)
    }

    /// Reads at most `limit` attempts at an instance's transitions with what they logged, behind the first `skipped`.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn logged_attempts(
        &self,
        flow_id: FlowId,
        wid: Wid,
        skipped: i64,
        limit: i64,
    ) -> Result<Vec<Attempt>, StoreError> {
        let mut made = self.attempts_page(flow_id, wid, skipped, limit).await?;
        let transactions: Vec<&str> = made.iter().map(|one| one.xid.as_str()).collect();
        let lines: Vec<OwnedLine> = sqlx::query_as(
            "SELECT xid::text AS xid, tgid, severity, message, fields FROM wed.log \
             WHERE flow_id = $1 AND wid = $2 AND xid::text = ANY ($3) ORDER BY log_id",
        )
        .bind(flow_id)
        .bind(wid)
        .bind(transactions)
        .fetch_all(&self.pool)
        .await?;
        for OwnedLine { xid, tgid, line } in lines {
            let owner = made.iter_mut().find(|one| one.xid == xid && one.tgid == tgid);
            if let Some(owner) = owner {
                owner.attempt.logs.push(line);
            }
        }
        Ok(made.into_iter().map(|one| one.attempt).collect())
    }
}

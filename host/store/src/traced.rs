//! States of attempts, for the spans that tell of them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use wedflow_model::{FlowId, TriggerId, Wid};

use crate::{Store, StoreError};

/// Attempt whose states are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TracedAttempt {
    /// Flow.
    pub flow: FlowId,
    /// Instance.
    pub wid: Wid,
    /// Trigger that fired.
    pub tgid: TriggerId,
    /// Number of the attempt.
    pub attempt: i32,
    /// Trace row of the state that fired it.
    pub fired_by: i32,
}

/// States before and after an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedState {
    /// Trace row that the attempt wrote; none if it changed nothing.
    pub written: Option<i32>,
    /// Transition that wrote the state before; none for a start.
    pub transition: Option<String>,
    /// Writer of the state before.
    pub writer: Option<String>,
    /// Time of the state before.
    pub at: Option<SystemTime>,
}

type Row = (Option<i32>, Option<String>, Option<String>, Option<i64>);

impl Store {
    /// Looks up the states of attempts that ended within the last hour, in the order of the attempts.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn traced_states(&self, attempts: &[TracedAttempt]) -> Result<Vec<TracedState>, StoreError> {
        fn numbers<T>(attempts: &[TracedAttempt], of: impl Fn(&TracedAttempt) -> T) -> Vec<T> {
            attempts.iter().map(of).collect()
        }
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT w.seq, f.trw, f.writer, (extract(epoch FROM f.tstmp) * 1000000)::bigint \
             FROM unnest($1::int[], $2::int[], $3::int[], $4::int[], $5::int[]) WITH ORDINALITY \
               a(flow_id, wid, tgid, attempt, fired_by, place) \
             LEFT JOIN LATERAL (SELECT t.seq FROM wed.trace t WHERE t.flow_id = a.flow_id AND t.wid = a.wid \
               AND t.seq > a.fired_by AND t.tgid = a.tgid AND t.attempt = a.attempt AND t.trw <> '_ABORT' \
               AND t.tstmp > now() - interval '1 hour' ORDER BY t.seq LIMIT 1) w ON true \
             LEFT JOIN LATERAL (SELECT t.trw, t.writer, t.tstmp FROM wed.trace t WHERE t.flow_id = a.flow_id \
               AND t.wid = a.wid AND t.seq = a.fired_by LIMIT 1) f ON true ORDER BY a.place",
        )
        .bind(numbers(attempts, |one| one.flow.get()))
        .bind(numbers(attempts, |one| one.wid.get()))
        .bind(numbers(attempts, |one| one.tgid.get()))
        .bind(numbers(attempts, |one| one.attempt))
        .bind(numbers(attempts, |one| one.fired_by))
        .fetch_all(&self.pool)
        .await?;
        let state = |(written, transition, writer, at): Row| TracedState {
            written,
            transition,
            writer,
            at: at.map(|at| UNIX_EPOCH + Duration::from_micros(u64::try_from(at).unwrap_or(0))),
        };
        Ok(rows.into_iter().map(state).collect())
    }
}

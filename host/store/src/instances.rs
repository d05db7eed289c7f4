//! Instances, their trace, and the attempts that changed nothing.

use serde::Serialize;
use serde_json::{Map, Value as Json};
use sqlx::{AssertSqlSafe, FromRow, Row};

use crate::flows::Flow;
use crate::{Store, StoreError};

/// An instance, as listed.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Instance {
    /// Its number in the flow.
    pub wid: i32,
    /// `R` regular, `F` final, `E` exception.
    pub status: String,
    /// Its WED-state.
    pub state: Json,
    /// When it was started, RFC 3339.
    pub started: String,
    /// When its status last changed, RFC 3339.
    pub changed: String,
    /// Names of its pending transitions.
    pub pending: Vec<String>,
}

/// A row of `wed_trace`.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct TraceRow {
    /// The instance.
    pub wid: i32,
    /// 1 for the initial state; in commit order.
    pub seq: i32,
    /// The transition that wrote the state; none for the initial one.
    pub trw: Option<String>,
    /// The transitions that the state fired.
    pub trf: Vec<String>,
    /// `R` regular, `F` final, `E` exception.
    pub status: String,
    /// The state.
    pub state: Json,
    /// When, RFC 3339.
    pub tstmp: String,
    /// Who wrote it: a host, or a database role.
    pub writer: String,
    /// Why, for rows that no transition wrote.
    pub note: Option<String>,
    /// The attempt that succeeded.
    pub attempt: Option<i32>,
    /// Fuel it took.
    pub fuel: Option<i64>,
    /// Time it took, in microseconds.
    pub elapsed_us: Option<i64>,
    /// Memory it took, in bytes.
    pub memory_bytes: Option<i64>,
}

/// An attempt that did not change the state.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct AttemptRow {
    /// The instance.
    pub wid: i32,
    /// The trigger that fired.
    pub tgid: i32,
    /// The transition.
    pub trname: String,
    /// 1 for the first.
    pub attempt: i32,
    /// The name of its outcome.
    pub outcome: String,
    /// What it said.
    pub message: String,
    /// When, RFC 3339.
    pub tstmp: String,
    /// Who ran it.
    pub writer: String,
    /// Fuel it took.
    pub fuel: Option<i64>,
    /// Time it took, in microseconds.
    pub elapsed_us: Option<i64>,
    /// Memory it took, in bytes.
    pub memory_bytes: Option<i64>,
}

/// A pending job.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct JobRow {
    /// The instance.
    pub wid: i32,
    /// The trigger that fired.
    pub tgid: i32,
    /// The transition.
    pub trname: String,
    /// The host that has it.
    pub lckid: Option<String>,
    /// Attempts begun.
    pub attempt: i32,
    /// When it may next be claimed, RFC 3339 or `infinity`.
    pub due: String,
    /// What it waits for, if not for its time.
    pub waits_for: Option<String>,
}

/// A line that a guest logged.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct LogRow {
    /// The trigger whose transition said it.
    pub tgid: i32,
    /// In which attempt.
    pub attempt: i32,
    /// `debug`, `info`, `warn` or `error`.
    pub severity: String,
    /// The line.
    pub message: String,
    /// Named values beside it.
    pub fields: Json,
    /// When it was stored, RFC 3339.
    pub tstmp: String,
}

/// How an instant is written in answers.
pub(crate) const RFC3339: &str = r#"'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'"#;

impl Store {
    /// Starts an instance with the given attributes (the others take their defaults). Values are in
    /// JSON: text, number, boolean, null; an object or array for `jsonb` and array attributes.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the state satisfies no condition, a value does not fit, or an
    /// attribute is unknown.
    pub async fn start_instance(
        &self,
        flow: &Flow,
        values: &Map<String, Json>,
    ) -> Result<i32, StoreError> {
        let shape = self.flow_shape(flow.flow_id).await?;
        for name in values.keys() {
            if !shape.attributes.iter().any(|(known, _)| known == name) {
                let known: Vec<&str> = shape
                    .attributes
                    .iter()
                    .map(|(name, _)| name.as_str())
                    .collect();
                return Err(StoreError::Refused(Box::new(crate::Refusal {
                    code: "42703".into(),
                    message: format!("flow \"{}\" has no attribute \"{name}\"", flow.name),
                    detail: None,
                    hint: Some(format!("It has: {}.", known.join(", "))),
                    place: None,
                })));
            }
        }
        if values.is_empty() {
            let wid = sqlx::query(AssertSqlSafe(format!(
                "INSERT INTO \"{}\".wed_flow DEFAULT VALUES RETURNING wid",
                flow.schema_name
            )))
            .persistent(false)
            .fetch_one(&self.pool)
            .await?;
            return Ok(wid.try_get(0)?);
        }
        // Names are of the flow, quoted; values travel as one parameter and take the columns' types.
        let names: Vec<String> = values
            .keys()
            .map(|name| format!("\"{}\"", name.replace('"', "\"\"")))
            .collect();
        let names = names.join(", ");
        let wid = sqlx::query(AssertSqlSafe(format!(
            "INSERT INTO \"{schema}\".wed_flow ({names}) \
             SELECT {names} FROM jsonb_populate_record(NULL::\"{schema}\".wed_flow, $1) RETURNING wid",
            schema = flow.schema_name
        )))
        .persistent(false)
        .bind(Json::Object(values.clone()))
        .fetch_one(&self.pool)
        .await?;
        Ok(wid.try_get(0)?)
    }

    /// Instances of a flow, newest first; of one status, or one number, when given.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn instances(
        &self,
        flow: &Flow,
        status: Option<char>,
        wid: Option<i32>,
        limit: i64,
    ) -> Result<Vec<Instance>, StoreError> {
        Ok(sqlx::query_as(AssertSqlSafe(format!(
            "SELECT i.wid, i.status::text, to_jsonb(w) - 'wid' AS state, \
               to_char(i.started AT TIME ZONE 'UTC', {RFC3339}) AS started, \
               to_char(i.changed AT TIME ZONE 'UTC', {RFC3339}) AS changed, \
               ARRAY(SELECT j.trname FROM wed.job j WHERE j.flow_id = i.flow_id AND j.wid = i.wid ORDER BY j.tgid) AS pending \
             FROM wed.instance i JOIN \"{}\".wed_flow w ON w.wid = i.wid \
             WHERE i.flow_id = $1 AND ($2::text IS NULL OR i.status = $2::\"char\") AND ($3::integer IS NULL OR i.wid = $3) \
             ORDER BY i.wid DESC LIMIT $4",
            flow.schema_name
        )))
        .persistent(false)
        .bind(flow.flow_id)
        .bind(status.map(String::from))
        .bind(wid)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?)
    }

    /// One instance.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn instance(&self, flow: &Flow, wid: i32) -> Result<Instance, StoreError> {
        self.instances(flow, None, Some(wid), 1)
            .await?
            .pop()
            .ok_or_else(|| StoreError::not_found("instance", wid))
    }

    /// An instance's history from a sequence number on, in order.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn trace(
        &self,
        flow_id: i32,
        wid: i32,
        from_seq: i32,
    ) -> Result<Vec<TraceRow>, StoreError> {
        Ok(sqlx::query_as(AssertSqlSafe(format!(
            "SELECT wid, seq, trw, trf, status::text, state, to_char(tstmp AT TIME ZONE 'UTC', {RFC3339}) AS tstmp, \
               writer, note, attempt, fuel, elapsed_us, memory_bytes \
             FROM wed.trace WHERE flow_id = $1 AND wid = $2 AND seq >= $3 ORDER BY seq"
        )))
        .bind(flow_id)
        .bind(wid)
        .bind(from_seq)
        .fetch_all(&self.pool)
        .await?)
    }

    /// The attempts at an instance's transitions that changed nothing, in order.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn attempts(&self, flow_id: i32, wid: i32) -> Result<Vec<AttemptRow>, StoreError> {
        Ok(sqlx::query_as(AssertSqlSafe(format!(
            "SELECT wid, tgid, trname, attempt, outcome, message, to_char(tstmp AT TIME ZONE 'UTC', {RFC3339}) AS tstmp, \
               writer, fuel, elapsed_us, memory_bytes \
             FROM wed.attempt WHERE flow_id = $1 AND wid = $2 ORDER BY attempt_id"
        )))
        .bind(flow_id)
        .bind(wid)
        .fetch_all(&self.pool)
        .await?)
    }

    /// An instance's pending jobs.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn jobs(&self, flow_id: i32, wid: i32) -> Result<Vec<JobRow>, StoreError> {
        Ok(sqlx::query_as(AssertSqlSafe(format!(
            "SELECT wid, tgid, trname, 'host:' || host_id AS lckid, attempt, waits_for, \
               CASE WHEN isfinite(due) THEN to_char(due AT TIME ZONE 'UTC', {RFC3339}) ELSE 'infinity' END AS due \
             FROM wed.job WHERE flow_id = $1 AND wid = $2 ORDER BY tgid"
        )))
        .bind(flow_id)
        .bind(wid)
        .fetch_all(&self.pool)
        .await?)
    }

    /// What the guests of an instance logged, in order.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn logs(&self, flow_id: i32, wid: i32) -> Result<Vec<LogRow>, StoreError> {
        Ok(sqlx::query_as(AssertSqlSafe(format!(
            "SELECT tgid, attempt, severity, message, fields, to_char(tstmp AT TIME ZONE 'UTC', {RFC3339}) AS tstmp \
             FROM wed.log WHERE flow_id = $1 AND wid = $2 ORDER BY log_id"
        )))
        .bind(flow_id)
        .bind(wid)
        .fetch_all(&self.pool)
        .await?)
    }
}

//! Instances, their trace, and the attempts that changed nothing.

use crate::Session;
use serde_json::{Map, Value as Json};
use sqlx::{AssertSqlSafe, FromRow, Row};
use wedflow_documents::{Instance, Job, TraceRow};
use wedflow_model::{FlowId, TriggerId, Value, Wid};

use crate::audit::{Once, claim_key, keep_answer, note_flow};
use crate::flows::{Flow, FlowShape};
use crate::statements::statements;
use crate::{Numbered, Store, StoreError, Transaction};

/// Filter of instances; without any field, all of the flow.
#[derive(Debug, Clone, Copy, Default)]
pub struct WantedInstances<'a> {
    /// Only those of this status.
    pub status: Option<char>,
    /// Only this one.
    pub wid: Option<Wid>,
    /// Only those whose attributes have these values.
    pub state: Option<&'a Map<String, Json>>,
    /// Only those whose status changed since this time (RFC 3339).
    pub changed_since: Option<&'a str>,
    /// Only those that were started since this time (RFC 3339).
    pub started_since: Option<&'a str>,
    /// Only those that were started before this time (RFC 3339).
    pub started_before: Option<&'a str>,
    /// Only those with a pending job of this transition.
    pub transition: Option<&'a str>,
    /// Only those with this business key.
    pub key: Option<&'a str>,
    /// Only those whose state fulfils this condition.
    pub condition: Option<&'a CheckedCondition>,
    /// True: the oldest first.
    pub oldest_first: bool,
}

impl WantedInstances<'_> {
    /// Returns the comparison with the last number seen, and the order.
    fn direction(&self) -> (&'static str, &'static str) {
        match self.oldest_first {
            true => (">", "ASC"),
            false => ("<", "DESC"),
        }
    }
}

/// Condition over the attributes of a flow as the guard wrote it anew.
#[derive(Debug, Clone)]
pub struct CheckedCondition(String);

impl CheckedCondition {
    /// Takes the text that the guard deparsed from a condition that it checked, and no other.
    pub fn of_guard(sql: &str) -> Self {
        CheckedCondition(sql.to_owned())
    }
}

/// Longest run of a query with a condition that a client gave, in Postgres's notation.
const CONDITION_TIME_MAX: &str = "5s";
/// Most instances that are counted.
pub const COUNTED_MAX: i64 = 100_000;

/// Last row of an instance's trace.
#[derive(Debug, Clone, Copy, FromRow)]
pub struct LastRow {
    /// Flow of the instance.
    pub flow_id: FlowId,
    /// Number of the instance.
    pub wid: Wid,
    /// Number of its last row; 0 without any.
    pub seq: i32,
    /// No row follows: the instance is final, or it is no more.
    pub over: bool,
}

statements! {
    /// Returns the instance with a business key: the one that is not final, else the last one unless only a running one
    /// is wanted.
    pub instance_with_key(&self, flow: &Flow, key: &str, running: bool) -> Option<Wid>
        = one "SELECT wed.find_key($1, $2, $3)", flow.flow_id, key, running;

    /// Reads the last row of each of these instances' traces, of one flow or several.
    pub last_rows(&self, flows: &[FlowId], wids: &[Wid]) -> Vec<LastRow>
        = rows "SELECT w.flow_id, w.wid, coalesce((SELECT t.seq FROM wed.trace t \
              WHERE t.flow_id = w.flow_id AND t.wid = w.wid ORDER BY t.seq DESC LIMIT 1), 0) AS seq, \
              NOT EXISTS (SELECT FROM wed.instance i \
                WHERE i.flow_id = w.flow_id AND i.wid = w.wid AND i.status <> 'F') AS over \
            FROM unnest($1::integer[], $2::integer[]) AS w(flow_id, wid)", flows, wids;
}

impl Store {
    /// Starts an instance with the given attributes (the others take their defaults). Values are in
    /// JSON: text, number, boolean, null; an object or array for `jsonb` and array attributes.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the state satisfies no condition, a value does not fit, an attribute is unknown, or
    /// the flow lets no start set it.
    pub async fn start_instance(&self, flow: &Flow, values: &Map<String, Json>) -> Result<Wid, StoreError> {
        Ok(self.start_instance_once(flow, values, None, None).await?.0)
    }

    /// The same under a business key, and at most once for a client's key: the number of the instance, and whether it
    /// was started by an earlier request with that key.
    ///
    /// # Errors
    /// As [`Store::start_instance`]; [`StoreError::Refused`] with `WF027` when an instance runs under the business key;
    /// [`StoreError::OtherRequest`] when the client's key was used for something else.
    pub async fn start_instance_once(
        &self,
        flow: &Flow,
        values: &Map<String, Json>,
        business_key: Option<&str>,
        once: Option<&Once<'_>>,
    ) -> Result<(Wid, bool), StoreError> {
        let shape = self.flow_shape(flow.flow_id).await?;
        check_values(&flow.name, &shape, values)?;
        let mut transaction = self.begin().await?;
        if let Some(once) = once
            && let Some(answer) = claim_key(&mut transaction, once).await?
        {
            let wid = answer["wid"].as_i64().and_then(|wid| i32::try_from(wid).ok()).map(Wid::new);
            return Ok((wid.unwrap_or_default(), true));
        }
        let is_noted: bool = sqlx::query_scalar("SELECT wed.check_start($1, $2)")
            .bind(flow.flow_id)
            .bind(Json::Object(values.clone()))
            .fetch_one(&mut *transaction)
            .await?;
        if let Some(key) = business_key {
            set_key(&mut transaction, key).await?;
        }
        let wid = match insert(&mut transaction, &flow.schema_name, values).await {
            Ok(wid) => wid,
            Err(error) => {
                transaction.rollback().await?;
                return Err(self.with_attribute(error, flow, values).await);
            }
        };
        if is_noted {
            sqlx::query("SELECT wed.note_starter($1, $2, $3)")
                .bind(flow.flow_id)
                .bind(wid)
                .bind(&*self.actor)
                .execute(&mut *transaction)
                .await?;
        }
        note_flow(&mut transaction, &self.actor, flow.flow_id, "instance.start", Some(&wid.to_string()), Json::Null)
            .await?;
        if let Some(once) = once {
            keep_answer(&mut transaction, once, &serde_json::json!({ "wid": wid })).await?;
        }
        transaction.commit().await?;
        Ok((wid, false))
    }

    /// Names the attribute whose value Postgres cannot read, in a refusal that does not say it.
    async fn with_attribute(&self, error: StoreError, flow: &Flow, values: &Map<String, Json>) -> StoreError {
        let StoreError::Refused(mut refusal) = error else {
            return error;
        };
        if !refusal.code.starts_with("22") {
            return StoreError::Refused(refusal);
        }
        for (name, value) in values {
            let alone = Json::Object([(name.clone(), value.clone())].into_iter().collect());
            let read = sqlx::query(AssertSqlSafe(format!(
                "SELECT FROM jsonb_populate_record(NULL::\"{}\".wed_flow, $1)",
                flow.schema_name
            )))
            .persistent(false)
            .bind(alone)
            .execute(&self.pool)
            .await;
            if read.is_err() {
                refusal.message = format!("attribute \"{name}\": {}", refusal.message);
                refusal.hint.get_or_insert_with(|| {
                    format!("`{name}` takes a value of its type in Postgres's notation, or null.")
                });
                break;
            }
        }
        StoreError::Refused(refusal)
    }

    /// Instances of a flow, newest first; of one status, or one number, when given.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn instances(
        &self,
        flow: &Flow,
        status: Option<char>,
        wid: Option<Wid>,
        limit: i64,
    ) -> Result<Vec<Instance>, StoreError> {
        let wanted = WantedInstances { status, wid, ..WantedInstances::default() };
        self.instances_from(flow, &wanted, None, limit).await
    }

    /// Finds instances of a flow in the order of their numbers, newest first unless wanted otherwise; only those behind
    /// the one numbered `from`, when given.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when a time is none, or the condition takes too long.
    pub async fn instances_from(
        &self,
        flow: &Flow,
        wanted: &WantedInstances<'_>,
        from: Option<Wid>,
        limit: i64,
    ) -> Result<Vec<Instance>, StoreError> {
        let (beyond, order) = wanted.direction();
        let query = format!(
            "SELECT i.wid, i.status::text, to_jsonb(w) - 'wid' AS state, wed.rfc3339(i.started) AS started, \
               wed.rfc3339(i.changed) AS changed, \
               ARRAY(SELECT j.trname FROM wed.job j WHERE j.flow_id = i.flow_id AND j.wid = i.wid \
                     ORDER BY j.tgid) AS pending, \
               CASE WHEN i.status = 'E' THEN (SELECT t.note FROM wed.trace t \
                 WHERE t.flow_id = i.flow_id AND t.wid = i.wid AND t.status = 'E' AND t.note IS NOT NULL \
                 ORDER BY t.seq DESC LIMIT 1) END AS reason, i.key \
             FROM {} AND ($10::integer IS NULL OR i.wid {beyond} $10) ORDER BY i.wid {order} LIMIT $11",
            matching(flow, wanted)
        );
        let query = bound(sqlx::query_as(AssertSqlSafe(query)), flow, wanted);
        let mut transaction = self.begin_reading().await?;
        let found = query.bind(from).bind(limit).fetch_all(&mut *transaction);
        Ok(found.await?)
    }

    /// Numbers of instances, as [`Store::instances_from`] finds them.
    ///
    /// # Errors
    /// As [`Store::instances_from`].
    pub async fn wids_from(
        &self,
        flow: &Flow,
        wanted: &WantedInstances<'_>,
        from: Option<Wid>,
        limit: i64,
    ) -> Result<Vec<Wid>, StoreError> {
        let (beyond, order) = wanted.direction();
        let query = format!(
            "SELECT i.wid FROM {} AND ($10::integer IS NULL OR i.wid {beyond} $10) ORDER BY i.wid {order} LIMIT $11",
            matching(flow, wanted)
        );
        let query = bound(sqlx::query_as(AssertSqlSafe(query)), flow, wanted);
        let mut transaction = self.begin_reading().await?;
        let found: Vec<(Wid,)> = query.bind(from).bind(limit).fetch_all(&mut *transaction).await?;
        Ok(found.into_iter().map(|(wid,)| wid).collect())
    }

    /// Counts the instances of a flow that match, up to [`COUNTED_MAX`].
    ///
    /// # Errors
    /// As [`Store::instances_from`].
    pub async fn count_instances(&self, flow: &Flow, wanted: &WantedInstances<'_>) -> Result<i64, StoreError> {
        let query = format!("SELECT count(*) FROM (SELECT FROM {} LIMIT $10) m", matching(flow, wanted));
        let query = bound(sqlx::query_as(AssertSqlSafe(query)), flow, wanted);
        let mut transaction = self.begin_reading().await?;
        let (count,): (i64,) = query.bind(COUNTED_MAX).fetch_one(&mut *transaction).await?;
        Ok(count)
    }

    /// Begins a transaction that changes nothing and in which no statement runs for long. Each is planned for what it
    /// asks: a generic plan of a search would read all instances.
    async fn begin_reading(&self) -> Result<Transaction, StoreError> {
        let begin = format!(
            "BEGIN READ ONLY; SET LOCAL statement_timeout = '{CONDITION_TIME_MAX}'; \
             SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL search_path = pg_catalog, pg_temp"
        );
        Ok(self.pool.begin(&begin).await?)
    }

    /// Returns an instance.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn instance(&self, flow: &Flow, wid: Wid) -> Result<Instance, StoreError> {
        let mut instance = self
            .instances(flow, None, Some(wid), 1)
            .await?
            .pop()
            .ok_or_else(|| StoreError::not_found("instance", wid))?;
        instance.way_back = sqlx::query_scalar("SELECT wed.way_back($1, $2)")
            .bind(flow.flow_id)
            .bind(wid)
            .fetch_one(&self.pool)
            .await?;
        instance.relatives = sqlx::query_as(
            "SELECT CASE WHEN is_parent THEN 'parent' ELSE 'child' END AS role, flow, wid, transition, state \
             FROM wed.relatives_of($1, $2)",
        )
        .bind(flow.flow_id)
        .bind(wid)
        .fetch_all(&self.pool)
        .await?;
        Ok(instance)
    }

    /// Returns an instance's status: `R` regular, `F` final, `E` exception.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn instance_status(&self, flow_id: FlowId, wid: Wid) -> Result<String, StoreError> {
        sqlx::query_scalar("SELECT status::text FROM wed.instance WHERE flow_id = $1 AND wid = $2")
            .bind(flow_id)
            .bind(wid)
            .fetch_optional(&self.pool)
            .await?
            .ok_or_else(|| StoreError::not_found("instance", wid))
    }

    /// An instance's history from a sequence number on, in order.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn trace(&self, flow_id: FlowId, wid: Wid, from_seq: i32) -> Result<Vec<TraceRow>, StoreError> {
        self.trace_page(flow_id, wid, from_seq, i64::MAX).await
    }

    /// The same, at most `limit` rows of it.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn trace_page(
        &self,
        flow_id: FlowId,
        wid: Wid,
        from_seq: i32,
        limit: i64,
    ) -> Result<Vec<TraceRow>, StoreError> {
        Ok(sqlx::query_as(
            "SELECT seq, trw AS transition, trf AS fired, status::text, state::json AS state, \
               wed.rfc3339(tstmp) AS at, writer, note, attempt, fuel, elapsed_us, memory_bytes \
             FROM wed.trace WHERE flow_id = $1 AND wid = $2 AND seq >= $3 ORDER BY seq LIMIT $4",
        )
        .bind(flow_id)
        .bind(wid)
        .bind(from_seq)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?)
    }

    /// A flow's pending jobs, or those of one instance, in the order of (wid, tgid), those behind `after`; each
    /// with its trigger's number.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn jobs(
        &self,
        flow_id: FlowId,
        wid: Option<Wid>,
        after: Option<(Wid, TriggerId)>,
        limit: i64,
    ) -> Result<Vec<Numbered<Job>>, StoreError> {
        let (after_wid, after_tgid) = after.unwrap_or_default();
        Ok(sqlx::query_as(
            "SELECT j.wid, j.tgid::bigint AS number, j.trname AS transition, \
               coalesce(nullif(t.tgname, ''), j.tgid::text) AS trigger, \
               j.host_id IS NOT NULL OR w.pid IS NOT NULL AS running, \
               j.attempt, coalesce(t.attempts, 1) AS attempts, c.name AS component, j.priority, \
               wed.waiting_reason(j.flow_id, j.wid, j.tgid) AS waits_for, \
               CASE WHEN isfinite(j.due) AND NOT wed.is_paused(j.due) THEN wed.rfc3339(j.due) END AS due \
             FROM wed.job j LEFT JOIN wed.trigger t USING (tgid) LEFT JOIN wed.component c \
               ON c.component_id = j.component_id \
             LEFT JOIN (SELECT classid::bigint AS wid, objid::bigint AS tgid, min(pid) AS pid FROM pg_locks \
               WHERE locktype = 'advisory' AND objsubid = 2 AND granted \
                 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
               GROUP BY 1, 2) w ON w.wid = j.wid AND w.tgid = j.tgid \
             WHERE j.flow_id = $1 AND ($2::integer IS NULL OR j.wid = $2) AND (j.wid, j.tgid) > ($3, $4) \
             ORDER BY j.wid, j.tgid LIMIT $5",
        )
        .bind(flow_id)
        .bind(wid)
        .bind(after_wid)
        .bind(after_tgid)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?)
    }
}

/// Holds initial values against the flow's attributes: unknown names, and values of another type.
fn check_values(flow: &str, shape: &FlowShape, values: &Map<String, Json>) -> Result<(), StoreError> {
    let refused = |code: &str, message: String, hint: String| Err(StoreError::refused(code, message, hint));
    for (name, value) in values {
        let Some((_, kind)) = shape.attributes.iter().find(|(known, _)| known == name) else {
            let name: String = name.chars().take(64).collect();
            let known: Vec<&str> = shape.attributes.iter().map(|(name, _)| name.as_str()).collect();
            return refused(
                "42703",
                format!("flow \"{flow}\" has no attribute \"{name}\""),
                format!("It has: {}.", known.join(", ")),
            );
        };
        // Texts are left to Postgres, whose notation is wider.
        if !value.is_string()
            && let Err(error) = Value::from_json(kind, value)
        {
            return refused(
                "22P02",
                format!("attribute \"{name}\" has type {kind}: {error}"),
                format!("Give a value of type {kind}, or null."),
            );
        }
    }
    Ok(())
}

/// Gives the instances that this transaction starts a business key.
async fn set_key(connection: &mut Session, key: &str) -> Result<(), StoreError> {
    if key.is_empty() {
        return Err(StoreError::refused(
            "22023",
            "the key has 0 bytes, and 1 to 255 are allowed",
            "Leave it out, or name what the instance is about.",
        ));
    }
    sqlx::query("SELECT set_config('wed.instance_key', $1, true)").bind(key).execute(connection).await?;
    Ok(())
}

/// Inserts the row; the gate does the rest.
pub(crate) async fn insert(
    connection: &mut Session,
    schema: &str,
    values: &Map<String, Json>,
) -> Result<Wid, StoreError> {
    if values.is_empty() {
        let wid = sqlx::query(AssertSqlSafe(format!("INSERT INTO \"{schema}\".wed_flow DEFAULT VALUES RETURNING wid")))
            .persistent(false)
            .fetch_one(connection)
            .await?;
        return Ok(wid.try_get(0)?);
    }
    // Names come from the flow, quoted; values travel as one parameter and take the columns' types.
    let names: Vec<String> = values.keys().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
    let names = names.join(", ");
    let wid = sqlx::query(AssertSqlSafe(format!(
        "INSERT INTO \"{schema}\".wed_flow ({names}) \
         SELECT {names} FROM jsonb_populate_record(NULL::\"{schema}\".wed_flow, $1) RETURNING wid"
    )))
    .persistent(false)
    .bind(Json::Object(values.clone()))
    .fetch_one(connection)
    .await?;
    Ok(wid.try_get(0)?)
}

/// Writes the instances of a flow that match, from the word behind FROM on; its parameters are those of [`bound`].
fn matching(flow: &Flow, wanted: &WantedInstances<'_>) -> String {
    let schema = &flow.schema_name;
    let rows = match wanted.condition {
        None => format!("\"{schema}\".wed_flow"),
        Some(CheckedCondition(condition)) => {
            format!("(SELECT * FROM \"{schema}\".wed_flow WHERE ({condition}) IS TRUE)")
        }
    };
    format!(
        "wed.instance i JOIN {rows} w ON w.wid = i.wid \
         WHERE i.flow_id = $1 AND ($2::text IS NULL OR i.status = $2::\"char\") \
           AND ($3::integer IS NULL OR i.wid = $3) AND ($4::jsonb IS NULL OR to_jsonb(w) @> $4) \
           AND ($5::text IS NULL OR i.changed >= $5::timestamptz) \
           AND ($6::text IS NULL OR i.started >= $6::timestamptz) \
           AND ($7::text IS NULL OR i.started < $7::timestamptz) \
           AND ($8::text IS NULL OR EXISTS (SELECT FROM wed.job j \
             WHERE j.flow_id = i.flow_id AND j.wid = i.wid AND j.trname = $8)) \
           AND ($9::text IS NULL OR i.key = $9) \
           AND ($5::text IS NULL OR $5::timestamptz IS NOT NULL) AND ($6::text IS NULL OR $6::timestamptz IS NOT NULL) \
           AND ($7::text IS NULL OR $7::timestamptz IS NOT NULL)"
    )
}

/// Binds the parameters of [`matching`].
fn bound<'q, T>(
    query: sqlx::query::QueryAs<'q, sqlx::Postgres, T, sqlx::postgres::PgArguments>,
    flow: &Flow,
    wanted: &WantedInstances<'q>,
) -> sqlx::query::QueryAs<'q, sqlx::Postgres, T, sqlx::postgres::PgArguments> {
    query
        .persistent(false)
        .bind(flow.flow_id)
        .bind(wanted.status.map(String::from))
        .bind(wanted.wid)
        .bind(wanted.state.map(|state| Json::Object(state.clone())))
        .bind(wanted.changed_since)
        .bind(wanted.started_since)
        .bind(wanted.started_before)
        .bind(wanted.transition)
        .bind(wanted.key)
}

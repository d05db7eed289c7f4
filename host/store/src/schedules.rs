//! Schedules that start instances.

use std::ops::Range;
use std::time::{Duration, Instant};

use crate::Session;
use serde_json::Value as Json;
use sqlx::{AssertSqlSafe, FromRow};
use wedflow_documents::{PutSchedule, Schedule};
use wedflow_model::{FlowId, Wid};

use crate::audit::{Once, claim_key, keep_answer, note_flow};
use crate::chores::{Chore, ChoreKind, ROUND_TIME_MAX};
use crate::flows::Flow;
use crate::instances::insert;
use crate::statements::statements;
use crate::{Store, StoreError};

/// Seconds after which an occurrence counts as missed.
const MISSED_AFTER_SECONDS: i64 = 60;
/// Seconds for which occurrences are made up for: those that were missed before are not.
const MADE_UP_FOR_SECONDS: i64 = 7 * 86_400;
/// Time in which schedules of one flow are started in one transaction.
const TURN_TIME_MAX: Duration = Duration::from_millis(200);
/// Maximum number of occurrences in one transaction.
const TURN_OCCURRENCES_MAX: usize = 50;

/// A schedule that is due, with the database's time, in microseconds since 1970.
#[derive(Debug, FromRow)]
struct Due {
    schedule_id: i32,
    name: String,
    flow_id: FlowId,
    schema_name: String,
    cron: String,
    zone: String,
    state: Json,
    missed: String,
    overlap: String,
    next_us: i64,
    now_us: i64,
    last_runs: bool,
    begins: bool,
}

impl Due {
    /// Returns true if an instance is to be started for this occurrence.
    fn starts(&self) -> bool {
        let late_for = |seconds: i64| self.now_us - self.next_us > seconds * 1_000_000;
        let is_missed = match self.missed.as_str() {
            "skip" => late_for(MISSED_AFTER_SECONDS),
            "all" => late_for(MADE_UP_FOR_SECONDS),
            _ => false,
        };
        !(self.begins || is_missed || self.last_runs && self.overlap == "skip")
    }

    /// The instant behind which the next occurrence is looked for: after a week without a host the newest week's are
    /// made up for, and none that would be skipped.
    fn after(&self) -> i64 {
        let skips = self.last_runs && self.overlap == "skip";
        if self.missed == "all" && !skips && !self.begins {
            (self.next_us).max(self.now_us - MADE_UP_FOR_SECONDS * 1_000_000)
        } else {
            self.now_us.max(self.next_us)
        }
    }
}

/// Returns true if a start may succeed later without a change: a lock, a conflict, a limit of time, a server in
/// trouble.
fn is_temporary(error: &StoreError) -> bool {
    matches!(error, StoreError::Locked { .. } | StoreError::Conflict(_))
        || (error.code()).is_some_and(|code| ["40", "53", "55", "57", "58"].contains(&&code[..2.min(code.len())]))
}

/// Advice on a pattern and a zone.
const PATTERN_HINT: &str = "For example: --cron '0 9 * * MON-FRI' --zone Europe/Berlin, with minute, hour, day, \
    month and weekday.";

/// Advice on the two times of a backfill.
const SPAN_HINT: &str = "For example: from 2026-03-01T00:00:00Z until 2026-04-01T00:00:00+02:00, the earlier first.";

fn refused(message: String, hint: &str) -> StoreError {
    StoreError::refused("WF044", message, hint)
}

fn wrong(message: String) -> StoreError {
    refused(message, PATTERN_HINT)
}

/// End of the years in which times of patterns are found, in microseconds since 1970: the year 5001 begins.
const PATTERNS_END_US: i64 = 95_649_120_000 * 1_000_000;

/// Reads the two times of a backfill, as microseconds since 1970.
fn span(from: &str, until: &str) -> Result<Range<i64>, StoreError> {
    let read = |name: &str, text: &str| {
        wedflow_model::read_moment(text)
            .ok_or_else(|| refused(format!("{name} \"{text}\" is no time of RFC 3339, with its zone"), SPAN_HINT))
    };
    let (first, end) = (read("from", from)?, read("until", until)?);
    if first >= end {
        return Err(refused(format!("until \"{until}\" is not later than from \"{from}\""), SPAN_HINT));
    }
    if end > PATTERNS_END_US {
        return Err(refused(
            format!("until \"{until}\" is behind the year 5000, up to which times are computed"),
            SPAN_HINT,
        ));
    }
    Ok(first..end)
}

/// Lists the occurrences of a pattern in a span, at most `most`.
fn occurrences(
    (cron, zone): (&str, &str),
    span: Range<i64>,
    most: usize,
    next: impl Fn(&str, &str, i64) -> Result<Option<i64>, String>,
) -> Result<Vec<i64>, StoreError> {
    let (mut times, mut at) = (Vec::new(), span.start - 1);
    while let Some(time) = next(cron, zone, at).map_err(wrong)?
        && time < span.end
    {
        if times.len() == most {
            return Err(refused(
                format!("there are more than {most} times between the two; nothing was started"),
                "Make up for a shorter span, and then for the next one.",
            ));
        }
        times.push(time);
        at = time;
    }
    Ok(times)
}

statements! {
    /// A flow's schedules, by name.
    pub schedules(&self, flow_id: FlowId) -> Vec<Schedule>
        = rows "SELECT name, cron, zone, missed, overlap, paused, last_wid, last_error, \
              wed.rfc3339(next_at) AS next_at, \
              wed.rfc3339(last_at) AS last_at \
            FROM wed.schedule WHERE flow_id = $1 ORDER BY name", flow_id;
}

impl Store {
    /// Makes a schedule, or changes the one of that name; `next` computes its next occurrence. While pattern, zone and
    /// policy for missed occurrences stay the same, so does the next occurrence: one that was missed is not lost.
    ///
    /// # Errors
    /// [`StoreError::Refused`] with `WF020` for more schedules than a flow or the tenant may have;
    /// [`StoreError::Refused`] with `WF044` for a bad pattern or zone, or one that never comes, `WF001` or
    /// `WF014` for a state that starts nothing, 42703 for an unknown
    /// attribute, 22P02 and its like for a value that is none of its type, 23514 for a bad name or policy.
    pub async fn put_schedule(
        &self,
        flow: &Flow,
        name: &str,
        schedule: &PutSchedule,
        next: impl Fn(&str, &str, i64) -> Result<Option<i64>, String>,
    ) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let now: i64 = sqlx::query_scalar(NOW_US).fetch_one(&mut *transaction).await?;
        let zone = schedule.zone.as_deref().unwrap_or("UTC");
        let next = next(&schedule.cron, zone, now)
            .map_err(wrong)?
            .ok_or_else(|| wrong(format!("\"{}\" names no day that ever comes", schedule.cron)))?;
        sqlx::query(
            "SELECT wed.refuse_values(f, $2), wed.refuse_schedules(f, $3), wed.refuse_start(f, $3, $2) \
             FROM wed.flow f WHERE f.flow_id = $1",
        )
        .bind(flow.flow_id)
        .bind(Json::Object(schedule.state.clone()))
        .bind(name)
        .execute(&mut *transaction)
        .await?;
        sqlx::query(
            "INSERT INTO wed.schedule AS s (flow_id, name, cron, zone, state, missed, overlap, next_at, actor) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, to_timestamp($8::bigint / 1000000), $9) \
             ON CONFLICT (flow_id, name) DO UPDATE SET cron = excluded.cron, zone = excluded.zone, state = \
             excluded.state, \
               missed = excluded.missed, overlap = excluded.overlap, actor = excluded.actor, \
               next_at = CASE WHEN (s.cron, s.zone, s.missed) = (excluded.cron, excluded.zone, excluded.missed) \
                 THEN coalesce(s.next_at, excluded.next_at) ELSE excluded.next_at END, \
               begins = s.begins AND (s.cron, s.zone, s.missed) = (excluded.cron, excluded.zone, excluded.missed)",
        )
        .bind(flow.flow_id)
        .bind(name)
        .bind(&schedule.cron)
        .bind(zone)
        .bind(Json::Object(schedule.state.clone()))
        .bind(schedule.missed.as_deref().unwrap_or("one"))
        .bind(schedule.overlap.as_deref().unwrap_or("start"))
        .bind(next)
        .bind(&*self.actor)
        .execute(&mut *transaction)
        .await
        .map_err(|error| crate::error::about_name(error.into(), "schedule", name))?;
        let detail = serde_json::json!({ "cron": schedule.cron, "zone": zone });
        self.commit_noted_of(transaction, flow.flow_id, "schedule.set", Some(name), detail).await
    }

    /// Pauses a schedule or resumes it. A resumed one continues by its policy for missed occurrences.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn pause_schedule(&self, flow: &Flow, name: &str, pause: bool) -> Result<(), StoreError> {
        let (action, change) = match pause {
            true => ("schedule.pause", "UPDATE wed.schedule SET paused = true"),
            false => ("schedule.resume", "UPDATE wed.schedule SET paused = false"),
        };
        self.change_schedule(flow, name, action, change).await
    }

    /// Removes a schedule; its instances stay.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn remove_schedule(&self, flow: &Flow, name: &str) -> Result<(), StoreError> {
        self.change_schedule(flow, name, "schedule.remove", "DELETE FROM wed.schedule").await
    }

    async fn change_schedule(
        &self,
        flow: &Flow,
        name: &str,
        action: &str,
        change: &'static str,
    ) -> Result<(), StoreError> {
        let change = AssertSqlSafe(format!("{change} WHERE flow_id = $1 AND name = $2"));
        let change = sqlx::query(change).bind(flow.flow_id).bind(name);
        match (self.change_flow(change, flow.flow_id, action, name, Json::Null)).await? {
            true => Ok(()),
            false => Err(StoreError::not_found("schedule", name)),
        }
    }

    /// Starts the instances that are due by schedules, by turns of tenants: those of a flow in one transaction, which
    /// moves its schedules on, so that each occurrence starts one at most. A start that fails for a lock or another
    /// temporary reason is put off and keeps its occurrence. Returns how many were started.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn fire_schedules(
        &self,
        next: impl Fn(&str, &str, i64) -> Result<Option<i64>, String>,
    ) -> Result<usize, StoreError> {
        let until = Instant::now() + ROUND_TIME_MAX;
        let mut started = 0;
        loop {
            let before = started;
            for chore in self.find_chores(ChoreKind::Schedules).await? {
                if Instant::now() >= until {
                    return Ok(started);
                }
                match self.fire_of_flow(&chore, &next).await {
                    Ok(some) => started += some,
                    Err(error @ (StoreError::Unreachable(_) | StoreError::Other(_))) => {
                        return Err(error);
                    }
                    Err(error) => {
                        self.postpone(ChoreKind::Schedules, &chore, &error.to_string()).await?;
                    }
                }
            }
            if started == before {
                return Ok(started);
            }
        }
    }

    /// Starts what is due by a flow's schedules. What must be put off is, after the transaction.
    async fn fire_of_flow(
        &self,
        chore: &Chore,
        next: &impl Fn(&str, &str, i64) -> Result<Option<i64>, String>,
    ) -> Result<usize, StoreError> {
        let until = Instant::now() + TURN_TIME_MAX;
        let (mut started, mut looked_at, mut put_off) = (0, 0, Vec::new());
        let mut transaction = self.begin().await?;
        'schedules: for part in chore.parts() {
            while let Some(due) = due_schedule(&mut transaction, &part).await? {
                // One at least, however slow the server is.
                let is_late = looked_at > 0 && Instant::now() >= until;
                if is_late || looked_at == TURN_OCCURRENCES_MAX {
                    break 'schedules;
                }
                looked_at += 1;
                match fire(&mut transaction, &due, next).await? {
                    Fired::Started => started += 1,
                    Fired::Skipped => {}
                    Fired::PutOff { reason, at_lock } => {
                        put_off.push((part, reason));
                        if at_lock {
                            break 'schedules;
                        }
                        break;
                    }
                }
            }
        }
        transaction.commit().await?;
        for (part, reason) in put_off {
            self.postpone(ChoreKind::Schedules, &part, &reason).await?;
        }
        Ok(started)
    }

    /// Starts an instance for each occurrence of a schedule from an instant (inclusive) until another (exclusive), in
    /// one transaction, at most `most`; at most once for a client's key. Instants are RFC 3339. Returns the instances,
    /// and whether an earlier request with that key started them.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Refused`] with `WF044` for more occurrences than `most`, before any
    /// instance is started, and for instants that are none or the wrong way round; [`StoreError::OtherRequest`] when the
    /// key was used for something else; those of starting an instance.
    pub async fn backfill_schedule(
        &self,
        flow: &Flow,
        name: &str,
        (from, until): (&str, &str),
        most: usize,
        once: Option<&Once<'_>>,
        next: impl Fn(&str, &str, i64) -> Result<Option<i64>, String>,
    ) -> Result<(Vec<Wid>, bool), StoreError> {
        let mut transaction = self.begin().await?;
        if let Some(once) = once
            && let Some(answer) = claim_key(&mut transaction, once).await?
        {
            let started = serde_json::from_value(answer["started"].clone());
            return Ok((started.map_err(StoreError::unreadable)?, true));
        }
        let (cron, zone, state): (String, String, Json) =
            sqlx::query_as("SELECT cron, zone, state FROM wed.schedule WHERE flow_id = $1 AND name = $2")
                .bind(flow.flow_id)
                .bind(name)
                .fetch_optional(&mut *transaction)
                .await?
                .ok_or_else(|| StoreError::not_found("schedule", name))?;
        let times = occurrences((&cron, &zone), span(from, until)?, most, next)?;
        let values = state.as_object().cloned().unwrap_or_default();
        let mut wids = Vec::with_capacity(times.len());
        for _ in &times {
            wids.push(insert(&mut transaction, &flow.schema_name, &values).await?);
        }
        note_times(&mut transaction, flow.flow_id, name, &wids, &times).await?;
        if let Some(once) = once {
            let answer = serde_json::json!({ "started": wids });
            keep_answer(&mut transaction, once, &answer).await?;
        }
        self.commit_noted_of(
            transaction,
            flow.flow_id,
            "schedule.backfill",
            Some(name),
            serde_json::json!({ "instances": wids.len() }),
        )
        .await?;
        Ok((wids, false))
    }
}

/// Notes in the traces of instances that were started in this transaction for which time of a schedule each stands.
async fn note_times(
    connection: &mut Session,
    flow_id: FlowId,
    schedule: &str,
    wids: &[Wid],
    times_us: &[i64],
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE wed.trace t SET note = format('schedule %s, %s', $2::text, \
           wed.rfc3339(to_timestamp(s.us / 1000000.0))) \
         FROM unnest($3::integer[], $4::bigint[]) s(wid, us) \
         WHERE t.flow_id = $1 AND t.wid = s.wid AND t.seq = 1 AND t.tstmp >= now()",
    )
    .bind(flow_id)
    .bind(schedule)
    .bind(wids)
    .bind(times_us)
    .execute(connection)
    .await?;
    Ok(())
}

/// The database's time in microseconds since 1970.
const NOW_US: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

/// End of an occurrence.
enum Fired {
    /// An instance was started.
    Started,
    /// No instance: the policy, or an error that stays, kept it from starting one.
    Skipped,
    /// No end yet: the occurrence is still due.
    PutOff {
        /// Why.
        reason: String,
        /// Other starts of the flow would wait too.
        at_lock: bool,
    },
}

/// Starts the instance of an occurrence, and moves its schedule on to the next one.
async fn fire(
    transaction: &mut Session,
    due: &Due,
    next: &impl Fn(&str, &str, i64) -> Result<Option<i64>, String>,
) -> Result<Fired, StoreError> {
    // A host may lack what the pattern needs, a time zone say: another one has it.
    let following = match next(&due.cron, &due.zone, due.after()) {
        Ok(following) => following,
        Err(reason) => {
            return Ok(Fired::PutOff { reason, at_lock: false });
        }
    };
    let mut started = Ok(None);
    if due.starts() {
        transaction.command("SAVEPOINT start").await?;
        let values = due.state.as_object().cloned().unwrap_or_default();
        started = (insert(transaction, &due.schema_name, &values).await).map(Some);
        let ended = match started {
            Ok(_) => "RELEASE SAVEPOINT start",
            Err(_) => "ROLLBACK TO SAVEPOINT start",
        };
        transaction.command(ended).await?;
    }
    let (wid, error) = match started {
        Ok(wid) => (wid, None),
        Err(error) if is_temporary(&error) => {
            return Ok(Fired::PutOff {
                at_lock: matches!(error, StoreError::Locked { .. }) || error.code() == Some("57014"),
                reason: error.to_string(),
            });
        }
        Err(error) => (None, Some(error.to_string())),
    };
    sqlx::query(
        "WITH done AS (DELETE FROM wed.postponed WHERE kind = 'schedules' AND flow_id = $5 AND thing = $1) \
         UPDATE wed.schedule SET next_at = to_timestamp($2::bigint / 1000000), begins = false, last_error = left($4, 1000), \
           last_wid = coalesce($3, last_wid), last_at = CASE WHEN $3 IS NULL THEN last_at ELSE \
           clock_timestamp() END \
         WHERE schedule_id = $1",
    )
    .bind(due.schedule_id)
    .bind(following)
    .bind(wid)
    .bind(error)
    .bind(due.flow_id)
    .execute(&mut *transaction)
    .await?;
    let Some(wid) = wid else {
        return Ok(Fired::Skipped);
    };
    note_times(transaction, due.flow_id, &due.name, &[wid], &[due.next_us]).await?;
    let target = wid.to_string();
    note_flow(transaction, "schedule", due.flow_id, "instance.start", Some(&target), Json::Null).await?;
    Ok(Fired::Started)
}

/// Holds a schedule until the end of the transaction, if it is due still.
async fn due_schedule(connection: &mut Session, part: &Chore) -> Result<Option<Due>, StoreError> {
    Ok(sqlx::query_as(
        "SELECT s.schedule_id, s.name, s.flow_id, f.schema_name, s.cron, s.zone, s.state, s.missed, s.overlap, \
           (extract(epoch FROM s.next_at) * 1000000)::bigint AS next_us, \
           (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now_us, \
           coalesce((SELECT i.status = 'R' FROM wed.instance i \
             WHERE i.flow_id = s.flow_id AND i.wid = s.last_wid), false) AS last_runs, s.begins \
         FROM wed.schedule s JOIN wed.flow f USING (flow_id) \
         WHERE s.schedule_id = $1 AND NOT s.paused AND s.next_at <= clock_timestamp() FOR UPDATE OF s SKIP LOCKED",
    )
    .bind(part.things.first())
    .fetch_optional(connection)
    .await?)
}

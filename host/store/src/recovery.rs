//! Recovery by operators, and the reasons why jobs wait.

use std::fmt;

use serde_json::{Map, Value as Json};
use sqlx::FromRow;
use strum::{EnumString, IntoStaticStr, VariantArray};
use wedflow_documents::{MatchingException, PausedThing, Refused, RetriedMatching, RetryMatching, Waiting};
use wedflow_model::{FlowId, Wid};

use crate::flows::Flow;
use crate::statements::statements;
use crate::{Store, StoreError};

/// Reason why a pending job is not being run. A closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum WaitingReason {
    /// The time has not come: a delay, a backoff, a deadline.
    Time,
    /// A session holds a lock on its row or on the table of its flow.
    Locked,
    /// Pending transitions of its instance must end first.
    Siblings,
    /// The tenant has used up its share: fuel, or jobs in flight.
    Quota,
    /// An operator paused it.
    Paused,
    /// The circuit breaker of its component is open.
    Circuit,
    /// No host is running.
    NoHost,
    /// The component of its transition was not uploaded.
    NoComponent,
    /// The component does not fit the flow, or cannot be loaded.
    NotRunnable,
    /// No session of the flow's role is connected.
    NoWorker,
    /// A person's work, which waits for that person.
    Person,
    /// A person's work, and no person of the tenant may do it.
    Nobody,
    /// Another instance has reserved what it needs.
    Reservation,
    /// Tasks that come before it are not done.
    Precedence,
    /// An event, or its time limit.
    Event,
    /// The instance that it started has not ended.
    Child,
}

impl WaitingReason {
    /// All reasons.
    pub const ALL: &[WaitingReason] = WaitingReason::VARIANTS;

    /// The code, as in SQL and HTTP.
    pub fn code(self) -> &'static str {
        self.into()
    }

    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            WaitingReason::Time => "its time has not come",
            WaitingReason::Locked => "a session holds a lock on its row or its flow's table",
            WaitingReason::Siblings => "other pending transitions of the instance end first",
            WaitingReason::Quota => "the tenant's quota is used up",
            WaitingReason::Paused => "an operator paused it",
            WaitingReason::Circuit => "the circuit breaker of its component is open",
            WaitingReason::NoHost => "no host is running",
            WaitingReason::NoComponent => "its component was not uploaded",
            WaitingReason::NotRunnable => "its component does not fit the flow",
            WaitingReason::NoWorker => "no worker is connected",
            WaitingReason::Person => "it is a person's work",
            WaitingReason::Nobody => "no person may do it",
            WaitingReason::Reservation => "another instance has reserved what it needs",
            WaitingReason::Precedence => "tasks that come before it are not done",
            WaitingReason::Event => "it waits for an event",
            WaitingReason::Child => "the instance that it started has not ended",
        }
    }

    /// Way to make it proceed.
    pub fn hint(self) -> &'static str {
        match self {
            WaitingReason::Time => {
                "Wait. After a failed attempt `wed instance retry` makes it due now; a delay of its trigger stays."
            }
            WaitingReason::Locked => "End the session that holds the lock (`wed status` names it).",
            WaitingReason::Siblings => "Let them end; `wed instance show` lists them. `wed instance skip` skips one.",
            WaitingReason::Quota => "Raise the quota with `wed tenant quota`, or wait.",
            WaitingReason::Paused => "Take the pause back",
            WaitingReason::Circuit => "Push a mended version of the component.",
            WaitingReason::NoHost => "Start one with `wed serve`, or `wed dev`.",
            WaitingReason::NoComponent => "Upload it with `wed component push`.",
            WaitingReason::NotRunnable => {
                "Push a component that fits, or mend the flow; it is looked at again within 15 s."
            }
            WaitingReason::NoWorker => {
                "Start a worker on the URL that `wed flow url` prints, or bind a component with `wed flow bind`."
            }
            WaitingReason::Person => {
                "`wed work` lists it for those to whom it is offered; `wed work take-over` takes it from its holder."
            }
            WaitingReason::Nobody => "Add a person with its role: `wed work people --add NAME --role ROLE`.",
            WaitingReason::Reservation => "Wait until the other instance releases it.",
            WaitingReason::Precedence => {
                "Let the tasks before it end, or drop an order that was added with `wed_drop_after`."
            }
            WaitingReason::Event => "Send it with `wed instance event`.",
            WaitingReason::Child => "Look at that instance; `wed instance skip` continues without it, and cancels it.",
        }
    }

    /// The reason of that code.
    pub fn of_code(code: &str) -> Option<Self> {
        code.parse().ok()
    }
}

impl fmt::Display for WaitingReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// Scope of a pause.
#[derive(Debug, Clone, Copy)]
pub enum PauseScope<'a> {
    /// A tenant.
    Tenant(&'a str),
    /// A flow.
    Flow(&'a str, &'a Flow),
    /// A trigger of a flow, by its name, its number or its transition.
    Trigger(&'a str, &'a Flow, &'a str),
    /// An instance.
    Instance(&'a str, &'a Flow, Wid),
}

/// A figure of the installation.
#[derive(Debug, Clone, FromRow)]
pub struct Metric {
    /// Name of the count: `hosts`, `jobs`, `exceptions` and so on.
    pub name: String,
    /// The tenant, where it is one's.
    pub tenant: Option<String>,
    /// The kind, flow, limit or problem.
    pub label: Option<String>,
    /// The number.
    pub value: f64,
}

/// A row of [`Store::waiting`]: transition, code, due, detail, commands that end a pause.
type WaitingRow = (String, Option<String>, Option<String>, Option<String>, Option<String>);

/// A row of `wed.retry_matching`: number, failed transition, what was said, why a retry is refused.
type RetryRow = (Wid, Option<String>, Option<String>, Option<String>);

statements! {
    /// Retries an instance: an exception passes the gate anew, a regular one's waiting jobs are due at once.
    /// Returns the transitions that were fired or hurried.
    /// Errors: [`StoreError::Refused`] with `WF002` when it is final, `WF040` when there is no such instance or nothing
    /// waits, `WF042` when its state satisfies no condition.
    pub retry_instance(&self, flow: &Flow, wid: Wid, reason: &str) -> Vec<String>
        = call "SELECT wed.retry_instance($1, $2, $3, $4)", flow.flow_id, wid, &*self.actor, reason;

    /// Removes a final instance with all that is recorded of it, but for the audit log.
    /// Errors: [`StoreError::Refused`] with `WF040`, with `WF002` for one that is not final, `WF041` without a reason.
    pub delete_instance(&self, flow: &Flow, wid: Wid, reason: &str) -> ()
        = call "SELECT wed.delete_instance($1, $2, $3, $4)", flow.flow_id, wid, &*self.actor, reason;

    /// Ends an instance: its jobs leave the pool, it is final.
    /// Errors: [`StoreError::Refused`] as [`Store::retry_instance`]; `WF041` without a reason.
    pub cancel_instance(&self, flow: &Flow, wid: Wid, reason: &str) -> ()
        = call "SELECT wed.cancel_instance($1, $2, $3, $4)", flow.flow_id, wid, &*self.actor, reason;

    /// Takes a pending job out of the pool without running it. Returns the instance's status.
    /// Errors: [`StoreError::Refused`] with `WF040` when there is no such job, `WF041` without a reason.
    pub skip_job(&self, flow: &Flow, wid: Wid, transition: &str, reason: &str) -> String
        = call "SELECT wed.skip_job($1, $2, $3, $4, $5)::text", flow.flow_id, wid, transition, &*self.actor, reason;

    /// Sets attributes of an exception by hand; the state passes the gate. Returns the instance's status.
    /// Errors: [`StoreError::Refused`] with `WF043` when it is no exception, `WF041` without a reason, 42703
    /// for an unknown attribute.
    pub set_state(&self, flow: &Flow, wid: Wid, values: &Map<String, Json>, reason: &str) -> String
        = call "SELECT wed.set_state($1, $2, $3, $4, $5)::text", flow.flow_id, wid, Json::Object(values.clone()),
            &*self.actor, reason;

    /// Present pauses of a tenant, oldest first.
    pub pauses(&self, tenant: &str) -> Vec<PausedThing>
        = rows "SELECT f.name AS flow, coalesce(g.tgname, g.tgid::text) AS trigger, p.wid, p.actor, p.reason, \
              wed.rfc3339(p.paused_at) AS since \
            FROM wed.pause p JOIN wed.tenant t USING (tenant_id) LEFT JOIN wed.flow f ON f.flow_id = p.flow_id \
            LEFT JOIN wed.trigger g ON g.tgid = p.tgid WHERE t.name = $1 ORDER BY p.pause_id", tenant;

    /// Sends an exception back to the state of a trace row: compensations of the steps since then are run, newest
    /// first. Returns how many steps there are to undo; a chore of the hosts undoes them.
    /// Errors: [`StoreError::Refused`] with `WF040` when there is no such step, `WF041` without a reason,
    /// `WF043` when the instance is no exception.
    pub go_back(&self, flow: &Flow, wid: Wid, to_seq: i32, reason: &str) -> i32
        = call "SELECT wed.go_back($1, $2, $3, $4, $5)", flow.flow_id, wid, to_seq, &*self.actor, reason;

    /// Sets open attributes of an instance: an event. With a key at most once within a day: false when it was sent
    /// before.
    /// Errors: [`StoreError::Refused`] with `WF003` for an attribute that is not open, `WF040`, `WF002`,
    /// `WF046` for a key that was used for something else, and those of the values.
    pub send_event(&self, flow: &Flow, wid: Wid, values: &Map<String, Json>, key: Option<&str>) -> bool
        = call "SELECT wed.send_event($1, $2, $3, $4, $5)", flow.flow_id, wid, Json::Object(values.clone()),
            &*self.actor, key;
}

impl Store {
    /// Retries the exceptions of a flow that match, at most `limit`, or shows what that would do.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when `since` is no time.
    pub async fn retry_matching(
        &self,
        flow: &Flow,
        asked: &RetryMatching,
        limit: i32,
    ) -> Result<RetriedMatching, StoreError> {
        let mut answer = RetriedMatching {
            applied: asked.apply,
            matching: self.count_matching(flow, asked).await?,
            instances: Vec::new(),
            retried: Vec::new(),
            refused: Vec::new(),
        };
        if !asked.apply {
            self.preview_retries(flow, asked, limit, &mut answer).await?;
            return Ok(answer);
        }
        answer.instances = self.matching_exceptions(flow, asked, limit).await?;
        // Each in its own transaction: one that cannot proceed delays no other.
        for &MatchingException { wid, .. } in &answer.instances {
            match self.retry_instance(flow, wid, &asked.reason).await {
                Ok(_) => answer.retried.push(wid),
                Err(error) => answer.refused.push(Refused { wid, reason: error.to_string() }),
            }
        }
        Ok(answer)
    }

    /// Retries those that match in a transaction, and takes it back.
    async fn preview_retries(
        &self,
        flow: &Flow,
        matching: &RetryMatching,
        limit: i32,
        answer: &mut RetriedMatching,
    ) -> Result<(), StoreError> {
        let since = self.since(matching).await?;
        let rows: Vec<RetryRow> = sqlx::query_as(
            "SELECT wid, failed, said, refused \
             FROM wed.retry_matching($1, $2, $3, $4::timestamptz, $5, $6, '', true)",
        )
        .bind(flow.flow_id)
        .bind(&matching.transition)
        .bind(&matching.message)
        .bind(since)
        .bind(limit)
        .bind(&*self.actor)
        .fetch_all(&self.pool)
        .await?;
        for (wid, transition, message, refused) in rows {
            answer.instances.push(MatchingException { wid, transition, message });
            answer.refused.extend(refused.map(|reason| Refused { wid, reason }));
        }
        Ok(())
    }

    async fn count_matching(&self, flow: &Flow, matching: &RetryMatching) -> Result<i64, StoreError> {
        let since = self.since(matching).await?;
        Ok(sqlx::query_scalar("SELECT count(*) FROM wed.matching_exceptions($1, $2, $3, $4::timestamptz, NULL)")
            .bind(flow.flow_id)
            .bind(&matching.transition)
            .bind(&matching.message)
            .bind(since)
            .fetch_one(&self.pool)
            .await?)
    }

    async fn since(&self, matching: &RetryMatching) -> Result<Option<String>, StoreError> {
        Ok(match &matching.since {
            None => None,
            Some(text) => Some(self.instant(text).await?),
        })
    }

    /// Lists exceptions of a flow that match, at most `limit`.
    async fn matching_exceptions(
        &self,
        flow: &Flow,
        matching: &RetryMatching,
        limit: i32,
    ) -> Result<Vec<MatchingException>, StoreError> {
        let since = self.since(matching).await?;
        Ok(sqlx::query_as(
            "SELECT wid, transition, message FROM wed.matching_exceptions($1, $2, $3, $4::timestamptz, $5)",
        )
        .bind(flow.flow_id)
        .bind(&matching.transition)
        .bind(&matching.message)
        .bind(since)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?)
    }

    /// Pauses or resumes something. False: it was so already.
    ///
    /// # Errors
    /// [`StoreError::Refused`] with `WF040` when there is no such trigger or instance, `WF041` when a pause has no
    /// reason.
    pub async fn set_pause(&self, scope: PauseScope<'_>, pause: bool, reason: &str) -> Result<bool, StoreError> {
        let (tenant, flow, trigger, wid) = match scope {
            PauseScope::Tenant(tenant) => (tenant, None, None, None),
            PauseScope::Flow(tenant, flow) => (tenant, Some(flow.flow_id), None, None),
            PauseScope::Trigger(tenant, flow, name) => (tenant, Some(flow.flow_id), Some(name), None),
            PauseScope::Instance(tenant, flow, wid) => (tenant, Some(flow.flow_id), None, Some(wid)),
        };
        let call = sqlx::query_scalar("SELECT wed.set_pause($1, $2, $3, $4, $5, $6, $7)")
            .bind(self.tenant_number(tenant).await?)
            .bind(flow)
            .bind(trigger)
            .bind(wid)
            .bind(pause)
            .bind(&*self.actor)
            .bind(reason);
        self.call(call).await
    }

    /// Lists what an instance's pending jobs wait for that no host runs.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn waiting(&self, flow_id: FlowId, wid: Wid) -> Result<Vec<Waiting>, StoreError> {
        let rows: Vec<WaitingRow> =
            sqlx::query_as(
            "SELECT j.trname, wed.waiting_reason(j.flow_id, j.wid, j.tgid), \
                   CASE WHEN isfinite(j.due) AND NOT wed.is_paused(j.due) \
                     THEN wed.rfc3339(j.due) END, \
                   CASE WHEN j.blocked IS NOT NULL OR j.is_wait AND j.due > clock_timestamp() THEN 'it waits for ' || wed.waits_on(j.flow_id, j.wid, j.tgid) \
                     WHEN j.not_runnable AND j.put_off IS NOT NULL THEN j.put_off \
                     WHEN wed.waiting_reason(j.flow_id, j.wid, j.tgid) = 'nobody' \
                       THEN (wed.nobody_in_words(wed.item_for_nobody(j.flow_id, j.wid, j.tgid))).reason \
                     ELSE wed.waiting_text(wed.waiting_reason(j.flow_id, j.wid, j.tgid), j.tenant_id) END, \
                   wed.resume_commands(j.flow_id, j.wid, j.tgid) \
                 FROM wed.job j WHERE j.flow_id = $1 AND j.wid = $2 ORDER BY j.tgid",
        )
            .bind(flow_id)
            .bind(wid)
            .fetch_all(&self.pool)
            .await?;
        Ok(rows
            .into_iter()
            .filter_map(|(transition, code, due, detail, resuming)| {
                let reason = WaitingReason::of_code(&code?)?;
                let resuming = resuming.filter(|_| reason == WaitingReason::Paused);
                Some(Waiting {
                    transition,
                    code: reason.code().to_owned(),
                    text: detail.unwrap_or_else(|| reason.text().to_owned()),
                    hint: match resuming {
                        Some(commands) => format!("{}: {commands}.", reason.hint()),
                        None => reason.hint().to_owned(),
                    },
                    due,
                })
            })
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_found_by_its_code() {
        for &reason in WaitingReason::ALL {
            assert_eq!(WaitingReason::of_code(reason.code()), Some(reason));
        }
        assert_eq!(WaitingReason::of_code("idle"), None);
    }
}

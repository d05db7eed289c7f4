//! The audit log, and answers that are remembered under a client's key.

use crate::Session;
use serde_json::Value as Json;
use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use wedflow_documents::AuditEntry;
use wedflow_model::FlowId;

use crate::statements::statements;
use crate::{Numbered, Store, StoreError, Transaction};

/// A client's key for a request that is to be done once, however often it is sent.
#[derive(Debug, Clone, Copy)]
pub struct Once<'a> {
    /// The tenant's name.
    pub tenant: &'a str,
    /// The user's name: keys of two users are two keys.
    pub user: &'a str,
    /// The key.
    pub key: &'a str,
    /// Description of what is asked for: under one key only the same may be asked for again.
    pub asked: &'a Json,
}

/// Result of taking a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Taken {
    /// The key is the caller's, who does what is asked.
    New,
    /// Answer of the request that was done under the key before.
    Answered(Json),
    /// Another request with the key is under way.
    Elsewhere,
}

/// Appends to the audit log, in the transaction of what is done.
pub(crate) async fn note(
    connection: &mut Session,
    actor: &str,
    tenant: Option<&str>,
    action: &str,
    target: &str,
    detail: Json,
) -> Result<(), StoreError> {
    sqlx::query("SELECT wed.note($1, $2, $3, $4, $5)")
        .bind(actor)
        .bind(tenant)
        .bind(action)
        .bind(target)
        .bind(detail)
        .execute(connection)
        .await?;
    Ok(())
}

/// The same about something of a flow: `part` is what of it.
pub(crate) async fn note_flow(
    connection: &mut Session,
    actor: &str,
    flow_id: FlowId,
    action: &str,
    part: Option<&str>,
    detail: Json,
) -> Result<(), StoreError> {
    sqlx::query("SELECT wed.note_flow($1, $2, $3, $4, $5)")
        .bind(actor)
        .bind(flow_id)
        .bind(action)
        .bind(part)
        .bind(detail)
        .execute(connection)
        .await?;
    Ok(())
}

/// Claims a key in the transaction of what is to be done once. An answer: it was done already. Another
/// transaction with the key is waited for.
///
/// # Errors
/// [`StoreError::OtherRequest`] when the key was used for something else.
pub(crate) async fn claim_key(connection: &mut Session, once: &Once<'_>) -> Result<Option<Json>, StoreError> {
    let new: Option<i32> = sqlx::query_scalar(
        "INSERT INTO wed.idempotency (tenant_id, user_name, key, fingerprint) \
         SELECT tenant_id, $2, $3, wed.fingerprint($4) FROM wed.tenant WHERE name = $1 ON CONFLICT DO NOTHING RETURNING 1",
    )
    .bind(once.tenant)
    .bind(once.user)
    .bind(once.key)
    .bind(once.asked)
    .fetch_optional(&mut *connection)
    .await?;
    if new.is_some() {
        return Ok(None);
    }
    remembered(connection, once).await
}

async fn remembered(connection: &mut Session, once: &Once<'_>) -> Result<Option<Json>, StoreError> {
    let found: Option<(bool, Option<Json>)> = sqlx::query_as(
        "SELECT i.fingerprint = wed.fingerprint($4), i.answer FROM wed.idempotency i JOIN wed.tenant t USING (tenant_id) \
         WHERE t.name = $1 AND i.user_name = $2 AND i.key = $3",
    )
    .bind(once.tenant)
    .bind(once.user)
    .bind(once.key)
    .bind(once.asked)
    .fetch_optional(connection)
    .await?;
    match found {
        Some((false, _)) => Err(StoreError::OtherRequest),
        Some((true, answer)) => Ok(answer),
        None => Ok(None),
    }
}

/// Keeps the answer under its key.
pub(crate) async fn keep_answer(connection: &mut Session, once: &Once<'_>, answer: &Json) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO wed.idempotency (tenant_id, user_name, key, fingerprint, answer) \
         SELECT tenant_id, $2, $3, wed.fingerprint($4), $5 FROM wed.tenant WHERE name = $1 \
         ON CONFLICT (tenant_id, user_name, key) DO UPDATE SET answer = excluded.answer \
         WHERE idempotency.fingerprint = excluded.fingerprint",
    )
    .bind(once.tenant)
    .bind(once.user)
    .bind(once.key)
    .bind(once.asked)
    .bind(answer)
    .execute(connection)
    .await?;
    Ok(())
}

statements! {
    /// Gives a key back that was taken and has no answer.
    pub give_key_back(&self, once: &Once<'_>) -> ()
        = run "DELETE FROM wed.idempotency i USING wed.tenant t WHERE t.tenant_id = i.tenant_id AND t.name = $1 \
            AND i.user_name = $2 AND i.key = $3 AND i.fingerprint = wed.fingerprint($4) AND i.answer IS NULL",
            once.tenant, once.user, once.key, once.asked;
}

impl Store {
    /// Notes what a transaction did to something of a tenant, or of the installation, and commits it.
    pub(crate) async fn commit_noted(
        &self,
        mut transaction: Transaction,
        tenant: impl Into<Option<&str>>,
        action: &str,
        target: &str,
        detail: Json,
    ) -> Result<(), StoreError> {
        let tenant = tenant.into();
        note(&mut transaction, &self.actor, tenant, action, target, detail).await?;
        Ok(transaction.commit().await?)
    }

    /// Changes a part of a flow in a transaction of its own, and notes it. False: there is no such part.
    pub(crate) async fn change_flow(
        &self,
        change: Query<'_, Postgres, PgArguments>,
        flow_id: FlowId,
        action: &str,
        part: &str,
        detail: Json,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.begin().await?;
        let done = change.execute(&mut *transaction).await?;
        if done.rows_affected() == 0 {
            transaction.rollback().await?;
            return Ok(false);
        }
        self.commit_noted_of(transaction, flow_id, action, Some(part), detail).await?;
        Ok(true)
    }

    /// Notes what a transaction did to a part of a flow, and commits it.
    pub(crate) async fn commit_noted_of(
        &self,
        mut transaction: Transaction,
        flow_id: FlowId,
        action: &str,
        part: Option<&str>,
        detail: Json,
    ) -> Result<(), StoreError> {
        note_flow(&mut transaction, &self.actor, flow_id, action, part, detail).await?;
        Ok(transaction.commit().await?)
    }

    /// Takes a key for something that takes longer than a transaction may. Whoever has it remembers an answer, or gives
    /// the key back; one that is neither after ten minutes is free again: its host has ended.
    ///
    /// # Errors
    /// [`StoreError::OtherRequest`] when the key was used for something else.
    pub async fn take_key(&self, once: &Once<'_>) -> Result<Taken, StoreError> {
        let mut connection = self.pool.acquire().await?;
        let new: Option<i32> = sqlx::query_scalar(
            "INSERT INTO wed.idempotency AS i (tenant_id, user_name, key, fingerprint) \
             SELECT tenant_id, $2, $3, wed.fingerprint($4) FROM wed.tenant WHERE name = $1 \
             ON CONFLICT (tenant_id, user_name, key) DO UPDATE SET created_at = now() \
             WHERE i.answer IS NULL AND i.fingerprint = excluded.fingerprint \
               AND i.created_at < now() - interval '10 minutes' RETURNING 1",
        )
        .bind(once.tenant)
        .bind(once.user)
        .bind(once.key)
        .bind(once.asked)
        .fetch_optional(&mut *connection)
        .await?;
        if new.is_some() {
            return Ok(Taken::New);
        }
        let answer = remembered(&mut connection, once).await?;
        Ok(answer.map_or(Taken::Elsewhere, Taken::Answered))
    }

    /// Keeps an answer under its key, for things that are the same however often they are done.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn remember(&self, once: &Once<'_>, answer: &Json) -> Result<(), StoreError> {
        let mut connection = self.pool.acquire().await?;
        keep_answer(&mut connection, once, answer).await
    }

    /// Records that a request was denied. `asked` says what for, in words of ours.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn note_denied(&self, tenant: &str, asked: &str) -> Result<(), StoreError> {
        let transaction = self.begin().await?;
        let nothing = Json::Object(serde_json::Map::new());
        self.commit_noted(transaction, tenant, "request.denied", asked, nothing).await
    }

    /// Forgets the keys that are older than a day.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn forget_answers(&self) -> Result<u64, StoreError> {
        let done = sqlx::query("DELETE FROM wed.idempotency WHERE created_at < now() - interval '1 day'")
            .execute(&self.pool)
            .await?;
        Ok(done.rows_affected())
    }

    /// The audit log, newest first: of one tenant, who is not told which operator acted, or of everything; entries
    /// older than the number `before`, when given; not older than `since` (a time, or a span counted back from now, in
    /// Postgres's notation).
    ///
    /// # Errors
    /// [`StoreError::Refused`] when `since` is neither.
    pub async fn audit(
        &self,
        tenant: Option<&str>,
        since: Option<&str>,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<Numbered<AuditEntry>>, StoreError> {
        let since = match since {
            None => None,
            Some(text) => Some(self.instant(text).await?),
        };
        Ok(sqlx::query_as(
            "SELECT a.audit_id AS number, wed.rfc3339(a.at) AS at, a.action, a.target, a.detail, \
               CASE WHEN $1::text IS NULL THEN a.tenant_name END AS tenant, \
               CASE WHEN $1 IS NOT NULL AND a.actor LIKE 'operator:%' THEN 'operator' ELSE a.actor END AS actor \
             FROM wed.audit a \
             WHERE ($1::text IS NULL OR a.tenant_id = (SELECT tenant_id FROM wed.tenant WHERE name = $1)) \
               AND ($2::text IS NULL OR a.at >= $2::timestamptz) AND ($3::bigint IS NULL OR a.audit_id < $3) \
             ORDER BY a.audit_id DESC LIMIT $4",
        )
        .bind(tenant)
        .bind(since)
        .bind(before)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?)
    }

    /// A time, or a span counted back from now, as a time.
    pub(crate) async fn instant(&self, text: &str) -> Result<String, StoreError> {
        let from_span: Result<String, sqlx::Error> =
            sqlx::query_scalar("SELECT (now() - $1::interval)::text").bind(text).fetch_one(&self.pool).await;
        if let Ok(instant) = from_span {
            return Ok(instant);
        }
        sqlx::query_scalar("SELECT $1::timestamptz::text").bind(text).fetch_one(&self.pool).await.map_err(|_| {
            StoreError::refused(
                "22007",
                format!("\"{text}\" is neither a time nor a span of time"),
                "For example: 2026-01-31T12:00:00Z, or '2 hours' for the last two hours.",
            )
        })
    }

    /// Removes what is older than a span (Postgres's notation) from the audit log.
    ///
    /// # Errors
    /// [`StoreError::Refused`] with `WF022` for less than 30 days.
    pub async fn forget_audit(&self, older: &str) -> Result<i64, StoreError> {
        let mut transaction = self.begin().await?;
        let done = sqlx::query_scalar("SELECT wed.forget_audit($1, $2::interval)")
            .bind(&*self.actor)
            .bind(older)
            .fetch_one(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(done)
    }
}

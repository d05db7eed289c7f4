//! Retention of history, records and finished instances.

use crate::Session;
use serde::Serialize;
use sqlx::FromRow;

use crate::statements::statements;
use crate::{Store, StoreError};

/// Most rows that one statement removes.
const REMOVED_MAX: i32 = 2_000;

/// Retention times, as Postgres writes an interval; none: for ever.
#[derive(Debug, Clone, PartialEq, Eq, FromRow, Serialize)]
pub struct Retention {
    /// The trace, by whole days.
    pub trace: Option<String>,
    /// Attempts that changed nothing.
    pub attempts: Option<String>,
    /// Log lines of transitions.
    pub logs: Option<String>,
    /// Recordings, which a replay needs.
    pub recordings: Option<String>,
    /// Final instances, with all that is recorded of them.
    pub instances: Option<String>,
}

statements! {
    /// Returns the retention times.
    pub retention(&self) -> Retention
        = row "SELECT trace::text, attempts::text, logs::text, recordings::text, instances::text FROM wed.retention";
}

impl Store {
    /// Sets how long things of some kinds are kept ([`Retention`]'s fields), all or none: a Postgres interval, for the
    /// trace of at least a day, for others of an hour; or none, for ever.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when one is no interval, or too short.
    pub async fn set_retention(&self, wanted: &[(&str, Option<&str>)]) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        for (kind, keep) in wanted {
            keep_for(&mut transaction, kind, *keep).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Removes records that are older than they are kept, in at most `steps` steps. Returns how many there were. Any
    /// host may do it for all.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn expire_records(&self, steps: usize) -> Result<i64, StoreError> {
        let mut removed = 0;
        for _ in 0..steps {
            let records: i64 =
                sqlx::query_scalar("SELECT wed.expire_records($1)").bind(REMOVED_MAX).fetch_one(&self.pool).await?;
            removed += records;
            if records < i64::from(REMOVED_MAX) {
                break;
            }
        }
        Ok(removed)
    }
}

/// Sets how long things of a kind are kept.
async fn keep_for(connection: &mut Session, kind: &str, keep: Option<&str>) -> Result<(), StoreError> {
    let statement = match kind {
        "trace" => "UPDATE wed.retention SET trace = $1::interval",
        "attempts" => "UPDATE wed.retention SET attempts = $1::interval",
        "logs" => "UPDATE wed.retention SET logs = $1::interval",
        "recordings" => "UPDATE wed.retention SET recordings = $1::interval",
        "instances" => "UPDATE wed.retention SET instances = $1::interval",
        other => return Err(StoreError::not_found("kind of history", other)),
    };
    let set = sqlx::query(statement).bind(keep).execute(connection).await;
    set.map_err(|error| match error.into() {
        StoreError::Refused(mut refusal) => {
            refusal.message = format!("this is no time that {kind} can be kept for");
            refusal.hint = Some(
                "Write an interval, of the trace at least a day, of others an hour, such as `90 days`, or `forever`."
                    .to_owned(),
            );
            StoreError::Refused(refusal)
        }
        other => other,
    })?;
    Ok(())
}

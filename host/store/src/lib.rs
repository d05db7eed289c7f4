//! All of Wedflow's SQL. Nothing else in the product talks to Postgres, and nothing here decides what
//! the database should: the gate, leases and definitions are SQL functions of the migrations; this
//! crate calls them and gives their answers types.
//!
//! - [`Store`]: the connection pool, migrations
//! - `flows`: flows, their attributes, triggers and bindings
//! - `components`: uploaded components
//! - `conditions`: conditions over the present state of an instance
//! - `constraints`: reservations, resources, the order of tasks
//! - `settings`: settings, and secrets as ciphertext
//! - `instances`: instances, trace, attempts
//! - `attempts`: what hosts made of jobs, and what it takes to run one again
//! - `jobs`: claim, commit, fail, leases: what a host does all day
//! - `results`: finished transitions as rows
//! - `pinned`: settings of sessions that the meaning of a condition depends on
//! - `recovery`: operators retry, cancel, pause, skip and set by hand; what jobs wait for
//! - `by_hand`: a session of a flow's own role
//! - `work`: worklists of people
//! - `announcements`: webhooks and the outbox of their messages
//! - `operators`: tokens of operators of the installation
//! - `retention`: how long history is kept
//! - `readable`: documents of tenants as they are listed
//! - `backup`: what a dump leaves out
//! - `documents`: rows as the documents of the API
//! - `disk`: whether the server's disk takes what is written, and how much is free
//! - `schedules`: cron schedules that start instances
//! - `tenants`, `users`, `tokens`, `quotas`: whose all that is, and who may come in
//! - `audit`: who did what, and answers that are given twice
//! - [`Notifications`]: the one notification connection of a host

mod announcements;
mod apply;
mod attempts;
mod audit;
mod backup;
mod by_hand;
mod components;
mod conditions;
mod constraints;
mod disk;
mod documents;
mod error;
mod flows;
mod instances;
mod jobs;
mod migrate;
mod notifications;
mod operators;
mod pinned;
mod queries;
mod quotas;
mod readable;
mod recovery;
mod results;
mod retention;
mod schedules;
mod settings;
mod silence;
mod tenants;
mod times;
mod tokens;
mod users;
mod versions;
mod work;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::postgres::{PgArguments, PgConnectOptions, PgPool, PgPoolOptions, PgRow};
use sqlx::query::QueryScalar;
use sqlx::{ConnectOptions, Postgres};

pub use announcements::{Message, NewWebhook, OutboxMessage, Webhook, WebhookSet};
pub use apply::Applied;
pub use attempts::{AttemptLog, MadeAttempt, PendingJob};
pub use audit::{AuditEntry, Once, Taken};
pub use backup::{BackupScript, DATABASE_PLACEHOLDER};
pub use by_hand::FlowSession;
pub use components::{Component, NewComponent, StoredComponent};
pub use conditions::Condition;
pub use constraints::{Finding, Reservation, Resource, TaskOrder};
pub use error::{FragmentPosition, Refusal, StoreError};
pub use flows::{Expected, Flow, FlowShape, Trigger};
pub use instances::{
    AttemptRow, COUNTED_MAX, CheckedCondition, Instance, JobRow, LastRow, LogRow, TraceRow,
    WantedInstances,
};
pub use jobs::{AttemptRecord, Claimed, FailedAttempt, LogLine, NextDue, Swept};
pub use migrate::Schema;
pub use notifications::Notifications;
pub use operators::{NewOperator, Operator};
pub use quotas::{Quota, QuotaChange};
pub use recovery::{
    Announced, Matching, Metric, PauseScope, PausedThing, RetriedMatching, Waiting, WaitingReason,
};
pub use results::{CommitGroup, CommitItem};
pub use retention::Retention;
pub use schedules::{NewSchedule, Schedule};
pub use settings::{Grant, SealedSecret};
pub use tenants::{Tenant, TenantSettings};
pub use tokens::{Bearer, NewToken, Token};
pub use users::User;
pub use versions::{FlowVersion, Rematched, RolledBack};
pub use work::{
    NewProcess, NotificationChange, PersonName, WorkAct, WorkCalendar, WorkNews, WorkReport,
};

/// Time that a statement of ours may wait for a connection of the pool.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(30);
/// Time for which an unused connection is believed to be alive.
const TRUSTED: Duration = Duration::from_secs(2);

/// Minimum life of a session: its memory is given back now and then.
const LIFETIME: Duration = Duration::from_secs(1_200);
/// Step by which the sessions of the next pool live longer.
const LIFETIME_STEP: Duration = Duration::from_secs(97);
const LIFETIME_STEPS: u64 = 16;

/// Hint about names of flows and components.
const NAME_HINT: &str =
    "Use small letters, digits, - and _, at most 63, beginning with a letter or digit.";

/// Time that a server may take to let the first connection in.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Longest run of a statement of a host. A batch that takes longer is halved, until the offender stands alone.
pub const STATEMENT_TIMEOUT: Duration = Duration::from_secs(20);
/// Longest wait of a host's statement for a lock. A flow's own role may lock its tables.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

/// Longest time that a host's session is idle inside a transaction. A connection that has gone silent inside one would
/// keep its locks for ever: the server learns nothing of the client that cut it.
const IDLE_IN_TRANSACTION_TIMEOUT: Duration = Duration::from_secs(10);
/// Time after which the server asks whether a silent client is still there, and between two of three such questions.
const KEEPALIVE: Duration = Duration::from_secs(15);

fn host_limits() -> [(&'static str, String); 6] {
    let milliseconds = |limit: Duration| limit.as_millis().to_string();
    let seconds = |limit: Duration| limit.as_secs().to_string();
    [
        ("statement_timeout", milliseconds(STATEMENT_TIMEOUT)),
        ("lock_timeout", milliseconds(LOCK_TIMEOUT)),
        (
            "idle_in_transaction_session_timeout",
            milliseconds(IDLE_IN_TRANSACTION_TIMEOUT),
        ),
        ("tcp_keepalives_idle", seconds(KEEPALIVE)),
        ("tcp_keepalives_interval", seconds(KEEPALIVE)),
        ("tcp_keepalives_count", "3".to_owned()),
    ]
}

/// A Wedflow database.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) pool: PgPool,
    pub(crate) options: PgConnectOptions,
    /// Actor, for the audit log.
    pub(crate) actor: Arc<str>,
    /// Token and request of the API, for the audit log: a JSON object; empty for all others.
    pub(crate) request: Arc<str>,
}

/// The longest that a statement of a host's commits runs.
const COMMIT_STATEMENT_TIMEOUT: &str = "10s";

impl Store {
    /// Connects to the database at `url` (`postgres://user:password@host:port/name`) with at most
    /// `connections` connections.
    ///
    /// # Errors
    /// [`StoreError::Url`] when the URL cannot be read, [`StoreError::Unreachable`] when nobody
    /// answers, [`StoreError::TooOld`] when the server is older than Postgres 15.
    pub async fn connect(url: &str, connections: u32) -> Result<Self, StoreError> {
        let options = options_of(url)?;
        // jit costs more than it gains on statements this short.
        let options = options
            .application_name("wedflow")
            .options([("jit", "off"), ("client_min_messages", "warning")])
            // A condition means the same whoever writes, and no plan that was made while a table was empty reads all of
            // it later.
            .options(pinned::settings());
        // A pool would keep trying for as long as a statement may wait.
        let probe = tokio::time::timeout(CONNECT_TIMEOUT, options.connect())
            .await
            .map_err(|_| StoreError::Unreachable(sqlx::Error::PoolTimedOut))?
            .map_err(StoreError::unreachable)?;
        drop(probe);
        let pool = pool_of(connections)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .connect_with(options.clone())
            .await
            .map_err(StoreError::unreachable)?;
        let version: String = sqlx::query_scalar("SELECT current_setting('server_version_num')")
            .fetch_one(&pool)
            .await?;
        if version.parse::<u32>().unwrap_or(0) < 150_000 {
            return Err(StoreError::TooOld { version });
        }
        let actor = format!("operator:{}", options.get_username()).into();
        Ok(Store {
            pool,
            options,
            actor,
            request: "".into(),
        })
    }

    /// As [`Store::connect`]; a database that is missing on the server is made first.
    ///
    /// # Errors
    /// As [`Store::connect`], and [`StoreError::Refused`] when the role may not create databases.
    pub async fn connect_or_create(url: &str, connections: u32) -> Result<Self, StoreError> {
        match Store::connect(url, connections).await {
            // The catalog has no such database.
            Err(StoreError::Refused(refusal)) if refusal.code == "3D000" => {}
            other => return other,
        }
        let options = options_of(url)?;
        let name = options
            .get_database()
            .unwrap_or_default()
            .replace('"', "\"\"");
        let mut connection = sqlx::ConnectOptions::connect(&options.database("postgres"))
            .await
            .map_err(StoreError::unreachable)?;
        let made = sqlx::query(sqlx::AssertSqlSafe(format!("CREATE DATABASE \"{name}\"")))
            .persistent(false)
            .execute(&mut connection)
            .await
            .map_err(StoreError::from);
        match made {
            // Made by another process meanwhile.
            Err(StoreError::Refused(refusal))
                if refusal.code == "42P04" || refusal.code == "23505" => {}
            other => {
                other?;
            }
        }
        Store::connect(url, connections).await
    }

    /// The same database, used in somebody's name: what is changed through it stands in the audit log as
    /// done by `actor`. Without this it is `operator:` and the name of the database's user.
    #[must_use]
    pub fn acting_as(&self, actor: &str) -> Store {
        Store {
            actor: actor.into(),
            ..self.clone()
        }
    }

    /// The same database, for a request of the API: the audit log records the request's number and the token's with
    /// each change. Both are letters and digits.
    #[must_use]
    pub fn on_request(&self, token: &str, request: &str) -> Store {
        let plain = |text: &str| -> String {
            (text.chars())
                .filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
                .collect()
        };
        Store {
            request: format!(
                r#"{{"token": "{}", "request": "{}"}}"#,
                plain(token),
                plain(request)
            )
            .into(),
            ..self.clone()
        }
    }

    /// Begins a transaction in which the trace names the bearer of the token who acts, and the audit log the request.
    pub(crate) async fn begin(&self) -> Result<sqlx::Transaction<'static, Postgres>, StoreError> {
        Ok(match self.begin_statement() {
            None => self.pool.begin().await?,
            Some(begin) => self.pool.begin_with(sqlx::AssertSqlSafe(begin)).await?,
        })
    }

    /// Calls a function of the database in a transaction of its own; returns its answer.
    pub(crate) async fn call<T>(
        &self,
        call: QueryScalar<'_, Postgres, T, PgArguments>,
    ) -> Result<T, StoreError>
    where
        T: Send + Unpin,
        (T,): for<'r> sqlx::FromRow<'r, PgRow>,
    {
        let mut transaction = self.begin().await?;
        let answer = call.fetch_one(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(answer)
    }

    /// Begins such a transaction on a given connection.
    pub(crate) async fn begin_on<'c>(
        &self,
        connection: &'c mut sqlx::PgConnection,
    ) -> Result<sqlx::Transaction<'c, Postgres>, StoreError> {
        Ok(match self.begin_statement() {
            None => sqlx::Connection::begin(connection).await?,
            Some(begin) => {
                sqlx::Connection::begin_with(connection, sqlx::AssertSqlSafe(begin)).await?
            }
        })
    }

    /// Returns the statement that begins a transaction of the bearer of a token.
    fn begin_statement(&self) -> Option<String> {
        self.actor.starts_with("token:").then(|| {
            let actor = self.actor.replace('\'', "''");
            let request = &self.request;
            format!("BEGIN; SET LOCAL wed.actor = '{actor}'; SET LOCAL wed.request = '{request}'")
        })
    }

    /// The same database over at most `connections` connections of its own, on which no statement runs
    /// for longer than `most` or waits for a lock for longer than `lock`.
    pub fn bounded(&self, connections: u32, most: Duration, lock: Duration) -> Store {
        let options = self.options.clone().options([
            ("statement_timeout", most.as_millis().to_string()),
            ("lock_timeout", lock.as_millis().to_string()),
        ]);
        Store {
            pool: pool_of(connections)
                .acquire_timeout(most)
                .connect_lazy_with(options.clone()),
            options,
            actor: Arc::clone(&self.actor),
            request: Arc::clone(&self.request),
        }
    }

    /// The same database over at most `connections` connections for a host: no statement of it runs for longer than
    /// [`STATEMENT_TIMEOUT`] or waits for a tenant's lock for longer than [`LOCK_TIMEOUT`].
    #[must_use]
    pub fn for_host(&self, connections: u32) -> Store {
        self.with_host_limits(pool_of(connections))
    }

    /// The same database as [`Store::for_host`] over one session that lasts as long as the host, for its leases: while
    /// it is there the host is said to run (`wed.host_runs`).
    #[must_use]
    pub fn for_leases(&self) -> Store {
        self.with_host_limits(pool_of(1).max_lifetime(None).idle_timeout(None))
    }

    fn with_host_limits(&self, pool: PgPoolOptions) -> Store {
        let options = self.options.clone().options(host_limits());
        Store {
            pool: pool
                .acquire_timeout(ACQUIRE_TIMEOUT)
                .connect_lazy_with(options.clone()),
            options,
            actor: Arc::clone(&self.actor),
            request: Arc::clone(&self.request),
        }
    }

    /// The same database over at most `connections` connections that nobody else uses, for a host's commits:
    /// a session that does the same again and again has what it needs at hand, in its own memory and the
    /// processor's. What it does is by key, so tables are joined by index only: a plan that read all of a
    /// table while it was small would keep doing so. No statement waits for a lock for longer than `lock`.
    #[must_use]
    pub fn for_commits(&self, connections: u32, lock: Duration) -> Store {
        let lock = lock.as_millis().to_string();
        let options = self.options.clone().options(host_limits()).options([
            ("lock_timeout", lock.as_str()),
            ("enable_hashjoin", "off"),
            ("enable_mergejoin", "off"),
            // Nor by all that is in an index for a key: the newest is looked for, and in order.
            ("enable_bitmapscan", "off"),
            // A batch of states of 100 kB each passes through memory, not through files.
            ("work_mem", "64MB"),
            // A batch in which one result takes longer is refused, and split until that one stands alone.
            ("statement_timeout", COMMIT_STATEMENT_TIMEOUT),
        ]);
        Store {
            pool: pool_of(connections)
                .acquire_timeout(ACQUIRE_TIMEOUT)
                .connect_lazy_with(options.clone()),
            options,
            actor: Arc::clone(&self.actor),
            request: Arc::clone(&self.request),
        }
    }

    /// Answers when the database does.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT 1").execute(&self.pool).await?;
        Ok(())
    }

    /// Returns the server's address, for building a flow's URL: host, port, database.
    pub fn place(&self) -> (String, u16, String) {
        let database = self
            .options
            .get_database()
            .unwrap_or_else(|| self.options.get_username());
        (
            self.options.get_host().to_owned(),
            self.options.get_port(),
            database.to_owned(),
        )
    }

    /// Closes every connection.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

/// Returns the life of the next pool's sessions. Successive pools differ: a new session makes the plans of all
/// flows anew, and sessions opened together must not do so together.
fn lifetime() -> Duration {
    static POOLS: AtomicU64 = AtomicU64::new(0);
    let pool = POOLS.fetch_add(1, Ordering::Relaxed);
    LIFETIME + LIFETIME_STEP * u32::try_from(pool % LIFETIME_STEPS).unwrap_or(0)
}

/// A pool that asks a connection whether it is alive only when it has not been used for a while: to
/// ask is a round trip.
fn pool_of(connections: u32) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(connections)
        .max_lifetime(lifetime())
        .test_before_acquire(false)
        .before_acquire(|connection, used| {
            Box::pin(async move {
                if used.idle_for > TRUSTED {
                    sqlx::Connection::ping(connection).await?;
                }
                Ok(true)
            })
        })
}

/// Reads a database's URL.
pub(crate) fn options_of(url: &str) -> Result<PgConnectOptions, StoreError> {
    if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
        return Err(StoreError::Url(
            "it does not begin with postgres://".to_owned(),
        ));
    }
    url.parse()
        .map_err(|source: sqlx::Error| StoreError::Url(source.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_that_are_opened_together_do_not_end_together() {
        let lives: std::collections::BTreeSet<Duration> = (0..16).map(|_| lifetime()).collect();
        // Another test may make a pool meanwhile.
        assert!(lives.len() >= 14, "{lives:?}");
        let (first, last) = (lives.first(), lives.last());
        assert!(
            first
                .zip(last)
                .is_some_and(|(first, last)| *last <= *first * 3)
        );
    }
}

//! All of Wedflow's SQL. Nothing else in the product talks to Postgres, and nothing here decides what
//! the database should: the gate, leases and definitions are SQL functions of the migrations; this
//! crate calls them and gives their answers types.
//!
//! - [`Store`]: pools of sessions, migrations
//! - `session`, `servers`, `silence`: a session and its limit on silence, the server that takes writes, sockets
//! - `statements`: methods that are one statement
//! - `flows`: flows, their attributes, triggers and bindings
//! - `components`: uploaded components
//! - `conditions`: conditions over the present state of an instance
//! - `explain`: why something fired or did not, what would happen if, the graph of a flow
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
//! - `replica`: a replica to read from, and how far it has come
//! - `retention`: how long history is kept
//! - `receipts`: use by day, tenant, flow and transition
//! - `backup`: what a dump leaves out
//! - `moving`: a tenant on its way to another installation
//! - `status`: the state of the installation, also while it is locked or read-only
//! - `disk`: whether the server's disk takes what is written, and how much is free
//! - `schedules`: cron schedules that start instances
//! - `traced`: states of attempts, for their spans
//! - `tenants`, `users`, `tokens`, `quotas`: whose all that is, and who may come in
//! - `audit`: who did what, and answers that are given twice
//! - [`Notifications`]: the one notification connection of a host

mod announcements;
mod apply;
mod attempts;
mod audit;
mod backup;
mod by_hand;
mod chores;
mod components;
mod conditions;
mod constraints;
mod directory;
mod disk;
mod error;
mod explain;
mod feed;
mod flows;
mod hooks;
mod instances;
mod jobs;
mod leases;
mod migrate;
mod moving;
mod notifications;
mod operators;
mod pinned;
mod queries;
mod quotas;
mod receipts;
mod recovery;
mod replica;
mod results;
mod retention;
mod rules;
mod schedules;
mod servers;
mod session;
mod settings;
mod silence;
mod statements;
mod status;
mod tenants;
mod tokens;
mod traced;
mod users;
mod versions;
mod work;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::Postgres;
use sqlx::postgres::{PgArguments, PgConnectOptions, PgRow};
use sqlx::query::QueryScalar;

pub use announcements::Message;
pub use attempts::MadeAttempt;
pub use audit::{Once, Taken};
pub use backup::{BackupScript, DATABASE_PLACEHOLDER};
pub use by_hand::FlowSession;
pub use chores::ChoreKind;
pub use components::{NewComponent, StoredComponent};
pub use conditions::Condition;
pub use directory::{AddedCluster, ClusterAddress, ClusterRow, Directory, TenantPlace};
pub use error::{FragmentPosition, Refusal, StoreError};
pub use feed::{FeedPosition, FeedRow};
pub use flows::{Expected, Flow, FlowShape};
pub use hooks::PostedHook;
pub use instances::{COUNTED_MAX, CheckedCondition, LastRow, WantedInstances};
pub use jobs::{AttemptRecord, Claimed, FailedAttempt, LogLine, NextDue};
pub use leases::{PerformedTrigger, WorkerLease};
pub use migrate::{Schema, ServerSettings};
pub use moving::{
    FlowFolder, ImportedTenant, Reseal, StagedTenant, TenantExport, TenantManifest, TenantMove, TenantPart, TenantPiece,
};
pub use notifications::Notifications;
pub use operators::{NewOperator, Operator};
pub use quotas::QuotaChange;
pub use receipts::{ReceiptDays, ReceiptPlace};
pub use recovery::{Metric, PauseScope, WaitingReason};
pub use results::{CommitGroup, CommitItem};
pub use retention::Retention;
pub use servers::without_password;
use servers::{Access, Servers};
use session::{Pooling, Session, Sessions, Transaction};
pub use settings::{Grant, SECRETS_BYTES_MAX, SECRETS_MAX, SETTINGS_BYTES_MAX, SETTINGS_MAX, SealedSecret};
pub use statements::Numbered;
pub use tokens::{Bearer, NewToken};
pub use traced::{TracedAttempt, TracedState};
pub use versions::definition_of;
pub use wedflow_documents::{Applied, Rematched, Version};
pub use work::{PersonName, WorkAct};

/// Time that a statement of ours may wait for a connection of the pool.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(30);
/// Minimum life of a session: its memory is given back now and then.
const LIFETIME: Duration = Duration::from_secs(1_200);
/// Step by which the sessions of the next pool live longer.
const LIFETIME_STEP: Duration = Duration::from_secs(97);
const LIFETIME_STEPS: u64 = 16;

/// Longest wait of a command's statement for a lock, as Postgres reads it. A prepared transaction, or a session that
/// was left open, holds its locks for ever.
const TOOL_LOCK_TIMEOUT: &str = "1min";

/// Hint about names of flows and components.
const NAME_HINT: &str = "Use small letters, digits, - and _, at most 63, beginning with a letter or digit.";

/// Time by which the answer to a statement may come later than the server ends the statement. Past it the connection
/// has gone silent.
const ANSWER_MARGIN: Duration = Duration::from_secs(5);
/// Longest run of a statement about leases, and longest wait for its session: together less than a lease.
const LEASE_STATEMENT_TIMEOUT: Duration = Duration::from_secs(4);

/// Longest run of a statement of a host that commits no results.
pub const STATEMENT_TIMEOUT: Duration = Duration::from_secs(20);
/// Longest time that a claim runs.
const CLAIM_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest wait of a host's statement for a lock. A flow's own role may lock its tables.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

/// Longest time that a host's session is idle inside a transaction. A connection that has gone silent inside one would
/// keep its locks for ever: the server learns nothing of the client that cut it.
const IDLE_IN_TRANSACTION_TIMEOUT: Duration = Duration::from_secs(10);
/// Time after which the server asks whether a silent client is still there, and between two of three such questions.
const KEEPALIVE: Duration = Duration::from_secs(15);

fn host_limits() -> Vec<(&'static str, String)> {
    let milliseconds = |limit: Duration| limit.as_millis().to_string();
    let seconds = |limit: Duration| limit.as_secs().to_string();
    let mut settings = limits(STATEMENT_TIMEOUT, LOCK_TIMEOUT).to_vec();
    settings.extend([
        ("idle_in_transaction_session_timeout", milliseconds(IDLE_IN_TRANSACTION_TIMEOUT)),
        ("tcp_keepalives_idle", seconds(KEEPALIVE)),
        ("tcp_keepalives_interval", seconds(KEEPALIVE)),
        ("tcp_keepalives_count", "3".to_owned()),
    ]);
    settings
}

/// A Wedflow database.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) pool: Sessions,
    pub(crate) servers: Arc<Servers>,
    pub(crate) options: PgConnectOptions,
    /// Actor, for the audit log.
    pub(crate) actor: Arc<str>,
    /// Token and request of the API, for the audit log: a JSON object; empty for all others.
    pub(crate) request: Arc<str>,
}

/// Longest run of a statement of a host's commits. A batch in which one result takes longer is refused, and split until
/// that one stands alone.
const COMMIT_STATEMENT_TIMEOUT: Duration = Duration::from_secs(10);

impl Store {
    /// Connects to the database at `url` (`postgres://user:password@host:port/name`, or several `host:port` with commas
    /// between them) with at most `connections` connections.
    ///
    /// # Errors
    /// [`StoreError::Url`] when the URL cannot be read, [`StoreError::Unreachable`] when nobody
    /// answers, [`StoreError::TooOld`] when the server is older than Postgres 15.
    pub async fn connect(url: &str, connections: u32) -> Result<Self, StoreError> {
        let mut store = Store::lazy(url)?;
        // A pool would keep trying for as long as a statement may wait.
        let probe = store.servers.connect(&store.options, Access::Any).await;
        drop(probe.map_err(StoreError::unreachable)?);
        store.pool = store.sessions(store.options.clone(), Pooling::tool(connections));
        let version: String =
            sqlx::query_scalar("SELECT current_setting('server_version_num')").fetch_one(&store.pool).await?;
        if version.parse::<u32>().unwrap_or(0) < 150_000 {
            return Err(StoreError::TooOld { version });
        }
        Ok(store)
    }

    /// Reads a database's URL; connects when it is used.
    pub(crate) fn lazy(url: &str) -> Result<Self, StoreError> {
        let (servers, options) = Servers::of(url)?;
        // jit costs more than it gains on statements this short.
        let options = options
            .application_name("wedflow")
            .options([("jit", "off"), ("client_min_messages", "warning"), ("lock_timeout", TOOL_LOCK_TIMEOUT)])
            // A condition means the same whoever writes, and no plan that was made while a table was empty reads all
            // of it later.
            .options(pinned::settings());
        let servers = Arc::new(servers);
        Ok(Store {
            pool: Sessions::new(Arc::clone(&servers), options.clone(), Pooling::tool(1)),
            servers,
            actor: format!("operator:{}", options.get_username()).into(),
            options,
            request: "".into(),
        })
    }

    /// Connects as [`Store::connect`] does, and first makes a database that is missing on the server.
    ///
    /// # Errors
    /// As [`Store::connect`], and [`StoreError::Refused`] when the role may not create databases.
    pub async fn connect_or_create(url: &str, connections: u32) -> Result<Self, StoreError> {
        match Store::connect(url, connections).await {
            // The catalog has no such database.
            Err(StoreError::Refused(refusal)) if refusal.code == "3D000" => {}
            other => return other,
        }
        let Store { servers, options, .. } = Store::lazy(url)?;
        let name = options.get_database().unwrap_or_default().replace('"', "\"\"");
        let mut connection =
            servers.connect(&options.database("postgres"), Access::Any).await.map_err(StoreError::unreachable)?;
        let made = sqlx::query(sqlx::AssertSqlSafe(format!("CREATE DATABASE \"{name}\"")))
            .persistent(false)
            .execute(&mut connection)
            .await
            .map_err(StoreError::from);
        match made {
            // Made by another process meanwhile.
            Err(StoreError::Refused(refusal)) if refusal.code == "42P04" || refusal.code == "23505" => {}
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
        Store { actor: actor.into(), ..self.clone() }
    }

    /// The same database, for a request of the API: the audit log records the request's number and the token's with
    /// each change. Both are letters and digits.
    #[must_use]
    pub fn on_request(&self, token: &str, request: &str) -> Store {
        let plain = |text: &str| -> String {
            (text.chars()).filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect()
        };
        Store {
            request: format!(r#"{{"token": "{}", "request": "{}"}}"#, plain(token), plain(request)).into(),
            ..self.clone()
        }
    }

    /// Begins a transaction in which the trace names the bearer of the token who acts, and the audit log the request.
    pub(crate) async fn begin(&self) -> Result<Transaction, StoreError> {
        Ok(self.pool.begin(&self.begin_statement()).await?)
    }

    /// Begins such a transaction over a session of its own, which ends with it.
    pub(crate) async fn begin_alone(&self) -> Result<Transaction, StoreError> {
        Ok(self.pool.begin_alone(&self.begin_statement()).await?)
    }

    /// Calls a function of the database in a transaction of its own; returns its answer.
    pub(crate) async fn call<T>(&self, call: QueryScalar<'_, Postgres, T, PgArguments>) -> Result<T, StoreError>
    where
        T: Send + Unpin,
        (T,): for<'r> sqlx::FromRow<'r, PgRow>,
    {
        let mut transaction = self.begin().await?;
        let answer = call.fetch_one(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(answer)
    }

    /// Returns the statement that begins a transaction, also one of the bearer of a token.
    fn begin_statement(&self) -> String {
        if !self.actor.starts_with("token:") {
            return "BEGIN".to_owned();
        }
        let actor = self.actor.replace('\'', "''");
        let request = &self.request;
        format!("BEGIN; SET LOCAL wed.actor = '{actor}'; SET LOCAL wed.request = '{request}'")
    }

    fn sessions(&self, options: PgConnectOptions, pooling: Pooling) -> Sessions {
        Sessions::new(Arc::clone(&self.servers), options, pooling)
    }

    /// The same database over another pool.
    fn over(&self, options: PgConnectOptions, pooling: Pooling) -> Store {
        Store {
            pool: self.sessions(options.clone(), pooling),
            servers: Arc::clone(&self.servers),
            options,
            actor: Arc::clone(&self.actor),
            request: Arc::clone(&self.request),
        }
    }

    /// The same database over at most `connections` connections of its own, on which no statement runs
    /// for longer than `most` or waits for a lock for longer than `lock`. While its server takes no changes it reads.
    pub fn bounded(&self, connections: u32, most: Duration, lock: Duration) -> Store {
        let options = self.options.clone().options(limits(most, lock));
        let pooling = Pooling { wait: most, access: Access::Reader, ..Pooling::host(connections, most) };
        self.over(options, pooling)
    }

    /// The same database in one snapshot, until the answer and its copies are dropped: all that is read outside of a
    /// transaction is what was committed at one moment.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn snapshot(&self) -> Result<Store, StoreError> {
        Ok(Store { pool: self.pool.snapshot().await?, ..self.clone() })
    }

    /// The same database over at most `connections` connections for a host: no statement of it runs for longer than
    /// [`STATEMENT_TIMEOUT`] or waits for a tenant's lock for longer than [`LOCK_TIMEOUT`].
    #[must_use]
    pub fn for_host(&self, connections: u32) -> Store {
        let options = self.options.clone().options(host_limits());
        self.over(options, Pooling::host(connections, STATEMENT_TIMEOUT))
    }

    /// The same database as [`Store::for_host`] over one session that lasts as long as the host, for its leases: while
    /// it is open the host counts as running (`wed.host_runs`).
    #[must_use]
    pub fn for_leases(&self) -> Store {
        let options =
            (self.options.clone().options(host_limits())).options(limits(LEASE_STATEMENT_TIMEOUT, LOCK_TIMEOUT));
        let pooling = Pooling {
            wait: LEASE_STATEMENT_TIMEOUT,
            answer_time_max: Some(LEASE_STATEMENT_TIMEOUT * 2),
            life: None,
            ..Pooling::host(1, LEASE_STATEMENT_TIMEOUT)
        };
        self.over(options, pooling)
    }

    /// The same database over at most `connections` connections that nobody else uses, for a host's commits:
    /// a session that does the same again and again has what it needs at hand, in its own memory and the
    /// processor's. What it does is by key, so tables are joined by index only: a plan that read all of a
    /// table while it was small would keep doing so. No statement waits for a lock for longer than `lock`.
    #[must_use]
    pub fn for_commits(&self, connections: u32, lock: Duration) -> Store {
        let options =
            (self.options.clone().options(host_limits())).options(limits(COMMIT_STATEMENT_TIMEOUT, lock)).options([
                ("enable_hashjoin", "off"),
                ("enable_mergejoin", "off"),
                // Nor by all that is in an index for a key: the newest is looked for, and in order.
                ("enable_bitmapscan", "off"),
                // A batch of states of 100 kB each passes through memory, not through files.
                ("work_mem", "64MB"),
            ]);
        self.over(options, Pooling::host(connections, COMMIT_STATEMENT_TIMEOUT))
    }

    /// Answers when the database does and takes writes.
    ///
    /// # Errors
    /// Those of the connection; a refusal with SQLSTATE 25006 when the database is read-only.
    pub async fn ping(&self) -> Result<(), StoreError> {
        let read_only: bool =
            sqlx::query_scalar("SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean")
                .fetch_one(&self.pool)
                .await?;
        match read_only {
            false => Ok(()),
            true => Err(StoreError::read_only()),
        }
    }

    /// The same database as [`Store::for_host`] for claims: what a claim evaluates of a tenant's is ended after
    /// five seconds, and that tenant's jobs are left out for some time.
    #[must_use]
    pub fn for_claims(&self, connections: u32) -> Store {
        self.bounded_host(connections, CLAIM_TIMEOUT, LOCK_TIMEOUT)
    }

    /// The same database over at most `connections` connections for a host, on which a statement runs for at most
    /// `most` and waits for a lock for at most `lock`.
    pub(crate) fn bounded_host(&self, connections: u32, most: Duration, lock: Duration) -> Store {
        let options = (self.options.clone().options(host_limits())).options(limits(most, lock));
        self.over(options, Pooling::host(connections, most))
    }

    /// Returns the address of the server that was chosen last: host, port, database.
    pub fn place(&self) -> (String, u16, String) {
        let options = self.servers.chosen(&self.options);
        let database = options.get_database().unwrap_or_else(|| options.get_username());
        (options.get_host().to_owned(), options.get_port(), database.to_owned())
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

impl Pooling {
    /// A pool of a command: it waits for a statement as long as that takes.
    fn tool(connections: u32) -> Self {
        Pooling {
            sessions: connections,
            wait: ACQUIRE_TIMEOUT,
            access: Access::Any,
            answer_time_max: None,
            life: Some(lifetime()),
        }
    }

    /// A pool of a host whose server ends statements after `most`.
    fn host(connections: u32, most: Duration) -> Self {
        Pooling { access: Access::Host, answer_time_max: Some(most + ANSWER_MARGIN), ..Pooling::tool(connections) }
    }
}

fn limits(most: Duration, lock: Duration) -> [(&'static str, String); 2] {
    [("statement_timeout", most.as_millis().to_string()), ("lock_timeout", lock.as_millis().to_string())]
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
        assert!(first.zip(last).is_some_and(|(first, last)| *last <= *first * 3));
    }
}

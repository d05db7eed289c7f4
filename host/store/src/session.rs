//! Sessions with the database. Each call over one has a limit on silence: a connection that nobody resets and nobody
//! answers over is closed, and the call ends with its error. This holds for every statement of the store, because
//! statements are run by nothing else.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool::managed::{Manager, Metrics, Object, Pool, PoolError, RecycleError, RecycleResult, Timeouts};
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, TryStreamExt};
use futures::{FutureExt, StreamExt};
use sqlx::postgres::{PgConnectOptions, PgDatabaseError, PgQueryResult, PgRow, PgSeverity, PgStatement, PgTypeInfo};
use sqlx::{AssertSqlSafe, Describe, Either, Execute, Executor, PgConnection, Postgres, SqlStr};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::servers::{Access, Servers};
use crate::silence::silent;

/// Time for which an unused session is believed to be alive.
const TRUSTED: Duration = Duration::from_secs(2);
/// Longest wait for the answer to the question if a session is alive.
const PING_TIME_MAX: Duration = Duration::from_secs(3);
/// Longest wait for the answer to a ROLLBACK.
const ROLLBACK_TIME_MAX: Duration = Duration::from_secs(5);
/// Pauses between two tries to reach a server that refuses connections, as one that starts does.
const CONNECT_PAUSES: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(500)];
/// Life of a session with a server that takes no changes: the next one finds out if it takes them again.
const READ_ONLY_LIFE: Duration = Duration::from_secs(1);

/// Session with the database.
pub(crate) struct Session {
    connection: PgConnection,
    /// Longest wait for the answer to a statement.
    answer_time_max: Option<Duration>,
    /// True during a call, and once the session cannot be used any more.
    spent: bool,
    /// True if its server took no changes when it was opened; it is used for want of one that does.
    is_read_only: bool,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("spent", &self.spent).finish_non_exhaustive()
    }
}

impl Session {
    /// Gives the connection to the driver's own functions, outside of any limit.
    pub(crate) fn driver(&mut self) -> &mut PgConnection {
        &mut self.connection
    }

    /// Makes a call within the limit. A call that is given up leaves the session spent.
    async fn limited<'s, T, F>(&'s mut self, call: F) -> Result<T, sqlx::Error>
    where
        F: FnOnce(&'s mut PgConnection) -> BoxFuture<'s, Result<T, sqlx::Error>> + Send,
    {
        self.spent = true;
        let call = call(&mut self.connection);
        let answer = match self.answer_time_max {
            Some(limit) => tokio::time::timeout(limit, call).await.unwrap_or_else(|_| Err(silent())),
            None => call.await,
        };
        self.spent = answer.as_ref().is_err_and(ends_session);
        answer
    }

    /// Runs a command that is text.
    pub(crate) async fn command(&mut self, sql: impl Into<String>) -> Result<(), sqlx::Error> {
        let sql = sql.into();
        self.limited(|connection| {
            async move {
                sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await?;
                Ok(())
            }
            .boxed()
        })
        .await
    }
}

/// Returns true if a session cannot be used after an error: its connection failed, its server ends it, or takes no
/// changes over it.
fn ends_session(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(error) => {
            let Some(error) = error.try_downcast_ref::<PgDatabaseError>() else {
                return true;
            };
            matches!(error.severity(), PgSeverity::Fatal | PgSeverity::Panic)
                || error.code() == "25006"
                || ["57P", "08"].iter().any(|class| error.code().starts_with(class))
        }
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => true,
        _ => false,
    }
}

type Rows<'e> = BoxStream<'e, Result<Either<PgQueryResult, PgRow>, sqlx::Error>>;

impl<'c> Executor<'c> for &'c mut Session {
    type Database = Postgres;

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> Rows<'e>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        let rows = self.limited(|connection| connection.fetch_many(query).try_collect().boxed());
        stream::once(rows).map_ok(|rows: Vec<_>| stream::iter(rows).map(Ok)).try_flatten().boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<PgRow>, sqlx::Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        self.limited(|connection| connection.fetch_optional(query)).boxed()
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [PgTypeInfo],
    ) -> BoxFuture<'e, Result<PgStatement, sqlx::Error>>
    where
        'c: 'e,
    {
        self.limited(|connection| connection.prepare_with(sql, parameters)).boxed()
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, Result<Describe<Postgres>, sqlx::Error>>
    where
        'c: 'e,
    {
        self.limited(|connection| connection.describe(sql)).boxed()
    }
}

/// Opens sessions for a pool, and looks at those that come back.
#[derive(Debug)]
pub(crate) struct Opener {
    servers: Arc<Servers>,
    options: PgConnectOptions,
    access: Access,
    answer_time_max: Option<Duration>,
    /// Longest time that a server which refuses connections is asked again.
    patience: Duration,
    life: Option<Duration>,
}

impl Opener {
    async fn connection(&self) -> Result<(PgConnection, bool), sqlx::Error> {
        let [mut pause, pause_max] = CONNECT_PAUSES;
        let begun = Instant::now();
        loop {
            match self.servers.open_any(&self.options, self.access).await {
                Err(error) if is_starting(&error) && begun.elapsed() + pause < self.patience => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(pause_max);
                }
                opened => return opened,
            }
        }
    }
}

/// Returns true for the error of a server that starts, stops or changes its role: the next moment may bring another.
fn is_starting(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(error) => error.kind() == std::io::ErrorKind::ConnectionRefused,
        sqlx::Error::Database(error) => error.code().is_some_and(|code| ["57P03", "53300"].contains(&&*code)),
        _ => false,
    }
}

impl Manager for Opener {
    type Type = Session;
    type Error = sqlx::Error;

    async fn create(&self) -> Result<Session, sqlx::Error> {
        let (connection, takes_changes) = self.connection().await?;
        Ok(Session {
            connection,
            answer_time_max: self.answer_time_max,
            spent: false,
            is_read_only: !takes_changes && self.access == Access::Reader,
        })
    }

    async fn recycle(&self, session: &mut Session, metrics: &Metrics) -> RecycleResult<sqlx::Error> {
        let life = match session.is_read_only {
            true => Some(READ_ONLY_LIFE),
            false => self.life,
        };
        if session.spent || life.is_some_and(|life| metrics.age() > life) {
            return Err(RecycleError::message("it has ended"));
        }
        if metrics.last_used() > TRUSTED {
            session.spent = true;
            let ping = sqlx::Connection::ping(&mut session.connection);
            tokio::time::timeout(PING_TIME_MAX, ping).await.unwrap_or_else(|_| Err(silent()))?;
            session.spent = false;
        }
        Ok(())
    }
}

/// Settings of a pool of sessions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pooling {
    /// Maximum number of sessions.
    pub(crate) sessions: u32,
    /// Longest wait for a session that is free, and longest time to open one.
    pub(crate) wait: Duration,
    /// Demands on each session.
    pub(crate) access: Access,
    /// Longest wait for the answer to a statement.
    pub(crate) answer_time_max: Option<Duration>,
    /// Life of a session.
    pub(crate) life: Option<Duration>,
}

/// A pool of sessions. A statement over it uses one that is free, or the one of its snapshot.
#[derive(Debug, Clone)]
pub(crate) struct Sessions {
    pool: Pool<Opener>,
    /// Transaction over which all statements read the same.
    snapshot: Option<Arc<Mutex<Transaction>>>,
}

/// Session of one statement.
enum Lent {
    Pooled(Object<Opener>),
    Snapshot(OwnedMutexGuard<Transaction>),
}

impl Lent {
    fn session(&mut self) -> &mut Session {
        match self {
            Lent::Pooled(session) => session,
            Lent::Snapshot(transaction) => transaction,
        }
    }
}

impl Sessions {
    /// Makes a pool; opens nothing.
    pub(crate) fn new(servers: Arc<Servers>, options: PgConnectOptions, pooling: Pooling) -> Self {
        let opener = Opener {
            servers,
            options,
            access: pooling.access,
            answer_time_max: pooling.answer_time_max,
            patience: pooling.wait,
            life: pooling.life,
        };
        let timeouts = Timeouts {
            wait: Some(pooling.wait),
            // Each step of opening and testing has a limit of its own.
            create: None,
            recycle: None,
        };
        let size = usize::try_from(pooling.sessions.max(1)).unwrap_or(1);
        let pool = Pool::builder(opener).max_size(size).timeouts(timeouts).runtime(deadpool::Runtime::Tokio1).build();
        Sessions { pool: pool.expect("a pool with a runtime"), snapshot: None }
    }

    /// Returns the same sessions with a snapshot: until the last copy of the answer is dropped, all its statements
    /// outside of a transaction read what was committed when the first of them began.
    pub(crate) async fn snapshot(&self) -> Result<Self, sqlx::Error> {
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
        let transaction = self.begin(begin).await?;
        Ok(Sessions { pool: self.pool.clone(), snapshot: Some(Arc::new(Mutex::new(transaction))) })
    }

    /// Waits for the session of a statement.
    async fn lend(&self) -> Result<Lent, sqlx::Error> {
        Ok(match &self.snapshot {
            Some(transaction) => Lent::Snapshot(Arc::clone(transaction).lock_owned().await),
            None => Lent::Pooled(self.acquire().await?),
        })
    }

    /// Waits for a session.
    pub(crate) async fn acquire(&self) -> Result<Object<Opener>, sqlx::Error> {
        self.pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) => error,
            PoolError::Closed => sqlx::Error::PoolClosed,
            _ => sqlx::Error::PoolTimedOut,
        })
    }

    /// Begins a transaction by a statement.
    pub(crate) async fn begin(&self, begin: &str) -> Result<Transaction, sqlx::Error> {
        Transaction::begin(Holder::Pooled(self.acquire().await?), begin).await
    }

    /// Begins a transaction over a session that ends with it.
    pub(crate) async fn begin_alone(&self, begin: &str) -> Result<Transaction, sqlx::Error> {
        let alone = Box::new(Object::take(self.acquire().await?));
        Transaction::begin(Holder::Alone(alone), begin).await
    }

    /// Closes all sessions, those in use when they come back.
    pub(crate) async fn close(&self) {
        let removed = self.pool.retain(|_, _| false).removed;
        self.pool.close();
        for session in removed {
            let closing = sqlx::Connection::close(session.connection);
            let _ = tokio::time::timeout(PING_TIME_MAX, closing).await;
        }
    }
}

impl<'p> Executor<'p> for &'_ Sessions {
    type Database = Postgres;

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> Rows<'e>
    where
        'p: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        let sessions = self.clone();
        let rows = async move {
            let mut lent = sessions.lend().await?;
            let rows: Vec<_> = lent.session().fetch_many(query).try_collect().await?;
            Ok::<_, sqlx::Error>(stream::iter(rows).map(Ok))
        };
        stream::once(rows).try_flatten().boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<PgRow>, sqlx::Error>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        let sessions = self.clone();
        async move { sessions.lend().await?.session().fetch_optional(query).await }.boxed()
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [PgTypeInfo],
    ) -> BoxFuture<'e, Result<PgStatement, sqlx::Error>>
    where
        'p: 'e,
    {
        let sessions = self.clone();
        async move {
            let mut lent = sessions.lend().await?;
            lent.session().prepare_with(sql, parameters).await
        }
        .boxed()
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, Result<Describe<Postgres>, sqlx::Error>>
    where
        'p: 'e,
    {
        let sessions = self.clone();
        async move { sessions.lend().await?.session().describe(sql).await }.boxed()
    }
}

/// Session of a transaction.
#[derive(Debug)]
enum Holder {
    Pooled(Object<Opener>),
    Alone(Box<Session>),
}

impl Deref for Holder {
    type Target = Session;

    fn deref(&self) -> &Session {
        match self {
            Holder::Pooled(session) => session,
            Holder::Alone(session) => session,
        }
    }
}

impl DerefMut for Holder {
    fn deref_mut(&mut self) -> &mut Session {
        match self {
            Holder::Pooled(session) => session,
            Holder::Alone(session) => session,
        }
    }
}

/// A transaction; rolled back when it is dropped.
#[derive(Debug)]
pub(crate) struct Transaction(Option<Holder>);

impl Transaction {
    async fn begin(mut session: Holder, begin: &str) -> Result<Self, sqlx::Error> {
        let begun = session.command(begin).await;
        let transaction = Transaction(Some(session));
        begun.map(|()| transaction)
    }

    /// Commits it.
    pub(crate) async fn commit(mut self) -> Result<(), sqlx::Error> {
        self.command("COMMIT").await?;
        self.0 = None;
        Ok(())
    }

    /// Rolls it back.
    pub(crate) async fn rollback(mut self) -> Result<(), sqlx::Error> {
        self.command("ROLLBACK").await?;
        self.0 = None;
        Ok(())
    }
}

impl Deref for Transaction {
    type Target = Session;

    fn deref(&self) -> &Session {
        self.0.as_deref().expect("a session until the transaction ends")
    }
}

impl DerefMut for Transaction {
    fn deref_mut(&mut self) -> &mut Session {
        self.0.as_deref_mut().expect("a session until the transaction ends")
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        let Some(mut session) = self.0.take() else {
            return;
        };
        // A session that is closed rolls back too.
        let runtime = tokio::runtime::Handle::try_current();
        let (Holder::Pooled(_), false, Ok(runtime)) = (&session, session.spent, runtime) else {
            session.spent = true;
            return;
        };
        session.spent = true;
        runtime.spawn(async move {
            let rolled_back = session.command("ROLLBACK");
            // The pool closes it where this comes to nothing.
            let _ = tokio::time::timeout(ROLLBACK_TIME_MAX, rolled_back).await;
        });
    }
}

//! State of the whole installation, also while a table of ours is locked, or the database takes no changes: that is
//! when it is asked for.

use serde_json::{Value as Json, json};
use sqlx::FromRow;
use wedflow_documents::{Host, LastHour};

use crate::disk::{self, Disk};
use crate::recovery::Metric;
use crate::session::Pooling;
use crate::{ANSWER_MARGIN, Store, StoreError, limits};

/// Longest run of a statement about the installation.
const STATUS_STATEMENT_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(8);
/// Longest wait of it for a lock.
const STATUS_LOCK_TIMEOUT: std::time::Duration = std::time::Duration::from_millis(500);
/// Time after which a wait for a lock is reported; seconds. Less than a second, after which a command looks.
const LOCK_TOLD_AFTER_S: f64 = 0.5;
/// Time from which on a wait for a lock is a problem; seconds.
const LOCK_WAIT_MAX_S: f64 = 5.0;

/// A session or prepared transaction that others wait for, or a session that has locked a table of ours.
#[derive(Debug, FromRow)]
struct LockHolder {
    pid: i32,
    gid: Option<String>,
    user_name: String,
    application: String,
    of_what: String,
    sessions: i64,
    seconds: f64,
}

impl LockHolder {
    /// Names the session and its program.
    fn session(&self) -> String {
        let LockHolder { pid, gid, user_name, application, .. } = self;
        if let Some(gid) = gid {
            return format!("prepared transaction '{gid}' of {user_name}");
        }
        match application.is_empty() {
            true => format!("session {pid} ({user_name})"),
            false => format!("session {pid} ({user_name}, {application})"),
        }
    }

    fn problem(&self) -> Json {
        let LockHolder { pid, gid, of_what, sessions, seconds, .. } = self;
        let effect = match sessions {
            0 => format!("has locked {of_what} for {seconds:.0} s"),
            1 => format!("holds a lock on {of_what}; another session waits for it for {seconds:.0} s"),
            _ => format!("holds a lock on {of_what}; {sessions} sessions wait for it, the longest for {seconds:.0} s"),
        };
        json!({
            "code": "lock_waited",
            "text": format!("{} {effect}", self.session()),
            "hint": match gid {
                None => format!("Let it commit, or end it: SELECT pg_terminate_backend({pid})."),
                Some(gid) => format!("Nobody ends it by itself: COMMIT PREPARED '{0}', or ROLLBACK PREPARED '{0}'.",
                    gid.replace('\'', "''")),
            },
        })
    }
}

impl Store {
    /// The same database over a session for questions about the installation: it waits for no lock for longer than
    /// half a second, and asks a database too that takes no changes.
    #[must_use]
    pub fn for_status(&self) -> Store {
        let options = self.options.clone();
        let options = options.options(limits(STATUS_STATEMENT_TIMEOUT, STATUS_LOCK_TIMEOUT));
        let pooling = Pooling {
            answer_time_max: Some(STATUS_STATEMENT_TIMEOUT + ANSWER_MARGIN),
            wait: STATUS_STATEMENT_TIMEOUT,
            ..Pooling::tool(1)
        };
        self.over(options, pooling)
    }

    /// Says for which lock a session of this program has waited for most of a second, and who holds it.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn awaited_lock(&self) -> Result<Option<String>, StoreError> {
        let asked = sqlx::query_as(include_str!("../sql/awaited_lock.sql"));
        let holder: Option<LockHolder> = asked.bind(self.servers.backends()).fetch_optional(&self.pool).await?;
        let holder = holder.filter(|holder| holder.seconds >= LOCK_TOLD_AFTER_S);
        Ok(holder.map(|holder| format!("a lock on {}, which {} holds", holder.of_what, holder.session())))
    }

    async fn lock_holders(&self) -> Result<Vec<LockHolder>, StoreError> {
        let asked = include_str!("../sql/lock_holders.sql");
        Ok(sqlx::query_as(asked).fetch_all(&self.pool).await?)
    }

    /// The hosts, with the jobs of a tenant that each has in flight.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn tenant_hosts(&self, tenant: &str) -> Result<Vec<Host>, StoreError> {
        let hosts: Vec<sqlx::types::Json<Host>> =
            sqlx::query_scalar(include_str!("../sql/tenant_hosts.sql")).bind(tenant).fetch_all(&self.pool).await?;
        Ok(hosts.into_iter().map(|host| host.0).collect())
    }

    /// The last hour of a tenant's flows.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn last_hour(&self, tenant: &str) -> Result<LastHour, StoreError> {
        let hour: sqlx::types::Json<LastHour> =
            sqlx::query_scalar("SELECT wed.last_hour($1)").bind(tenant).fetch_one(&self.pool).await?;
        Ok(hour.0)
    }

    /// The state of the installation: `server`, `database_bytes`, `disk`, `hosts`, `queue`, `partitions`, `pauses`, and
    /// `problems` with `code`, `text` and `hint`. Of a database whose tables are locked, `server` and `problems` alone,
    /// which name who holds the locks. Best asked of [`Store::for_status`].
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn installation(&self) -> Result<Json, StoreError> {
        let holders = self.lock_holders().await?;
        let asked = sqlx::query_scalar("SELECT wed.installation()");
        let answer: Result<Json, StoreError> = asked.fetch_one(&self.pool).await.map_err(StoreError::from);
        let (mut installation, is_locked) = match answer {
            Ok(installation) => (installation, false),
            Err(StoreError::Locked { message, .. }) => (self.locked(&message).await?, true),
            Err(error) => return Err(error),
        };
        // The holder may have released the lock meanwhile, and the longest waiter is known only now.
        let holders = match is_locked && holders.is_empty() {
            true => self.lock_holders().await?,
            false => holders,
        };
        let waited = |holder: &&LockHolder| is_locked || holder.seconds >= LOCK_WAIT_MAX_S;
        let mut problems: Vec<Json> = (holders.iter().filter(waited)).map(LockHolder::problem).collect();
        if let Err(error) = self.ping().await
            && let Some(refusal) = error.refusal()
        {
            problems.insert(0, json!({ "code": "read_only", "text": refusal.message, "hint": refusal.hint }));
        }
        if let Some(known) = installation["problems"].as_array_mut() {
            // No host can say that it runs to a database that takes no changes.
            let is_read_only = problems.iter().any(|problem| problem["code"] == "read_only");
            let of_hosts = |problem: &Json| ["no_host", "host_lost"].iter().any(|code| problem["code"] == *code);
            known.retain(|problem| !(is_read_only && of_hosts(problem)));
            known.splice(0..0, problems);
        }
        let disk = Disk::of(self).await?;
        disk.add_to(&mut installation);
        Ok(installation)
    }

    /// Describes an installation whose tables are locked.
    async fn locked(&self, message: &str) -> Result<Json, StoreError> {
        let server: String =
            sqlx::query_scalar("SELECT current_setting('server_version')").fetch_one(&self.pool).await?;
        Ok(json!({
            "server": server,
            "problems": [{
                "code": "locked",
                "text": format!("a table of Wedflow is locked, and its state cannot be read: {message}"),
                "hint": "End the session that holds the lock; hosts resume by themselves.",
            }],
        }))
    }

    /// Figures of the installation for monitoring; of one whose tables are locked, the sessions that hold locks alone.
    /// Best asked of [`Store::for_status`].
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn metrics(&self) -> Result<Vec<Metric>, StoreError> {
        let mut figures: Vec<Metric> = (self.lock_holders().await?.into_iter())
            .map(|holder| Metric {
                name: "lock_wait_seconds".to_owned(),
                tenant: None,
                label: Some(format!("session {} on {}", holder.pid, holder.of_what)),
                value: holder.seconds,
            })
            .collect();
        let asked = sqlx::query_as("SELECT name, tenant, label, value FROM wed.metrics()");
        let answer: Result<Vec<Metric>, StoreError> = asked.fetch_all(&self.pool).await.map_err(StoreError::from);
        match answer {
            Ok(known) => figures.extend(known),
            Err(StoreError::Locked { .. }) if !figures.is_empty() => {}
            Err(error) => return Err(error),
        }
        figures.extend(disk::used(self).await?.map(|value| Metric {
            name: "capacity".to_owned(),
            tenant: None,
            label: Some("disk".to_owned()),
            value,
        }));
        Ok(figures)
    }
}

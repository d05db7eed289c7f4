//! Errors of the database, sorted by what a caller can do about them.

use sqlx::postgres::{PgDatabaseError, PgErrorPosition};
use wedflow_model::{FlowId, Wid};

use crate::rules;

/// A refusal of the database: a rule of the gate, a bad definition, a constraint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The SQLSTATE. Wedflow's own begin with `WF` (see `docs/reference/errors.md`).
    pub code: String,
    /// Description of the error.
    pub message: String,
    /// Names and values concerned.
    pub detail: Option<String>,
    /// Advice on mending it.
    pub hint: Option<String>,
    /// Position in the SQL fragment that was written, if there is one.
    pub place: Option<FragmentPosition>,
}

/// Position in a tenant's SQL fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentPosition {
    /// The fragment.
    pub fragment: String,
    /// The character, counted from 1.
    pub position: usize,
}

/// Reason why a session cannot be used.
#[derive(Debug, Clone, Copy, thiserror::Error)]
pub(crate) enum Unfit {
    /// The server is a replica, or was set to take no changes.
    #[error("the database takes no changes now: it is read-only")]
    ReadOnly,
    /// The session's settings were dropped on the way.
    #[error("a pooler is in between and drops the settings of sessions; hosts connect directly")]
    Pooler,
}

impl From<Unfit> for sqlx::Error {
    fn from(unfit: Unfit) -> Self {
        sqlx::Error::Configuration(Box::new(unfit))
    }
}

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database refused what it was asked to do.
    #[error("{}", told(.0))]
    Refused(Box<Refusal>),
    /// No thing has that name. A thing of another tenant's gives the same answer.
    #[error("there is no {kind} \"{name}\"")]
    NotFound {
        /// Kind of the thing: `flow`, `component`, `instance`.
        kind: &'static str,
        /// The name or number that was given.
        name: String,
        /// The thing of that kind whose name is most like it.
        similar: Option<String>,
    },
    /// The database's address cannot be read.
    #[error("the database URL cannot be read: {0}")]
    Url(String),
    /// The database does not answer.
    #[error("the database cannot be reached: {}", in_words(.0))]
    Unreachable(#[source] sqlx::Error),
    /// The server is too old.
    #[error("the server has version {version}; Wedflow needs Postgres 15 or later")]
    TooOld {
        /// The server's `server_version_num`.
        version: String,
    },
    /// The schema could not be brought up to date.
    #[error("the database could not be migrated: {0}")]
    Migration(String),
    /// Two transactions got in each other's way; the same call may succeed when made again.
    #[error("another transaction was in the way: {0}")]
    Conflict(String),
    /// A lock was waited for in vain, for as long as may be. Of a commit it says which, unless it is none of a flow's.
    #[error("somebody holds a lock that is in the way: {message}")]
    Locked {
        /// The server's words.
        message: String,
        /// The locks, each of a flow and an instance of it; without one, of the flow's table.
        locks: Vec<(FlowId, Option<Wid>)>,
    },
    /// The change would leave the tenant without an admin.
    #[error("\"{0}\" is the last admin of the tenant")]
    LastAdmin(String),
    /// The thing to change is not as the caller expects it.
    #[error("\"{0}\" is not as the request expects it: somebody changed it, or it is there or missing")]
    Stale(String),
    /// A client's key was used before, for another request.
    #[error("this idempotency key was used for another request")]
    OtherRequest,
    /// Other error of the driver.
    #[error("{}", in_words(.0))]
    Other(#[source] sqlx::Error),
}

impl StoreError {
    /// Makes a refusal of a rule that is kept here.
    pub fn refused(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        StoreError::Refused(Box::new(Refusal {
            code: code.to_owned(),
            message: message.into(),
            detail: None,
            hint: Some(hint.into()),
            place: None,
        }))
    }

    /// Wraps the error of reading something that the database holds.
    pub fn unreadable(source: impl std::error::Error + Send + Sync + 'static) -> Self {
        StoreError::Other(sqlx::Error::Decode(Box::new(source)))
    }

    pub(crate) fn unreachable(source: sqlx::Error) -> Self {
        match source {
            sqlx::Error::Database(_) | sqlx::Error::Configuration(_) => StoreError::from(source),
            other => StoreError::Unreachable(other),
        }
    }

    /// Refusal of a database that takes no changes.
    pub(crate) fn read_only() -> Self {
        StoreError::from(sqlx::Error::from(Unfit::ReadOnly))
    }

    pub(crate) fn not_found(kind: &'static str, name: impl ToString) -> Self {
        StoreError::NotFound { kind, name: name.to_string(), similar: None }
    }

    /// The refusal, when it is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            StoreError::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// Returns true if an answer of the database did not come in time.
    pub fn is_silence(&self) -> bool {
        match self {
            StoreError::Unreachable(sqlx::Error::Io(error)) | StoreError::Other(sqlx::Error::Io(error)) => {
                error.kind() == std::io::ErrorKind::TimedOut
            }
            _ => false,
        }
    }

    /// The SQLSTATE, when the database gave one.
    pub fn code(&self) -> Option<&str> {
        self.refusal().map(|refusal| refusal.code.as_str())
    }

    /// Returns true if the trouble lies with the connection rather than with the request, so that a later try makes
    /// sense.
    pub fn is_transient(&self) -> bool {
        match self {
            StoreError::Unreachable(_) | StoreError::Conflict(_) => true,
            StoreError::Other(source) => matches!(
                source,
                sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed
            ),
            StoreError::Refused(refusal) => {
                // Connection exceptions, insufficient resources (a full disk too), operator's
                // intervention, system errors.
                ["08", "53", "57", "58"].iter().any(|class| refusal.code.starts_with(class)) && refusal.code != "57014"
            }
            _ => false,
        }
    }
}

/// SQLSTATEs, or their first characters, that tell of the server or of how it was set up: connection exceptions, a
/// login or a database that is refused, a transaction that may only read, a privilege that is missing, a statement
/// or an object in the wrong state, insufficient resources, an operator's intervention, system errors, broken data.
const OF_SERVER: [&str; 13] =
    ["08", "25006", "26000", "28", "3D000", "42501", "53", "55", "57P", "58", "F0", "XX001", "XX002"];

/// Advice for a value that an enum has not.
const LABELS_HINT: &str = "Give one of its labels: `wed flow show FLOW` lists them.";

/// SQLSTATE that stands for a full queue of notifications: Postgres gives it that of a statement beyond a limit.
const FULL_QUEUE: &str = "53400";

/// First characters of SQLSTATEs that a result can cause: a value that does not fit, a constraint, a name or a type, a
/// limit of a statement, a rule of ours.
const OF_RESULT: [&str; 9] = ["21", "22", "23", "42", "44", "54", "57014", "P0001", "WF"];

impl StoreError {
    /// Returns true if the server is at fault, whatever the request: a later try makes sense, also for long.
    pub fn is_of_server(&self) -> bool {
        !self.is_of_memory() && (self.is_transient() || self.begins_with(&OF_SERVER))
    }

    /// Returns true if a session was refused more memory: the request may need too much of it.
    fn is_of_memory(&self) -> bool {
        self.code() == Some("53200")
    }

    /// Returns true if the request can have caused it.
    pub fn is_of_result(&self) -> bool {
        self.is_of_memory() || !self.is_of_server() && self.begins_with(&OF_RESULT)
    }

    fn begins_with(&self, codes: &[&str]) -> bool {
        (self.code()).is_some_and(|code| codes.iter().any(|begin| code.starts_with(begin)))
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(source: sqlx::Error) -> Self {
        let Some(error) = source.as_database_error() else {
            return match source {
                sqlx::Error::Configuration(source) => match source.downcast::<Unfit>() {
                    Ok(unfit) => refusal_of(*unfit),
                    Err(source) => StoreError::Other(sqlx::Error::Configuration(source)),
                },
                other => StoreError::Other(other),
            };
        };
        let Some(error) = error.try_downcast_ref::<PgDatabaseError>() else {
            return StoreError::Other(source);
        };
        if error.code() == "55P03" {
            return StoreError::Locked {
                message: error.message().to_owned(),
                locks: error.detail().map(locks_met).unwrap_or_default(),
            };
        }
        // Serialization failure, deadlock, and a catalog's row that two transactions changed at once.
        let of_catalog = error.code() == "XX000" && error.message() == "tuple concurrently updated";
        if of_catalog || matches!(error.code(), "40001" | "40P01") {
            return StoreError::Conflict(error.message().to_owned());
        }
        if error.code() == "54000" && error.routine() == Some("PreCommit_Notify") {
            return StoreError::Refused(Box::new(Refusal {
                code: FULL_QUEUE.to_owned(),
                message: error.message().to_owned(),
                detail: None,
                hint: state_of_server(FULL_QUEUE).map(str::to_owned),
                place: None,
            }));
        }
        // The words of a rule of a table of ours name the table, and its detail tells the row.
        let of_table = error.code() == "23514" && error.message().starts_with("new row for relation");
        let broken = error.constraint().filter(|_| of_table);
        let rule = broken.and_then(rules::rule);
        let message = match (rule, broken) {
            (Some(rule), _) => rule.message.to_owned(),
            // Each attribute of labels has its rule (wed.attribute_type).
            (None, Some(name)) if name.starts_with("enum_") => {
                format!("the value is none of the labels of attribute \"{}\"", &name["enum_".len()..])
            }
            (None, Some(name)) => format!("a value is not allowed (rule {name})"),
            (None, None) => error.message().to_owned(),
        };
        StoreError::Refused(Box::new(Refusal {
            code: error.code().to_owned(),
            message,
            detail: (error.detail()).filter(|detail| !of_table && !detail.is_empty()).map(str::to_owned),
            hint: (rule.map(|rule| rule.hint))
                .or_else(|| broken.filter(|name| name.starts_with("enum_")).map(|_| LABELS_HINT))
                .or_else(|| error.hint())
                .or_else(|| state_of_server(error.code()))
                .or_else(|| of_pooler(error.message()))
                .map(str::to_owned),
            place: place_in_fragment(error),
        }))
    }
}

/// Refusal of a session that cannot be used.
fn refusal_of(unfit: Unfit) -> StoreError {
    let (code, hint) = match unfit {
        Unfit::ReadOnly => ("25006", state_of_server("25006")),
        Unfit::Pooler => ("08P01", Some(POOLER_HINT)),
    };
    StoreError::Refused(Box::new(Refusal {
        code: code.to_owned(),
        message: unfit.to_string(),
        detail: None,
        hint: hint.map(str::to_owned),
        place: None,
    }))
}

/// Advice where a pooler of connections is in between.
const POOLER_HINT: &str = "Give the address of the database's server itself, not that of a pooler such as pgbouncer: \
    hosts and `wed` use settings, prepared statements and notifications of a session. External workers may go through \
    a pooler.";

/// Returns a hint for an error that a pooler of connections causes.
fn of_pooler(message: &str) -> Option<&'static str> {
    let statement = message.starts_with("prepared statement \"sqlx_s_");
    let parameter = message.starts_with("unsupported startup parameter");
    (statement || parameter).then_some(POOLER_HINT)
}

/// A refusal in a line: with what to do about it where the server is the reason.
fn told(refusal: &Refusal) -> String {
    match state_of_server(&refusal.code) {
        Some(hint) => format!("{}; {hint}", refusal.message),
        None => refusal.message.clone(),
    }
}

/// Words the driver's report as we do.
fn in_words(error: &sqlx::Error) -> String {
    use std::io::ErrorKind;
    match error {
        sqlx::Error::Io(error) => match error.kind() {
            ErrorKind::UnexpectedEof
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe => "the connection to the database broke off".to_owned(),
            ErrorKind::TimedOut => "the database did not answer in time".to_owned(),
            ErrorKind::ConnectionRefused => "no server answers at the database's address".to_owned(),
            _ => format!("the connection to the database failed: {error}"),
        },
        sqlx::Error::PoolTimedOut => {
            "no connection to the database became free in time; too much waits for it, or it does not answer".to_owned()
        }
        sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => "the connections to the database are closed".to_owned(),
        other => format!("the database's driver reported: {other}"),
    }
}

/// Reads which locks were met, as `wed.locks_met` writes them.
fn locks_met(detail: &str) -> Vec<(FlowId, Option<Wid>)> {
    serde_json::from_str(detail).unwrap_or_default()
}

/// Returns a hint for a server that cannot do its work just now and gives no hint itself.
fn state_of_server(code: &str) -> Option<&'static str> {
    Some(match code {
        "53100" => {
            "The server's disk is full: make room there. What was committed is kept, and hosts resume by themselves."
        }
        "53200" => "The server has no memory left: give it more, or lower its work_mem.",
        FULL_QUEUE => {
            "The server's queue of notifications is full, since a session listens and does not read. Hosts empty it \
             within seconds; `wed status` names the session."
        }
        "53300" => "The server takes no more sessions: raise its max_connections, or run fewer hosts.",
        "25006" => {
            "The database is a replica, or was set to take no changes (default_transaction_read_only). Hosts resume by \
             themselves as soon as it takes them."
        }
        "57P01" | "57P02" | "57P03" => "The server is stopping or starting: try again in a moment.",
        _ => return None,
    })
}

/// Hint about names of people, which may be addresses.
const PERSON_HINT: &str = "Use small letters, digits, - _ . and @, at most 63, beginning with a letter or digit, such as \
    ann or ann@example.org.";

/// Hint about names of settings and secrets.
const KEY_HINT: &str = "Use letters, digits, _, . and -, at most 127, beginning with a letter, a digit or _.";

/// Says of a refused name what is wrong with it: taken, or not allowed.
pub(crate) fn about_name(error: StoreError, kind: &str, name: &str) -> StoreError {
    let StoreError::Refused(mut refusal) = error else {
        return error;
    };
    match refusal.code.as_str() {
        "23505" => {
            refusal.message = format!("there is a {kind} \"{name}\" already");
            refusal.hint = Some("Choose another name.".to_owned());
        }
        "23514" if !rules::is_about_a_value(&refusal.message) => {
            let short: String = name.chars().take(80).collect();
            refusal.message = format!("the {kind} name \"{short}\" is not allowed");
            refusal.hint = Some(match kind {
                "person" => PERSON_HINT.to_owned(),
                "setting" | "secret" => KEY_HINT.to_owned(),
                _ => crate::NAME_HINT.to_owned(),
            });
        }
        _ => {}
    }
    if refusal.code.starts_with("23") {
        // It would tell the row.
        refusal.detail = None;
    }
    StoreError::Refused(refusal)
}

/// The most characters of a description.
const LONGEST_DESCRIPTION: usize = 2_000;

/// Refuses a description that is an essay.
pub(crate) fn check_description(text: &str) -> Result<(), StoreError> {
    let length = text.chars().count();
    if length <= LONGEST_DESCRIPTION {
        return Ok(());
    }
    Err(StoreError::refused(
        "WF023",
        format!("the description has {length} characters, and {LONGEST_DESCRIPTION} are allowed"),
        "Say it in fewer words.",
    ))
}

/// The database parses a fragment between two line breaks inside brackets; what comes before the
/// first is not the writer's.
fn place_in_fragment(error: &PgDatabaseError) -> Option<FragmentPosition> {
    let Some(PgErrorPosition::Internal { position, query }) = error.position() else {
        return None;
    };
    let (before, after) = query.split_once("(\n")?;
    let fragment = after.rsplit_once("\n)")?.0;
    let skipped = before.chars().count() + 2;
    Some(FragmentPosition { fragment: fragment.to_owned(), position: position.checked_sub(skipped)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pooler_is_named_where_it_is_in_the_way() {
        for said in
            ["prepared statement \"sqlx_s_1\" already exists", "unsupported startup parameter: extra_float_digits"]
        {
            assert!(of_pooler(said).is_some_and(|hint| hint.contains("pooler")), "{said}");
        }
        assert_eq!(of_pooler("relation \"x\" does not exist"), None);
        let StoreError::Refused(refusal) = refusal_of(Unfit::Pooler) else {
            panic!("a refusal");
        };
        assert!(refusal.hint.is_some_and(|hint| hint.contains("server itself")));
    }

    fn refused(code: &str) -> StoreError {
        StoreError::Refused(Box::new(Refusal {
            code: code.to_owned(),
            message: String::new(),
            detail: None,
            hint: None,
            place: None,
        }))
    }

    #[test]
    fn what_the_driver_reports_is_told_in_our_words() {
        let broken =
            std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "expected to read 5 bytes, got 0 bytes at EOF");
        for (error, said) in [
            (StoreError::Other(sqlx::Error::Io(broken)), "broke off"),
            (StoreError::Other(sqlx::Error::PoolTimedOut), "became free"),
            (StoreError::Unreachable(sqlx::Error::PoolClosed), "are closed"),
            (refused("53100"), "make room there"),
        ] {
            let told = error.to_string();
            assert!(told.contains(said), "{told}");
            for word in ["pool", "EOF", "bytes", "acquire"] {
                assert!(!told.contains(word), "{told}");
            }
        }
    }

    #[test]
    fn a_refused_login_is_no_results_fault() {
        for code in ["28000", "28P01", "3D000", "25006", "42501", "57P03", "53100", "08006"] {
            let error = refused(code);
            assert!(error.is_of_server() && !error.is_of_result(), "{code}");
        }
        for code in ["22003", "23514", "42804", "57014", "WF006", "54001", "53200"] {
            let error = refused(code);
            assert!(error.is_of_result() && !error.is_of_server(), "{code}");
        }
        let unknown = refused("XX000");
        assert!(!unknown.is_of_result() && !unknown.is_of_server());
    }
}

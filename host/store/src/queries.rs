//! Queries that run with the rights of a flow alone: of a process's data when an instance is started, and of people.

use std::time::Duration;

use serde_json::{Map, Value as Json};
use sqlx::postgres::{PgDatabaseError, PgErrorPosition};
use sqlx::{AssertSqlSafe, Column, Connection, Either, Executor, SqlSafeStr, Statement, TypeInfo};
use wedflow_documents::{QueryColumn, QueryResult};

use crate::audit::note_flow;
use crate::flows::Flow;
use crate::servers::{Access, Servers};
use crate::{FragmentPosition, Store, StoreError};

/// Columns of a query.
const COLUMNS_MAX: usize = 100;
/// Characters of a query that the audit log keeps.
const AUDITED_CHARACTERS_MAX: usize = 1000;
/// Text before the query where its columns are asked for.
const BEFORE_QUERY: &str = "SELECT * FROM (\n";
/// Advice on what a query may be.
const QUERY_HINT: &str = "A query is one SELECT, WITH … SELECT, VALUES or TABLE, and changes nothing.";
/// Advice to who looked for names in the catalog.
const CATALOG_HINT: &str = "wed_attr, wed_trig and the other tables of the flow tell its definition.";
/// The longest time for a session and all queries of an instance.
const QUERIES_WAIT: Duration = Duration::from_secs(10);

impl Store {
    /// The results of a process's queries by attribute: rows as documents, at most 1000 of each, and 1 MiB. Each runs
    /// in a read-only transaction of the flow's own role, for 2 seconds at most, so it sees what the flow's workers
    /// see, and changes nothing. What `given` has is not asked for.
    ///
    /// # Errors
    /// [`StoreError::Refused`] names the query that failed.
    pub(crate) async fn query_data(
        &self,
        tenant: &str,
        flow: &str,
        given: &Map<String, Json>,
    ) -> Result<Map<String, Json>, StoreError> {
        let planned: Vec<(String, String, String)> = sqlx::query_as(include_str!("../sql/planned_queries.sql"))
            .bind(tenant)
            .bind(flow)
            .fetch_all(&self.pool)
            .await?;
        let mut results = Map::new();
        let mut wanted = planned.into_iter().filter(|(_, attribute, _)| !given.contains_key(attribute)).peekable();
        if wanted.peek().is_none() {
            return Ok(results);
        }
        within_time(async {
            let mut session = self.session_of(tenant, flow).await?;
            for (name, attribute, expression) in wanted {
                let result = ask(&mut session, &expression).await;
                results.insert(attribute, result.map_err(|error| named(error, &name))?);
            }
            session.close().await?;
            Ok(results)
        })
        .await
    }

    /// Runs a query of a person over the tables of a flow, in a read-only transaction of the flow's own role, for 2
    /// seconds at most. The audit log has its text.
    ///
    /// # Errors
    /// [`StoreError::Refused`] for a query that is not allowed, or fails.
    pub async fn query(
        &self,
        tenant: &str,
        flow: &Flow,
        sql: &str,
        rows_max: usize,
    ) -> Result<QueryResult, StoreError> {
        let mut transaction = self.begin().await?;
        let text: String = sql.chars().take(AUDITED_CHARACTERS_MAX).collect();
        let detail = serde_json::json!({ "sql": text });
        let actor = &self.actor;
        note_flow(&mut transaction, actor, flow.flow_id, "flow.query", None, detail).await?;
        transaction.commit().await?;
        let sql = sql.trim().trim_end_matches(';');
        within_time(async {
            let mut session = self.session_of(tenant, &flow.name).await?;
            let mut transaction = session.begin_with("BEGIN READ ONLY").await?;
            sqlx::query("SET LOCAL statement_timeout = '2s'").execute(&mut *transaction).await?;
            let result = answer(&mut transaction, sql, rows_max).await;
            let result = result.map_err(of_query)?;
            transaction.rollback().await?;
            session.close().await?;
            Ok(result)
        })
        .await
    }

    /// Opens a session of a flow's own role.
    async fn session_of(&self, tenant: &str, flow: &str) -> Result<sqlx::PgConnection, StoreError> {
        let url = self.flow_url(tenant, flow).await?;
        let (servers, options) = Servers::of(&url)?;
        let session = servers.connect(&options, Access::Any).await;
        session.map_err(|error| match error.as_database_error() {
            Some(refused) if refused.code().is_some_and(|code| code == "28P01") => refused_password(),
            // The server's own limit is told without a role.
            Some(of_role)
                if of_role.code().is_some_and(|code| code == "53300") && of_role.message().contains("for role") =>
            {
                refused(
                    "WF020",
                    "all sessions that the flow's role may have are in use (quota `connections`)",
                    "End sessions of the flow's workers, or ask the operator for more.",
                )
            }
            _ => StoreError::unreachable(error),
        })
    }
}

fn refused_password() -> StoreError {
    refused(
        "42501",
        "the flow's role has another password than the one that is kept of it",
        "An operator gives it the kept one again: `wed flow url` tells the role and the password for ALTER ROLE.",
    )
}

/// Does something within [`QUERIES_WAIT`].
async fn within_time<T>(asking: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    tokio::time::timeout(QUERIES_WAIT, asking).await.unwrap_or_else(|_| {
        let silent = std::io::Error::from(std::io::ErrorKind::TimedOut);
        Err(StoreError::unreachable(sqlx::Error::Io(silent)))
    })
}

/// Runs a query and returns its columns and rows. More than one statement is refused by the protocol.
async fn answer(session: &mut sqlx::PgConnection, sql: &str, rows_max: usize) -> Result<QueryResult, StoreError> {
    must_stand_alone(session, sql).await?;
    let described = AssertSqlSafe(format!("{BEFORE_QUERY}{sql}\n) AS q"));
    let described = (&mut *session).prepare(described.into_sql_str()).await;
    let described = described.map_err(|error| placed(error, sql, BEFORE_QUERY.len()))?;
    let columns: Vec<QueryColumn> = (described.columns().iter())
        .map(|column| QueryColumn { name: column.name().to_owned(), r#type: column.type_info().name().to_lowercase() })
        .collect();
    if !(1..=COLUMNS_MAX).contains(&columns.len()) {
        let message = format!("the query has {} columns", columns.len());
        let hint = format!("Name those that you need, at most {COLUMNS_MAX}.");
        return Err(refused("54011", &message, &hint));
    }
    let names: Vec<String> = (1..=columns.len()).map(|at| format!("\"{at}\"")).collect();
    let query = include_str!("../sql/query_flow.sql")
        .replace("{columns}", &names.join(", "))
        .replace("{limit}", &(rows_max + 1).to_string())
        .replace("{query}", sql);
    let documents: Vec<Option<String>> =
        sqlx::query_scalar(AssertSqlSafe(query)).persistent(false).fetch_all(session).await?;
    let count = documents.len();
    let read = |text: String| serde_json::from_str::<Vec<Json>>(&text).unwrap_or_default();
    let rows: Vec<Vec<Json>> = (documents.into_iter().flatten()).take(rows_max).map(read).collect();
    Ok(QueryResult { truncated: rows.len() < count, columns, rows })
}

/// Checks that a text is one statement by itself, so that it cannot end the parentheses that are put around it, that it
/// asks for no values, and that it does not read Postgres's catalog, which tells the definitions of all tenants.
async fn must_stand_alone(session: &mut sqlx::PgConnection, sql: &str) -> Result<(), StoreError> {
    if let Some(word) = wedflow_guard::catalog_word(sql) {
        let message = format!("a query does not read Postgres's catalog: {word}");
        return Err(refused("42501", &message, CATALOG_HINT));
    }
    let alone = AssertSqlSafe(sql.to_owned()).into_sql_str();
    let prepared = (&mut *session).prepare(alone).await;
    let prepared = prepared.map_err(|error| placed(error, sql, 0))?;
    match prepared.parameters() {
        Some(Either::Left(&[]) | Either::Right(0)) | None => Ok(()),
        Some(_) => Err(refused("42P02", "the query has parameters, such as $1", "Write the values into it.")),
    }
}

fn refused(code: &str, message: &str, hint: &str) -> StoreError {
    StoreError::refused(code, message, hint)
}

/// Classes of errors, and errors, that are the server's whatever a query asks for: lost connections, no room, no
/// sessions.
const OF_SERVER: [&str; 5] = ["08", "53100", "53300", "57P", "58"];

/// Makes a refusal of the query of whatever the database refuses: a change, a right, an error that a function raises.
fn of_query(error: StoreError) -> StoreError {
    match error {
        StoreError::Refused(mut refusal) => {
            let is_of_server = OF_SERVER.iter().any(|class| refusal.code.starts_with(class));
            let known = ["22", "23", "42", "0A", "54", "57014", "WF"];
            // A function that needs a state of the session, such as lastval().
            let is_of_session = refusal.code == "55000";
            let is_known = known.iter().any(|class| refusal.code.starts_with(class));
            if refusal.code == "25006" || is_of_session || !(is_known || is_of_server) {
                "42501".clone_into(&mut refusal.code);
                refusal.hint = Some(QUERY_HINT.to_owned());
            }
            StoreError::Refused(refusal)
        }
        other => other,
    }
}

/// Adds the place within a person's query to an error, and what a query may be; `before` characters stood before it.
fn placed(error: sqlx::Error, sql: &str, before: usize) -> StoreError {
    let database = error.as_database_error();
    let database = database.and_then(|error| error.try_downcast_ref::<PgDatabaseError>());
    let position = database.and_then(|error| match error.position() {
        Some(PgErrorPosition::Original(position)) => position.checked_sub(before),
        _ => None,
    });
    match StoreError::from(error) {
        StoreError::Refused(mut refusal) => {
            let within = position.filter(|position| *position <= sql.chars().count() + 1);
            refusal.place = within.map(|position| FragmentPosition { fragment: sql.to_owned(), position });
            refusal.hint.get_or_insert_with(|| QUERY_HINT.to_owned());
            StoreError::Refused(refusal)
        }
        other => other,
    }
}

/// Runs one query. More than one statement is refused by the protocol.
async fn ask(session: &mut sqlx::PgConnection, expression: &str) -> Result<Json, StoreError> {
    let expression = expression.trim().trim_end_matches(';');
    must_stand_alone(session, expression).await?;
    let sql = include_str!("../sql/query_data.sql").replace("{expression}", expression);
    let mut transaction = session.begin_with("BEGIN READ ONLY").await?;
    sqlx::query("SET LOCAL statement_timeout = '2s'").execute(&mut *transaction).await?;
    let result: Option<Json> =
        sqlx::query_scalar(AssertSqlSafe(sql)).persistent(false).fetch_one(&mut *transaction).await?;
    transaction.rollback().await?;
    result.ok_or_else(|| {
        let message = "its result has more than 1000 rows, or more than 1 MiB";
        refused("WF085", message, "Ask for less: LIMIT, or fewer columns.")
    })
}

fn named(error: StoreError, name: &str) -> StoreError {
    match error {
        StoreError::Refused(mut refusal) => {
            refusal.message = format!("query {name}: {}", refusal.message);
            refusal
                .hint
                .get_or_insert_with(|| "It runs with the rights of the flow's own role: `wed flow url`.".to_owned());
            StoreError::Refused(refusal)
        }
        other => other,
    }
}

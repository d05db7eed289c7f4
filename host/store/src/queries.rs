//! The queries of a process's data: run when an instance is started, with the rights of its flow alone.

use std::time::Duration;

use serde_json::{Map, Value as Json};
use sqlx::{AssertSqlSafe, Connection};

use crate::servers::{Access, Servers};
use crate::{Refusal, Store, StoreError};

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
        let planned: Vec<(String, String, String)> =
            sqlx::query_as(include_str!("../sql/planned_queries.sql"))
                .bind(tenant)
                .bind(flow)
                .fetch_all(&self.pool)
                .await?;
        let mut results = Map::new();
        let mut wanted = planned
            .into_iter()
            .filter(|(_, attribute, _)| !given.contains_key(attribute))
            .peekable();
        if wanted.peek().is_none() {
            return Ok(results);
        }
        let url = self.flow_url(tenant, flow).await?;
        let asking = async {
            let (servers, options) = Servers::of(&url)?;
            let session = servers.connect(&options, Access::Any).await;
            let mut session = session.map_err(StoreError::unreachable)?;
            for (name, attribute, expression) in wanted {
                let result = ask(&mut session, &expression).await;
                results.insert(attribute, result.map_err(|error| named(error, &name))?);
            }
            session.close().await?;
            Ok(results)
        };
        tokio::time::timeout(QUERIES_WAIT, asking)
            .await
            .unwrap_or_else(|_| {
                let silent = std::io::Error::from(std::io::ErrorKind::TimedOut);
                Err(StoreError::unreachable(sqlx::Error::Io(silent)))
            })
    }
}

/// Runs one query. More than one statement is refused by the protocol.
async fn ask(session: &mut sqlx::PgConnection, expression: &str) -> Result<Json, StoreError> {
    let sql = include_str!("../sql/query_data.sql")
        .replace("{expression}", expression.trim().trim_end_matches(';'));
    let mut transaction = session.begin_with("BEGIN READ ONLY").await?;
    sqlx::query("SET LOCAL statement_timeout = '2s'")
        .execute(&mut *transaction)
        .await?;
    let result: Option<Json> = sqlx::query_scalar(AssertSqlSafe(sql))
        .persistent(false)
        .fetch_one(&mut *transaction)
        .await?;
    transaction.rollback().await?;
    result.ok_or_else(|| {
        StoreError::Refused(Box::new(Refusal {
            code: "WF085".to_owned(),
            message: "its result has more than 1000 rows, or more than 1 MiB".to_owned(),
            detail: None,
            hint: Some("Ask for less: LIMIT, or fewer columns.".to_owned()),
            place: None,
        }))
    })
}

fn named(error: StoreError, name: &str) -> StoreError {
    match error {
        StoreError::Refused(mut refusal) => {
            refusal.message = format!("query {name}: {}", refusal.message);
            refusal.hint.get_or_insert_with(|| {
                "It runs with the rights of the flow's own role: `wed flow url`.".to_owned()
            });
            StoreError::Refused(refusal)
        }
        other => other,
    }
}

//! Tokens of operators of the installation, of which only hashes are kept.

use serde::Serialize;
use serde_json::json;
use sqlx::FromRow;

use crate::{Store, StoreError};

/// Longest life of an operator's token, in days.
const DAYS_MAX: i32 = 3_660;

/// Token of an operator of the installation, as listed.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Operator {
    /// Name of the token.
    pub name: String,
    /// First characters of the token.
    pub id: String,
    /// True if it may change something.
    pub may_write: bool,
    /// Time of its making, RFC 3339.
    pub created_at: String,
    /// Time of its end, RFC 3339.
    pub expires_at: String,
}

/// Token of an operator to store.
#[derive(Debug, Clone, Copy)]
pub struct NewOperator<'a> {
    /// Name of the token.
    pub name: &'a str,
    /// First characters of the token.
    pub prefix: &'a str,
    /// SHA-256 of it.
    pub hash: &'a [u8],
    /// True if it may change something.
    pub may_write: bool,
    /// Life in days.
    pub days: i32,
}

/// Columns of an [`Operator`].
const OPERATOR: &str = "SELECT name, prefix AS id, may_write, wed.rfc3339(created_at) AS created_at, \
    wed.rfc3339(expires_at) AS expires_at FROM wed.operator";

impl Store {
    /// Stores the token of an operator.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the name is taken or not allowed.
    pub async fn create_operator(&self, new: &NewOperator<'_>) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        sqlx::query(
            "INSERT INTO wed.operator (name, prefix, hash, may_write, expires_at) \
             VALUES ($1, $2, $3, $4, clock_timestamp() + make_interval(days => $5))",
        )
        .bind(new.name)
        .bind(new.prefix)
        .bind(new.hash)
        .bind(new.may_write)
        .bind(new.days.clamp(1, DAYS_MAX))
        .execute(&mut *transaction)
        .await
        .map_err(|error| crate::error::about_name(error.into(), "operator", new.name))?;
        let detail = json!({ "id": new.prefix, "may_write": new.may_write, "days": new.days });
        self.commit_noted(transaction, None::<&str>, "operator.create", new.name, detail).await
    }

    /// Lists the tokens of operators, by name.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn operators(&self) -> Result<Vec<Operator>, StoreError> {
        let query = sqlx::AssertSqlSafe(format!("{OPERATOR} ORDER BY name"));
        Ok(sqlx::query_as(query).fetch_all(&self.pool).await?)
    }

    /// Ends the token of an operator at once.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn revoke_operator(&self, name: &str) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let done =
            sqlx::query("DELETE FROM wed.operator WHERE name = $1").bind(name).execute(&mut *transaction).await?;
        if done.rows_affected() == 0 {
            return Err(StoreError::not_found("operator", name));
        }
        self.commit_noted(transaction, None::<&str>, "operator.revoke", name, json!({})).await
    }

    /// Returns the operator's token with that hash; none if it is unknown or expired.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn operator(&self, hash: &[u8]) -> Result<Option<Operator>, StoreError> {
        let query = sqlx::AssertSqlSafe(format!("{OPERATOR} WHERE hash = $1 AND expires_at > clock_timestamp()"));
        Ok(sqlx::query_as(query).bind(hash).fetch_optional(&self.pool).await?)
    }
}

//! Queries over the tables of a flow.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A read-only query.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// Query: `SELECT`, `WITH … SELECT`, `VALUES` or `TABLE`, over the tables that the flow's own role sees.
    pub sql: String,
    /// Maximum number of rows, 1 to 1000; 100 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<i32>,
}

/// Rows of a query.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct QueryResult {
    /// The columns, in order.
    pub columns: Vec<QueryColumn>,
    /// Values of each row, in the order of the columns.
    pub rows: Vec<Vec<Value>>,
    /// True if there are more rows than the limit, or more than 1 MiB.
    pub truncated: bool,
}

/// A column of a query.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct QueryColumn {
    /// Name.
    pub name: String,
    /// Postgres's name of the type.
    pub r#type: String,
}

//! Refusals: RFC 9457, with a stable code and a hint.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Why a request was not done.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// The kind of problem, as a URI that need not lead anywhere.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind of problem in words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// Description of the error in this request.
    pub detail: String,
    /// This occurrence: the request's number, also in the header `x-request-id` and in the server's log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// A stable code: a word, or a SQLSTATE.
    pub code: String,
    /// Advice on mending it.
    #[serde(default)]
    pub hint: String,
    /// Position in a JSON body, as a path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Position in a fragment of SQL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<FragmentPlace>,
    /// Limit, for problems of quotas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<QuotaPlace>,
}

/// A limit that is reached.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct QuotaPlace {
    /// Name of the quota.
    pub name: String,
    /// Number in use.
    pub used: i64,
    /// Number allowed.
    pub allowed: i64,
}

/// A place in a fragment of SQL.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct FragmentPlace {
    /// The fragment.
    pub fragment: String,
    /// The character, counted from 1.
    pub position: usize,
}

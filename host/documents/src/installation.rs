//! The installation's tenants, as its operators manage them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A tenant of the installation.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct Tenant {
    /// Name.
    pub name: String,
    /// Description.
    pub description: String,
    /// True if it is suspended.
    pub suspended: bool,
    /// `leaving`, `left` or `arriving`, of a tenant on its way to another installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moving: Option<String>,
    /// Place where it lives now, of one that has left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<String>,
    /// The longest life of its tokens, in days.
    pub token_days: i32,
    /// Number of flows.
    pub flows: i64,
    /// Versions of components.
    pub components: i64,
    /// Number of users.
    pub users: i64,
    /// Time at which it was made.
    pub created_at: String,
    /// Cluster that it is on, where a directory says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
}

/// A tenant to make.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTenant {
    /// Name.
    pub name: String,
    /// Description.
    #[serde(default)]
    pub description: String,
    /// Name of a user to make as its admin, with a token.
    pub admin: Option<String>,
    /// Cluster to make it on; without, the open one with the fewest tenants. Where there is a directory of clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
}

/// A tenant that was made.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct MadeTenant {
    /// The tenant.
    pub tenant: Tenant,
    /// Token of the admin, told once; none where no admin was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin_token: Option<String>,
}

/// Changes of a tenant; what is absent stays as it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TenantChange {
    /// Description.
    pub description: Option<String>,
    /// The longest life of its tokens, in days.
    #[schema(minimum = 1, maximum = 3660)]
    pub token_days: Option<i32>,
    /// True: nothing of it is started or changed, and its tokens are refused.
    pub suspended: Option<bool>,
}

/// A cluster: a database of Wedflow with tenants of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Cluster {
    /// Name.
    pub name: String,
    /// Address of its database, without a password.
    pub url: String,
    /// Address of the replica that lists, traces and searches are read from, without a password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_url: Option<String>,
    /// `open`, or `draining`: it takes no new tenants.
    pub state: String,
    /// Number of tenants on it.
    pub tenants: i64,
}

/// A cluster to add, or another address of the same database.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutCluster {
    /// Address of its database: `postgres://user:password@host:port/name`, or several `host:port` with commas between.
    pub url: String,
    /// Address of a replica to read lists, traces and searches from; none: they are read from the database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_url: Option<String>,
    /// Change nothing; the answer says what would be.
    #[serde(default)]
    pub check: bool,
}

/// A cluster that was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClusterAdded {
    /// Name.
    pub name: String,
    /// Tenants of the database that the directory knows from now on.
    pub taken: Vec<String>,
    /// Empty tenants whose names another cluster has: they are not served.
    pub skipped: Vec<String>,
}

/// Change of a cluster.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ClusterChange {
    /// True: it takes no new tenants.
    pub draining: bool,
}

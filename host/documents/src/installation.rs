//! The installation's tenants, as its operators manage them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A tenant of the installation.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
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

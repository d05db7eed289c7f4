//! Tenants: who may do what.
//!
//! - [`Role`], [`Action`]: the one permission matrix
//! - [`Scope`]: what a token may be used for, within its user's role
//! - [`Secret`]: what a token looks like
//! - [`Identity`]: the bearer of a token, and their permissions
//! - `tokens`: making and replacing tokens
//! - [`OperatorIdentity`]: the bearer of an operator's token, which belongs to no tenant
//!
//! Whose a thing is follows from the token alone: everything else takes the tenant's name from an
//! [`Identity`], never from a request.

mod identity;
mod operators;
mod role;
mod scope;
mod secret;
mod tokens;

pub use identity::{AuthenticationError, Identity, authenticate};
pub use operators::{OperatorIdentity, authenticate_operator, issue_operator};
pub use role::{Action, Area, Role, Verb};
pub use scope::{Scope, ScopeError};
pub use secret::Secret;
pub use tokens::{Issued, TokenError, TokenRequest, issue, rotate};

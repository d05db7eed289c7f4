//! The owner of a local store.

/// Owner of a store: one person of one tenant of one installation.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Owner {
    /// The person.
    pub person: String,
    /// The tenant.
    pub tenant: String,
    /// The installation's mark, whatever address it is reached by.
    pub server: String,
}

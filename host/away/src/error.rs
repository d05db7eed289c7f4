//! Errors on a person's machine, sorted by what the person can do about them.

use serde_json::Value as Json;

use crate::Owner;

/// An error of disconnected work.
#[derive(Debug, thiserror::Error)]
pub enum AwayError {
    /// The server does not answer. What is local stays as it is; repeat the call later.
    #[error("the server cannot be reached: {0}")]
    Cut(String),
    /// The server refused the request, with its problem document.
    #[error("the server refused it: {}", .0["detail"].as_str().or(.0["reason"].as_str()).unwrap_or("no reason"))]
    Refused(Json),
    /// The local store is another person's, or of another tenant or installation. Nothing in it is touched.
    #[error("the local store is {}'s of tenant {}, and the token is {}'s of tenant {}{}", .store.person,
        .store.tenant, .token.person, .token.tenant,
        if .store.server == .token.server { "" } else { " at another installation" })]
    Foreign {
        /// Owner of the store.
        store: Box<Owner>,
        /// Owner of the token.
        token: Box<Owner>,
    },
    /// The local store cannot be used: a full disk, a damaged file.
    #[error("the local store reports: {0}")]
    Store(#[from] rusqlite::Error),
    /// A protocol step needs a decision of the person.
    #[error("{message}")]
    Decide {
        /// Decision to make.
        message: String,
        /// Possible decisions.
        hint: String,
    },
    /// Bytes that came are not those that the server announced; they were thrown away.
    #[error("the copy of {0} is damaged and was thrown away")]
    Damaged(String),
    /// The local store has no such item, or the act is not allowed now.
    #[error("{0}")]
    NotEnabled(String),
}

impl AwayError {
    /// The error of an answer that is not Wedflow's: a login page, a proxy's word, a server of something else.
    pub(crate) fn stranger() -> Self {
        AwayError::Cut("it does not answer as Wedflow does".to_owned())
    }
}

//! Reasons why a call has no answer.

use wedflow_documents::Problem;

/// Reason why a call has no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ClientError {
    /// The server refused the request, and says why.
    #[error("{}", .0.detail)]
    Refused(Box<Problem>),
    /// No answer came; the request may have arrived.
    #[error("the server {server} does not answer: {reason}")]
    Unreachable {
        /// Address of the server.
        server: String,
        /// Reason.
        reason: String,
    },
    /// The answer is not one of Wedflow's: a proxy's, or that of another program.
    #[error("{server} answered with {status}, and not as Wedflow does: {reason:.200}")]
    Foreign {
        /// Address of the server.
        server: String,
        /// HTTP status of the answer.
        status: u16,
        /// Reason.
        reason: String,
    },
    /// The address of the server cannot be used.
    #[error("the server's address \"{server}\" cannot be used: {reason}")]
    Address {
        /// Address of the server.
        server: String,
        /// Reason.
        reason: String,
    },
}

impl ClientError {
    /// Returns the code of a refusal; none of what was not refused by Wedflow.
    pub fn code(&self) -> Option<&str> {
        match self {
            ClientError::Refused(problem) => Some(&problem.code),
            _ => None,
        }
    }
}

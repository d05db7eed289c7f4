//! Errors of a host and of an upload.

use wedflow_store::StoreError;

/// Why a host could not be started.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The database did not let it in.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The sandbox could not be set up on this machine.
    #[error("the sandbox could not be set up")]
    Sandbox(#[from] wedflow_sandbox::SetupError),
    /// The folder for instances' files cannot be opened.
    #[error("the folder for the files of instances cannot be opened")]
    Files(#[source] std::io::Error),
    /// The file of authorities cannot be read, or holds none.
    #[error("the file of trusted authorities cannot be used")]
    Authorities(#[source] std::io::Error),
    /// The system has no threads for isolated attempts.
    #[error("no threads could be started")]
    Threads(#[source] std::io::Error),
}

/// Why a component was not stored.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// The database refused it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The sandbox could not be set up on this machine.
    #[error("the sandbox could not be set up")]
    Sandbox(#[from] wedflow_sandbox::SetupError),
    /// The bytes are no component that can run here.
    #[error("{0}")]
    Refused(String),
}

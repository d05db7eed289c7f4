//! Errors of setting up a sandbox, of uploading a component to it, and of asking it what it can do.

use serde::{Deserialize, Serialize};
use wedflow_contract::{DeclarationError, Refusal};
use wedflow_model::Outcome;

/// A sandbox that cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// A setting that makes no sense.
    #[error("the sandbox's setting `{0}` {1}")]
    Setting(&'static str, &'static str),
    /// More guests at once than the kernel has memory maps for.
    #[error(
        "{concurrent} guests at once need {needed} memory maps, but the kernel allows a process \
         {limit} (`vm.max_map_count`): raise that limit or lower `concurrent` to {most}"
    )]
    Maps {
        /// Guests at once.
        concurrent: u32,
        /// Memory maps that these and the rest of the process need.
        needed: u64,
        /// Memory maps that a process may have.
        limit: u64,
        /// Guests for which that limit suffices.
        most: u64,
    },
    /// Guests cannot run in processes of their own.
    #[error(
        "a guest process has no walls: {0}; they are seccomp and Landlock, of Linux 5.13 or newer, in a container whose \
         own filter lets them be set up"
    )]
    Walls(String),
    /// The runtime refuses its settings, or the system refuses what they need.
    #[error(
        "the sandbox cannot start: {0}; it needs address space for `concurrent` times \
         `memory_reservation` bytes: lower these settings or raise the system's limits"
    )]
    Engine(String),
    /// The thread that counts epochs does not start.
    #[error("the sandbox cannot start a thread: {0}")]
    Thread(#[from] std::io::Error),
}

/// A component that is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UploadError {
    /// The structure is refused, before anything is compiled.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Compiling it takes more computing than is allowed.
    #[error(
        "compiling the component takes more than {seconds} s of computing; leave out what it does not need, and build \
         it for size (Rust: `opt-level = \"s\"`)"
    )]
    CompileTime {
        /// Seconds that are allowed.
        seconds: u64,
    },
    /// Not the component's fault: compiling it was not let compute as much as it may.
    #[error(
        "the component was not compiled within {seconds} s, of which it may compute for {computing} s: this \
         machine is too busy; try again when it has less to do"
    )]
    CompileWait {
        /// Seconds that it was waited for.
        seconds: u64,
        /// Seconds of computing that are allowed.
        computing: u64,
    },
    /// Compiling it takes more memory than is allowed.
    #[error(
        "compiling the component takes more than {bytes} bytes of memory; leave out what it does not \
         need, and split its largest functions"
    )]
    CompileMemory {
        /// Bytes that are allowed.
        bytes: u64,
    },
    /// The component's compiled code is too large.
    #[error(
        "the component's compiled code has more than {bytes} bytes; leave out what it does not need, and build it for \
         size"
    )]
    CompiledSize {
        /// Bytes that are allowed.
        bytes: u64,
    },
    /// Not the component's fault: the compiler cannot be run, or was killed.
    #[error("{0}; try again")]
    Compiler(String),
    /// The compiler refuses it.
    #[error("the component cannot be compiled: {0}")]
    NotCompiled(String),
    /// An import or export has another type than in the contract.
    #[error(
        "the component does not fit this host: {0}; build it against the same version of the \
         contract (`wed:flow@0.1.0`)"
    )]
    DoesNotFit(String),
}

impl UploadError {
    /// Returns true if the same component may be accepted another time: the fault is this machine's, not the
    /// file's.
    pub fn is_of_machine(&self) -> bool {
        matches!(self, UploadError::CompileWait { .. } | UploadError::Compiler(_))
    }
}

/// A component that does not say what it can do.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
pub enum DescribeError {
    /// The component called the host.
    #[error("`describe` called `{0}`; it must not call the host")]
    CalledHost(String),
    /// The component ended without an answer.
    #[error("`describe` {0}")]
    Ended(Outcome),
    /// The answer is wrong.
    #[error("{0}")]
    Wrong(String),
}

impl From<DeclarationError> for DescribeError {
    fn from(error: DeclarationError) -> Self {
        DescribeError::Wrong(error.to_string())
    }
}

impl DescribeError {
    /// Returns true if the same component may answer another time: it had not the time or the memory that it needs.
    pub fn is_of_machine(&self) -> bool {
        matches!(self, DescribeError::Ended(Outcome::TimedOut | Outcome::OverMemory { .. }))
    }
}

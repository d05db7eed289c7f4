//! The host: algorithm 2 of the WED-SQL papers. It claims jobs in batches, runs each as a guest of the
//! sandbox, and commits the results in batches; the gate in the database does the rest.
//!
//! A host is a few *lanes*, one per processor. A lane is an event scheduler
//! ([`wedflow_scheduler::Scheduler`]) in one task: its sources are jobs to run and batches to commit,
//! its handlers run and commit them and report the outcome. What is done next is decided for all
//! lanes in one place, `decision`; lanes reach it through the `desk`. The first lane also claims, and
//! keeps house: leases, sweeping, notifications.
//!
//! ```text
//!  notifications ─┐
//!  timer ─────────┼─> work ──claim──> jobs ──run (sandbox)──> results ──commit──┐
//!                 │                    ^                                       │
//!                 │                    └────── fired, leased already ──────────┤
//!                 └──────────────────────────────────── failed: retry later ───┘
//! ```

mod announce;
mod bindings;
mod breaker;
mod commit;
#[doc(hidden)]
pub mod decision;
pub mod definition;
mod desk;
pub mod difference;
mod error;
pub mod external;
pub mod hooks;
mod host;
mod housekeeping;
mod isolation;
mod lane;
mod measures;
mod outside;
mod patience;
mod results;
pub mod schedule;
mod shared;
mod spans;
mod upload;
mod vault;

pub use announce::undeliverable;
pub use error::{HostError, UploadError};
pub use host::{Host, HostSettings, usual_guest_memory};
pub use measures::{Measures, OutcomeLabel};
pub use outside::OutsideSettings;
pub use upload::{Activation, StoredAs, Upload, upload, upload_as};
pub use vault::{FindSecretKey, MAX_SECRET_BYTES, MIN_SECRET_BYTES, SecretError, SecretKey};
/// The settings of a tokio runtime that keeps timers on time while guests compute.
pub use wedflow_sandbox::runtime;
/// First call of a program whose components are compiled in a child process of it.
pub use wedflow_sandbox::serve_as_child;
/// Processes in which guests run, and why they cannot.
pub use wedflow_sandbox::{Guests, SetupError};

//! A person's work on a machine that may be cut off from the server.
//!
//! - [`LocalStore`]: items, data, components and results in one SQLite file
//! - [`Wire`]: a way to the server, that may be cut; [`Link`]: the HTTP API as a person's machine uses it
//! - [`Energy`]: the battery, which is spared when it is nearly empty
//! - [`disconnect`], [`reconnect`], [`prefetch`]: the protocols of leaving and returning, step by step
//!
//! Nothing in here runs a component; who does puts the result into the store ([`LocalStore::keep_result`]).

mod energy;
mod error;
mod link;
mod outbox;
mod owner;
mod protocol;
mod store;

pub use energy::Energy;
pub use error::AwayError;
pub use link::{Answered, Link, Part, Wire};
pub use outbox::{Draft, KeptResult, SentResult};
pub use owner::Owner;
pub use protocol::{
    Leaving, Returned, Step, Worklist, admit, disconnect, prefetch, prefetch_next, recommend, reconnect, send_results,
    take_worklist, transfer, warnings,
};
pub use store::{LocalItem, LocalStore};

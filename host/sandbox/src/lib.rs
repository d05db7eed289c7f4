//! Runs transitions: every call in a fresh instance of its WebAssembly component, bounded in
//! computing time, waiting time, memory, and everything else, and given nothing but what the contract
//! (`wit/transition.wit`) gives. The sole user of wasmtime.
//!
//! [`Sandbox::compile`] turns uploaded bytes into a [`Component`], [`Sandbox::describe`] asks it what
//! it can do, [`Component::bind`] resolves one of its transitions against a flow,
//! [`Bound::provided_with`] adds the flow's settings and secrets, and [`Sandbox::run`] runs that.
//!
//! # How a guest is bounded
//!
//! | resource | by | outcome |
//! |---|---|---|
//! | computing and waiting | one timeout: epochs of 1 ms, and a timer | timed out |
//! | instructions | fuel | out of fuel |
//! | memory, tables, instances | a limiter that answers with a typed error | over memory |
//! | stack | 128 KiB of WebAssembly stack on a fiber of 256 KiB | trapped: stack overflow |
//! | answer | bytes copied out of the guest, bytes of the values | output too large |
//! | calls into the host | a count | host call limit |
//! | log | bytes; what does not fit is dropped and counted | (none) |
//!
//! Guests run in this process, or in guest processes of one tenant each ([`Guests`]): there the whole call is run by a
//! sandbox of the same settings (`guest.rs`), and the host answers what it asks (`remote.rs`).
//!
//! Guests share threads as described at [`TimeSlices`] and [`runtime`]. Slots of the pools and the memory of all guests
//! are shared by tenant (`share.rs`).

mod answers;
mod asker;
mod attempt;
mod backtrace;
mod bindings;
mod cache;
mod child;
mod compiler;
mod component;
mod confine;
mod ending;
mod error;
mod files;
mod functions;
mod guest;
mod host;
mod http;
mod initialise;
mod log;
mod mask;
mod outside;
mod payload;
mod planted;
mod pool;
mod processes;
mod program;
mod provided;
mod remote;
mod run;
mod runtime;
mod sandbox;
mod settings;
mod share;
mod state;
mod ticker;
mod time_slice;
mod user_cache;
mod wasi;
mod wire;

pub use answers::{Answer, AnswersFrom, Content, FileAnswer, HttpAnswer, Recording};
pub use attempt::Attempt;
pub use child::serve_as_child;
pub use component::{Bound, Component};
pub use error::{DescribeError, SetupError, UploadError};
pub use initialise::{InitialiseError, initialised};
pub use log::{LogLine, Logs};
pub use outside::{Exchange, FilesFrom, Granted, HttpFrom};
#[doc(hidden)]
pub use planted::{Planted, plant};
pub use provided::Provided;
pub use run::{AttemptContext, Invocation};
pub use runtime::runtime;
pub use sandbox::Sandbox;
pub use settings::{Guests, Settings};
pub use time_slice::{TimeSlices, Watch};
pub use user_cache::user_cache;

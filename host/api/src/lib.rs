//! The HTTP API: requests in, documents and problems out. What a request may do is decided by `tenancy`,
//! what it does by the database's functions, the same ones that the command line and SQL use.
//!
//! - [`Server`]: connections, their limits, and a graceful end
//! - `state`: what handlers share
//! - `connections`: how many of them there are, and of whom
//! - `access`: who is asking, and how often that one may ask
//! - [`in_process`]: the same without a server, for the owner of the installation
//! - `rate`: counting requests
//! - `body`: reading what is sent, bounded in size and time
//! - `path`: names and numbers in addresses
//! - `page`: long lists, a part at a time
//! - `polling`: requests that wait for something
//! - `application`: the sandbox for components that people run, given by who starts the server
//! - `sending`: answers to those who do not read them
//! - `problem`: how it says no (RFC 9457)
//! - `traced`: spans of requests in their callers' traces
//! - `routes`: a file for each noun
//! - `placement`: one API over several clusters, each with its own
//! - `openapi`: the description of all of it
//! - `figures`: description of every figure for monitoring
//! - `metrics`: figures for monitoring, on a listener of their own

#![expect(
    clippy::result_large_err,
    reason = "a problem ends its request, once; a box would be one more allocation for it"
)]

mod access;
mod application;
mod body;
mod connections;
pub mod figures;
mod in_process;
mod metrics;
mod openapi;
mod page;
mod path;
mod placement;
mod polling;
mod problem;
mod rate;
mod replica;
mod routes;
mod sending;
mod server;
mod state;
mod traced;
mod watching;

/// Requests and answers, which clients share.
use wedflow_documents as documents;

pub use application::{Answered, Application, Bench, Compared, Shadow};
pub use connections::network_of;
pub use in_process::{Owner, in_process, in_process_placed};
pub use ipnet::IpNet;
pub use metrics::{Measured, MetricsServer};
pub use placement::ServedDatabase;
pub use routes::description;
pub use server::{MakePages, Server, ServerSettings};
pub use state::ReplicaSettings;

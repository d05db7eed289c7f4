//! A client of Wedflow's HTTP API: one typed method for each verb, whatever carries it.
//!
//! - [`Client`]: what can be asked, a file for each noun, with tables of verbs (`verbs.rs`)
//! - [`Transport`]: HTTPS with a token ([`Https`]), or the API's service called in process ([`InProcess`])
//! - [`ClientError`]: problems as errors, with code, detail and hint
//! - [`Events`]: server-sent events, resumed after a cut
//!
//! A call that is safe to repeat is repeated when the server asks to come back later, or the connection breaks: what
//! only reads, what says how something shall be, and what carries an idempotency key.

mod client;
mod components;
mod error;
mod events;
mod explain;
mod feed;
mod flows;
mod hooks;
mod installation;
mod instances;
mod operations;
mod request;
mod tenant;
mod transport;
mod verbs;
mod work;
mod workers;

pub use client::Client;
pub use error::ClientError;
pub use events::{Event, Events, Heard};
pub use flows::Expected;
pub use request::Request;
pub use transport::{Answer, Body, BoxError, Https, InProcess, Sending, Sent, Transport};

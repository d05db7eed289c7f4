//! Capabilities of a transition beyond its call, where the operator and the flow both allow it: a private
//! folder for each instance ([`files`]), and HTTP to named hosts ([`http`]). The sole user of cap-std and of
//! an HTTP client towards the outside.

mod address;
pub mod files;
mod host_port;
pub mod http;
mod tls;

pub use address::is_public;
pub use host_port::{HostPort, HostPortError, Permission};
pub use tls::{Trust, TrustError};

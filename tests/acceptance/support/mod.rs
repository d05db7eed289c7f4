//! Databases, hosts, programs and waiting, as all tests use them.

pub(crate) mod database;
pub(crate) mod flows;
pub(crate) mod harness;
pub(crate) mod http;
pub(crate) mod program;
pub(crate) mod server;
pub(crate) mod session;
pub(crate) mod wait;

pub(crate) use database::{Database, Flow};
pub(crate) use server::on;
pub(crate) use session::Session;
pub(crate) use wait::{GENEROUS, eventually};

/// A file or folder of the repository.
pub(crate) fn repository(path: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(path)
}

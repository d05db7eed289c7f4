//! The embedded Postgres: a private cluster of a pinned version, with its own data folder, port
//! and password, for users without a Postgres server of their own.
//!
//! [`Postgres`] is the lasting one: [`Postgres::ensure_started`] downloads the server once, creates
//! the data folder once, and from then on only starts what is not running. It may be called from
//! several processes at once, and the server outlives the one that started it.
//! [`TemporaryPostgres`] is the same server over a folder that is removed with the value.
//!
//! A home looks like this; as root, `server` belongs to an unprivileged account, because Postgres
//! refuses to run as root:
//!
//! ```text
//! cluster.json     the port and the version
//! cluster.lock     held while the cluster is created, started or stopped
//! password         the superuser's password (mode 600)
//! postgres/18.6.0  the unpacked server
//! server/data      the data folder; `local.conf` in it is the place for settings of one's own
//! server/log       what the server has to say, seven days of it
//! ```

#[cfg(not(unix))]
compile_error!("the embedded Postgres needs a Unix system");

mod account;
mod error;
mod install;
mod memory;
mod postgres;
mod postmaster;
mod server;
mod settings;
mod state;
mod temporary;

pub use error::PostgresError;
pub use install::version;
pub use postgres::{Postgres, Status};
pub use settings::{Connection, PostgresSettings, Progress, default_home};
pub use temporary::TemporaryPostgres;

//! The database of a command: that of DATABASE_URL, else the private Postgres, which is started unless it runs and
//! stays up for the next command.

use wedflow_embedded_postgres::{Postgres, PostgresSettings, Progress};
use wedflow_store::Store;

use crate::arguments::Arguments;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// The database of the private Postgres.
const PRIVATE_DATABASE: &str = "wedflow";

/// Connections of a command that is no host.
pub(crate) const FEW_CONNECTIONS: u32 = 4;

/// The private Postgres.
pub(crate) fn private_cluster() -> Result<Postgres, Problem> {
    Ok(Postgres::open(PostgresSettings::from_environment()?)?)
}

/// Starts the private Postgres if need be; its URL.
pub(crate) async fn start_private(terminal: &Terminal) -> Result<String, Problem> {
    let cluster = private_cluster()?;
    if let Some(connection) = cluster.connection()? {
        return Ok(connection.url_of(PRIVATE_DATABASE));
    }
    let spinner = terminal.spinner("starting the private Postgres");
    let connection = cluster
        .ensure_started({
            let spinner = spinner.clone();
            move |progress: Progress| spinner.set_message(progress.to_string())
        })
        .await?;
    spinner.finish_and_clear();
    Ok(connection.url_of(PRIVATE_DATABASE))
}

/// The URL of the database that is meant.
pub(crate) async fn url(arguments: &Arguments, terminal: &Terminal) -> Result<String, Problem> {
    match &arguments.database_url {
        Some(url) if !url.is_empty() => Ok(url.clone()),
        _ => start_private(terminal).await,
    }
}

/// Connects to the database that is meant and brings its schema up to date.
pub(crate) async fn open(
    arguments: &Arguments,
    terminal: &Terminal,
    connections: u32,
) -> Result<Store, Problem> {
    let url = url(arguments, terminal).await?;
    let store = Store::connect_or_create(&url, connections).await?;
    store.migrate().await?;
    Ok(store)
}

//! `wed dev` and `wed serve`: a host, until it is told to stop.

use wedflow_engine::{Host, HostSettings};
use wedflow_store::Store;

use crate::arguments::{Arguments, HostArguments};
use crate::database::{self, private_cluster};
use crate::problem::Problem;
use crate::secret_key;
use crate::terminal::Terminal;

/// Everything in one process. The private Postgres is stopped with it, when it was started by it.
pub(crate) async fn dev(
    arguments: &Arguments,
    host: &HostArguments,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let own = arguments.database_url.as_ref().is_none_or(String::is_empty);
    let was_running = own && private_cluster()?.is_running()?;
    let result = serve(arguments, host, terminal).await;
    if own && !was_running {
        terminal.say("stopping the private Postgres");
        private_cluster()?.stop().await?;
    }
    result
}

/// A host on the database that is meant.
pub(crate) async fn serve(
    arguments: &Arguments,
    host: &HostArguments,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let settings = settings(host);
    let store = database::open(arguments, terminal, settings.connections()).await?;
    let host = start(&store, settings).await?;
    let (server, port, name) = store.place();
    terminal.say(&format!(
        "host {} is at work on database {name} of {server}:{port}; Ctrl-C stops it",
        host.id()
    ));
    told_to_stop().await?;
    terminal.say("finishing what is running");
    host.stop().await;
    store.close().await;
    Ok(())
}

/// Starts a host.
pub(crate) async fn start(store: &Store, settings: HostSettings) -> Result<Host, Problem> {
    let settings = HostSettings {
        secret_key: secret_key::existing()?,
        ..settings
    };
    Host::start(store.clone(), settings)
        .await
        .map_err(|error| match error {
            wedflow_engine::HostError::Store(error) => Problem::from(error),
            other => Problem::new("the host could not be started").because(other),
        })
}

fn settings(arguments: &HostArguments) -> HostSettings {
    let mut settings = HostSettings {
        in_hand: arguments.in_hand.max(1),
        ..HostSettings::default()
    };
    if let Some(lanes) = arguments.lanes {
        settings.lanes = lanes.max(1);
    }
    if let Some(name) = &arguments.name {
        settings.name.clone_from(name);
    }
    settings
}

/// Waits for Ctrl-C, or the signal by which services are stopped.
async fn told_to_stop() -> Result<(), Problem> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())
        .map_err(|source| Problem::new("signals cannot be heard").because(source))?;
    tokio::select! {
        heard = tokio::signal::ctrl_c() => {
            heard.map_err(|source| Problem::new("signals cannot be heard").because(source))
        }
        _ = terminate.recv() => Ok(()),
    }
}

//! `wed dev` and `wed serve`: a host with the HTTP API, until a signal stops them.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpListener;
use wedflow_api::{IpNet, MetricsServer, Server, ServerSettings};
use wedflow_store::Store;
use wedflow_worker::{Host, HostSettings, OutsideSettings};

use crate::application::run_at_server;
use crate::arguments::{Arguments, HostArguments};
use crate::database::{self, private_cluster};
use crate::problem::Problem;
use crate::secret_key;
use crate::terminal::Terminal;

/// Default address of `wed dev`.
const USUAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// Everything in one process. The private Postgres is stopped with it, when it was started by it.
pub(crate) async fn dev(
    arguments: &Arguments,
    host: &HostArguments,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let own = arguments.database_url.as_ref().is_none_or(String::is_empty);
    let was_running = own && private_cluster()?.is_running()?;
    let result = run(
        arguments,
        host,
        Some(host.listen.unwrap_or(USUAL)),
        terminal,
    )
    .await;
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
    run(arguments, host, host.listen, terminal).await
}

async fn run(
    arguments: &Arguments,
    host: &HostArguments,
    listen: Option<SocketAddr>,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let may_move = host.listen.is_none();
    let settings = settings(host);
    let store = database::make(arguments, terminal, settings.connections()).await?;
    let api = match listen {
        Some(address) => {
            let own = arguments.database_url.as_ref().is_none_or(String::is_empty);
            Some(listen_at(&store, address, (may_move, own), &host.trust_proxy).await?)
        }
        None => None,
    };
    // Listened at before the host takes a lease: a port that is taken leaves nothing behind.
    let metrics = match host.metrics {
        Some(address) => Some(listen_for_metrics(address).await?),
        None => None,
    };
    let host = start(&store, settings).await?;
    let metrics = match metrics {
        Some(listener) => Some(serve_metrics(&store, listener, &host)?),
        None => None,
    };
    say_started(&store, &host, api.as_ref(), metrics.as_ref(), terminal);
    let ending = tokio::select! {
        told = told_to_stop() => told.map(|()| Ending::Told)?,
        () = host.failed() => Ending::Failed,
        () = host.refused() => Ending::Refused,
    };
    if let Some(metrics) = metrics {
        metrics.stop();
    }
    if ending == Ending::Told {
        terminal.say("finishing what is running");
    }
    let serving = async {
        if let Some(api) = api {
            api.stop().await;
        }
    };
    tokio::join!(serving, host.stop());
    let ended = match ending {
        Ending::Told => Ok(()),
        Ending::Failed => Err(Problem::new(
            "the host has ended: a part of it panicked that it cannot do without, as the log above tells",
        )
        .hint("Its jobs are given back; start it again. It is a defect of wed: please report that line of the log.")),
        Ending::Refused => store.check_interface().await.map_err(Problem::from),
    };
    store.close().await;
    ended
}

/// Says where a host is at work, and where it serves.
fn say_started(
    store: &Store,
    host: &Host,
    api: Option<&Server>,
    metrics: Option<&MetricsServer>,
    terminal: &Terminal,
) {
    let (server, port, name) = store.place();
    terminal.say(&format!(
        "host {} is at work on database {name} of {server}:{port}; Ctrl-C stops it",
        host.id()
    ));
    if let Some(api) = api {
        terminal.say(&format!(
            "the API is at http://{}; http://{}/openapi.json describes it",
            api.address(),
            api.address()
        ));
        tracing::info!(address = %api.address(), "listening");
    }
    if let Some(metrics) = metrics {
        terminal.say(&format!(
            "figures are at http://{}/metrics",
            metrics.address()
        ));
    }
}

/// Reason for which a host ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// Somebody said so.
    Told,
    /// A part of it has panicked.
    Failed,
    /// Another version of the program has migrated the database.
    Refused,
}

/// Serves the API at an address, or, when that is taken and it may move, at a free port.
/// The key to secrets is made when there is none only where the database is this machine's `own`: hosts of a shared one
/// would each make another.
async fn listen_at(
    store: &Store,
    address: SocketAddr,
    (may_move, own): (bool, bool),
    proxies: &[IpNet],
) -> Result<Server, Problem> {
    if !address.ip().is_loopback() {
        tracing::warn!(%address, "tokens travel in plain HTTP; let only a proxy with TLS reach this address");
    }
    let usual = ServerSettings::at(address).proxies;
    let settings = |address| ServerSettings {
        proxies: [usual.as_slice(), proxies].concat(),
        find_secret_key: Some(match own {
            true => || secret_key::existing_or_new().ok(),
            false => || secret_key::existing().ok().flatten(),
        }),
        run_application: Some(|application| Box::pin(run_at_server(application))),
        ..ServerSettings::at(address)
    };
    match Server::start(store, &settings(address)).await {
        Ok(server) => return Ok(server),
        Err(error) if may_move && error.kind() == std::io::ErrorKind::AddrInUse => {}
        Err(error) => {
            return Err(Problem::new(format!("{address} cannot be listened at"))
                .because(error)
                .hint("Choose another one: --listen 127.0.0.1:0 takes any free port."));
        }
    }
    let free = SocketAddr::new(address.ip(), 0);
    Server::start(store, &settings(free))
        .await
        .map_err(|error| Problem::new("no port is free to listen at").because(error))
}

/// Listens at the address of the figures for monitoring.
async fn listen_for_metrics(address: SocketAddr) -> Result<TcpListener, Problem> {
    TcpListener::bind(address).await.map_err(|error| {
        Problem::new(format!("{address} cannot be listened at"))
            .because(error)
            .hint("Choose another one: --metrics 127.0.0.1:0 takes any free port.")
    })
}

/// Serves figures for monitoring.
fn serve_metrics(
    store: &Store,
    listener: TcpListener,
    host: &Host,
) -> Result<MetricsServer, Problem> {
    let committed = host.commits();
    MetricsServer::serve(store, listener, std::sync::Arc::new(committed))
        .map_err(|error| Problem::new("figures cannot be served").because(error))
}

/// Starts a host.
pub(crate) async fn start(store: &Store, settings: HostSettings) -> Result<Host, Problem> {
    let settings = HostSettings {
        secret_key: secret_key::existing()?,
        find_secret_key: Some(|| secret_key::existing().ok().flatten()),
        ..settings
    };
    Host::start(store.clone(), settings)
        .await
        .map_err(|error| match error {
            wedflow_worker::HostError::Store(error) => Problem::from(error),
            other => Problem::new("the host could not be started").because(other),
        })
}

fn settings(arguments: &HostArguments) -> HostSettings {
    let mut settings = HostSettings {
        in_flight: arguments.in_flight.max(1),
        ..HostSettings::default()
    };
    if let Some(lanes) = arguments.lanes {
        settings.lanes = lanes.max(1);
    }
    if let Some(name) = &arguments.name {
        settings.name.clone_from(name);
    }
    settings.outside = OutsideSettings {
        files: arguments.files.clone(),
        http: arguments.allow_http.clone(),
        authorities: arguments.trust_ca.clone(),
    };
    settings
}

/// Waits for Ctrl-C, or the signal by which services are stopped.
async fn told_to_stop() -> Result<(), Problem> {
    use tokio::signal::unix::{SignalKind, signal};
    let deaf = |source| Problem::new("signals cannot be heard").because(source);
    let mut terminate = signal(SignalKind::terminate()).map_err(deaf)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(deaf)?;
    let mut told = async move || {
        tokio::select! {
            _ = interrupt.recv() => 130,
            _ = terminate.recv() => 143,
        }
    };
    told().await;
    // Whoever says it twice does not want to wait. Its jobs are found again when the lease ends.
    tokio::spawn(async move {
        let status = told().await;
        tracing::warn!(
            "told to stop a second time; ends at once, and other hosts take its jobs over when their leases end"
        );
        std::process::exit(status);
    });
    Ok(())
}

//! `wed dev` and `wed serve`: a host with the HTTP API, until a signal stops them.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use sd_notify::NotifyState;
use tokio::net::TcpListener;
use wedflow_api::{IpNet, MakePages, Measured, MetricsServer, ReplicaSettings, Server, ServerSettings};
use wedflow_console::Links;
use wedflow_store::Store;
use wedflow_telemetry::Tracer;
use wedflow_tenancy::{Scope, TokenRequest, issue};
use wedflow_worker::{Guests, Host, HostSettings, OutsideSettings, SetupError};

use crate::application;
use crate::arguments::{Arguments, DevArguments, GuestsArgument, HostArguments, ServeArguments};
use crate::commands::dev_watch::Watched;
use crate::database::{self, FEW_CONNECTIONS, private_cluster};
use crate::door;
use crate::problem::Problem;
use crate::secret_key;
use crate::shadow::BENCH;
use crate::terminal::Terminal;

/// Longest wait for the last spans to be sent.
const FLUSH_TIME_MAX: Duration = Duration::from_secs(2);
/// Default address of `wed dev`.
const USUAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// Everything in one process. The private Postgres is stopped with it, when it was started by it.
pub(crate) async fn dev(arguments: &Arguments, dev: &DevArguments, terminal: &Terminal) -> Result<(), Problem> {
    let watched = dev.watch.as_deref().map(Watched::open).transpose()?;
    let own = arguments.database_url.as_ref().is_none_or(String::is_empty);
    let was_running = own && private_cluster()?.is_running()?;
    let listen = Some(dev.host.listen.unwrap_or(USUAL));
    let settings = settings(&dev.host);
    let result = match watched {
        None => run(arguments, &dev.host, settings, listen, terminal).await,
        Some(watched) => {
            let store = database::make(arguments, terminal, FEW_CONNECTIONS).await?;
            let door = door::of_store(&store, &arguments.tenant, "operator");
            tokio::select! {
                result = run(arguments, &dev.host, settings, listen, terminal) => result,
                () = watched.run(&door, terminal) => Ok(()),
            }
        }
    };
    if own && !was_running {
        terminal.say("stopping the private Postgres");
        private_cluster()?.stop().await?;
    }
    result
}

/// A host on the database that is meant.
pub(crate) async fn serve(arguments: &Arguments, serve: &ServeArguments, terminal: &Terminal) -> Result<(), Problem> {
    let host = &serve.host;
    if !host.clusters.is_empty() {
        return Err(Problem::usage("--clusters names clusters, and there is no --directory")
            .hint("Say --directory postgres://…, or set WEDFLOW_DIRECTORY."));
    }
    let settings = settings_of_serve(serve);
    run(arguments, host, settings, host.listen, terminal).await
}

async fn run(
    arguments: &Arguments,
    host: &HostArguments,
    mut settings: HostSettings,
    listen: Option<SocketAddr>,
    terminal: &Terminal,
) -> Result<(), Problem> {
    raise_limit_of_files();
    let may_move = host.listen.is_none();
    let store = database::make(arguments, terminal, settings.connections()).await?;
    settings.tracer = tracer(&store).await?;
    let tracer = settings.tracer.clone();
    let links = Links::default();
    let api = match listen {
        Some(address) => {
            let own = arguments.database_url.as_ref().is_none_or(String::is_empty);
            let given =
                Given { links: &links, proxies: &host.trust_proxy, tracer: tracer.as_ref(), replica: replica(host)? };
            Some(listen_at(&store, address, (may_move, own), given).await?)
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
        Some(listener) => Some(serve_metrics(listener, measured(&store, &host))?),
        None => None,
    };
    say_started(&store, &host, api.as_ref(), metrics.as_ref(), terminal);
    if let Some(api) = &api {
        say_console(&store, &arguments.tenant, api, &links, terminal).await;
    }
    tell_service_manager(NotifyState::Ready);
    let ending = tokio::select! {
        told = told_to_stop() => told.map(|()| Ending::Told)?,
        () = host.failed() => Ending::Failed,
        () = host.refused() => Ending::Refused,
    };
    if let Some(metrics) = metrics {
        metrics.stop();
    }
    tell_service_manager(NotifyState::Stopping);
    if ending == Ending::Told {
        tracing::info!(host = host.id().get(), "told to stop; finishes what is running");
        terminal.say("finishing what is running");
    }
    let serving = async {
        if let Some(api) = api {
            api.stop().await;
        }
    };
    tokio::join!(serving, host.stop());
    flush(tracer).await;
    let ended = ended(ending, &store).await;
    store.close().await;
    ended
}

/// Returns what the end of a host is to whoever started it.
async fn ended(ending: Ending, store: &Store) -> Result<(), Problem> {
    match ending {
        Ending::Told => Ok(()),
        Ending::Failed => Err(Problem::new(
            "the host has ended: a part of it panicked that it cannot do without, as the log above tells",
        )
        .hint("Its jobs are given back; start it again. It is a defect of wed: please report that line of the log.")),
        Ending::Refused => store.check_interface().await.map_err(Problem::from),
    }
}

/// Opens the door to the collector of spans, if the environment names one.
async fn tracer(store: &Store) -> Result<Option<Tracer>, Problem> {
    let Some(settings) = wedflow_telemetry::Settings::from_environment() else {
        return Ok(None);
    };
    start_tracer(settings, &store.installation_mark().await?)
}

/// Opens the door to the collector of spans, for an installation with this mark.
pub(super) fn start_tracer(settings: wedflow_telemetry::Settings, mark: &str) -> Result<Option<Tracer>, Problem> {
    tracing::info!(url = settings.url, "spans are sent to a collector");
    Tracer::start(settings, mark).map(Some).map_err(|error| Problem::new("spans cannot be sent").because(error))
}

/// Sends the spans that wait. Those that cannot be sent are lost, no more.
pub(super) async fn flush(tracer: Option<Tracer>) {
    if let Some(tracer) = tracer {
        let flushed = tokio::task::spawn_blocking(move || tracer.flush(FLUSH_TIME_MAX));
        let _ = flushed.await;
    }
}

/// Raises the limit of open files to what the system allows this process: each connection of a client or of the
/// database is one, and the usual limit is that of programs which wait for files with `select`.
pub(super) fn raise_limit_of_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%error, "the limit of open files could not be raised; give the service a higher one");
    }
}

/// Tells systemd, if it started this process, whether the host is at work.
pub(super) fn tell_service_manager(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!(%error, "the service manager was not notified; it may end the host by its own time limit");
    }
}

/// Says where a host is at work, and where it serves.
fn say_started(store: &Store, host: &Host, api: Option<&Server>, metrics: Option<&MetricsServer>, terminal: &Terminal) {
    let (server, port, name) = store.place();
    terminal.say(&format!("host {} is at work on database {name} of {server}:{port}; Ctrl-C stops it", host.id()));
    if let Some(api) = api {
        terminal.say(&format!(
            "the API is at http://{}; http://{}/openapi.json describes it",
            api.address(),
            api.address()
        ));
        tracing::info!(address = %api.address(), "listening");
    }
    if let Some(metrics) = metrics {
        terminal.say(&format!("figures are at http://{}/metrics", metrics.address()));
    }
}

/// User in whose name a link of the console signs in.
const CONSOLE_USER: &str = "console";

/// Says where the console is. A person at this terminal gets a link that signs in once; a log gets none.
async fn say_console(store: &Store, tenant: &str, api: &Server, links: &Links, terminal: &Terminal) {
    let address = api.address();
    let link = match terminal.has_screen() {
        true => console_token(store, tenant).await,
        false => None,
    };
    let link = link.map(|token| links.make(&token));
    terminal.say(&match link {
        Some(link) => {
            format!("the console is at http://{address}{link} (signs in once, within 10 minutes)")
        }
        None => format!("the console is at http://{address}/console"),
    });
}

/// Makes a token for a day, of the tenant's user for the console; none where the tenant does not let one be made.
async fn console_token(store: &Store, tenant: &str) -> Option<String> {
    // The user may be there from an earlier start.
    if let Err(error) = store.create_user(tenant, CONSOLE_USER, "admin").await {
        tracing::debug!(%error, "the user of the console was not made");
    }
    // Tokens of earlier links may be live.
    let name = format!("console-link-{:08x}", rand::random::<u32>());
    let request = TokenRequest { tenant, user: CONSOLE_USER, name: &name, scopes: &[Scope::ALL], flows: &[], days: 1 };
    match issue(store, None, &request).await {
        Ok(issued) => Some(issued.secret.reveal().to_owned()),
        Err(error) => {
            tracing::warn!(%error, "there is no link to the console; sign in with a token");
            None
        }
    }
}

/// Reason for which a host ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// A signal asked for it.
    Told,
    /// A part of it has panicked.
    Failed,
    /// Another version of the program has migrated the database.
    Refused,
}

/// Connections to a replica: as many as the API has to the database.
const REPLICA_CONNECTIONS: u32 = 8;
/// Longest run of a statement at a replica: the database is asked afterwards.
const REPLICA_STATEMENT_TIME_MAX: Duration = Duration::from_secs(5);

/// The replica to read from, where one is named.
fn replica(host: &HostArguments) -> Result<Option<ReplicaSettings>, Problem> {
    let Some(url) = host.read_url.as_deref().filter(|url| !url.is_empty()) else {
        return Ok(None);
    };
    Ok(Some(ReplicaSettings { store: replica_at(url)?, staleness_max: Duration::from_secs(host.read_staleness) }))
}

/// The replica at an address.
pub(super) fn replica_at(url: &str) -> Result<Store, Problem> {
    Ok(Store::replica(url, REPLICA_CONNECTIONS, REPLICA_STATEMENT_TIME_MAX)?)
}

/// Parts of the served API that the command's arguments give.
struct Given<'a> {
    links: &'a Links,
    proxies: &'a [IpNet],
    tracer: Option<&'a Tracer>,
    replica: Option<ReplicaSettings>,
}

/// Serves the API at an address, or, when that is taken and it may move, at a free port.
/// The key to secrets is made when there is none only where the database is this machine's `own`: hosts of a shared one
/// would each make another.
async fn listen_at(
    store: &Store,
    address: SocketAddr,
    (may_move, own): (bool, bool),
    given: Given<'_>,
) -> Result<Server, Problem> {
    if !address.ip().is_loopback() {
        tracing::warn!(%address, "tokens travel in plain HTTP; let only a proxy with TLS reach this address");
    }
    let usual = ServerSettings::at(address).proxies;
    let settings = |address| ServerSettings {
        proxies: [usual.as_slice(), given.proxies].concat(),
        replica: given.replica.clone(),
        find_secret_key: Some(match own {
            true => || secret_key::existing_or_new().ok(),
            false => || secret_key::existing().ok().flatten(),
        }),
        bench: Some(BENCH),
        tracer: given.tracer.cloned(),
        pages: Some(pages(given.links)),
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

/// The pages of the console, into which these links lead.
pub(super) fn pages(links: &Links) -> MakePages {
    let links = links.clone();
    MakePages(std::sync::Arc::new(move |api| wedflow_console::router(api, &links)))
}

/// Listens at the address of the figures for monitoring.
pub(super) async fn listen_for_metrics(address: SocketAddr) -> Result<TcpListener, Problem> {
    TcpListener::bind(address).await.map_err(|error| {
        Problem::new(format!("{address} cannot be listened at"))
            .because(error)
            .hint("Choose another one: --metrics 127.0.0.1:0 takes any free port.")
    })
}

/// Returns what is measured of the only database.
fn measured(store: &Store, host: &Host) -> Measured {
    let measured = Measured::default();
    measured.note("", store, host.measures());
    measured
}

/// Serves figures for monitoring.
pub(super) fn serve_metrics(listener: TcpListener, measured: Measured) -> Result<MetricsServer, Problem> {
    MetricsServer::serve(listener, measured).map_err(|error| Problem::new("figures cannot be served").because(error))
}

/// Starts a host.
pub(crate) async fn start(store: &Store, settings: HostSettings) -> Result<Host, Problem> {
    let settings = HostSettings {
        build: env!("WED_BUILD").to_owned(),
        secret_key: secret_key::existing()?,
        find_secret_key: Some(|| secret_key::existing().ok().flatten()),
        ..settings
    };
    Host::start(store.clone(), settings).await.map_err(|error| match error {
        wedflow_worker::HostError::Store(error) => Problem::from(error),
        wedflow_worker::HostError::Sandbox(error @ SetupError::Walls(_)) => {
            Problem::new("guests cannot run in processes of their own here")
                .because(error)
                .hint("Start it with --guests in-process, or where the kernel has seccomp and Landlock.")
        }
        other => Problem::new("the host could not be started").because(other),
    })
}

fn settings(arguments: &HostArguments) -> HostSettings {
    let mut settings = HostSettings { in_flight: arguments.in_flight.max(1), ..HostSettings::default() };
    if let Some(lanes) = arguments.lanes {
        settings.lanes = lanes.max(1);
    }
    settings.guest_memory = arguments.guest_memory.map(|mebibytes| mebibytes << 20);
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

/// Returns the settings of `wed serve`; its workbench runs guests as its host does.
pub(super) fn settings_of_serve(serve: &ServeArguments) -> HostSettings {
    let mut settings = settings(&serve.host);
    if serve.guests == GuestsArgument::Processes {
        settings.guests = Guests::Processes { per_tenant: settings.lanes };
        application::run_in(settings.guests);
    }
    settings
}

/// Waits for Ctrl-C, or the signal by which services are stopped.
pub(super) async fn told_to_stop() -> Result<(), Problem> {
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

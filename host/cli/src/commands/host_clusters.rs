//! `wed serve --directory`: one process for several clusters, with a host for each and one HTTP address for all. It
//! follows the directory: a cluster that is added is served, and one that is taken out is served no more.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{JoinHandle, LocalSet};
use wedflow_api::{Measured, MetricsServer, ReplicaSettings, ServedDatabase, Server, ServerSettings};
use wedflow_console::Links;
use wedflow_store::{ClusterAddress, Directory, Store};
use wedflow_telemetry::Tracer;
use wedflow_worker::{HostSettings, Measures, usual_guest_memory};

use super::host;
use crate::arguments::{HostArguments, ServeArguments};
use crate::problem::Problem;
use crate::secret_key;
use crate::shadow::BENCH;
use crate::terminal::Terminal;

/// Connections of the process to the directory.
const DIRECTORY_CONNECTIONS: u32 = 4;
/// Pause before a host is started again at a cluster.
const START_PAUSE: Duration = Duration::from_secs(2);
/// Time between two looks at the clusters of the directory.
const LOOK_PAUSE: Duration = Duration::from_secs(2);

/// Clusters that are served, as they are now.
type Served = watch::Receiver<Vec<Arc<ServedDatabase>>>;

/// Serves the clusters of a directory until a signal stops it.
pub(crate) async fn serve(url: &str, serve: &ServeArguments, terminal: &Terminal) -> Result<(), Problem> {
    let arguments = &serve.host;
    if (arguments.read_url.as_ref()).is_some_and(|url| !url.is_empty()) {
        return Err(Problem::usage("--read-url names the replica of one database, and --directory several databases")
            .hint("Name the replica of each cluster in the directory: wed cluster add NAME --url … --read-url …"));
    }
    host::raise_limit_of_files();
    let directory = Directory::open(url, DIRECTORY_CONNECTIONS).await?;
    let chosen = chosen(&directory, &arguments.clusters).await?;
    let mut clusters = Clusters::new(arguments);
    let (sender, served) = watch::channel(clusters.opened(&chosen)?);
    let links = Links::default();
    let api = match arguments.listen {
        Some(address) => Some(listen_at(&directory, served.clone(), address, arguments, &links).await?),
        None => None,
    };
    let measured = Measured::default();
    let metrics = match arguments.metrics {
        Some(address) => {
            let listener = host::listen_for_metrics(address).await?;
            Some(host::serve_metrics(listener, measured.clone())?)
        }
        None => None,
    };
    say_started(&chosen, api.as_ref(), metrics.as_ref(), terminal);
    let (stop, stopped) = watch::channel(false);
    let tasks = LocalSet::new();
    let settings = host::settings_of_serve(serve);
    let working = tasks.spawn_local(keep_hosts(served.clone(), settings, measured, stopped));
    let following = directory.clone();
    let following = tasks.spawn_local(async move { clusters.follow(&following, &sender).await });
    host::tell_service_manager(sd_notify::NotifyState::Ready);
    tasks.run_until(host::told_to_stop()).await?;
    host::tell_service_manager(sd_notify::NotifyState::Stopping);
    terminal.say("finishing what is running");
    let _ = stop.send(true);
    if let Some(metrics) = metrics {
        metrics.stop();
    }
    let serving = async {
        if let Some(api) = api {
            api.stop().await;
        }
    };
    // One that panicked has said so.
    let (_, _) = tokio::join!(serving, tasks.run_until(working));
    following.abort();
    let served = served.borrow().clone();
    for cluster in &served {
        host::flush(cluster.tracer.clone()).await;
        cluster.store.close().await;
    }
    directory.close().await;
    Ok(())
}

/// Returns the clusters to serve: those that are named, or all.
async fn chosen(directory: &Directory, names: &[String]) -> Result<Vec<ClusterAddress>, Problem> {
    let all = directory.addresses().await?;
    if let Some(unknown) = (names.iter()).find(|name| !all.iter().any(|one| one.name == **name)) {
        return Err(Problem::new(format!("the directory has no cluster \"{unknown}\""))
            .code("not_found")
            .exit(3)
            .hint("`wed cluster list` shows the clusters."));
    }
    match all.is_empty() {
        false => Ok(among(all, names)),
        true => Err(Problem::new("the directory has no cluster")
            .code("not_found")
            .exit(3)
            .hint("`wed cluster add NAME --url URL` adds one.")),
    }
}

/// Returns those that are named; all without names.
fn among(mut all: Vec<ClusterAddress>, names: &[String]) -> Vec<ClusterAddress> {
    all.retain(|one| names.is_empty() || names.contains(&one.name));
    all
}

/// Clusters that are served, opened.
struct Clusters {
    names: Vec<String>,
    staleness_max: Duration,
    opened: Vec<(ClusterAddress, Arc<ServedDatabase>)>,
}

impl Clusters {
    fn new(arguments: &HostArguments) -> Self {
        Clusters {
            names: arguments.clusters.clone(),
            staleness_max: Duration::from_secs(arguments.read_staleness),
            opened: Vec::new(),
        }
    }

    /// Opens clusters; those that were opened at these addresses before stay as they are.
    fn opened(&mut self, addresses: &[ClusterAddress]) -> Result<Vec<Arc<ServedDatabase>>, Problem> {
        let opened = addresses.iter().map(|address| {
            let known = self.opened.iter().find(|known| known.0 == *address);
            match known {
                Some(known) => Ok(known.clone()),
                None => Ok((address.clone(), Arc::new(self.open(address)?))),
            }
        });
        self.opened = opened.collect::<Result<_, Problem>>()?;
        Ok(self.opened.iter().map(|one| Arc::clone(&one.1)).collect())
    }

    fn open(&self, address: &ClusterAddress) -> Result<ServedDatabase, Problem> {
        let replica = match &address.read_url {
            Some(url) => Some(ReplicaSettings { store: host::replica_at(url)?, staleness_max: self.staleness_max }),
            None => None,
        };
        Ok(ServedDatabase {
            store: Store::at(&address.url)?,
            replica,
            tracer: tracer(address)?,
            name: address.name.clone(),
        })
    }

    /// Follows the directory. While it does not answer, the same clusters are served.
    async fn follow(&mut self, directory: &Directory, sender: &watch::Sender<Vec<Arc<ServedDatabase>>>) {
        loop {
            tokio::time::sleep(LOOK_PAUSE).await;
            let addresses = match directory.addresses().await {
                Ok(all) => among(all, &self.names),
                Err(error) => {
                    tracing::debug!(%error, "the directory does not tell its clusters");
                    continue;
                }
            };
            if self.opened.iter().map(|one| &one.0).eq(&addresses) {
                continue;
            }
            match self.opened(&addresses) {
                Ok(served) => {
                    let names: Vec<&str> = served.iter().map(|one| one.name.as_str()).collect();
                    tracing::info!(clusters = names.join(","), "the directory has changed; these clusters are served");
                    sender.send_replace(served);
                }
                Err(problem) => tracing::error!(
                    problem = problem.message,
                    "a cluster cannot be opened; the same ones are served. `wed cluster add` gives it another address"
                ),
            }
        }
    }
}

/// Opens the door to the collector of spans for a cluster, if the environment names one.
fn tracer(cluster: &ClusterAddress) -> Result<Option<Tracer>, Problem> {
    let Some(mut settings) = wedflow_telemetry::Settings::from_environment() else {
        return Ok(None);
    };
    (settings.resource).push(("wedflow.cluster".to_owned(), cluster.name.clone()));
    host::start_tracer(settings, &cluster.mark)
}

/// A host that is kept at work at a cluster.
struct Kept {
    cluster: Arc<ServedDatabase>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// Runs a host for each served cluster until a stop is requested. Hosts share the memory of guests:
/// each has the part that is right for the number of clusters when it is started.
async fn keep_hosts(
    mut served: Served,
    settings: HostSettings,
    measured: Measured,
    mut stopped: watch::Receiver<bool>,
) {
    let mut hosts: Vec<Kept> = Vec::new();
    loop {
        let clusters = served.borrow_and_update().clone();
        let of_each = with_part_of_memory(&settings, clusters.len());
        let (stay, mut end): (Vec<Kept>, Vec<Kept>) =
            (hosts.into_iter()).partition(|host| clusters.iter().any(|one| Arc::ptr_eq(one, &host.cluster)));
        hosts = stay;
        for host in &end {
            let _ = host.stop.send(true);
        }
        for cluster in clusters {
            if hosts.iter().any(|host| Arc::ptr_eq(&host.cluster, &cluster)) {
                continue;
            }
            // A cluster with another address has one host after the other.
            let before = end.iter().position(|host| host.cluster.name == cluster.name);
            let before = before.map(|at| end.swap_remove(at).task);
            let settings = settings_at(&of_each, &cluster);
            let (stop, stopped) = watch::channel(false);
            let keeping = keep_host(Arc::clone(&cluster), settings, measured.clone(), stopped);
            let task = tokio::task::spawn_local(async move {
                if let Some(before) = before {
                    let _ = before.await;
                }
                keeping.await;
            });
            hosts.push(Kept { cluster, stop, task });
        }
        let is_changed = tokio::select! {
            changed = served.changed() => changed.is_ok(),
            _ = stopped.changed() => false,
        };
        if !is_changed {
            break;
        }
    }
    for host in &hosts {
        let _ = host.stop.send(true);
    }
    for host in hosts {
        // One that panicked has said so.
        let _ = host.task.await;
    }
}

/// Returns the settings with the part of guests' memory that one of several hosts has.
fn with_part_of_memory(settings: &HostSettings, clusters: usize) -> HostSettings {
    let memory = settings.guest_memory.unwrap_or_else(usual_guest_memory);
    HostSettings { guest_memory: Some(memory / u64::try_from(clusters.max(1)).unwrap_or(1)), ..settings.clone() }
}

/// Returns the settings of the host of one cluster, whose files are in a folder of its name.
fn settings_at(settings: &HostSettings, cluster: &ServedDatabase) -> HostSettings {
    let mut settings = settings.clone();
    if let Some(files) = &mut settings.outside.files {
        files.push(&cluster.name);
    }
    settings.tracer.clone_from(&cluster.tracer);
    settings
}

/// Keeps a host at work at a cluster: starts it when the cluster answers, and again when it has ended.
async fn keep_host(
    cluster: Arc<ServedDatabase>,
    settings: HostSettings,
    measured: Measured,
    mut stopped: watch::Receiver<bool>,
) {
    let name = cluster.name.as_str();
    measured.note(name, &cluster.store, Measures::default());
    loop {
        match begin(&cluster, settings.clone()).await {
            Ok(host) => {
                measured.note(name, &cluster.store, host.measures());
                tracing::info!(cluster = name, host = host.id().get(), "a host is at work");
                let goes_on = tokio::select! {
                    _ = stopped.wait_for(|stopped| *stopped) => false,
                    () = host.failed() => true,
                    () = host.refused() => true,
                };
                host.stop().await;
                if !goes_on {
                    break;
                }
                tracing::warn!(cluster = name, "the host has ended; it is started again");
            }
            Err(problem) => {
                tracing::warn!(
                    cluster = name,
                    problem = problem.message,
                    "no host could be started; it is tried again"
                );
            }
        }
        tokio::select! {
            () = tokio::time::sleep(START_PAUSE) => {}
            _ = stopped.wait_for(|stopped| *stopped) => break,
        }
    }
    measured.forget(name);
}

/// Brings a cluster's database up to date and starts a host at it.
async fn begin(cluster: &ServedDatabase, settings: HostSettings) -> Result<wedflow_worker::Host, Problem> {
    if let Some(files) = &settings.outside.files {
        std::fs::create_dir_all(files)
            .map_err(|error| Problem::new(format!("{} cannot be made", files.display())).because(error))?;
    }
    cluster.store.migrate().await?;
    host::start(&cluster.store, settings).await
}

/// Serves the API of all clusters at one address.
async fn listen_at(
    directory: &Directory,
    served: Served,
    address: SocketAddr,
    arguments: &HostArguments,
    links: &Links,
) -> Result<Server, Problem> {
    let usual = ServerSettings::at(address);
    let settings = ServerSettings {
        proxies: [usual.proxies.as_slice(), &arguments.trust_proxy].concat(),
        find_secret_key: Some(|| secret_key::existing().ok().flatten()),
        bench: Some(BENCH),
        pages: Some(host::pages(links)),
        ..usual
    };
    let server = Server::start_placed(directory, served, &settings).await;
    server.map_err(|error| {
        Problem::new(format!("{address} cannot be listened at"))
            .because(error)
            .hint("Choose another one: --listen 127.0.0.1:0 takes any free port.")
    })
}

fn say_started(
    clusters: &[ClusterAddress],
    api: Option<&Server>,
    metrics: Option<&MetricsServer>,
    terminal: &Terminal,
) {
    let names: Vec<&str> = clusters.iter().map(|one| one.name.as_str()).collect();
    terminal.say(&format!("hosts begin to work on clusters {}; Ctrl-C stops them", names.join(", ")));
    if let Some(api) = api {
        let address = api.address();
        terminal.say(&format!("the API is at http://{address}; the console is at http://{address}/console"));
        tracing::info!(%address, "listening");
    }
    if let Some(metrics) = metrics {
        terminal.say(&format!("figures are at http://{}/metrics", metrics.address()));
    }
}

//! `wed serve --directory`: one process for several clusters, with a host for each and one HTTP address for all.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{JoinHandle, LocalSet};
use wedflow_api::{ServedDatabase, Server, ServerSettings};
use wedflow_console::Links;
use wedflow_store::{Directory, Store};
use wedflow_worker::{HostSettings, usual_guest_memory};

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

/// Serves the clusters of a directory until a signal stops it.
pub(crate) async fn serve(
    url: &str,
    serve: &ServeArguments,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let arguments = &serve.host;
    for (option, is_given) in [
        (
            "--read-url",
            arguments
                .read_url
                .as_ref()
                .is_some_and(|url| !url.is_empty()),
        ),
        ("--metrics", arguments.metrics.is_some()),
    ] {
        if is_given {
            return Err(Problem::usage(format!(
                "{option} is of one database, and --directory names several"
            ))
            .hint("Run a host of one cluster with it: --database-url instead of --directory."));
        }
    }
    host::raise_limit_of_files();
    let directory = Directory::open(url, DIRECTORY_CONNECTIONS).await?;
    let clusters = chosen(&directory, &arguments.clusters).await?;
    let links = Links::default();
    let api = match arguments.listen {
        Some(address) => Some(listen_at(&directory, &clusters, address, arguments, &links).await?),
        None => None,
    };
    let settings = settings_of_each(serve, clusters.len());
    let (stop, stopped) = watch::channel(false);
    let tasks = LocalSet::new();
    let hosts: Vec<JoinHandle<()>> = (clusters.iter().cloned())
        .map(|cluster| {
            let settings = settings_at(&settings, &cluster.name);
            tasks.spawn_local(keep_host(cluster, settings, stopped.clone()))
        })
        .collect();
    say_started(&clusters, api.as_ref(), terminal);
    host::tell_service_manager(sd_notify::NotifyState::Ready);
    tasks.run_until(host::told_to_stop()).await?;
    host::tell_service_manager(sd_notify::NotifyState::Stopping);
    terminal.say("finishing what is running");
    let _ = stop.send(true);
    let serving = async {
        if let Some(api) = api {
            api.stop().await;
        }
    };
    let working = async {
        for host in hosts {
            // One that panicked has said so.
            let _ = host.await;
        }
    };
    tokio::join!(serving, tasks.run_until(working));
    for cluster in &clusters {
        cluster.store.close().await;
    }
    directory.close().await;
    Ok(())
}

/// Returns the clusters to serve: those that are named, or all.
async fn chosen(directory: &Directory, names: &[String]) -> Result<Vec<ServedDatabase>, Problem> {
    let rows = directory.clusters().await?;
    if let Some(unknown) = names
        .iter()
        .find(|name| !rows.iter().any(|row| row.name == **name))
    {
        return Err(
            Problem::new(format!("the directory has no cluster \"{unknown}\""))
                .code("not_found")
                .exit(3)
                .hint("`wed cluster list` shows the clusters."),
        );
    }
    let served = rows.into_iter();
    let served = served.filter(|row| names.is_empty() || names.contains(&row.name));
    let served: Vec<ServedDatabase> = served
        .map(|row| {
            Ok(ServedDatabase {
                store: Store::at(&row.url)?,
                name: row.name,
            })
        })
        .collect::<Result<_, Problem>>()?;
    match served.is_empty() {
        false => Ok(served),
        true => Err(Problem::new("the directory has no cluster")
            .code("not_found")
            .exit(3)
            .hint("`wed cluster add NAME --url URL` adds one.")),
    }
}

/// Settings of the host of each cluster: they share the memory of guests.
fn settings_of_each(serve: &ServeArguments, clusters: usize) -> HostSettings {
    let mut settings = host::settings_of_serve(serve);
    let memory = settings.guest_memory.unwrap_or_else(usual_guest_memory);
    settings.guest_memory = Some(memory / u64::try_from(clusters.max(1)).unwrap_or(1));
    settings
}

/// Settings of the host of one cluster, whose files are in a folder of its name.
fn settings_at(settings: &HostSettings, cluster: &str) -> HostSettings {
    let mut settings = settings.clone();
    if let Some(files) = &mut settings.outside.files {
        files.push(cluster);
    }
    settings
}

/// Keeps a host at work at a cluster: starts it when the cluster answers, and again when it has ended.
async fn keep_host(
    cluster: ServedDatabase,
    settings: HostSettings,
    mut stopped: watch::Receiver<bool>,
) {
    let name = cluster.name.as_str();
    loop {
        match begin(&cluster, settings.clone()).await {
            Ok(host) => {
                tracing::info!(cluster = name, host = host.id().get(), "a host is at work");
                let goes_on = tokio::select! {
                    _ = stopped.changed() => false,
                    () = host.failed() => true,
                    () = host.refused() => true,
                };
                host.stop().await;
                if !goes_on {
                    return;
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
            _ = stopped.changed() => return,
        }
    }
}

/// Brings a cluster's database up to date and starts a host at it.
async fn begin(
    cluster: &ServedDatabase,
    settings: HostSettings,
) -> Result<wedflow_worker::Host, Problem> {
    if let Some(files) = &settings.outside.files {
        std::fs::create_dir_all(files).map_err(|error| {
            Problem::new(format!("{} cannot be made", files.display())).because(error)
        })?;
    }
    cluster.store.migrate().await?;
    host::start(&cluster.store, settings).await
}

/// Serves the API of all clusters at one address.
async fn listen_at(
    directory: &Directory,
    clusters: &[ServedDatabase],
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
    let server = Server::start_placed(directory, clusters, &settings).await;
    server.map_err(|error| {
        Problem::new(format!("{address} cannot be listened at"))
            .because(error)
            .hint("Choose another one: --listen 127.0.0.1:0 takes any free port.")
    })
}

fn say_started(clusters: &[ServedDatabase], api: Option<&Server>, terminal: &Terminal) {
    let names: Vec<&str> = clusters.iter().map(|one| one.name.as_str()).collect();
    terminal.say(&format!(
        "hosts begin to work on clusters {}; Ctrl-C stops them",
        names.join(", ")
    ));
    if let Some(api) = api {
        let address = api.address();
        terminal.say(&format!(
            "the API is at http://{address}; the console is at http://{address}/console"
        ));
        tracing::info!(%address, "listening");
    }
}

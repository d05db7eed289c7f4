//! Arguments of `wed dev` and `wed serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use wedflow_capability::Permission;

#[derive(Debug, Args)]
pub(crate) struct HostArguments {
    /// Jobs that may be in flight at once, running or waiting. Half as many more are for tenants with less than an
    /// equal share, and a claim may go beyond it: a small flow's few jobs come together.
    #[arg(long, alias = "in-hand", default_value_t = 1000, value_name = "N", value_parser = at_least_one)]
    pub(crate) in_flight: usize,
    /// Lanes that run guests side by side; as many as processors when absent.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) lanes: Option<usize>,
    /// Memory of all running guests together, in MiB. Half of the machine's when absent, or of the control group's
    /// that the host runs in, where that is less. Tenants share it.
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(64..))]
    pub(crate) guest_memory: Option<u64>,
    /// The host's name in traces' logs and in the list of hosts.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Serve the HTTP API here, in plain HTTP: for other machines put a proxy with TLS before it. `wed dev`
    /// listens on 127.0.0.1:8080 by default, or on a free port when that one is taken.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = listening)]
    pub(crate) listen: Option<SocketAddr>,
    /// A proxy before the HTTP API, or a network of them (may be given several times): its header X-Forwarded-For names
    /// the client, and its connections are not counted as those of one address. Loopback is one always.
    #[arg(long, value_name = "ADDRESS|NETWORK", value_parser = wedflow_api::network_of)]
    pub(crate) trust_proxy: Vec<wedflow_api::IpNet>,
    /// A replica of the database, from which the HTTP API and the console read lists, traces and searches. What decides
    /// something is always read from the database itself, which answers too while the replica is behind or gone.
    #[arg(long, value_name = "URL", env = "WEDFLOW_READ_URL", hide_env_values = true)]
    pub(crate) read_url: Option<String>,
    /// Largest age of what is read from the replica, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) read_staleness: u64,
    /// Clusters of the directory to serve, with commas between them; all of them when absent.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) clusters: Vec<String>,
    /// Serve figures for Prometheus here, at /metrics: of all tenants, to whoever asks, so let only the monitoring
    /// reach it.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = listening)]
    pub(crate) metrics: Option<SocketAddr>,
    /// A folder, which must be there, for the files of instances; without, no transition has any. Hosts of one
    /// database need one that they share.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) files: Option<PathBuf>,
    /// A host and port to which transitions may speak HTTP where their flow allows it too (may be given several
    /// times). A private address is reached only if it is given itself, by number. With a tenant's name before
    /// it, TENANT/HOST:PORT, it is for that tenant's flows only.
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) allow_http: Vec<Permission>,
    /// File in PEM of authorities whose certificates are trusted in HTTPS, besides those that Mozilla trusts.
    #[arg(long, value_name = "FILE")]
    pub(crate) trust_ca: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Processes in which guests run: the host's own, or processes of one tenant each, which have no files, no network
    /// and none of the host's memory.
    #[arg(long, value_name = "WHERE", value_enum, default_value_t = GuestsArgument::InProcess, env = "WEDFLOW_GUESTS")]
    pub(crate) guests: GuestsArgument,
    #[command(flatten)]
    pub(crate) host: HostArguments,
}

/// Processes in which guests run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GuestsArgument {
    /// In the host's process.
    InProcess,
    /// In processes of one tenant each; the host does not start where the kernel lacks seccomp or Landlock.
    Processes,
}

#[derive(Debug, Args)]
pub(crate) struct DevArguments {
    /// Build, test and push a project at each change, and run the last instance again that used it.
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, default_missing_value = ".")]
    pub(crate) watch: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) host: HostArguments,
}

/// Reads a number that is not zero.
fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("give 1 or more".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("give a number, 1 or more".to_owned()),
    }
}

/// Reads an address to listen at.
fn listening(text: &str) -> Result<SocketAddr, String> {
    let spelled = text.replacen("localhost:", "127.0.0.1:", 1);
    spelled.parse().map_err(|_| {
        let port = text.rsplit(':').next().unwrap_or_default();
        let port = port.parse::<u16>().unwrap_or(8080);
        format!("give an address and a port: 127.0.0.1:{port} for this machine, 0.0.0.0:{port} for all")
    })
}

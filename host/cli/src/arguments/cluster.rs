//! Arguments of `wed cluster`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Add a database as a cluster, with the tenants that are on it; or give a cluster other addresses. Running hosts
    /// serve it within seconds.
    Add {
        /// Small letters, digits, - and _.
        name: String,
        /// Database of the cluster, as postgres://user:password@host:port/name; several host:port with commas between
        /// them.
        #[arg(long, value_name = "URL", env = "WEDFLOW_CLUSTER_URL", hide_env_values = true)]
        url: String,
        /// Replica of the database, from which the HTTP API and the console read lists, traces and searches; without,
        /// they are read from the database.
        #[arg(long, value_name = "URL")]
        read_url: Option<String>,
        /// Say what would be done, and change nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// List the clusters.
    List,
    /// Let a cluster take no new tenants; those on it stay until they are moved.
    Drain {
        /// The cluster.
        name: String,
    },
    /// Let a cluster take new tenants again.
    Open {
        /// The cluster.
        name: String,
    },
    /// Take a cluster without tenants out of the directory. Its database stays as it is.
    Delete {
        /// The cluster.
        name: String,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
    },
}

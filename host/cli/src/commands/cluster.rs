//! `wed cluster`: the clusters of the directory.

use serde_json::json;
use wedflow_documents::{Cluster, ClusterAdded, ClusterChange, PutCluster};
use wedflow_store::{Directory, without_password};

use crate::answer::counted;
use crate::arguments::{Arguments, ClusterCommand};
use crate::directory;
use crate::door::{self, Door, Place};
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Clusters as a command reaches them: in the directory itself, which may have none yet, or over a server.
enum Clusters {
    Directory(Box<Directory>),
    Server(Box<Door>),
}

pub(crate) async fn run(command: &ClusterCommand, arguments: &Arguments, terminal: &Terminal) -> Result<(), Problem> {
    let clusters = match (directory::open(arguments).await?, door::place(arguments)?) {
        (Some(directory), _) => Clusters::Directory(Box::new(directory)),
        (None, Place::Server(_)) => {
            let door = door::open_installation(arguments, terminal).await?;
            Clusters::Server(Box::new(door))
        }
        (None, Place::Database(_)) => return Err(no_directory()),
    };
    match command {
        ClusterCommand::Add { name, url, read_url, dry_run } => {
            let asked = PutCluster { url: url.clone(), read_url: read_url.clone(), check: *dry_run };
            let added = clusters.add(name, &asked).await?;
            terminal.answer(&added, || say_added(&added, *dry_run, terminal));
            Ok(())
        }
        ClusterCommand::List => {
            let all = clusters.list().await?;
            terminal.answer(&all, || show(&all, terminal));
            Ok(())
        }
        ClusterCommand::Drain { name } => drain(&clusters, name, true, terminal).await,
        ClusterCommand::Open { name } => drain(&clusters, name, false, terminal).await,
        ClusterCommand::Delete { name, yes } => {
            let asked = format!("Take cluster {name} out of the directory? Its database stays as it is.");
            if !yes && !terminal.confirmed(&asked)? {
                return Err(Problem::new("nothing was removed"));
            }
            clusters.delete(name).await?;
            terminal.answer(&json!({ "cluster": name, "deleted": true }), || {
                terminal.line(&format!("Cluster {name} is out of the directory."));
            });
            Ok(())
        }
    }
}

/// Refuses a command that needs a directory.
pub(crate) fn no_directory() -> Problem {
    Problem::usage("no directory of clusters is named")
        .hint("Say --directory postgres://…, or set WEDFLOW_DIRECTORY; or use a server that has one.")
}

fn as_document(row: wedflow_store::ClusterRow) -> Cluster {
    Cluster {
        url: without_password(&row.url),
        read_url: row.read_url.as_deref().map(without_password),
        name: row.name,
        state: row.state,
        tenants: row.tenants,
    }
}

impl Clusters {
    async fn add(&self, name: &str, asked: &PutCluster) -> Result<ClusterAdded, Problem> {
        let directory = match self {
            Clusters::Directory(directory) => directory,
            Clusters::Server(door) => return Ok(door.put_cluster(name, asked).await?),
        };
        let addresses = (asked.url.as_str(), asked.read_url.as_deref());
        let added = directory.add_cluster(name, addresses, asked.check).await?;
        Ok(ClusterAdded { name: name.to_owned(), taken: added.taken, skipped: added.skipped })
    }

    async fn list(&self) -> Result<Vec<Cluster>, Problem> {
        match self {
            Clusters::Directory(directory) => {
                let rows = directory.clusters().await?;
                Ok(rows.into_iter().map(as_document).collect())
            }
            Clusters::Server(door) => Ok(door.clusters().await?),
        }
    }

    async fn set_draining(&self, name: &str, draining: bool) -> Result<Cluster, Problem> {
        match self {
            Clusters::Directory(directory) => Ok(as_document(directory.set_draining(name, draining).await?)),
            Clusters::Server(door) => Ok(door.change_cluster(name, &ClusterChange { draining }).await?),
        }
    }

    async fn delete(&self, name: &str) -> Result<(), Problem> {
        match self {
            Clusters::Directory(directory) => Ok(directory.remove_cluster(name).await?),
            Clusters::Server(door) => Ok(door.delete_cluster(name).await?),
        }
    }
}

async fn drain(clusters: &Clusters, name: &str, draining: bool, terminal: &Terminal) -> Result<(), Problem> {
    let cluster = clusters.set_draining(name, draining).await?;
    terminal.answer(&cluster, || {
        terminal.line(&match draining {
            true => format!("Cluster {name} takes no new tenants; {} on it.", counted(cluster.tenants, "tenant")),
            false => format!("Cluster {name} takes new tenants."),
        });
        if draining && cluster.tenants > 0 {
            terminal.say("Move them one by one: wed tenant move TENANT --to-cluster NAME");
        }
    });
    Ok(())
}

fn say_added(added: &ClusterAdded, dry_run: bool, terminal: &Terminal) {
    let (name, taken) = (&added.name, added.taken.len());
    let taken = counted(taken, "tenant");
    terminal.line(&match dry_run {
        true => format!("Cluster {name} would be added with {taken}; nothing was changed."),
        false => format!("Cluster {name} is in the directory; {taken} taken in."),
    });
    for tenant in &added.skipped {
        terminal.say(&format!(
            "Tenant {tenant} is empty there, and another cluster has one of that name: it is not served."
        ));
    }
    if !dry_run {
        terminal.say("Running hosts serve it within seconds.");
    }
}

fn show(clusters: &[Cluster], terminal: &Terminal) {
    terminal.table(
        &["cluster", "state", "tenants", "database", "replica"],
        clusters.iter().map(|cluster| {
            vec![
                cluster.name.clone(),
                cluster.state.clone(),
                cluster.tenants.to_string(),
                cluster.url.clone(),
                cluster.read_url.clone().unwrap_or_default(),
            ]
        }),
    );
}

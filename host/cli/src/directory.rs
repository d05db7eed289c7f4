//! The directory of clusters that a command is given, and the cluster that a tenant is on.

use std::path::{Path, PathBuf};

use wedflow_store::{ClusterRow, Directory};

use crate::arguments::Arguments;
use crate::in_force::is_given;
use crate::problem::Problem;

/// Connections of a command to the directory.
const CONNECTIONS: u32 = 2;

/// Returns the address of the directory for a command; none where its options name a server or a database.
pub(crate) fn url(arguments: &Arguments) -> Option<&str> {
    let url = arguments.directory.as_deref().filter(|url| !url.is_empty())?;
    let others = ["--database-url", "--server", "--context"];
    (is_given("--directory") || !others.into_iter().any(is_given)).then_some(url)
}

/// Opens the directory that a command is given; none without one.
pub(crate) async fn open(arguments: &Arguments) -> Result<Option<Directory>, Problem> {
    match url(arguments) {
        Some(url) => Ok(Some(Directory::open(url, CONNECTIONS).await?)),
        None => Ok(None),
    }
}

/// Returns the cluster that a tenant is on.
pub(crate) async fn cluster_of(directory: &Directory, tenant: &str) -> Result<ClusterRow, Problem> {
    match directory.place(tenant).await? {
        Some(place) => Ok(directory.cluster(&place.cluster).await?),
        None => Err(Problem::new(format!("the directory knows no tenant \"{tenant}\""))
            .code("not_found")
            .exit(3)
            .hint("`wed tenant list` shows the tenants; name one with --tenant.")),
    }
}

/// Returns the folder of a tenant's files: below the one that is named, where the directory has several clusters.
pub(crate) async fn folder_of(
    folder: Option<&Path>,
    directory: Option<&Directory>,
    tenant: &str,
) -> Result<Option<PathBuf>, Problem> {
    match (folder, directory) {
        (Some(folder), Some(directory)) => {
            let cluster = cluster_of(directory, tenant).await?;
            Ok(Some(folder.join(cluster.name)))
        }
        (folder, _) => Ok(folder.map(Path::to_owned)),
    }
}

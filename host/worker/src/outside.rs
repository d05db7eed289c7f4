//! Access of transitions outside their calls: what the operator gives this host, as far as a flow allows it; and
//! the removal of files of ended instances.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use wedflow_capability::files::Files;
use wedflow_capability::http::Http;
use wedflow_capability::{HostPort, Permission, Trust};
use wedflow_model::Wid;
use wedflow_sandbox::{FilesFrom, Granted, HttpFrom};
use wedflow_store::{FlowShape, Grant, Store};

use crate::HostError;

/// Instances asked about in one query.
const INSTANCES_ASKED_MAX: usize = 10_000;

/// Access that the operator gives transitions. By default none.
#[derive(Debug, Clone, Default)]
pub struct OutsideSettings {
    /// The folder for instances' files. Hosts of one database should share one (a shared disk, or all on one
    /// machine): an instance's transitions run on any of them.
    pub files: Option<PathBuf>,
    /// Hosts and ports to which HTTP may be spoken, by everybody's flows or by one tenant's. A private address
    /// may be reached only if it is listed itself, by number.
    pub http: Vec<Permission>,
    /// A file in PEM of authorities whose certificates are trusted besides those that Mozilla trusts.
    pub authorities: Option<PathBuf>,
}

/// The same, opened.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outside {
    files: Option<Files>,
    http: Arc<[Permission]>,
    trust: Trust,
}

impl Outside {
    pub(crate) fn open(settings: &OutsideSettings) -> Result<Self, HostError> {
        let trust = match &settings.authorities {
            Some(file) => std::fs::read(file)
                .map_err(|error| error.to_string())
                .and_then(|pem| Trust::also(&pem).map_err(|error| error.to_string()))
                .map_err(|error| std::io::Error::other(format!("{}: {error}", file.display())))
                .map_err(HostError::Authorities)?,
            None => Trust::default(),
        };
        let files = settings.files.as_deref().map(Files::open).transpose();
        Ok(Outside { files: files.map_err(HostError::Files)?, http: settings.http.clone().into(), trust })
    }

    /// Returns the access that operator and flow both grant a transition; else the reason, for a person.
    pub(crate) fn granted(&self, flow: &FlowShape, grant: Option<&Grant>, transition: &str) -> Result<Granted, String> {
        let Some(grant) = grant else {
            return Ok(Granted::default());
        };
        let allowed: Vec<HostPort> = grant
            .http
            .iter()
            .map(|text| text.parse())
            .collect::<Result<_, _>>()
            .map_err(|error| format!("`http` of the transition \"{transition}\": {error}"))?;
        Ok(Granted {
            files: match (&self.files, grant.files) {
                (Some(files), true) => {
                    Some(FilesFrom::Host { files: files.clone(), flow: Arc::from(flow.gate.as_str()) })
                }
                _ => None,
            },
            http: (!allowed.is_empty())
                .then(|| HttpFrom::Network { http: self.http_of(&flow.tenant), allowed: allowed.into() }),
        })
    }

    /// Returns the requests that the operator permits a tenant.
    pub(crate) fn http_of(&self, tenant: &str) -> Http {
        http_of(&self.http, tenant).trusting(self.trust.clone())
    }

    /// Lists the places that the operator allows, as they were given.
    pub(crate) fn places(&self) -> Vec<String> {
        self.http.iter().map(ToString::to_string).collect()
    }
}

/// Returns the requests that permissions leave a tenant.
pub(crate) fn http_of(permissions: &[Permission], tenant: &str) -> Http {
    let permits = permissions.iter().filter(|permission| permission.holds_for(tenant));
    Http::new(permits.map(|permission| permission.target.clone()))
}

/// Removes the files of instances that are final or gone, and what killed hosts left behind.
pub(crate) async fn clean(outside: Outside, store: &Store) -> Result<(), String> {
    let Some(files) = outside.files else {
        return Ok(());
    };
    let found = {
        let files = files.clone();
        blocking(move || {
            files.tidy()?;
            let found = files.instances()?.into_iter();
            Ok(found.map(|(flow, wid)| (flow, Wid::new(wid))).collect::<Vec<_>>())
        })
        .await?
    };
    for some in found.chunks(INSTANCES_ASKED_MAX) {
        let ended = store.ended(some).await.map_err(|error| error.to_string())?;
        let files = files.clone();
        blocking(move || {
            for (flow, wid) in ended {
                files.forget(&flow, wid.get())?;
            }
            Ok(())
        })
        .await?;
    }
    let flows: BTreeSet<String> = found.into_iter().map(|(flow, _)| flow).collect();
    let counted = blocking(move || {
        let bytes_of = |flow: String| files.bytes_of(&flow).map(|bytes| (flow, bytes));
        let kept = flows.into_iter().map(bytes_of).collect::<Result<Vec<_>, _>>()?;
        let is_empty = kept.iter().all(|(_, bytes)| *bytes == 0);
        Ok((files.mark(!is_empty)?, kept))
    });
    match counted.await? {
        (Some(folder), kept) => (store.keep_file_bytes(&folder, &kept).await).map_err(|error| error.to_string()),
        (None, _) => Ok(()),
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> std::io::Result<T> + Send + 'static) -> Result<T, String> {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

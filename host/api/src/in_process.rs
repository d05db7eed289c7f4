//! The API without a server: the same service, called in this process by the owner of the installation.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use wedflow_store::{Directory, Store};
use wedflow_tenancy::Identity;
use wedflow_worker::FindSecretKey;

use crate::access::Caller;
use crate::application::Bench;
use crate::placement::{Placed, ServedDatabase};
use crate::routes;
use crate::state::{Api, Stores, Times};

/// Longest duration of a call: whoever waits for it ends it earlier.
const LONGEST: Duration = Duration::from_secs(24 * 3_600);

/// The owner of the installation, acting as a tenant.
#[derive(Debug, Clone)]
pub struct Owner {
    /// The tenant.
    pub tenant: String,
    /// The user or person in whose name work is done.
    pub user: String,
    /// Connections of the store.
    pub connections: u32,
    /// Finds the key under which secrets are stored.
    pub find_secret_key: Option<FindSecretKey>,
    /// Runs components for people.
    pub bench: Option<Bench>,
}

/// Returns the API's service as the owner calls it: no token, no rates, no limits of time. What is changed through it
/// stands in the audit log as done by the operator.
pub fn in_process(store: &Store, owner: Owner) -> Router {
    let identity = Identity::owner(&owner.tenant, &owner.user);
    routes::owners_service(unbounded(store, owner), Caller::owner(identity))
}

/// Returns the service over all clusters of a directory as the owner of the installation calls it, for what operators
/// do. Clusters that do not answer now count as such.
pub async fn in_process_placed(directory: &Directory, clusters: &[Arc<ServedDatabase>], owner: &Owner) -> Router {
    let placed = Placed::new(directory);
    let make_api = |one: &ServedDatabase| unbounded(&one.store, owner.clone());
    placed.serve(clusters, &make_api).await;
    placed.owners()
}

/// Makes the API's state without limits of time.
fn unbounded(store: &Store, owner: Owner) -> Api {
    let stores = Stores {
        store: store.clone(),
        // The tenant has at most half of them.
        connections: owner.connections.saturating_mul(2),
        definitions: store.clone(),
        tokens: store.clone(),
        health: store.clone(),
        replica: None,
    };
    let times = Times { request: LONGEST, definition: LONGEST, idle: LONGEST, upload: LONGEST, watching: LONGEST };
    Api::new(stores, times, (owner.find_secret_key, owner.bench))
}

//! Places of tenants: which cluster a request is for. The directory says so; its answers are cached, and asked for anew
//! when a cluster refuses a tenant that has left it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use axum::Router;
use axum::http::{StatusCode, header};
use futures::future::join_all;
use quick_cache::sync::Cache;
use wedflow_store::{Directory, Store, StoreError, TenantPlace};
use wedflow_telemetry::Tracer;
use wedflow_tenancy::{AuthenticationError, OperatorIdentity, Secret, authenticate_operator};

use crate::access::{invalid_token, share_of_address};
use crate::connections::ClientAddress;
use crate::problem::Problem;
use crate::state::{ReplicaSettings, Slots};

/// Places, tokens and hooks that are cached, each.
const CACHED_MAX: usize = 100_000;
/// Longest wait for the answer of a cluster, or of the directory, about a place.
const LOOKUP_TIME_MAX: Duration = Duration::from_secs(4);
/// Tokens and hooks that are looked up at all clusters at the same instant: of all, of one address.
const LOOKUPS: (usize, usize) = (4, 2);
/// Longest wait for such a look-up.
const LOOKUP_WAIT_MAX: Duration = Duration::from_secs(10);
/// Time between two looks whether the clusters answer.
pub(crate) const HEALTH_PAUSE: Duration = Duration::from_secs(2);
/// Longest wait for a cluster's answer to that.
const HEALTH_TIME_MAX: Duration = Duration::from_secs(2);

/// A cluster that is to be served.
#[derive(Debug)]
pub struct ServedDatabase {
    /// Name of the cluster in the directory.
    pub name: String,
    /// Database of the cluster.
    pub store: Store,
    /// A replica that lists, traces and searches are read from; none: the database itself.
    pub replica: Option<ReplicaSettings>,
    /// Door to the collector of spans; none: no spans are made.
    pub tracer: Option<Tracer>,
}

/// A cluster that this process serves.
pub(crate) struct ServedCluster {
    pub(crate) name: String,
    /// Settings from which it was made.
    pub(crate) of: Arc<ServedDatabase>,
    /// Sessions for requests.
    pub(crate) store: Store,
    /// The API over its database.
    pub(crate) router: Router,
    /// Sessions for look-ups of tokens and hooks.
    pub(crate) tokens: Store,
    /// Sessions for checks of its health.
    pub(crate) health: Store,
    /// True while it answers.
    pub(crate) is_up: AtomicBool,
}

impl ServedCluster {
    pub(crate) fn is_up(&self) -> bool {
        self.is_up.load(Ordering::Relaxed)
    }

    /// Looks whether the cluster answers. One that is read-only does.
    pub(crate) async fn look(&self) {
        let asked = tokio::time::timeout(HEALTH_TIME_MAX, self.health.ping()).await;
        let answers = match asked {
            Ok(Ok(())) => true,
            Ok(Err(error)) => error.code() == Some("25006"),
            Err(_) => false,
        };
        if self.is_up.swap(answers, Ordering::Relaxed) != answers {
            match answers {
                true => tracing::info!(cluster = self.name, "the cluster answers"),
                false => tracing::warn!(
                    cluster = self.name,
                    "the cluster does not answer; requests of its tenants are answered 503, those of others are served"
                ),
            }
        }
    }
}

/// Places of tenants, and the clusters that this process serves.
pub(crate) struct Places {
    pub(crate) directory: Directory,
    /// Clusters by name.
    clusters: RwLock<Arc<[Arc<ServedCluster>]>>,
    /// Tenants of tokens, by their hashes.
    tokens: Cache<[u8; 32], Arc<str>>,
    /// Tenants of inbound hooks, by their addresses.
    hooks: Cache<String, Arc<str>>,
    places: Cache<String, TenantPlace>,
    lookups: Slots,
}

/// Answer of a cluster about a token or a hook.
type Owned = Result<Option<String>, StoreError>;

impl Places {
    pub(crate) fn new(directory: Directory) -> Self {
        Places {
            directory,
            clusters: RwLock::new(Arc::from([])),
            tokens: Cache::new(CACHED_MAX),
            hooks: Cache::new(CACHED_MAX),
            places: Cache::new(CACHED_MAX),
            lookups: Slots::new(LOOKUPS),
        }
    }

    /// Returns the clusters that are served now, by name.
    pub(crate) fn clusters(&self) -> Arc<[Arc<ServedCluster>]> {
        Arc::clone(&self.clusters.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Serves these clusters from now on.
    pub(crate) fn serve(&self, clusters: Arc<[Arc<ServedCluster>]>) {
        *self.clusters.write().unwrap_or_else(PoisonError::into_inner) = clusters;
    }

    /// Looks which clusters answer.
    pub(crate) async fn look(&self) {
        join_all(self.clusters().iter().map(|cluster| cluster.look())).await;
    }

    /// Returns the tenant of a token.
    pub(crate) async fn tenant_of_token(
        &self,
        secret: &Secret,
        client: Option<ClientAddress>,
    ) -> Result<Arc<str>, Problem> {
        let hash = secret.hash();
        if let Some(tenant) = self.tokens.get(&hash) {
            return Ok(tenant);
        }
        let found =
            self.find(client, move |store| async move { Ok(store.bearer(&hash).await?.map(|bearer| bearer.tenant)) });
        let tenant = found.await?.ok_or_else(invalid_token)?;
        self.tokens.insert(hash, Arc::clone(&tenant));
        Ok(tenant)
    }

    /// Returns the tenant of an inbound hook.
    pub(crate) async fn tenant_of_hook(
        &self,
        address: &str,
        client: Option<ClientAddress>,
    ) -> Result<Arc<str>, Problem> {
        if let Some(tenant) = self.hooks.get(address) {
            return Ok(tenant);
        }
        let found = self.find(client, move |store| async move {
            match store.posted_hook(address).await {
                Ok(hook) => Ok(Some(hook.tenant)),
                Err(StoreError::NotFound { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        });
        let tenant = (found.await?).ok_or_else(|| Problem::missing("hook", address))?;
        self.hooks.insert(address.to_owned(), Arc::clone(&tenant));
        Ok(tenant)
    }

    /// Returns the operator whose token this is. Each cluster keeps tokens of operators, and all believe each.
    pub(crate) async fn operator(
        &self,
        secret: &Secret,
        client: Option<ClientAddress>,
    ) -> Result<OperatorIdentity, Problem> {
        let share = share_of_address(client);
        let _slot = self.lookups.wait(&share, 1, LOOKUP_WAIT_MAX).await?;
        let asked = self.ask_all(move |store| async move {
            match authenticate_operator(&store, secret).await {
                Ok(identity) => Ok(Some(identity)),
                Err(AuthenticationError::Store(error)) => Err(error),
                Err(_) => Ok(None),
            }
        });
        let (found, silent) = asked.await;
        match (found.into_iter().next(), silent.is_empty()) {
            (Some((_, identity)), _) => Ok(identity),
            (None, true) => Err(invalid_token()),
            (None, false) => Err(unknown_while_down(&silent)),
        }
    }

    /// Asks all clusters at once for the tenant of something. That of a cluster which the tenant is not on, since it
    /// has left it, does not count.
    async fn find<F: Future<Output = Owned> + Send>(
        &self,
        client: Option<ClientAddress>,
        ask: impl Fn(Store) -> F + Sync,
    ) -> Result<Option<Arc<str>>, Problem> {
        let share = share_of_address(client);
        let _slot = self.lookups.wait(&share, 1, LOOKUP_WAIT_MAX).await?;
        let (found, silent) = self.ask_all(ask).await;
        for (cluster, tenant) in found {
            let place = self.place(&tenant).await?;
            if place.is_some_and(|place| place.cluster == cluster) {
                return Ok(Some(tenant.into()));
            }
        }
        match silent.is_empty() {
            true => Ok(None),
            false => Err(unknown_while_down(&silent)),
        }
    }

    /// Asks all clusters at once. Returns their answers, and the names of those that gave none.
    async fn ask_all<T, F>(&self, ask: impl Fn(Store) -> F + Sync) -> (Vec<(String, T)>, Vec<String>)
    where
        T: Send,
        F: Future<Output = Result<Option<T>, StoreError>> + Send,
    {
        let (mut found, mut silent) = (Vec::new(), Vec::new());
        let clusters = self.clusters();
        let asked = clusters.iter().map(|cluster| {
            let asked = (cluster.is_up()).then(|| ask(cluster.tokens.clone()));
            async move {
                let answer = match asked {
                    Some(asked) => tokio::time::timeout(LOOKUP_TIME_MAX, asked).await.ok(),
                    None => None,
                };
                (cluster.name.clone(), answer.and_then(Result::ok))
            }
        });
        for (name, answer) in join_all(asked).await {
            match answer {
                Some(Some(thing)) => found.push((name, thing)),
                Some(None) => {}
                None => silent.push(name),
            }
        }
        (found, silent)
    }

    /// Returns the place of a tenant, as it is cached or as the directory says; none of a tenant that has none.
    pub(crate) async fn place(&self, tenant: &str) -> Result<Option<TenantPlace>, Problem> {
        match self.places.get(tenant) {
            Some(place) => Ok(Some(place)),
            None => self.place_anew(tenant).await,
        }
    }

    /// Returns the place of a tenant as the directory says now.
    pub(crate) async fn place_anew(&self, tenant: &str) -> Result<Option<TenantPlace>, Problem> {
        let asked = tokio::time::timeout(LOOKUP_TIME_MAX, self.directory.place(tenant)).await;
        let asked = asked.unwrap_or(Err(StoreError::Conflict("no answer in time".to_owned())));
        let place = asked.map_err(directory_down)?;
        match &place {
            Some(place) => self.keep(place),
            None => self.forget(tenant),
        }
        Ok(place)
    }

    /// Caches a place, unless a newer one is cached.
    fn keep(&self, place: &TenantPlace) {
        let newer = (self.places.get(&place.tenant)).filter(|known| known.version > place.version);
        if newer.is_none() {
            self.places.insert(place.tenant.clone(), place.clone());
        }
    }

    /// Forgets the cached place of a tenant.
    pub(crate) fn forget(&self, tenant: &str) {
        self.places.remove(tenant);
    }

    /// Returns the cluster of a place, if this process serves it and it answers.
    pub(crate) fn serving(&self, place: &TenantPlace) -> Result<Arc<ServedCluster>, Problem> {
        let clusters = self.clusters();
        let name = &place.cluster;
        match clusters.iter().find(|cluster| cluster.name == *name) {
            Some(cluster) if cluster.is_up() => Ok(Arc::clone(cluster)),
            Some(_) => Err(cluster_down(format!("cluster \"{name}\", which the tenant is on, does not answer"))),
            None => Err(cluster_down(format!("this server does not serve cluster \"{name}\", which the tenant is on"))),
        }
    }
}

/// Answers that a cluster is away.
pub(crate) fn cluster_down(detail: String) -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "cluster_down", detail)
        .hint("Try again in a moment; tenants of other clusters are served.")
        .with(header::RETRY_AFTER, 2)
}

/// Answers that a thing may be one of a cluster that is away.
fn unknown_while_down(silent: &[String]) -> Problem {
    cluster_down(format!("it is not known at the clusters that answer, and may be known at {}", silent.join(", ")))
}

/// Answers that the directory is away; a refusal of it stays one.
pub(crate) fn directory_down(error: StoreError) -> Problem {
    let is_answer = error.refusal().is_some() || matches!(error, StoreError::NotFound { .. });
    if is_answer && !error.is_transient() {
        return error.into();
    }
    tracing::warn!(%error, "the directory of clusters does not answer; tenants whose places are known are served");
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "directory_down", "the directory of clusters does not answer")
        .hint("Try again in a moment; tenants whose places are known are served meanwhile.")
        .with(header::RETRY_AFTER, 2)
}

//! State that handlers share, and each tenant's share of it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wedflow_store::{Directory, Store};
use wedflow_telemetry::Tracer;
use wedflow_worker::FindSecretKey;

use crate::application::Bench;
use crate::problem::Problem;
use crate::rate::{Denials, Rates};
use crate::watching::Watching;

/// Connections to the database over which tokens are looked up.
pub(crate) const TOKEN_CONNECTIONS: u32 = 2;
/// Connections to the database over which definitions are applied and previewed.
pub(crate) const DEFINITION_CONNECTIONS: u32 = 2;
/// Definitions that are applied or previewed at the same instant: of all tenants, of one. Others wait.
const DEFINING: (usize, usize) = (DEFINITION_CONNECTIONS as usize, 1);
/// Tokens that are looked up at the same instant: of all, of one tenant or address.
const LOOKUPS: (usize, usize) = (TOKEN_CONNECTIONS as usize, 1);
/// Components that are compiled or wait for a compiler: of all tenants, of one. Two are compiled at the same instant,
/// by turns of tenants, those whose last turn is longest ago first.
const COMPILED: (usize, usize) = (64, 1);
/// Uploads that are being read at the same instant, in KiB: of all tenants, of one.
const UPLOADED_KIB: (usize, usize) = (512 << 10, 64 << 10);
/// Answers that are being sent at the same instant, in KiB: to all tenants, to one.
const SENT_KIB: (usize, usize) = (256 << 10, 32 << 10);
/// Components of people's items that are run at the same instant: of all tenants, of one. Others wait.
const RUN: (usize, usize) = (4, 1);
/// Traces that are watched at the same instant: of all tenants, of one.
const WATCHERS: (usize, usize) = (256, 32);
/// Requests that wait for a job or an event at the same instant: of all tenants, of one.
const POLLS: (usize, usize) = (256, 32);
/// Requests of a tenant that wait for the same share at the same instant; more are refused.
const WAITING_MAX: usize = 100;

/// Settings of a replica.
#[derive(Debug, Clone)]
pub struct ReplicaSettings {
    /// The replica.
    pub store: Store,
    /// Largest age of an answer; the database itself answers while the replica is further behind.
    pub staleness_max: Duration,
}

/// State that handlers share.
#[derive(Clone)]
pub(crate) struct Api {
    /// Sessions for requests.
    pub(crate) store: Store,
    /// Sessions for look-ups of tokens, so that no request keeps other callers out.
    pub(crate) tokens: Store,
    /// Sessions for checks of the database's health.
    pub(crate) health: Store,
    /// Replica for lists, traces and searches; none: the primary answers all.
    pub(crate) replica: Option<ReplicaSettings>,
    /// Sessions for definitions, which may take long.
    pub(crate) definitions: Store,
    /// Requests that apply or preview a definition.
    pub(crate) defining: Arc<Slots>,
    /// Look-ups of tokens: by tenant, and by address where the tenant is not known yet.
    pub(crate) lookups: Arc<Slots>,
    pub(crate) rates: Arc<Rates>,
    pub(crate) denials: Arc<Denials>,
    /// Connections to the database: a tenant has at most half of them in use.
    pub(crate) connections: Arc<Slots>,
    pub(crate) compiling: Arc<Slots>,
    pub(crate) running: Arc<Slots>,
    pub(crate) uploading: Arc<Slots>,
    pub(crate) sending: Arc<Slots>,
    pub(crate) watchers: Arc<Slots>,
    /// Requests that wait for a job or an event.
    pub(crate) polls: Arc<Slots>,
    /// Query of the database that all watchers share.
    pub(crate) watching: Watching,
    pub(crate) times: Times,
    /// Finds the key under which secrets are stored; none: secrets are not stored over HTTP.
    pub(crate) find_secret_key: Option<FindSecretKey>,
    /// Runs components for people; none: this server runs none.
    pub(crate) bench: Option<Bench>,
    /// Door to the collector of spans; none: no spans are made.
    pub(crate) tracer: Option<Tracer>,
    /// Directory of the clusters, of which this database is one; none: it is the only one.
    pub(crate) directory: Option<Directory>,
}

/// Connections to the database, each kind for itself.
pub(crate) struct Stores {
    pub(crate) store: Store,
    /// Connections of `store`.
    pub(crate) connections: u32,
    pub(crate) definitions: Store,
    pub(crate) tokens: Store,
    pub(crate) health: Store,
    pub(crate) replica: Option<ReplicaSettings>,
}

/// Time limits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// A request, but for definitions, uploads and watching.
    pub(crate) request: Duration,
    /// A request that applies or previews a definition.
    pub(crate) definition: Duration,
    /// Maximum wait for the next bytes of a body.
    pub(crate) idle: Duration,
    /// Maximum time until the last bytes of an upload.
    pub(crate) upload: Duration,
    /// A stream of events.
    pub(crate) watching: Duration,
}

impl Api {
    pub(crate) fn new(
        stores: Stores,
        times: Times,
        (find_secret_key, bench): (Option<FindSecretKey>, Option<Bench>),
    ) -> Self {
        let connections = usize::try_from(stores.connections).unwrap_or(1).max(1);
        Api {
            watching: Watching::new(stores.store.clone(), stores.tokens.clone()),
            store: stores.store,
            definitions: stores.definitions,
            defining: Arc::new(Slots::new(DEFINING)),
            lookups: Arc::new(Slots::new(LOOKUPS)),
            tokens: stores.tokens,
            health: stores.health,
            replica: stores.replica,
            rates: Arc::default(),
            denials: Arc::default(),
            connections: Arc::new(Slots::new((connections, connections.div_ceil(2)))),
            compiling: Arc::new(Slots::new(COMPILED)),
            running: Arc::new(Slots::new(RUN)),
            uploading: Arc::new(Slots::new(UPLOADED_KIB)),
            sending: Arc::new(Slots::new(SENT_KIB)),
            watchers: Arc::new(Slots::new(WATCHERS)),
            polls: Arc::new(Slots::new(POLLS)),
            times,
            find_secret_key,
            bench,
            tracer: None,
            directory: None,
        }
    }
}

/// Share of something that all tenants use: a number in all, a smaller one for a tenant, and a bound on those of it who
/// wait.
pub(crate) struct Slots {
    all: Arc<Semaphore>,
    each: usize,
    tenants: Mutex<HashMap<String, Arc<Part>>>,
}

/// A tenant's part of a share.
struct Part {
    slots: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// A slot, or several, held until it is dropped.
pub(crate) struct Slot {
    _all: OwnedSemaphorePermit,
    _own: OwnedSemaphorePermit,
    _part: Arc<Part>,
}

/// A request that waits for slots, until it is dropped.
struct Waiting<'a>(&'a Part);

impl<'a> Waiting<'a> {
    fn begin(part: &'a Part) -> Result<Self, Problem> {
        let waiting = Waiting(part);
        match part.waiting.fetch_add(1, Ordering::Relaxed) < WAITING_MAX {
            true => Ok(waiting),
            false => Err(Problem::busy()),
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Slots {
    pub(crate) fn new((all, each): (usize, usize)) -> Self {
        Slots { all: Arc::new(Semaphore::new(all)), each, tenants: Mutex::default() }
    }

    fn of(&self, tenant: &str) -> Arc<Part> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that nobody holds or waits for a slot of are as good as new.
        if tenants.len() > 1_000 {
            tenants.retain(|_, part| Arc::strong_count(part) > 1);
        }
        let part = tenants.entry(tenant.to_owned()).or_insert_with(|| {
            Arc::new(Part { slots: Arc::new(Semaphore::new(self.each)), waiting: AtomicUsize::new(0) })
        });
        Arc::clone(part)
    }

    /// Takes a slot for a tenant, at once or not at all.
    pub(crate) fn take(&self, tenant: &str) -> Result<Slot, Problem> {
        let busy = |_| Problem::busy();
        let part = self.of(tenant);
        Ok(Slot {
            _own: Arc::clone(&part.slots).try_acquire_owned().map_err(busy)?,
            _all: Arc::clone(&self.all).try_acquire_owned().map_err(busy)?,
            _part: part,
        })
    }

    /// Takes slots for a tenant, after those who asked before, and waits for them for at most so long. Refuses at once
    /// when too many of the tenant wait.
    pub(crate) async fn wait(&self, tenant: &str, slots: u32, most: Duration) -> Result<Slot, Problem> {
        let slots = slots.min(u32::try_from(self.each).unwrap_or(u32::MAX));
        let part = self.of(tenant);
        let waiting = Waiting::begin(&part)?;
        let taken = async {
            let own = Arc::clone(&part.slots).acquire_many_owned(slots).await.ok()?;
            let all = Arc::clone(&self.all).acquire_many_owned(slots).await.ok()?;
            Some((all, own))
        };
        let taken = tokio::time::timeout(most, taken).await;
        drop(waiting);
        let (all, own) = taken.ok().flatten().ok_or_else(Problem::busy)?;
        Ok(Slot { _all: all, _own: own, _part: part })
    }
}

/// Runs work to its end, even if its client disconnects: what it holds is released only then, for work on other threads
/// cannot be cancelled.
pub(crate) async fn to_its_end<T: Send + 'static>(
    held: impl Send + 'static,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::spawn(async move {
        let done = work.await;
        drop(held);
        done
    });
    done.await.map_err(|_| Problem::internal())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn slot_of_work_whose_client_went_away_is_taken_until_the_work_ends() {
        let slots = Slots::new((1, 1));
        let slot = slots.take("acme").ok();
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let mut request = Box::pin(to_its_end(slot, ended));
        let polled = std::future::poll_fn(|context| std::task::Poll::Ready(request.as_mut().poll(context).is_ready()));
        assert!(!polled.await);
        drop(request);
        tokio::task::yield_now().await;
        assert!(slots.take("acme").is_err(), "the work goes on");
        assert!(end.send(()).is_ok());
        let free = slots.wait("acme", 1, Duration::from_secs(20)).await;
        assert!(free.is_ok());
    }

    #[tokio::test]
    async fn a_tenant_has_its_share_and_others_have_theirs() {
        let slots = Slots::new((4, 2));
        let most = Duration::from_millis(20);
        let first = slots.wait("acme", 1, most).await;
        let second = slots.take("acme");
        assert!(first.is_ok() && second.is_ok());
        assert!(slots.wait("acme", 1, most).await.is_err());
        let other = slots.wait("other", 2, most).await;
        assert!(other.is_ok());
        assert!(slots.wait("third", 1, most).await.is_err());
        drop((first, other));
        assert!(slots.take("acme").is_ok());
        // More than a tenant ever has is all that it has.
        assert!(slots.wait("third", 9, most).await.is_ok());
    }
}

//! State that handlers share, and each tenant's share of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wedflow_store::Store;
use wedflow_worker::FindSecretKey;

use crate::application::RunApplication;
use crate::problem::Problem;
use crate::rate::{Denials, Rates};
use crate::watching::Watching;

/// Components that are compiled or wait for a compiler: of all tenants, of one. Two are compiled at the same instant, by
/// turns of tenants, those whose last turn is longest ago first.
const COMPILED: (usize, usize) = (64, 1);
/// Uploads that are being read at the same instant, in KiB: of all tenants, of one.
const UPLOADED_KIB: (usize, usize) = (512 << 10, 64 << 10);
/// Answers that are being sent at the same instant, in KiB: to all tenants, to one.
const SENT_KIB: (usize, usize) = (256 << 10, 32 << 10);
/// Components of people's items that are run at the same instant: of all tenants, of one. Others wait.
const RUN: (usize, usize) = (4, 1);
/// Traces that are watched at the same instant: of all tenants, of one.
const WATCHERS: (usize, usize) = (256, 32);

/// State that handlers share.
#[derive(Clone)]
pub(crate) struct Api {
    /// For what is asked.
    pub(crate) store: Store,
    /// For who asks, so that nobody's question keeps others out.
    pub(crate) tokens: Store,
    /// For whether the database answers.
    pub(crate) health: Store,
    pub(crate) rates: Arc<Rates>,
    pub(crate) denials: Arc<Denials>,
    /// Connections to the database: a tenant has at most half of them in use.
    pub(crate) connections: Arc<Slots>,
    pub(crate) compiling: Arc<Slots>,
    pub(crate) running: Arc<Slots>,
    pub(crate) uploading: Arc<Slots>,
    pub(crate) sending: Arc<Slots>,
    pub(crate) watchers: Arc<Slots>,
    /// Query of the database that all watchers share.
    pub(crate) watching: Watching,
    pub(crate) times: Times,
    /// Finds the key under which secrets are stored; none: secrets are not stored over HTTP.
    pub(crate) find_secret_key: Option<FindSecretKey>,
    /// Runs the component of a person's item; none: this server runs none.
    pub(crate) run_application: Option<RunApplication>,
}

/// Connections to the database, each kind for itself.
pub(crate) struct Stores {
    pub(crate) store: Store,
    /// Connections of `store`.
    pub(crate) connections: u32,
    pub(crate) tokens: Store,
    pub(crate) health: Store,
}

/// Time limits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// A request, but for uploads and watching.
    pub(crate) request: Duration,
    /// Until the next bytes of a body.
    pub(crate) idle: Duration,
    /// Until the last bytes of an upload.
    pub(crate) upload: Duration,
    /// A stream of events.
    pub(crate) watching: Duration,
}

impl Api {
    pub(crate) fn new(
        stores: Stores,
        times: Times,
        (find_secret_key, run_application): (Option<FindSecretKey>, Option<RunApplication>),
    ) -> Self {
        let connections = usize::try_from(stores.connections).unwrap_or(1).max(1);
        Api {
            watching: Watching::new(stores.store.clone(), stores.tokens.clone()),
            store: stores.store,
            tokens: stores.tokens,
            health: stores.health,
            rates: Arc::default(),
            denials: Arc::default(),
            connections: Arc::new(Slots::new((connections, connections.div_ceil(2)))),
            compiling: Arc::new(Slots::new(COMPILED)),
            running: Arc::new(Slots::new(RUN)),
            uploading: Arc::new(Slots::new(UPLOADED_KIB)),
            sending: Arc::new(Slots::new(SENT_KIB)),
            watchers: Arc::new(Slots::new(WATCHERS)),
            times,
            find_secret_key,
            run_application,
        }
    }
}

/// Slots for slow or large requests, a number in all and a smaller one for a tenant.
pub(crate) struct Slots {
    all: Arc<Semaphore>,
    each: usize,
    tenants: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// A slot, or several, held until it is dropped.
pub(crate) struct Slot {
    _all: OwnedSemaphorePermit,
    _tenants: OwnedSemaphorePermit,
}

impl Slots {
    fn new((all, each): (usize, usize)) -> Self {
        Slots {
            all: Arc::new(Semaphore::new(all)),
            each,
            tenants: Mutex::default(),
        }
    }

    fn of(&self, tenant: &str) -> Arc<Semaphore> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that nobody holds or waits for a slot of are as good as new.
        if tenants.len() > 1_000 {
            tenants.retain(|_, slots| Arc::strong_count(slots) > 1);
        }
        Arc::clone(
            tenants
                .entry(tenant.to_owned())
                .or_insert_with(|| Arc::new(Semaphore::new(self.each))),
        )
    }

    /// Takes a slot for a tenant, at once or not at all.
    pub(crate) fn take(&self, tenant: &str) -> Result<Slot, Problem> {
        let busy = |_| Problem::busy();
        Ok(Slot {
            _tenants: self.of(tenant).try_acquire_owned().map_err(busy)?,
            _all: Arc::clone(&self.all).try_acquire_owned().map_err(busy)?,
        })
    }

    /// Takes slots for a tenant, after those who asked before, and waits for them for at most so long.
    pub(crate) async fn wait(
        &self,
        tenant: &str,
        slots: u32,
        most: Duration,
    ) -> Result<Slot, Problem> {
        let slots = slots.min(u32::try_from(self.each).unwrap_or(u32::MAX));
        let taken = async {
            let tenants = self.of(tenant).acquire_many_owned(slots).await.ok()?;
            let all = Arc::clone(&self.all).acquire_many_owned(slots).await.ok()?;
            Some(Slot {
                _all: all,
                _tenants: tenants,
            })
        };
        let taken = tokio::time::timeout(most, taken).await;
        taken.ok().flatten().ok_or_else(Problem::busy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

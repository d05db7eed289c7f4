//! What handlers share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::{StatusCode, header};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wedflow_store::Store;

use crate::problem::Problem;
use crate::rate::Rates;

/// Uploads that are read or compiled at the same instant: of all tenants, of one.
const UPLOADS: (usize, usize) = (4, 2);
/// Traces that are watched at the same instant: of all tenants, of one.
const WATCHERS: (usize, usize) = (256, 32);

/// What handlers share.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) store: Store,
    pub(crate) rates: Arc<Rates>,
    pub(crate) uploads: Arc<Places>,
    pub(crate) watchers: Arc<Places>,
    pub(crate) times: Times,
}

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// A request, but for uploads and watching.
    pub(crate) request: Duration,
    /// Until the next bytes of a body.
    pub(crate) idle: Duration,
    /// Until the last bytes of an upload.
    pub(crate) upload: Duration,
}

impl Api {
    pub(crate) fn new(store: Store, times: Times) -> Self {
        Api {
            store,
            rates: Arc::default(),
            uploads: Arc::new(Places::new(UPLOADS)),
            watchers: Arc::new(Places::new(WATCHERS)),
            times,
        }
    }
}

/// Places for things that take long or much, so many in all and fewer for one tenant.
pub(crate) struct Places {
    all: Arc<Semaphore>,
    each: usize,
    tenants: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// A place, held until it is dropped.
pub(crate) struct Place {
    _all: OwnedSemaphorePermit,
    _tenants: OwnedSemaphorePermit,
}

impl Places {
    fn new((all, each): (usize, usize)) -> Self {
        Places {
            all: Arc::new(Semaphore::new(all)),
            each,
            tenants: Mutex::default(),
        }
    }

    /// Takes a place for a tenant.
    pub(crate) fn take(&self, tenant: &str) -> Result<Place, Problem> {
        let of_tenant = {
            let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
            // Those that nobody holds a place of are as good as new.
            if tenants.len() > 1_000 {
                tenants.retain(|_, places| places.available_permits() < self.each);
            }
            Arc::clone(
                tenants
                    .entry(tenant.to_owned())
                    .or_insert_with(|| Arc::new(Semaphore::new(self.each))),
            )
        };
        let busy = |_| {
            Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "busy",
                "too many of these are under way",
            )
            .hint("Wait until one of them has ended.")
            .with(header::RETRY_AFTER, 2)
        };
        Ok(Place {
            _tenants: of_tenant.try_acquire_owned().map_err(busy)?,
            _all: Arc::clone(&self.all).try_acquire_owned().map_err(busy)?,
        })
    }
}

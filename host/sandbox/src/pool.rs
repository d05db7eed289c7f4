//! An engine with room for a number of guests, and what guests are linked to.

use wasmtime::component::Linker;
use wasmtime::{Engine, Store};
use wedflow_model::{Outcome, TenantId};

use crate::Settings;
use crate::component::Component;
use crate::error::SetupError;
use crate::share::{Held, Share};
use crate::state::State;
use crate::ticker::Ticker;
use crate::{files, host, http};

/// An engine, its pool of slots, and the thread that counts its epochs.
pub(crate) struct Pool {
    pub(crate) engine: Engine,
    pub(crate) linker: Linker<State>,
    /// Guests that may be in a call at once.
    concurrent: u32,
    /// Room in the pool; a call takes as many units as its component needs slots.
    slots: Share,
    ticker: Ticker,
}

impl Pool {
    /// Reserves the pool's address space and starts the thread.
    pub(crate) fn new(settings: &Settings) -> Result<Self, SetupError> {
        let engine = settings.engine()?;
        let mut linker = Linker::new(&engine);
        host::define(&mut linker)
            .and_then(|()| files::define(&mut linker))
            .and_then(|()| http::define(&mut linker))
            .map_err(|error| SetupError::Engine(format!("{error:#}")))?;
        Ok(Pool {
            ticker: Ticker::start(&engine)?,
            slots: Share::new(u64::from(settings.concurrent)),
            concurrent: settings.concurrent,
            linker,
            engine,
        })
    }

    /// Returns true if a component was compiled for this engine.
    pub(crate) fn has(&self, component: &Component) -> bool {
        Engine::same(&self.engine, component.pre().engine())
    }

    /// Waits for room for one instance of a tenant's component; none when the pool never has so much.
    pub(crate) async fn room(&self, component: &Component, tenant: TenantId) -> Option<Held> {
        self.slots.take(tenant, u64::from(component.slots())).await
    }

    /// The outcome for a component that needs more room than the pool has.
    pub(crate) fn too_large(&self, component: &Component) -> Outcome {
        Outcome::OverMemory { limit: u64::from(self.concurrent), asked: u64::from(component.slots()) }
    }

    /// The outcome for a component that no pool of the sandbox was compiled for.
    pub(crate) fn foreign() -> Outcome {
        Outcome::Failed { message: "the component was compiled by another sandbox".to_owned(), retry: false }
    }

    /// A store of this engine.
    pub(crate) fn store(&self, mut state: State) -> Store<State> {
        state.ticking = Some(self.ticker.guest());
        Store::new(&self.engine, state)
    }
}

//! Shares of what all guests of a sandbox have together: slots of a pool, bytes of memory.
//!
//! A tenant may hold at most [`FREE_TIMES`] times what is free. So one that is alone may have nearly all, several
//! that want all have equal parts, and whoever comes next always finds some.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::{HashMap, HashMapExt};
use tokio::sync::oneshot;
use wedflow_model::TenantId;

/// Maximum holding of a tenant, as a multiple of what is free: alone, eight ninths of all.
const FREE_TIMES: u64 = 8;

/// A number of units that tenants share. Clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Share(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    total: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free: u64,
    held: HashMap<TenantId, u64>,
    /// Requests that wait, by tenant, in the order in which they came.
    waiting: HashMap<TenantId, VecDeque<Waiting>>,
}

#[derive(Debug)]
struct Waiting {
    units: u64,
    answer: oneshot::Sender<Held>,
}

/// Units that a tenant holds, given back when dropped.
#[derive(Debug)]
pub(crate) struct Held {
    share: Share,
    tenant: TenantId,
    units: u64,
}

impl Share {
    pub(crate) fn new(total: u64) -> Self {
        Share(Arc::new(Shared {
            total,
            state: Mutex::new(State { free: total, held: HashMap::new(), waiting: HashMap::new() }),
        }))
    }

    /// The units of all tenants together.
    pub(crate) fn total(&self) -> u64 {
        self.0.total
    }

    /// Waits for units; none if there can never be that many.
    pub(crate) async fn take(&self, tenant: TenantId, units: u64) -> Option<Held> {
        if units > self.0.total {
            return None;
        }
        let granted = {
            let mut state = self.state();
            let waits = state.waiting.contains_key(&tenant);
            if !waits && state.grants(tenant, units) {
                return Some(self.held(tenant, units));
            }
            let (answer, granted) = oneshot::channel();
            let queue = state.waiting.entry(tenant).or_default();
            queue.push_back(Waiting { units, answer });
            granted
        };
        granted.await.ok()
    }

    /// An empty holding of a tenant, for [`Held::grow`].
    pub(crate) fn nothing(&self, tenant: TenantId) -> Held {
        self.held(tenant, 0)
    }

    fn held(&self, tenant: TenantId, units: u64) -> Held {
        Held { share: self.clone(), tenant, units }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives units back and hands them to those that wait, who holds least first.
    fn give_back(&self, tenant: TenantId, units: u64) {
        // Whoever waits no more gives back what it was handed: not while the state is locked.
        let mut gone = Vec::new();
        let mut state = self.state();
        state.give_back(tenant, units);
        let mut tenants: Vec<TenantId> = state.waiting.keys().copied().collect();
        tenants.sort_by_key(|tenant| (state.held.get(tenant).copied().unwrap_or(0), *tenant));
        for tenant in tenants {
            while let Some(waiting) = state.next(tenant) {
                gone.extend(waiting.answer.send(self.held(tenant, waiting.units)).err());
            }
        }
        drop(state);
        drop(gone);
    }
}

impl State {
    /// Takes units for a tenant unless it would hold more than its part.
    fn grants(&mut self, tenant: TenantId, units: u64) -> bool {
        let held = self.held.get(&tenant).copied().unwrap_or(0);
        let Some(left) = self.free.checked_sub(units) else {
            return false;
        };
        // One more than what is free: of a few units one tenant may have all.
        if held > 0 && held + units > (left + 1).saturating_mul(FREE_TIMES) {
            return false;
        }
        self.free = left;
        *self.held.entry(tenant).or_default() += units;
        true
    }

    /// Takes the first of a tenant that waits, where it can have what it wants by now.
    fn next(&mut self, tenant: TenantId) -> Option<Waiting> {
        loop {
            let queue = self.waiting.get(&tenant)?;
            let first = queue.front().map(|first| (first.answer.is_closed(), first.units));
            match first {
                Some((true, _)) => {}
                Some((false, units)) if self.grants(tenant, units) => {
                    return self.waiting.get_mut(&tenant)?.pop_front();
                }
                Some(_) => return None,
                None => {
                    self.waiting.remove(&tenant);
                    return None;
                }
            }
            self.waiting.get_mut(&tenant)?.pop_front();
        }
    }

    fn give_back(&mut self, tenant: TenantId, units: u64) {
        self.free += units;
        if let Some(held) = self.held.get_mut(&tenant) {
            *held = held.saturating_sub(units);
            if *held == 0 {
                self.held.remove(&tenant);
            }
        }
    }
}

impl Held {
    /// Takes more units at once, or none and says so.
    pub(crate) fn grow(&mut self, units: u64) -> bool {
        let granted = self.share.state().grants(self.tenant, units);
        if granted {
            self.units += units;
        }
        granted
    }

    /// The units of all tenants together.
    pub(crate) fn total(&self) -> u64 {
        self.share.total()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.units > 0 {
            self.share.give_back(self.tenant, self.units);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[tokio::test]
    async fn who_is_alone_has_nearly_all_and_the_next_finds_some() {
        let share = Share::new(90);
        let mut first = share.nothing(TenantId::new(1));
        while first.grow(1) {}
        assert_eq!(first.units, 80);
        let mut second = share.nothing(TenantId::new(2));
        while second.grow(1) {}
        assert_eq!(second.units, 9);
        drop(first);
        while second.grow(1) {}
        assert_eq!(second.units, 80);
    }

    #[tokio::test]
    async fn who_waits_for_its_own_share_delays_nobody_else() {
        let share = Share::new(64);
        let mut full = Vec::new();
        let fits = |held: &[Held]| held.len() < 56;
        while fits(&full) {
            full.push(share.take(TenantId::new(1), 1).await.expect("room"));
        }
        let waits = tokio::spawn({
            let share = share.clone();
            async move { share.take(TenantId::new(1), 4).await }
        });
        tokio::task::yield_now().await;
        let other = share.take(TenantId::new(2), 1).await.expect("the other finds room");
        assert!(!waits.is_finished());
        full.truncate(40);
        let held = waits.await.expect("no panic").expect("room");
        drop((held, other, full));
        assert_eq!(share.state().free, 64);
    }

    #[tokio::test]
    async fn what_never_fits_is_told_at_once() {
        assert!(Share::new(8).take(TenantId::new(1), 9).await.is_none());
    }

    #[tokio::test]
    async fn who_waits_no_more_keeps_nothing() {
        let share = Share::new(9);
        let held = share.take(TenantId::new(1), 8).await.expect("room");
        let waits = tokio::spawn({
            let share = share.clone();
            async move { share.take(TenantId::new(1), 8).await }
        });
        tokio::task::yield_now().await;
        waits.abort();
        assert!(waits.await.is_err());
        drop(held);
        assert_eq!(share.state().free, 9);
        assert!(share.take(TenantId::new(1), 8).await.is_some());
    }

    proptest! {
        /// Whatever is taken and dropped in whatever order, all is free in the end.
        #[test]
        fn units_in_are_units_out(steps in prop::collection::vec((0..5, 1..40_u64, any::<bool>()), 0..200)) {
            let share = Share::new(100);
            let mut held: Vec<Held> = Vec::new();
            for (tenant, units, takes) in steps {
                if takes {
                    let mut one = share.nothing(TenantId::new(tenant));
                    one.grow(units);
                    held.push(one);
                } else if !held.is_empty() {
                    held.remove(units as usize % held.len());
                }
                let state = share.state();
                prop_assert_eq!(state.free + state.held.values().sum::<u64>(), 100);
            }
            drop(held);
            prop_assert_eq!(share.state().free, 100);
        }
    }
}

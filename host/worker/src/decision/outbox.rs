//! The outbox: results that wait for a commit, and which of them go together.
//!
//! Results wait by flow on a shelf. A flow with few results belongs to a home session, which keeps its plans; one with
//! many may go over any home session. Light tenants' results stand on the express shelf, and those whose fired jobs
//! must be claimed again on a shelf of their own. A batch begins with the shelf that was served least lately and takes
//! a few results of each tenant, tenant by tenant and flow by flow. A shelf that has seen many batches of others go is
//! overdue: it goes next, over any home. Of an instance one result waits or is under way at a time; others stand
//! behind it.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use foldhash::HashMap;
use wedflow_scheduler::Moment;

use super::{Instance, Policy};
use wedflow_model::{FlowId, LeaseToken, TenantId, Wid};

/// Shelf on which results wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shelf {
    /// Of light tenants, over any session but quarantine's.
    Express,
    /// Of tenants whose fired jobs are left to the pool, over home sessions.
    Leave,
    /// Of flows with many results, over home sessions.
    Any,
    /// Of flows with few results, over this home session.
    Home(usize),
}

/// A result with its lease token.
#[derive(Debug)]
pub(crate) struct Waiting<R> {
    pub(crate) token: LeaseToken,
    pub(crate) tenant: TenantId,
    pub(crate) instance: Instance,
    pub(crate) result: R,
}

#[derive(Debug, Default)]
struct Tenants {
    /// Tenants in their turns.
    round: VecDeque<TenantId>,
    /// Each one's flows, the oldest first. A flow that has moved to another shelf may still be named.
    flows: HashMap<TenantId, VecDeque<FlowId>>,
    /// Results on the shelf.
    results: usize,
    /// Since when results wait, at the longest.
    since: Moment,
    /// Number of the home sessions' batches when results came to wait, or when the shelf was served last.
    served: u64,
}

#[derive(Debug)]
struct Flow<R> {
    shelf: Shelf,
    results: VecDeque<Waiting<R>>,
}

/// Results that wait for a commit.
#[derive(Debug)]
pub(crate) struct Outbox<R> {
    /// Express, leave, any, and one for each home.
    shelves: Vec<Tenants>,
    flows: HashMap<FlowId, Flow<R>>,
    /// Instances with a result that waits or is under way, and the results behind it.
    instances: HashMap<Instance, VecDeque<Waiting<R>>>,
    /// Batches that home sessions have taken so far.
    batches: u64,
    /// Steps of loops over tenants and flows so far.
    pub(crate) visits: u64,
}

impl<R> Outbox<R> {
    pub(crate) fn new(policy: &Policy) -> Self {
        Outbox {
            shelves: (0..3 + policy.home_sessions)
                .map(|_| Tenants::default())
                .collect(),
            flows: HashMap::default(),
            instances: HashMap::default(),
            batches: 0,
            visits: 0,
        }
    }

    fn at(shelf: Shelf) -> usize {
        match shelf {
            Shelf::Express => 0,
            Shelf::Leave => 1,
            Shelf::Any => 2,
            Shelf::Home(home) => 3 + home,
        }
    }

    /// Number of results on a shelf.
    pub(crate) fn results(&self, shelf: Shelf) -> usize {
        self.shelves[Self::at(shelf)].results
    }

    /// Since when a shelf has results, at the longest.
    pub(crate) fn since(&self, shelf: Shelf) -> Option<Moment> {
        let shelf = &self.shelves[Self::at(shelf)];
        (shelf.results > 0).then_some(shelf.since)
    }

    /// Takes in a result. Where another one of its instance waits, is in quarantine or under way it stands behind
    /// that; else it is the first, and is returned.
    pub(crate) fn stand(&mut self, one: Waiting<R>) -> Option<Waiting<R>> {
        match self.instances.entry(one.instance) {
            Entry::Occupied(mut behind) => {
                behind.get_mut().push_back(one);
                None
            }
            Entry::Vacant(free) => {
                free.insert(VecDeque::new());
                Some(one)
            }
        }
    }

    /// Lease tokens of the results that stand behind the first of their instance.
    pub(crate) fn behind(&self, instance: Instance) -> Vec<LeaseToken> {
        let behind = self.instances.get(&instance);
        behind.map_or_else(Vec::new, |behind| {
            behind.iter().map(|one| one.token).collect()
        })
    }

    /// Puts the first result of an instance on a shelf.
    pub(crate) fn add(&mut self, policy: &Policy, shelf: Shelf, one: Waiting<R>, now: Moment) {
        let (flow, tenant) = (one.instance.0, one.tenant);
        let known = self.flows.entry(flow).or_insert_with(|| Flow {
            shelf,
            results: VecDeque::new(),
        });
        let is_first = known.results.is_empty();
        if is_first {
            known.shelf = shelf;
        }
        let before = known.shelf;
        known.results.push_back(one);
        let many = known.results.len() > policy.batch_results_of_tenant;
        let moves = many && matches!(before, Shelf::Home(_));
        let count = known.results.len();
        if moves {
            known.shelf = Shelf::Any;
            self.shelves[Self::at(before)].results -= count - 1;
        }
        let stands = if moves { Shelf::Any } else { before };
        let shelf = &mut self.shelves[Self::at(stands)];
        if shelf.results == 0 {
            shelf.since = now;
            shelf.served = self.batches;
        }
        shelf.results += if moves { count } else { 1 };
        if is_first || moves {
            let flows = shelf.flows.entry(tenant).or_default();
            if flows.is_empty() {
                shelf.round.push_back(tenant);
            }
            flows.push_back(flow);
        }
    }

    /// Returns true when more batches of home sessions went before a shelf than the policy lets it wait for.
    pub(crate) fn is_overdue(&self, policy: &Policy, shelf: Shelf) -> bool {
        let shelf = &self.shelves[Self::at(shelf)];
        shelf.results > 0 && self.batches - shelf.served >= policy.batch_wait_batches
    }

    /// Returns the overdue home's shelf that was served least lately.
    pub(crate) fn overdue_home(&self, policy: &Policy) -> Option<Shelf> {
        (0..policy.home_sessions)
            .map(Shelf::Home)
            .filter(|shelf| self.is_overdue(policy, *shelf))
            .min_by_key(|shelf| self.shelves[Self::at(*shelf)].served)
    }

    /// Takes a batch of light tenants' results.
    pub(crate) fn take_express(&mut self, policy: &Policy, now: Moment) -> Vec<Waiting<R>> {
        let mut batch = Vec::new();
        self.take_from(policy, Shelf::Express, &mut batch, now);
        batch
    }

    /// Takes a batch for a home session: from the shelf that was served least lately, and from others what there is
    /// room for. Says whether what it fires is left to the pool; such results go with no others.
    pub(crate) fn take_over_home(
        &mut self,
        policy: &Policy,
        home: usize,
        now: Moment,
    ) -> (Vec<Waiting<R>>, bool) {
        let other = self
            .overdue_home(policy)
            .filter(|one| *one != Shelf::Home(home));
        let mut shelves: Vec<Shelf> = [Shelf::Express, Shelf::Home(home), Shelf::Any, Shelf::Leave]
            .into_iter()
            .chain(other)
            .filter(|shelf| self.results(*shelf) > 0)
            .collect();
        shelves.sort_by_key(|shelf| self.shelves[Self::at(*shelf)].served);
        self.batches += 1;
        let mut batch = Vec::new();
        let leaves = shelves.first() == Some(&Shelf::Leave);
        for (place, shelf) in shelves.into_iter().enumerate() {
            if place > 0 && (leaves || shelf == Shelf::Leave) {
                continue;
            }
            let is_whole = self.take_from(policy, shelf, &mut batch, now);
            if place == 0 || is_whole {
                self.shelves[Self::at(shelf)].served = self.batches;
            }
        }
        (batch, leaves)
    }

    /// Takes results of a shelf, tenant by tenant, until all had one or the batch is full; true when all had. A flow's
    /// few results stay together.
    fn take_from(
        &mut self,
        policy: &Policy,
        from: Shelf,
        batch: &mut Vec<Waiting<R>>,
        now: Moment,
    ) -> bool {
        let shelf = &mut self.shelves[Self::at(from)];
        if shelf.results == 0 {
            // Only flows that have moved are named.
            shelf.round.clear();
            shelf.flows.clear();
            return true;
        }
        let each = (policy.batch_results_max / shelf.round.len().max(1))
            .max(policy.batch_results_of_tenant);
        let mut is_whole = true;
        for _ in 0..shelf.round.len() {
            let room = policy.batch_results_max.saturating_sub(batch.len());
            if room == 0 {
                is_whole = false;
                break;
            }
            let Some(tenant) = shelf.round.pop_front() else {
                break;
            };
            self.visits += 1;
            let mut of_tenant = each.min(room);
            let flows = shelf.flows.entry(tenant).or_default();
            while of_tenant > 0
                && let Some(flow) = flows.pop_front()
            {
                self.visits += 1;
                let known = (self.flows.get_mut(&flow)).filter(|one| one.shelf == from);
                let Some(known) = known else {
                    continue;
                };
                let few = known.results.len() <= policy.batch_results_of_tenant;
                let taken = if few {
                    known.results.len()
                } else {
                    known.results.len().min(of_tenant)
                };
                batch.extend(known.results.drain(..taken));
                of_tenant = of_tenant.saturating_sub(taken);
                shelf.results -= taken;
                if known.results.is_empty() {
                    self.flows.remove(&flow);
                } else {
                    // Behind the tenant's other flows.
                    flows.push_back(flow);
                }
            }
            if flows.is_empty() {
                shelf.flows.remove(&tenant);
            } else {
                shelf.round.push_back(tenant);
            }
        }
        shelf.since = now;
        is_whole
    }

    /// Takes the results of a flow, or of one of its instances, off the shelves.
    pub(crate) fn withdraw(&mut self, flow: FlowId, wid: Option<Wid>) -> Vec<Waiting<R>> {
        let Some(known) = self.flows.get_mut(&flow) else {
            return Vec::new();
        };
        let meant = |one: &mut Waiting<R>| wid.is_none_or(|wid| one.instance.1 == wid);
        let mut withdrawn = Vec::new();
        for _ in 0..known.results.len() {
            let Some(mut one) = known.results.pop_front() else {
                break;
            };
            match meant(&mut one) {
                true => withdrawn.push(one),
                false => known.results.push_back(one),
            }
        }
        self.shelves[Self::at(known.shelf)].results -= withdrawn.len();
        if known.results.is_empty() {
            self.flows.remove(&flow);
        }
        withdrawn
    }

    /// The result of an instance that was under way is dealt with; the one behind it is next.
    pub(crate) fn free(&mut self, instance: Instance) -> Option<Waiting<R>> {
        let behind = self.instances.get_mut(&instance)?;
        let next = behind.pop_front();
        if next.is_none() {
            self.instances.remove(&instance);
        }
        next
    }

    #[cfg(test)]
    pub(crate) fn is_clear(&self) -> bool {
        self.flows.is_empty()
            && self.instances.is_empty()
            && self.shelves.iter().all(|one| one.results == 0)
    }
}

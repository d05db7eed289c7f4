//! The outbox: results that wait for a commit, and which of them go together.
//!
//! Results wait in queues, by flow. A flow with few results belongs to a home session, which keeps its plans; one with
//! many may go over any home session. Light tenants' results wait in the express queue, and those whose fired jobs
//! must be claimed again in a queue of their own. A batch begins with the queue that was served least lately and takes
//! a few results of each tenant, tenant by tenant and flow by flow. A queue that has seen many batches of others go is
//! overdue: it goes next, over any home. Of an instance one result waits or is under way at a time; others stand
//! behind it.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use foldhash::HashMap;
use wedflow_scheduler::Moment;

use super::{Instance, Policy};
use wedflow_model::{FlowId, LeaseToken, TenantId, Wid};

/// Queue of the outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Queue {
    /// Results of light tenants, over any session but quarantine's.
    Express,
    /// Results of tenants whose fired jobs are left to the pool, over home sessions.
    Leave,
    /// Results of flows with many, over home sessions.
    Any,
    /// Results of flows with few, over this home session.
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
    /// Each one's flows, the oldest first. A flow that has moved to another queue may still be named.
    flows: HashMap<TenantId, VecDeque<FlowId>>,
    /// Number of results in the queue.
    results: usize,
    /// Time since which the oldest result waits.
    since: Moment,
    /// Number of the home sessions' batches when results came to wait, or when the queue was served last.
    served: u64,
}

#[derive(Debug)]
struct Flow<R> {
    queue: Queue,
    results: VecDeque<Waiting<R>>,
}

/// Results that wait for a commit.
#[derive(Debug)]
pub(crate) struct Outbox<R> {
    /// Express, leave, any, and one for each home.
    queues: Vec<Tenants>,
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
            queues: (0..3 + policy.home_sessions).map(|_| Tenants::default()).collect(),
            flows: HashMap::default(),
            instances: HashMap::default(),
            batches: 0,
            visits: 0,
        }
    }

    fn at(queue: Queue) -> usize {
        match queue {
            Queue::Express => 0,
            Queue::Leave => 1,
            Queue::Any => 2,
            Queue::Home(home) => 3 + home,
        }
    }

    /// Returns the number of results in a queue.
    pub(crate) fn results(&self, queue: Queue) -> usize {
        self.queues[Self::at(queue)].results
    }

    /// Returns since when a queue has results, at the longest.
    pub(crate) fn since(&self, queue: Queue) -> Option<Moment> {
        let queue = &self.queues[Self::at(queue)];
        (queue.results > 0).then_some(queue.since)
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
        behind.map_or_else(Vec::new, |behind| behind.iter().map(|one| one.token).collect())
    }

    /// Puts the first result of an instance into a queue.
    pub(crate) fn add(&mut self, policy: &Policy, queue: Queue, one: Waiting<R>, now: Moment) {
        let (flow, tenant) = (one.instance.0, one.tenant);
        let known = self.flows.entry(flow).or_insert_with(|| Flow { queue, results: VecDeque::new() });
        let is_first = known.results.is_empty();
        if is_first {
            known.queue = queue;
        }
        let before = known.queue;
        known.results.push_back(one);
        let many = known.results.len() > policy.batch_results_of_tenant;
        let moves = many && matches!(before, Queue::Home(_));
        let count = known.results.len();
        if moves {
            known.queue = Queue::Any;
            self.queues[Self::at(before)].results -= count - 1;
        }
        let stands = if moves { Queue::Any } else { before };
        let queue = &mut self.queues[Self::at(stands)];
        if queue.results == 0 {
            queue.since = now;
            queue.served = self.batches;
        }
        queue.results += if moves { count } else { 1 };
        if is_first || moves {
            let flows = queue.flows.entry(tenant).or_default();
            if flows.is_empty() {
                queue.round.push_back(tenant);
            }
            flows.push_back(flow);
        }
    }

    /// Returns true when more batches of home sessions went before a queue than the policy lets it wait for.
    pub(crate) fn is_overdue(&self, policy: &Policy, queue: Queue) -> bool {
        let queue = &self.queues[Self::at(queue)];
        queue.results > 0 && self.batches - queue.served >= policy.batch_wait_batches
    }

    /// Returns the overdue queue of a home session that was served least lately.
    pub(crate) fn overdue_home(&self, policy: &Policy) -> Option<Queue> {
        (0..policy.home_sessions)
            .map(Queue::Home)
            .filter(|queue| self.is_overdue(policy, *queue))
            .min_by_key(|queue| self.queues[Self::at(*queue)].served)
    }

    /// Takes a batch of light tenants' results.
    pub(crate) fn take_express(&mut self, policy: &Policy, now: Moment) -> Vec<Waiting<R>> {
        let mut batch = Vec::new();
        self.take_from(policy, Queue::Express, &mut batch, now);
        batch
    }

    /// Takes a batch for a home session: from the queue that was served least lately, and from others what there is
    /// room for. Says whether what it fires is left to the pool; such results go with no others.
    pub(crate) fn take_over_home(&mut self, policy: &Policy, home: usize, now: Moment) -> (Vec<Waiting<R>>, bool) {
        let other = self.overdue_home(policy).filter(|one| *one != Queue::Home(home));
        let mut queues: Vec<Queue> = [Queue::Express, Queue::Home(home), Queue::Any, Queue::Leave]
            .into_iter()
            .chain(other)
            .filter(|queue| self.results(*queue) > 0)
            .collect();
        queues.sort_by_key(|queue| self.queues[Self::at(*queue)].served);
        self.batches += 1;
        let mut batch = Vec::new();
        let leaves = queues.first() == Some(&Queue::Leave);
        for (nth, queue) in queues.into_iter().enumerate() {
            if nth > 0 && (leaves || queue == Queue::Leave) {
                continue;
            }
            let is_whole = self.take_from(policy, queue, &mut batch, now);
            if nth == 0 || is_whole {
                self.queues[Self::at(queue)].served = self.batches;
            }
        }
        (batch, leaves)
    }

    /// Takes results of a queue, tenant by tenant, until all had one or the batch is full; true when all had. A flow's
    /// few results stay together.
    fn take_from(&mut self, policy: &Policy, from: Queue, batch: &mut Vec<Waiting<R>>, now: Moment) -> bool {
        let queue = &mut self.queues[Self::at(from)];
        if queue.results == 0 {
            // Only flows that have moved are named.
            queue.round.clear();
            queue.flows.clear();
            return true;
        }
        let each = (policy.batch_results_max / queue.round.len().max(1)).max(policy.batch_results_of_tenant);
        let mut is_whole = true;
        for _ in 0..queue.round.len() {
            let room = policy.batch_results_max.saturating_sub(batch.len());
            if room == 0 {
                is_whole = false;
                break;
            }
            let Some(tenant) = queue.round.pop_front() else {
                break;
            };
            self.visits += 1;
            let mut of_tenant = each.min(room);
            let flows = queue.flows.entry(tenant).or_default();
            while of_tenant > 0
                && let Some(flow) = flows.pop_front()
            {
                self.visits += 1;
                let known = (self.flows.get_mut(&flow)).filter(|one| one.queue == from);
                let Some(known) = known else {
                    continue;
                };
                let few = known.results.len() <= policy.batch_results_of_tenant;
                let taken = if few { known.results.len() } else { known.results.len().min(of_tenant) };
                batch.extend(known.results.drain(..taken));
                of_tenant = of_tenant.saturating_sub(taken);
                queue.results -= taken;
                if known.results.is_empty() {
                    self.flows.remove(&flow);
                } else {
                    // Behind the tenant's other flows.
                    flows.push_back(flow);
                }
            }
            if flows.is_empty() {
                queue.flows.remove(&tenant);
            } else {
                queue.round.push_back(tenant);
            }
        }
        queue.since = now;
        is_whole
    }

    /// Takes the results of a flow, or of one of its instances, out of the queues.
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
        self.queues[Self::at(known.queue)].results -= withdrawn.len();
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
        self.flows.is_empty() && self.instances.is_empty() && self.queues.iter().all(|one| one.results == 0)
    }
}

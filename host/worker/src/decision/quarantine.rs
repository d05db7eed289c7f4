//! Quarantine: flows and instances that somebody had locked when a batch needed them. Their results are committed over
//! a session kept for that, one of them at a time, so that nobody else waits for the same lock. Those that are due have
//! their turns by tenant: a tenant with many of them delays no other.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use foldhash::HashMap;
use wedflow_scheduler::Moment;

use super::outbox::Waiting;
use super::{Instance, Policy};
use wedflow_model::{FlowId, TenantId};

/// Flow or instance that somebody had locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Locked {
    /// The table of a flow.
    Flow(FlowId),
    /// The row of an instance.
    Instance(Instance),
}

impl Locked {
    /// Returns its flow.
    pub(crate) fn flow(self) -> FlowId {
        match self {
            Locked::Flow(flow) | Locked::Instance((flow, _)) => flow,
        }
    }
}

#[derive(Debug)]
struct Entry<R> {
    /// Time that it stays after a lock was met.
    pause: Duration,
    /// End of its time in quarantine.
    until: Moment,
    /// True when the lock was met at the last try.
    is_locked: bool,
    /// True once a try met no lock: it stays until then, to be sure, and no longer.
    is_leaving: bool,
    /// True while its results are being committed.
    under_way: bool,
    next_try: NextTry,
    results: VecDeque<Waiting<R>>,
}

/// Next try at committing an entry's results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NextTry {
    /// No plan: a try is under way.
    Unplanned,
    /// Try at this time, listed in `order`.
    At(Moment),
    /// Due, as `due` has it for its tenant.
    Due,
}

impl<R> Entry<R> {
    /// Returns true when it need not stay, of an entry that is due.
    fn is_over(&self, now: Moment) -> bool {
        self.results.is_empty() || self.is_leaving && !self.is_locked && now >= self.until
    }
}

/// Flows and instances in quarantine, with their results.
#[derive(Debug)]
pub(crate) struct Quarantine<R> {
    entries: HashMap<Locked, Entry<R>>,
    /// Times at which entries are tried again, or forgotten.
    order: BTreeSet<(Moment, Locked)>,
    /// Entries that are due, by tenant. One that is due no more may still be named.
    due: HashMap<TenantId, VecDeque<Locked>>,
    /// Tenants with entries that are due, in their turns.
    round: VecDeque<TenantId>,
    /// Instances of each flow that are in quarantine by themselves.
    instances: HashMap<FlowId, usize>,
}

impl<R> Quarantine<R> {
    pub(crate) fn new() -> Self {
        Quarantine {
            entries: HashMap::default(),
            order: BTreeSet::new(),
            due: HashMap::default(),
            round: VecDeque::new(),
            instances: HashMap::default(),
        }
    }

    /// Returns the lock for which an instance's results are in quarantine.
    pub(crate) fn of(&self, instance: Instance) -> Option<Locked> {
        if self.entries.is_empty() {
            return None;
        }
        let by_itself = Locked::Instance(instance);
        let by_flow = Locked::Flow(instance.0);
        [by_itself, by_flow].into_iter().find(|what| self.entries.contains_key(what))
    }

    /// Returns the end of the time in quarantine of a thing that is locked.
    pub(crate) fn until(&self, what: Locked) -> Option<Moment> {
        self.entries.get(&what).filter(|one| one.is_locked).map(|one| one.until)
    }

    /// A lock was met. Returns what is in quarantine for it now, and until when: the flow, where many of its instances
    /// are.
    pub(crate) fn met(&mut self, policy: &Policy, what: Locked, now: Moment) -> (Locked, Moment) {
        let many = (self.instances.get(&what.flow())).is_some_and(|count| *count >= policy.quarantine_instances);
        let what = match what {
            Locked::Instance((flow, _)) if many && !self.entries.contains_key(&what) => Locked::Flow(flow),
            other => other,
        };
        if !self.entries.contains_key(&what)
            && let Locked::Instance((flow, _)) = what
        {
            *self.instances.entry(flow).or_default() += 1;
        }
        let one = self.entries.entry(what).or_insert_with(|| Entry {
            pause: policy.quarantine_first / 2,
            until: now,
            is_locked: false,
            is_leaving: false,
            under_way: false,
            next_try: NextTry::Unplanned,
            results: VecDeque::new(),
        });
        if !one.is_locked {
            one.pause = (one.pause * 2).clamp(policy.quarantine_first, policy.quarantine_max);
            one.until = now + one.pause;
            one.is_locked = true;
            one.is_leaving = false;
        }
        let until = one.until;
        self.list(what, now);
        (what, until)
    }

    /// Adds a result.
    pub(crate) fn add(&mut self, what: Locked, one: Waiting<R>, now: Moment) {
        if let Some(entry) = self.entries.get_mut(&what) {
            entry.results.push_back(one);
        }
        self.list(what, now);
    }

    /// Puts an entry where it belongs in the order: while it is locked, and without results, at its end; else at once.
    /// One that is due keeps its turn.
    fn list(&mut self, what: Locked, now: Moment) {
        let Some(one) = self.entries.get_mut(&what) else {
            return;
        };
        let waits = one.is_locked || one.results.is_empty();
        if one.under_way || one.next_try == NextTry::Due && !waits {
            return;
        }
        if let NextTry::At(at) = one.next_try {
            self.order.remove(&(at, what));
        }
        let at = if waits { one.until } else { now };
        one.next_try = NextTry::At(at);
        self.order.insert((at, what));
    }

    /// Returns the time of the next try or removal.
    pub(crate) fn next_at(&self) -> Option<Moment> {
        self.order.first().map(|(at, _)| *at)
    }

    /// Gives what is due its turn. Ends the quarantine of what has served its time, and returns the results that are
    /// left of it.
    pub(crate) fn release(&mut self, now: Moment) -> VecDeque<Waiting<R>> {
        let mut released = VecDeque::new();
        while let Some(&(at, what)) = self.order.first()
            && at <= now
        {
            self.order.pop_first();
            match self.entries.get_mut(&what) {
                Some(one) if !one.is_over(now) => {
                    one.next_try = NextTry::Due;
                    let tenant = one.results.front().map_or(TenantId::new(0), |first| first.tenant);
                    let due = self.due.entry(tenant).or_default();
                    if due.is_empty() {
                        self.round.push_back(tenant);
                    }
                    due.push_back(what);
                }
                _ => released.extend(self.forget(what)),
            }
        }
        released
    }

    /// Removes an entry, and returns its results.
    fn forget(&mut self, what: Locked) -> VecDeque<Waiting<R>> {
        if let Locked::Instance((flow, _)) = what
            && let Some(count) = self.instances.get_mut(&flow)
        {
            *count -= 1;
            if *count == 0 {
                self.instances.remove(&flow);
            }
        }
        (self.entries.remove(&what)).map_or_else(VecDeque::new, |one| one.results)
    }

    /// Has all that waits for a lock tried once more, at once.
    pub(crate) fn hurry(&mut self, now: Moment) {
        let waiting: Vec<Locked> = (self.entries.iter_mut())
            .filter(|(_, one)| one.is_locked && !one.under_way && !one.results.is_empty())
            .map(|(what, one)| {
                one.is_locked = false;
                *what
            })
            .collect();
        for what in waiting {
            self.list(what, now);
        }
    }

    /// Number of results that wait for a try, and of tries under way.
    pub(crate) fn unlocked(&self) -> usize {
        (self.entries.values())
            .filter(|one| !one.is_locked)
            .map(|one| one.results.len() + usize::from(one.under_way))
            .sum()
    }

    /// Takes the results of the entry that is to be tried next: of the tenant whose turn it is, the first that is due.
    pub(crate) fn take(&mut self, policy: &Policy) -> Option<(Locked, Vec<Waiting<R>>)> {
        while let Some(tenant) = self.round.pop_front() {
            let due = self.due.get_mut(&tenant);
            let what = due.and_then(|due| {
                std::iter::from_fn(|| due.pop_front())
                    .find(|what| (self.entries.get(what)).is_some_and(|one| one.next_try == NextTry::Due))
            });
            match self.due.get(&tenant) {
                Some(due) if !due.is_empty() => self.round.push_back(tenant),
                _ => drop(self.due.remove(&tenant)),
            }
            if let Some(what) = what
                && let Some(one) = self.entries.get_mut(&what)
            {
                one.next_try = NextTry::Unplanned;
                one.under_way = true;
                // Until it is met again.
                one.is_locked = false;
                let taken = one.results.len().min(policy.batch_results_max);
                return Some((what, one.results.drain(..taken).collect()));
            }
        }
        None
    }

    /// The batch of an entry is back. Where no lock was met for the first time, it stays for as long as it did, to be
    /// sure.
    pub(crate) fn is_back(&mut self, what: Locked, now: Moment) {
        if let Some(one) = self.entries.get_mut(&what) {
            one.under_way = false;
            if !one.is_locked && !one.is_leaving {
                one.is_leaving = true;
                one.until = now + one.pause;
            }
        }
        self.list(what, now);
    }

    #[cfg(test)]
    pub(crate) fn is_clear(&self) -> bool {
        self.entries.values().all(|one| one.results.is_empty() && !one.under_way)
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Action, Batch, Decision, Event, Job};
    use super::*;
    use wedflow_model::{LeaseToken, Wid};

    type Told = Event<(), ()>;

    fn at(ms: u64) -> Moment {
        Moment::default() + Duration::from_millis(ms)
    }

    fn job(token: i64, instance: i32) -> Job<()> {
        Job {
            token: LeaseToken::new(token),
            tenant: TenantId::new(1),
            instance: (FlowId::new(1), Wid::new(instance)),
            job: (),
        }
    }

    fn finished(token: i64) -> Told {
        Event::Finished { token: LeaseToken::new(token), fuel: 0, bytes: 0, result: () }
    }

    /// A host that runs these jobs, of tenant and flow 1.
    fn at_work(jobs: Vec<Job<()>>) -> Decision<(), ()> {
        let mut decision = Decision::new(Policy::new(1, 80));
        for _ in &jobs {
            let _ = decision.decide(Event::Asked { lane: 0 }, at(0));
        }
        let _ = decision.decide(Event::Arrived(jobs), at(0));
        decision
    }

    /// Tells an event, and returns the lease tokens of the batch that begins then.
    fn batch(decision: &mut Decision<(), ()>, event: Told, ms: u64) -> Option<Batch<()>> {
        let mut actions = decision.decide(event, at(ms)).into_iter();
        actions.find_map(|action| match action {
            Action::Commit(batch) => Some(batch),
            _ => None,
        })
    }

    fn tokens(batch: &Batch<()>) -> Vec<i64> {
        batch.results.iter().map(|(token, ())| token.get()).collect()
    }

    /// The batch meets a lock on its flow.
    fn meet(decision: &mut Decision<(), ()>, batch: Batch<()>, ms: u64) {
        let Batch { session, results, .. } = batch;
        let locks = [Locked::Flow(FlowId::new(1))].into_iter().collect();
        let _ = decision.decide(Event::Met { locks, results }, at(ms));
        let _ = decision.decide(Event::Returned { session }, at(ms));
    }

    /// The batch is committed; the next one.
    fn commit(decision: &mut Decision<(), ()>, done: Batch<()>, ms: u64) -> Option<Batch<()>> {
        let tokens = done.results.iter().map(|(token, ())| *token).collect();
        let fired = Vec::new();
        let session = done.session;
        let first = batch(decision, Event::Committed { tokens, fired }, ms);
        first.or(batch(decision, Event::Returned { session }, ms))
    }

    #[test]
    fn results_of_one_instance_that_is_locked_are_committed_one_after_the_other() {
        let mut decision = at_work(vec![job(1, 7), job(2, 7), job(3, 7)]);
        let first = batch(&mut decision, finished(1), 1).expect("a batch");
        assert_eq!(tokens(&first), [1]);
        // One that stands behind it when the lock is met, and one that comes after.
        assert!(batch(&mut decision, finished(2), 1).is_none());
        meet(&mut decision, first, 50);
        assert!(batch(&mut decision, finished(3), 60).is_none());
        assert_eq!(decision.budgets.quarantined(TenantId::new(1)), 3);
        assert_eq!(decision.begun(), 0);
        let mut next = batch(&mut decision, Event::Woken, 600);
        for token in 1..=3 {
            let one = next.expect("a batch");
            assert_eq!(tokens(&one), [token]);
            next = commit(&mut decision, one, 601);
        }
        assert!(next.is_none() && decision.tickets.is_empty() && decision.outbox.is_clear());
        assert!(decision.budgets.is_clear());
    }

    #[test]
    fn a_host_that_stops_tries_once_more_what_is_locked() {
        let mut decision = at_work(vec![job(1, 7), job(2, 8)]);
        let first = batch(&mut decision, finished(1), 1).expect("a batch");
        meet(&mut decision, first, 50);
        assert_eq!(decision.begun(), 1, "the other one runs");
        let last = batch(&mut decision, Event::Stopping, 60).expect("a batch");
        assert_eq!((tokens(&last), decision.begun()), (vec![1], 2));
        meet(&mut decision, last, 110);
        assert_eq!(decision.begun(), 1, "nobody waits for the lock");
        assert!(batch(&mut decision, Event::Woken, 111).is_none());
    }

    #[test]
    fn what_a_limited_tenant_has_in_quarantine_leaves_what_it_fires() {
        let mut decision = at_work(vec![job(1, 7)]);
        let first = batch(&mut decision, finished(1), 1).expect("a batch");
        assert!(first.keeps && !first.again);
        meet(&mut decision, first, 50);
        let (resting, limited) = (Vec::new(), vec![TenantId::new(1)]);
        let _ = decision.decide(Event::Quotas { resting, limited }, at(60));
        let again = batch(&mut decision, Event::Woken, 600).expect("a batch");
        assert!(!again.keeps && again.again);
    }

    #[test]
    fn tenants_have_their_turns_however_many_locks_one_of_them_met() {
        let policy = Policy::new(1, 80);
        let mut quarantine: Quarantine<()> = Quarantine::new();
        let mut meet = |tenant: i32, number: i32| {
            let flow = FlowId::new(number);
            let (locked, _) = quarantine.met(&policy, Locked::Flow(flow), at(0));
            let one = Waiting {
                token: LeaseToken::new(number.into()),
                tenant: TenantId::new(tenant),
                instance: (flow, Wid::new(1)),
                result: (),
            };
            quarantine.add(locked, one, at(0));
        };
        (1..=100).for_each(|flow| meet(1, flow));
        meet(2, 101);
        assert!(quarantine.release(at(600)).is_empty());
        let mut tried = Vec::new();
        while let Some((locked, results)) = quarantine.take(&policy) {
            tried.push((results[0].tenant, locked));
            quarantine.is_back(locked, at(600));
        }
        assert_eq!(tried.len(), 101);
        assert!(tried[..2].contains(&(TenantId::new(2), Locked::Flow(FlowId::new(101)))), "{tried:?}");
    }

    #[test]
    fn a_job_that_arrives_twice_is_one_in_the_stage_that_it_has() {
        let mut decision = at_work(vec![job(1, 7), job(2, 7)]);
        let first = batch(&mut decision, finished(1), 1).expect("a batch");
        let _ = decision.decide(Event::Arrived(vec![job(1, 7), job(2, 7)]), at(1));
        assert_eq!(decision.begun(), 2);
        assert!(batch(&mut decision, finished(2), 2).is_none());
        let second = commit(&mut decision, first, 40).expect("a batch");
        assert_eq!(tokens(&second), [2]);
        assert!(commit(&mut decision, second, 80).is_none());
        assert!(decision.outbox.is_clear() && decision.budgets.is_clear());
        assert_eq!(decision.begun(), 0);
    }
}
